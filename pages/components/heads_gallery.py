"""Every head of a real model on one sentence: its map, and what it looks at in numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.charts import gallery, heatmaps
from core.charts import measures as table
from core.heads_gallery import (
    TARGETS,
    HeadName,
    HeadStats,
    Kind,
    Measure,
    filled_bar,
    main_target,
    measure_heads,
    sort_heads,
)
from core.heads_snippets import gallery as program
from pages.components import heads_claims, heads_fold, heads_model, translator
from pages.components.controls import Panel
from pages.components.fold import Formula
from pages.components.heads_model import Read, short
from pages.components.i18n import _
from pages.components.numbers import percent
from pages.components.plot import Part, clicks, figure, part, picked
from pages.components.translation_scene import heatmap_words
from pages.components.words import Claim, look_for

KEY = "heads.gallery"
HEIGHT = 228
SHARE = 0.63


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    read: Read
    measure: Measure
    largest_first: bool
    head: HeadName

    @property
    def stats(self) -> HeadStats:
        return next(each for each in self.read.stats if each.name == self.head)

    @property
    def number(self) -> int:
        return self.read.names.index(self.head)


def controls(panel: Panel) -> Read | None:
    return heads_model.sentence(panel)


def sliders(panel: Panel, read: Read | None) -> Scene | None:
    if read is None:
        return None
    measure = Measure(panel.choice("measure", _("Sort by"), heads_model.measures(), default=Measure.PREVIOUS.value))
    smallest = panel.toggle("smallest", _("Smallest first"), default=False)
    kind = Kind(panel.choice("kind", _("Kind of head"), heads_model.kinds(), default=Kind.ENCODER.value))
    facts = read.model.facts
    with panel.beside():
        layers = facts.encoder_layers if kind is Kind.ENCODER else facts.decoder_layers
        layer = panel.slider("layer", _("Layer"), 1, layers, default=1, step=1)
        head = panel.slider("head_no", _("Head"), 1, facts.num_heads, default=1, step=1)
    return Scene(read, measure, not smallest, HeadName(kind, layer - 1, head - 1))


def picture(panel: Panel, scene: Scene | None) -> None:
    if scene is None:
        heads_model.nothing()
        return
    look_for(*_in_words(scene), beside=heads_model.line(_("Translation"), scene.read.trace.text))

    def choose() -> None:
        for selection in ("maps_head", "table_head"):
            number = picked(KEY, selection, "head")
            if number is not None:
                name = scene.read.names[int(number)]
                panel.put({"kind": name.kind.value, "layer": name.layer + 1, "head_no": name.head + 1})

    plot = figure(
        KEY,
        [[_maps(scene), _large(scene)], [_table(scene)]],
        name=_("all heads"),
        alt=_(
            "Small attention maps of all heads of the model; one of them large, with its tokens; a table of what each "
            "head looks at, sorted."
        ),
        on_select=choose,
    )
    folder, revision = translator.place(scene.read.model)
    heads_fold.draw(
        "heads_gallery",
        formula=lambda: _formulas(scene),
        code=(measure_heads, sort_heads, main_target),
        plots=[plot],
        snippet=lambda: program(
            folder=folder, revision=revision, text=scene.read.text, said=scene.read.trace.token_ids
        ),
    )


def after(read: Read | None) -> None:
    """Nothing stands between the picture and the claims."""


def cards(read: Read | None) -> Sequence[Claim]:
    if read is None:
        return ()
    return (heads_claims.labels(read), heads_claims.ranks(read.model))


def played(read: Read | None) -> str | None:
    return "head_no" if read is not None else None


def _maps(scene: Scene) -> Part:
    blocks = heads_model.blocks(scene.read.model)
    return part(
        "maps",
        gallery.gallery,
        gallery.gallery_data(
            scene.read.small,
            blocks,
            chosen=scene.number,
            facts={i: [getattr(each, measure) for measure in Measure] for i, each in enumerate(scene.read.stats)},
            height=HEIGHT,
            nonce=clicks(KEY),
        ),
        share=SHARE,
        blocks=blocks,
        names=scene.read.labels,
        facts=tuple(
            gallery.Fact(name, ".1%" if Measure(measure) in TARGETS else ".2f")
            for measure, name in heads_model.measures().items()
        ),
        title=_("All heads: click on one"),
        height=HEIGHT,
    )


def _large(scene: Scene) -> Part:
    maps = scene.read.of(scene.head.kind)
    return part(
        "large",
        heatmaps.heatmap,
        heatmaps.heatmap_data(maps.weights[scene.head.layer, scene.head.head].numpy()),
        share=1 - SHARE,
        queries=heads_model.queries(maps),
        keys=heads_model.keys(maps),
        words=heatmap_words(_("query: looks"), _("key: is looked at")),
        height=HEIGHT - 60,
        clickable=False,
    )


def _table(scene: Scene) -> Part:
    read = scene.read
    order = [read.names.index(each.name) for each in _sorted(scene)]
    longest = max(len(maps.keys) for maps in read.maps)
    return part(
        "table",
        table.measures,
        table.measures_data(
            [[getattr(each, measure) for measure in Measure] for each in read.stats],
            order,
            sorted_by=list(Measure).index(scene.measure),
            largest_first=scene.largest_first,
            chosen=scene.number,
            nonce=clicks(KEY),
        ),
        rows=tuple(
            table.MeasureRow(
                name, filled_bar(Measure(measure), longest), ".0%" if Measure(measure) in TARGETS else ".1f"
            )
            for measure, name in heads_model.measures().items()
        ),
        names=read.labels,
    )


def _sorted(scene: Scene) -> Sequence[HeadStats]:
    return sort_heads(scene.read.stats, scene.measure, largest_first=scene.largest_first)


def _in_words(scene: Scene) -> Sequence[str]:
    first = _sorted(scene)[0]
    target, share = main_target(scene.stats)
    value = getattr(first, scene.measure)
    written = percent(value) if scene.measure in TARGETS else f"{value:.2f}"
    return [
        _("Sorted by “{measure}”: {head} stands first, with {value}.").format(
            measure=heads_model.measured(scene.measure), head=short(first.name), value=written
        ),
        _("{head} is drawn large. Of the five places that are measured, {place} gets the most: {share:.0%}.").format(
            head=short(scene.head), place=heads_model.targets()[target], share=share
        ),
        *heads_model.about_the_sentence(scene.read),
    ]


def _formulas(scene: Scene) -> Sequence[Formula]:
    stats = scene.stats
    return (
        Formula(
            r"H = -\frac{1}{n} \sum_i \sum_j w_{ij} \log_2 w_{ij}, \quad D = \frac{1}{n} \sum_i \sum_j w_{ij}\,|i - j|",
            rf"H = {stats.entropy:.3f}, \quad D = {stats.distance:.3f}",
            _("Entropy in bits and distance in tokens, meaned over the n queries of the head that is drawn large."),
        ),
        Formula(
            r"\mathrm{previous} = \frac{1}{n - 1} \sum_i w_{i,\,i-1}, \quad "
            r"\mathrm{first} = \frac{1}{n} \sum_i w_{i,1}",
            rf"\mathrm{{previous}} = {stats.previous:.3f}, \quad \mathrm{{first}} = {stats.first:.3f}",
            _("Shares of the weight: on the key one place before, and on the first key; the others alike."),
        ),
    )
