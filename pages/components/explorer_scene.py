"""What the views of the attention explorer share: the model, the text, and which of the many maps is shown."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
import torch
from torch import Tensor

from core.decoding import DecodingTrace, UnusableNetworkError
from core.explorer import MOST_TOKENS, Reading, read, with_translation
from core.explorer_maps import Together, shown_map
from core.heads_gallery import Kind, Maps
from core.models import AnyModel, TranslationModel
from core.models import Kind as Halves
from pages.components import shelf, translator
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.tokens import plain, plainly
from pages.components.translator import Method

PAGE = "explorer"
MOST_LETTERS = 1000
SPOKEN = {shelf.ATLAS: "fr", "bert-base-chinese": "zh"}  # the language of a model; English if it is not named
TEXTS = {"en": "The cat sat on the mat", "fr": "Le chat noir dort dans le jardin.", "zh": "小明很聪明，他考了满分。"}
LAYER, HEAD = 6, 1  # of the source texts' heatmap, counted from 1


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A text as the chosen model reads it."""

    model: AnyModel
    reading: Reading
    trace: DecodingTrace | None = None  # of an encoder–decoder

    @property
    def halves(self) -> Halves:
        return self.model.facts.family.kind

    @property
    def causal(self) -> bool:
        return self.halves is Halves.DECODER


@dataclass(frozen=True, slots=True)
class Nothing:
    """Why there is nothing to show, and what to do."""

    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """One map of it; layer, head and token are counted from 0."""

    scene: Scene
    maps: Maps
    how: Together
    layer: int
    head: int
    token: int

    @property
    def weights(self) -> Tensor:
        """(seq_q, seq_k)."""
        return shown_map(self.maps.weights, self.how, layer=self.layer, head=self.head)

    @property
    def row(self) -> Tensor:
        """Where the chosen token looks, (seq_k,)."""
        return self.weights[self.token]

    @property
    def queries(self) -> tuple[str, ...]:
        return plainly(self.maps.queries)

    @property
    def keys(self) -> tuple[str, ...]:
        return plainly(self.maps.keys)

    @property
    def attend_mask(self) -> Tensor | None:
        """Where a token may look: a decoder only back."""
        return may_look(self.maps)


def may_look(maps: Maps) -> Tensor | None:
    if maps.kind is not Kind.DECODER:
        return None
    return torch.ones(len(maps.queries), len(maps.keys), dtype=torch.bool).tril()


def language_of(model: AnyModel) -> str:
    return SPOKEN.get(model.name, "en")


def choose_model(panel: Panel) -> AnyModel | None:
    options = shelf.offered()
    return shelf.choose(
        panel,
        options,
        default=shelf.MINILM if shelf.MINILM in options else shelf.ATLAS,
        help=_(
            "Two models are bundled. The others have to be fetched once; a folder may hold any BERT, DistilBERT, "
            "GPT-2, Marian or T5 model. The server keeps one of these at a time."
        ),
    )


def choose_text(panel: Panel, model: AnyModel, *, pair: bool = True) -> Scene | Nothing:
    """The controls for the text, or for two as one input.

    pair: whether a second text is of use.
    """
    language = language_of(model)
    text = panel.text(
        f"text_{language}",
        {"en": _("Text in English"), "fr": _("Text in French"), "zh": _("Text in Chinese")}[language],
        default=TEXTS[language],
        max_chars=MOST_LETTERS,
        spoken=language,
        help=_("It is read in pieces: “+ing” goes on with the word before it. {count} pieces at most.").format(
            count=MOST_TOKENS
        ),
    )
    second = ""
    if pair and model.facts.family.kind is Halves.ENCODER:
        second = panel.text(
            f"pair_{language}",
            _("Second text, if any"),
            default="",
            max_chars=MOST_LETTERS,
            help=_("The model then reads both as one input, with a separator between them."),
        )
    return scene_of(model, text, second)


def scene_of(model: AnyModel, text: str, second: str = "") -> Scene | Nothing:
    """What the model makes of a text, or of two as one input."""
    prefix = model.tasks[0].prefix if isinstance(model, TranslationModel) and model.tasks and text.strip() else ""
    try:
        scene = _scene(model, model.name, prefix + text, second if second.strip() else None)
    except UnusableNetworkError:
        return Nothing(_("This model gives no numbers for this text. Choose another model."))
    return scene or Nothing(_("There is nothing to read yet. Type a text on the left."))


