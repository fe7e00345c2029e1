"""What the rank page measures: which heads, under which mask, how counted; and what of it has been decomposed.

All that costs is kept by plain settings, for everybody on the server: a slider has only that decomposed again which it
changes, and those for tolerance, share and k have nothing decomposed at all.
Not by Streamlit's own cache: it needs a tenth of a millisecond to read such settings, and is asked ten times in a move.
"""

import functools
from dataclasses import dataclass, field

import streamlit as st
import torch
from torch import Tensor

from core.attention import AttentionTrace
from core.masks import sliding_window_mask
from core.model_heads import EncoderInputs, encoder_inputs
from core.models import ModelError
from core.rank import Decomposition, decompose, default_tolerance, numerical_rank, ranks_of, singular_values
from core.rank_heads import (
    HEAD_DIMS,
    Heads,
    LayerSpectra,
    Sweep,
    attend,
    layer_spectra,
    model_heads,
    random_heads,
    sweep_head_dims,
    sweep_outputs,
)
from pages.components import translator
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.tokens import plainly

LONGEST = 256  # tokens
MOST_HEADS = 8
DEFAULT_TOLERANCE, DEFAULT_SHARE, DEFAULT_K = 1e-5, 0.9, 8
SENTENCE = (
    "Le petit chat noir de ma voisine dort tous les jours dans le jardin, mais la nuit il court après les souris "
    "de toute la rue, et le matin il rentre fatigué à la maison."
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """Random heads."""

    num_heads: int
    seq_len: int
    head_dim: int
    seed: int


@dataclass(frozen=True, slots=True)
class Read:
    """The heads of one encoder layer of the bundled model on a sentence; the layer is counted from 0."""

    text: str
    layer: int
    was_cut: bool = False  # the text that was typed is longer


@dataclass(frozen=True, slots=True)
class Layer:
    """Heads that attend: plain values, so that they can be the key of a cache."""

    heads: Drawn | Read
    temperature: float = 1.0
    left: int | None = None  # how many earlier tokens a query may look at, and no later one; None: all tokens


@dataclass(frozen=True, slots=True)
class Structure:
    """What the controls say that are no sliders."""

    view: str
    read: Read | None  # None: random heads
    mask: str


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """All that a picture needs; the head is counted from 0."""

    panel: Panel
    structure: Structure
    layer: Layer
    head: int
    tolerance: float
    share: float
    k: int


@dataclass(frozen=True, slots=True)
class Measured:
    """One matrix."""

    torch: int  # numerical rank with torch's own tolerance
    stated: int  # with the tolerance of the slider
    effective: float
    stable: float
    energy: int


# ----------------------------------------------------------------------------------------------------- the controls


def choose_heads(panel: Panel, view: str) -> Structure | None:
    """The controls that are no sliders; None without a sentence, or without the model."""
    names = {"random": _("Random"), "model": _("Model")}
    source = panel.choice(
        "source", _("Queries and keys"), names, default="random",
        help=_("Independent normal numbers, or a layer of the bundled translation model on a French sentence."),
    )  # fmt: skip
    read = None
    if source == "model":
        text = panel.text("sentence", _("French sentence"), default=SENTENCE, max_chars=400, spoken="fr")
        read = _choose_layer(panel, text)
    masks = {"none": _("none"), "causal": _("causal"), "window": _("window")}
    mask = panel.choice("mask", _("Mask"), masks, default="none")
    return None if source == "model" and read is None else Structure(view, read, mask)


def _choose_layer(panel: Panel, text: str) -> Read | None:
    try:
        model = translator.load(translator.BUNDLED)
    except ModelError:
        return None
    layers = {str(number): str(number) for number in range(1, model.facts.encoder_layers + 1)}
    layer = panel.choice("layer", _("Layer"), layers, default="1")
    text, was_cut = translator.shorten(model, translator.BUNDLED, text)
    return Read(text, int(layer) - 1, was_cut) if text.strip() else None


def nothing() -> None:
    """Why there is no picture: without the model no sentence helps."""
    try:
        translator.load(translator.BUNDLED)
    except ModelError as error:
        st.error(translator.sentence(error.reason), icon=":material/error:")
        return
    st.info(_("There is no sentence yet. Type one on the left; one word is enough."))


def choose_sliders(panel: Panel, structure: Structure) -> Chosen:
    if structure.view != "dims":
        return _choose_sliders(panel, structure)
    with st.container(key="rank_calm", gap="small"):  # each move decomposes three matrices for every head_dim
        return _choose_sliders(panel, structure)


def _choose_sliders(panel: Panel, structure: Structure) -> Chosen:
    heads = structure.read or _choose_drawn(panel, structure.view)
    num_heads, seq_len = heads_of(heads).q.shape[:2]
    with panel.beside():
        head = panel.slider("head", _("Head"), 1, num_heads, default=1, step=1)
        temperature = panel.slider("temperature", _("Temperature"), 0.1, 4.0, default=1.0, step=0.1)
    left = _choose_window(panel, structure.mask, seq_len)
    tolerance, share, k = DEFAULT_TOLERANCE, DEFAULT_SHARE, min(DEFAULT_K, seq_len)
    if structure.view == "rebuild":
        k = panel.slider("k", _("Rank k of the reconstruction"), 0, seq_len, default=DEFAULT_K, step=1)
    else:
        with panel.beside():
            exponent = panel.slider(
                "tolerance", _("Tolerance"), -15, -1, default=-5, step=1, format="1e%d",
                help=_("Singular values above this many times the largest count for the numerical rank."),
            )  # fmt: skip
            tolerance = 10.0**exponent
            share = panel.slider(
                "share", _("Energy share"), 0.5, 0.99, default=DEFAULT_SHARE, step=0.01, format="percent",
                help=_("How many of the largest singular values hold this share of the sum of all squares?"),
            )  # fmt: skip
    return Chosen(panel, structure, Layer(heads, temperature, left), head - 1, tolerance, share, k)


def _choose_drawn(panel: Panel, view: str) -> Drawn:
    head_dim = HEAD_DIMS[-1]  # a sweep takes the first 1, 2, 4, … features of them
    with panel.beside():
        if view != "dims":
            head_dim = panel.slider("head_dim", "head_dim", 1, head_dim, default=16, step=1)
        seq_len = panel.slider("seq_len", _("Sequence length"), 8, LONGEST, default=64, step=8)
    with panel.beside():
        num_heads = panel.slider("num_heads", _("Heads"), 1, MOST_HEADS, default=4, step=1)
        seed = panel.slider("seed", _("Seed"), 0, 99, default=0, step=1)
    return Drawn(num_heads, seq_len, head_dim, seed)


def _choose_window(panel: Panel, mask: str, seq_len: int) -> int | None:
    """How many earlier tokens may be looked at; None: all tokens."""
    if mask == "window":
        return panel.slider(
            "window", _("Earlier tokens that are seen"), 0, min(LONGEST, seq_len) - 1, default=8, step=1
        )
    return seq_len - 1 if mask == "causal" else None


# ------------------------------------------------------------------------------------------- computed once, then kept


@functools.lru_cache(maxsize=16)
def heads_of(heads: Drawn | Read) -> Heads:
    if isinstance(heads, Drawn):
        generator = torch.Generator().manual_seed(heads.seed)
        return random_heads(heads.num_heads, heads.seq_len, heads.head_dim, generator=generator)
    return model_heads(translator.load(translator.BUNDLED), _inputs(heads.text), heads.layer)


@functools.lru_cache(maxsize=20)
def _inputs(text: str) -> EncoderInputs:
    model = translator.load(translator.BUNDLED)
    return encoder_inputs(model, text, most_tokens=translator.LONGEST_SOURCE)


@functools.lru_cache(maxsize=4)  # at 256 tokens and 8 heads one holds 13 MB
def trace_of(layer: Layer) -> AttentionTrace:
    heads = heads_of(layer.heads)
    return attend(heads, temperature=layer.temperature, attend_mask=mask_of(layer))


def mask_of(layer: Layer) -> Tensor | None:
    seq_len = heads_of(layer.heads).q.shape[1]
    return None if layer.left is None else sliding_window_mask(seq_len, left=layer.left)


@functools.lru_cache(maxsize=200)
def spectra_of(layer: Layer) -> LayerSpectra:
    """The singular values of all heads' weights, and of their outputs side by side."""
    return layer_spectra(trace_of(layer))


def logits_of(layer: Layer, head: int) -> Tensor:
    """The singular values of a head's logits, on which no mask has an influence."""
    return _logits(_Logits(layer.heads, layer.temperature, head, layer))


@dataclass(frozen=True, slots=True)
class _Logits:
    """What the logits of a head depend on; any layer will do that has them."""

    heads: Drawn | Read
    temperature: float
    head: int
    layer: Layer = field(compare=False)


@functools.lru_cache(maxsize=200)
def _logits(asked: _Logits) -> Tensor:
    return singular_values(trace_of(asked.layer).scores[asked.head])


@functools.lru_cache(maxsize=8)
def parts_of(layer: Layer, head: int) -> Decomposition:
    """A head's weights, decomposed in full."""
    return decompose(trace_of(layer).weights[head])


@functools.lru_cache(maxsize=50)
def sweep_of(layer: Layer, head: int) -> Sweep:
    return sweep_head_dims(
        heads_of(layer.heads), head, head_dims(layer), temperature=layer.temperature, attend_mask=mask_of(layer)
    )


@functools.lru_cache(maxsize=50)
def outputs_of(layer: Layer) -> tuple[Tensor, ...]:
    """The singular values of all heads' outputs side by side, for every head_dim of a sweep."""
    return sweep_outputs(
        heads_of(layer.heads), head_dims(layer), temperature=layer.temperature, attend_mask=mask_of(layer)
    )


def head_dims(layer: Layer) -> tuple[int, ...]:
    most = heads_of(layer.heads).q.shape[-1]
    return tuple(head_dim for head_dim in HEAD_DIMS if head_dim <= most)


def tokens_of(layer: Layer) -> tuple[str, ...]:
    """Labels for an axis; random tokens have numbers."""
    if isinstance(layer.heads, Read):
        return plainly(_inputs(layer.heads.text).tokens)
    return tuple(str(number) for number in range(1, layer.heads.seq_len + 1))


def about_the_sentence(layer: Layer) -> str:
    """That it was cut, if it was."""
    if not (isinstance(layer.heads, Read) and layer.heads.was_cut):
        return ""
    return _("The sentence was cut after {count} tokens: there is room for no more.").format(
        count=len(_inputs(layer.heads.text).tokens)
    )


def brief(number: float) -> str:
    """A very small number as it is written in programs: 1e-5."""
    return f"{number:.0e}".replace("e-0", "e-")


def measure(values: Tensor, shape: tuple[int, int], chosen: Chosen) -> tuple[Measured, ...]:
    """All measures of several matrices of one shape from their singular values, (matrices, count)."""
    every = ranks_of(values, tolerance=default_tolerance(*shape), share=chosen.share)
    stated = numerical_rank(values, tolerance=chosen.tolerance).tolist()
    return tuple(
        Measured(ranks.numerical, number, ranks.effective, ranks.stable, ranks.energy)
        for ranks, number in zip(every, stated, strict=True)
    )
