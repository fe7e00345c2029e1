"""The heads of the bundled model on a sentence: their names, their maps and what was measured of them."""

import html
import re
from dataclasses import dataclass

import streamlit as st
from torch import Tensor

from core.attention_maps import coarsen
from core.charts.gallery import GalleryBlock
from core.decoding import DecodingTrace, UnusableNetworkError
from core.heads_gallery import HeadName, HeadStats, Kind, Maps, Measure, attention_maps, measure_heads
from core.heads_off import all_heads
from core.models import ModelError, TranslationModel
from pages.components import translator
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.tokens import plainly
from pages.components.translator import Method

SENTENCE = "Le chat noir dort dans le jardin."
LETTERS = {Kind.ENCODER: "E", Kind.DECODER: "D", Kind.CROSS: "C"}
SMALL = 12  # rows and columns that a small map has at most
NAME = re.compile(r"([EDC])(\d)\.(\d{1,2})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A sentence, its translation, and what all heads looked at meanwhile."""

    model: TranslationModel
    text: str
    was_cut: bool
    trace: DecodingTrace
    maps: tuple[Maps, ...]
    small: tuple[Tensor, ...]  # a map of at most SMALL × SMALL cells for every head, in the order of `stats`
    block: int  # so many tokens share a cell in the coarsest of the small maps
    stats: tuple[HeadStats, ...]

    @property
    def names(self) -> tuple[HeadName, ...]:
        return tuple(each.name for each in self.stats)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(short(name) for name in self.names)

    def of(self, kind: Kind) -> Maps:
        return next(maps for maps in self.maps if maps.kind is kind)


def short(name: HeadName) -> str:
    """E1.2: the encoder's layer 1, head 2."""
    return f"{LETTERS[name.kind]}{name.layer + 1}.{name.head + 1}"


def named(text: str, model: TranslationModel) -> tuple[tuple[HeadName, ...], tuple[str, ...]]:
    """The heads that a text names, in order and each once, and what in it names none."""
    kinds = {letter: kind for kind, letter in LETTERS.items()}
    known, found, wrong = set(all_heads(model)), set(), []
    for word in re.split(r"[\s,;、，]+", text.strip()):
        match = NAME.fullmatch(word)
        name = HeadName(kinds[match[1].upper()], int(match[2]) - 1, int(match[3]) - 1) if match else None
        if name in known:
            found.add(name)
        elif word:
            wrong.append(word)
    return tuple(name for name in all_heads(model) if name in found), tuple(wrong)


def kinds() -> dict[str, str]:
    return {Kind.ENCODER.value: _("Encoder"), Kind.DECODER.value: _("Decoder"), Kind.CROSS.value: _("Cross")}


def blocks(model: TranslationModel) -> tuple[GalleryBlock, ...]:
    facts = model.facts
    titles = {Kind.ENCODER: _("E: encoder"), Kind.DECODER: _("D: decoder"), Kind.CROSS: _("C: cross-attention")}
    layers = {Kind.ENCODER: facts.encoder_layers, Kind.DECODER: facts.decoder_layers, Kind.CROSS: facts.decoder_layers}
    return tuple(GalleryBlock(titles[kind], layers[kind], facts.num_heads) for kind in Kind)


def measures() -> dict[str, str]:
    """What heads can be sorted by."""
    return {
        Measure.ENTROPY.value: _("entropy, bits"),
        Measure.DISTANCE.value: _("mean distance"),
        Measure.PREVIOUS.value: _("on the previous, %"),
        Measure.NEXT.value: _("on the next, %"),
        Measure.SAME.value: _("on the same, %"),
        Measure.FIRST.value: _("on the first, %"),
        Measure.PUNCTUATION.value: _("on punctuation, %"),
    }


def measured(measure: Measure) -> str:
    """A measure as it is called in a sentence, where its number has the unit."""
    return targets().get(measure) or measures()[measure.value]


def targets() -> dict[Measure, str]:
    """The places whose share of the weight is measured, as they are called in a sentence."""
    return {
        Measure.PREVIOUS: _("the previous token"),
        Measure.NEXT: _("the next token"),
        Measure.SAME: _("the same place"),
        Measure.FIRST: _("the first token"),
        Measure.PUNCTUATION: _("punctuation"),
    }


def bundled() -> TranslationModel | None:
    """The model; None if its files are not whole."""
    try:
        return translator.load(translator.BUNDLED)
    except ModelError:
        return None


def sentence(panel: Panel) -> Read | None:
    """The control for the sentence, and the model's translation of it; None if there is none."""
    text = panel.text("sentence", _("French sentence"), default=SENTENCE, max_chars=400, spoken="fr")
    model = bundled()
    if model is None or not text.strip():
        return None
    return read(model, *translator.shorten(model, model.name, text))


def read(model: TranslationModel, text: str, was_cut: bool = False) -> Read | None:
    """None if the model says nothing."""
    try:
        return _read(model, model.name, text, was_cut)
    except UnusableNetworkError:
        return None


@st.cache_resource(max_entries=40, show_spinner=False)
def _read(_model: TranslationModel, name: str, text: str, was_cut: bool) -> Read | None:
    trace = translator.trace(_model, name, text, Method(), ())
    maps = attention_maps(trace)
    if not maps:
        return None
    every = [one for each in maps for layer in each.weights for one in layer]  # (seq_q, seq_k) each
    coarse = [coarsen(one, SMALL) for one in every]
    return Read(
        _model,
        text,
        was_cut,
        trace,
        maps,
        tuple(cells for cells, _size in coarse),
        max(size for _cells, size in coarse),
        tuple(stats for each in maps for stats in measure_heads(each)),
    )


def line(name: str, text: str, remark: str = "") -> str:
    """A sentence with its name before it, and something small behind it, in HTML."""
    return (
        f'<div class="atlas-tokens"><b>{html.escape(name)}</b><span class="atlas-result">{html.escape(text)}</span> '
        f"<small>{html.escape(remark)}</small></div>"
    )


def nothing() -> None:
    """Why there is no picture: without the model no sentence helps."""
    try:
        translator.load(translator.BUNDLED)
    except ModelError as error:
        st.error(translator.sentence(error.reason), icon=":material/error:")
        return
    st.info(_("There is nothing to translate yet. Type a sentence on the left."))


def about_the_sentence(shown: Read) -> list[str]:
    """What the reader should know of it, if anything."""
    sentences = []
    if shown.block > 1:
        sentences.append(
            _("The sentence is long: a cell of the small maps stands for up to {count} × {count} tokens.").format(
                count=shown.block
            )
        )
    if shown.was_cut:
        sentences.append(
            _("The sentence was cut after {count} tokens: there is room for no more.").format(
                count=len(shown.trace.source_ids)
            )
        )
    return sentences


def queries(maps: Maps) -> tuple[str, ...]:
    return plainly(maps.queries)


def keys(maps: Maps) -> tuple[str, ...]:
    return plainly(maps.keys)
