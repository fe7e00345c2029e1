"""One word in two sentences, side by side: where it looks in each, and how alike its two vectors are in every layer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from core.charts import curves, shaded
from core.charts.curves import Axis
from core.explorer import run
from core.explorer_maps import Together, shown_map
from core.explorer_senses import cosines, find_word, most_seen, word_vectors
from core.explorer_sinks import which_sinks
from core.models import AnyModel
from pages.components import explorer_claims, explorer_fold, frame
from pages.components.controls import Panel
from pages.components.explorer_scene import (
    MOST_LETTERS,
    Nothing,
    Scene,
    Shown,
    choose_map,
    language_of,
    name_of,
    scene_of,
)
from pages.components.i18n import _
from pages.components.numbers import percent, signed
from pages.components.plot import GAP, Part, current_style, figure, part
from pages.components.tokens import plain, plainly
from pages.components.words import Claim, look_for

KEY = "explorer.senses"
HEIGHT = 190
WORDS = {"en": "bank", "fr": "avocat", "zh": "银行"}
SENTENCES = {
    "en": ("She sat on the bank of the river.", "He put his money into the bank."),
    "fr": ("L'avocat parle au juge.", "Je mange un avocat mûr."),
    "zh": ("他在河边的银行散步。", "他去银行取钱。"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two sentences, and the places of the word in each."""

    scenes: tuple[Scene, Scene]
    places: tuple[tuple[int, ...], tuple[int, ...]]
    word: str

    @property
    def alike(self) -> Tensor:
        """Cosine of the word's two vectors, (num_layers + 1,)."""
        one, other = (
            word_vectors(scene.reading, places) for scene, places in zip(self.scenes, self.places, strict=True)
        )
        return cosines(one, other)


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A pair, and which map of either sentence is shown."""

    pair: Pair
    shown: tuple[Shown, Shown]


def controls(panel: Panel, model: AnyModel) -> Pair | Nothing:
    language = language_of(model)
    texts = [
        panel.text(f"{name}_{language}", label, default=default, max_chars=MOST_LETTERS)
        for name, label, default in zip(
            ("one", "other"), (_("First sentence"), _("Second sentence")), SENTENCES[language], strict=True
        )
    ]
    word = panel.text(f"word_{language}", _("Word that both hold"), default=WORDS[language], max_chars=40).strip()
    one, other = (scene_of(model, text) for text in texts)
    if isinstance(one, Nothing):
        return one
    if isinstance(other, Nothing):
        return other
    first, second = (find_word(scene.reading, scene.reading.texts[0], word) for scene in (one, other))
    if not first or not second:
        return Nothing(
            _("Both sentences must hold the word, and the model must read it as whole pieces: type another one.")
        )
    return Pair((one, other), (first, second), word)


def sliders(panel: Panel, pair: Pair) -> View:
    first, second = (_only_encoder(scene) for scene in pair.scenes)
    one = choose_map(panel, first, token=False)
    other = Shown(second, second.reading.maps[0], one.how, one.layer, one.head, 0)
    return View(pair, (one, other))


def _only_encoder(scene: Scene) -> Scene:
    """Without the maps of a decoder, which reads no word of the sentence."""
    return replace(scene, reading=replace(scene.reading, maps=scene.reading.maps[:1]))


def cards(pair: Pair) -> Sequence[Claim]:
    return (explorer_claims.senses(),)


def played(pair: Pair) -> str | None:
    return "layer"


def picture(panel: Panel, view: View) -> None:
    look_for(*_in_words(view))
    plot = figure(
        KEY,
        [[_looks(view, 0), _looks(view, 1)], [_alike(view)]],
        name=_("one word, two sentences"),
        alt=_(
            "Both sentences, each token shaded by how much the word looks at it; a curve of the cosine between the "
            "word’s two vectors, layer by layer."
        ),
    )
    explorer_fold.draw("explorer_senses", view.shown[0], code=(run, shown_map, word_vectors, cosines), plots=[plot])


def _row(view: View, number: int) -> Tensor:
    """Where the word looks: the mean over its pieces, (seq_len,)."""
    return view.shown[number].weights[list(view.pair.places[number])].mean(dim=0)


def _looks(view: View, number: int) -> Part:
    style = current_style()
    width = int((frame.room() - style.px(GAP)) / 2)
    both = [plainly(scene.reading.tokens) for scene in view.pair.scenes]
    texts = both[number]
    lines = max(shaded.lines_of(each, outer_width=width, scale=style.scale) for each in both)
    return part(
        f"looks{number}",
        shaded.shaded,
        shaded.shaded_data(
            texts, _row(view, number).numpy(), outer_width=width, scale=style.scale, chosen=view.pair.places[number]
        ),
        share=0.5,
        texts=texts,
        lines=lines,
        words=shaded.ShadedWords(token=_("token"), value=_("weight")),
        title=(_("Where “{word}” looks in the first sentence"), _("Where “{word}” looks in the second sentence"))[
            number
        ].format(word=view.pair.word),
        clickable=False,
    )


def _alike(view: View) -> Part:
    alike = view.pair.alike
    layers = list(range(len(alike)))
    return part(
        "alike",
        curves.curves,
        curves.curves_data([layers], [alike.numpy()], marks=[view.shown[0].layer + 1]),
        share=1,
        series=(_("cosine of the two vectors of “{word}”").format(word=view.pair.word),),
        x=Axis(_("layer (0: what the first layer reads)"), domain=(0, len(layers) - 1), least_step=1, format="d"),
        y=Axis(_("cosine"), domain=(min(0.0, float(alike.min())), 1.0), format=".1f"),
        title=_("How alike the two are: 1 is the same direction"),
        height=HEIGHT,
    )


def _in_words(view: View) -> Sequence[str]:
    alike = view.pair.alike
    sentences = [
        _("“{word}” begins with a cosine of {first} between its two vectors and ends with {last}.").format(
            word=view.pair.word, first=signed(float(alike[0]), 2), last=signed(float(alike[-1]), 2)
        )
    ]
    for number, shown in enumerate(view.shown):
        reading = view.pair.scenes[number].reading
        row = _row(view, number)
        sinks = which_sinks(reading.tokens, reading.special)
        seen = most_seen(row, view.pair.places[number], [sink is not None for sink in sinks])
        if seen is not None:
            said = (
                _("In the first sentence it looks most at “{token}” among the other words: {weight} ({map})."),
                _("In the second sentence it looks most at “{token}” among the other words: {weight} ({map})."),
            )[number]
            sentences.append(
                said.format(token=plain(reading.tokens[seen]), weight=percent(float(row[seen])), map=name_of(shown))
            )
    if view.shown[0].how is Together.ROLLOUT:
        sentences.append(_("Rollout follows what reaches the word through all layers below."))
    return sentences
