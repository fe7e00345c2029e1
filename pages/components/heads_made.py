"""The heads that the texts made by hand, shown as such, and a measured one below them."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.charts import bars, heatmaps
from core.heads_examples import HAND_MADE, HandMade, Idea
from core.heads_gallery import HeadName, Kind, attention_maps, strongest_head
from core.heads_snippets import gallery as program
from pages.components import heads_claims, heads_fold, heads_model, translator
from pages.components.controls import Panel
from pages.components.fold import Formula
from pages.components.heads_model import Read, short
from pages.components.i18n import _
from pages.components.plot import Part, figure, part
from pages.components.tokens import plain
from pages.components.translation_scene import heatmap_words
from pages.components.words import Claim, look_for

KEY = "heads.made"
PRONOUN = "Le garçon lit parce qu'il aime les livres."
HE, BOY = "▁il", "▁garçon"


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """The bundled model's head that comes closest to the hand-made one for pronouns, and its weights."""

    read: Read
    query: int
    head: HeadName
    weight: float

    @property
    def row(self) -> Sequence[float]:
        row: list[float] = self.read.of(Kind.ENCODER).weights[self.head.layer, self.head.head, self.query].tolist()
        return row


def controls(panel: Panel) -> Scene | None:
    model = heads_model.bundled()
    read = heads_model.read(model, PRONOUN) if model is not None else None
    if read is None:
        return None
    tokens = read.of(Kind.ENCODER).keys
    query, key = tokens.index(HE), tokens.index(BOY)
    return Scene(read, query, *strongest_head(read.of(Kind.ENCODER), query, key))


def sliders(panel: Panel, scene: Scene | None) -> Scene | None:
    return scene


def picture(panel: Panel, scene: Scene | None) -> None:
    if scene is None:
        heads_model.nothing()
        return
    look_for(*_in_words(scene))
    plot = figure(
        KEY,
        [[_made(example) for example in HAND_MADE], [_measured(scene)]],
        name=_("hand-made heads"),
        alt=_(
            "Three attention maps that were made by hand, and below them the weights of a real head, from the pronoun "
            "of a sentence."
        ),
    )
    folder, revision = translator.place(scene.read.model)
    heads_fold.draw(
        "heads_made",
        formula=lambda: _formulas(scene),
        code=(attention_maps, strongest_head),
        plots=[plot],
        snippet=lambda: program(
            folder=folder, revision=revision, text=scene.read.text, said=scene.read.trace.token_ids
        ),
    )


def after(scene: Scene | None) -> None:
    """Nothing stands between the picture and the claims."""


def cards(scene: Scene | None) -> Sequence[Claim]:
    if scene is None:
        return ()
    return (heads_claims.labels(scene.read), heads_claims.ranks(scene.read.model))


def played(scene: Scene | None) -> None:
    """Nothing moves here."""


def _made(example: HandMade) -> Part:
    titles = {
        Idea.GRAMMAR: _("Made by hand: “grammar”"),
        Idea.MEANING: _("Made by hand: “meaning”"),
        Idea.PRONOUN: _("Made by hand: the pronoun 他"),
    }
    if len(example.weights) > 1:
        return part(
            example.idea.value,
            heatmaps.heatmap,
            heatmaps.heatmap_data(example.weights),
            share=0.29,
            queries=example.tokens,
            keys=example.tokens,
            words=heatmap_words(_("query: looks"), _("key: is looked at")),
            title=titles[example.idea],
            height=110,
            clickable=False,
        )
    return part(
        example.idea.value,
        bars.attention_bars,
        bars.attention_bars_data(example.weights[0]),
        share=0.42,
        keys=example.tokens,
        words=_bar_words(),
        title=titles[example.idea],
        height=150,
    )


def _measured(scene: Scene) -> Part:
    maps = scene.read.of(Kind.ENCODER)
    return part(
        "measured",
        bars.attention_bars,
        bars.attention_bars_data(scene.row),
        keys=heads_model.keys(maps),
        words=_bar_words(),
        title=_("Measured: where head {head} of the bundled model looks from “{pronoun}”").format(
            head=short(scene.head), pronoun=plain(HE)
        ),
        height=100,
    )


def _bar_words() -> bars.AttentionWords:
    return bars.AttentionWords(axis=_("attention weight"), key=_("key"), weight=_("weight"))


def _in_words(scene: Scene) -> Sequence[str]:
    pronoun = next(example for example in HAND_MADE if example.idea is Idea.PRONOUN)
    return (
        _(
            "The numbers of the upper row were written by hand, in the texts that this page follows, to say what heads "
            "might do. No model gave them, and none has to have such heads."
        ),
        _(
            "Below is a measurement: of the encoder's {count} heads, {head} lets “{he}” look most at “{boy}”, with "
            "{weight:.0%}. By hand it was {told:.0%}."
        ).format(
            count=scene.read.of(Kind.ENCODER).weights.shape[0] * scene.read.of(Kind.ENCODER).weights.shape[1],
            head=short(scene.head),
            he=plain(HE),
            boy=plain(BOY),
            weight=scene.weight,
            told=max(pronoun.weights[0]),
        ),
    )


def _formulas(scene: Scene) -> Sequence[Formula]:
    return (
        Formula(
            r"\max_{l,\,h}\; w^{(l,h)}_{i,j}",
            rf"w^{{({scene.head.layer + 1},{scene.head.head + 1})}}_{{{scene.query + 1},"
            rf"{scene.read.of(Kind.ENCODER).keys.index(BOY) + 1}}} = {scene.weight:.4f}",
            _("The largest weight from the pronoun i to the name j, over all layers l and heads h of the encoder."),
        ),
    )