@st.cache_resource(max_entries=6, show_spinner=False)
def _scene(_model: AnyModel, name: str, text: str, second: str | None) -> Scene | None:
    """Raises: UnusableNetworkError if the network gives NaN."""
    reading = read(_model, text, second)
    if reading is None:
        return None
    if not bool(reading.states.isfinite().all()):
        raise UnusableNetworkError(f"the network of {name} gives NaN")
    if not isinstance(_model, TranslationModel):
        return Scene(_model, reading)
    trace = translator.decode(_model, reading.texts[0], Method(), ())
    return Scene(_model, with_translation(reading, trace), trace)


def choose_map(panel: Panel, scene: Scene, *, how: bool = True, head: bool = True, token: bool = True) -> Shown:
    """The sliders for which map is shown, and which of its tokens is marked; those that are asked for."""
    reading = scene.reading
    kind = reading.maps[0].kind
    if len(reading.maps) > 1:
        names = {Kind.ENCODER: _("Encoder"), Kind.DECODER: _("Decoder"), Kind.CROSS: _("Cross")}
        options = {maps.kind.value: names[maps.kind] for maps in reading.maps}
        kind = Kind(panel.choice("kind", _("Attention of"), options, default=Kind.ENCODER.value))
    maps = reading.of(kind)
    num_layers, num_heads, seq_q, _seq_k = maps.weights.shape
    together = Together.HEAD
    if how:
        options = {
            Together.HEAD.value: _("One head"),
            Together.MEAN.value: _("Mean"),
            Together.MAXIMUM.value: _("Largest"),
            Together.ROLLOUT.value: _("Rollout"),
        }
        if kind is Kind.CROSS:
            del options[Together.ROLLOUT.value]  # it goes from layer to layer of the same tokens
        together = Together(panel.choice("how", _("Which heads"), options, default=Together.HEAD.value))
    layer, number = LAYER, HEAD
    if head:
        with panel.beside():
            layer = panel.slider("layer", _("Layer"), 1, num_layers, default=LAYER, step=1)
            if together is Together.HEAD:
                number = panel.slider("head", _("Head"), 1, num_heads, default=HEAD, step=1)
    place = panel.slider("token", _("Token that looks"), 1, seq_q, default=2, step=1) if token else 1
    return Shown(scene, maps, together, min(layer, num_layers) - 1, min(number, num_heads) - 1, min(place, seq_q) - 1)


def name_of(shown: Shown) -> str:
    """Which map it is, as it is called in a sentence."""
    said = {
        Together.HEAD: _("layer {layer}, head {head}"),
        Together.MEAN: _("mean over the heads of layer {layer}"),
        Together.MAXIMUM: _("largest weight of any head of layer {layer}"),
        Together.ROLLOUT: _("rollout through layers 1 to {layer}"),
    }[shown.how]
    return said.format(layer=shown.layer + 1, head=shown.head + 1)


def titled(shown: Shown) -> str:
    """The same, as a title."""
    name = name_of(shown)
    return name[:1].upper() + name[1:]


def beside(scene: Scene) -> str:
    """What the model wrote, and what became of the text on the way to it, in HTML."""
    lines = []
    if scene.trace is not None:
        text = scene.trace.text if scene.trace.finished else f"{scene.trace.text} …"
        lines.append(
            f'<div class="atlas-tokens"><b>{html.escape(_("Translation"))}</b>'
            f'<span class="atlas-result">{html.escape(text)}</span></div>'
        )
    lines += [f'<p class="atlas-note">{html.escape(sentence)}</p>' for sentence in _about(scene)]
    return "".join(lines)


def _about(scene: Scene) -> Sequence[str]:
    found = []
    if scene.reading.was_cut:
        found.append(
            _("The text was cut: the model reads its first {count} tokens.").format(count=len(scene.reading.ids))
        )
    unknown = scene.model.tokenizer.unk_token
    marks = scene.reading.ids.count(scene.model.tokenizer.unk_token_id) if unknown else 0
    if marks:
        found.append(_("The model does not know part of the text: it reads {mark} there.").format(mark=unknown))
    return found


def spoken_of(tokens: Sequence[str], place: int) -> str:
    """A token in a sentence, with its number."""
    return _("“{token}” ({number})").format(token=plain(tokens[place]), number=place + 1)
