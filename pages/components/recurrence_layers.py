"""The view of recurrent layers beside attention: who waits for whom, how far gradients reach, how long it takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st
from torch import Tensor

from core import long_range, recurrence
from core.charts import curves, unrolled
from core.layer_times import Times
from core.recurrence import RECURRENT, Edge, Layer
from pages.components import recurrence_sentence, recurrence_times
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.plot import Part, Plot, figure, part
from pages.components.typed import quoted
from pages.components.words import look_for

SEEDS = tuple(range(5))
LAYERS = (*RECURRENT, Layer.ATTENTION)
FEW_WORDS = 8  # of more, attention's pairs are drawn faintly


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the controls say; positions are counted from 0."""

    words: tuple[str, ...]
    length: int
    dim: int
    recurrent_scale: float
    gate_bias: float
    source: int = 0  # from here on: on sliders that change the picture only
    target: int = 0

    @property
    def distance(self) -> int:
        return abs(self.target - self.source)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was computed from it, whatever the two words."""

    graphs: Mapping[Layer, tuple[Edge, ...]]
    gradients: Mapping[Layer, Tensor]  # (num_seeds, length) each
    times: Times | None


def controls(panel: Panel) -> Chosen:
    words = recurrence_sentence.words(panel)
    with st.container(key="recurrence_calm"):  # each move computes all gradients anew
        with panel.beside():
            length = panel.slider("length", _("Length"), 24, 96, default=48, step=8)
            dim = panel.slider("dim", _("Hidden size"), 8, 64, default=24, step=8)
        with panel.beside():
            scale = panel.slider("recurrent_scale", _("State weights ×"), 0.5, 5.0, default=1.0, step=0.5)
            gate_bias = panel.slider("gate_bias", _("Gate bias"), 0.0, 5.0, default=0.0, step=0.5)
    return Chosen(words, length, dim, scale, gate_bias)


def choose_words(panel: Panel, chosen: Chosen) -> Chosen:
    """The sliders for the two words."""
    last = len(chosen.words)
    with panel.beside():
        source = panel.slider("source", _("From word"), 1, last, default=1, step=1)
        target = panel.slider("target", _("To word"), 1, last, default=6, step=1)
    return replace(chosen, source=source - 1, target=target - 1)


def compute(chosen: Chosen) -> Found:
    return Found(
        {layer: recurrence.edges(layer, len(chosen.words)) for layer in LAYERS},
        gradients(chosen.words, chosen.length, chosen.dim, chosen.recurrent_scale, chosen.gate_bias),
        recurrence_times.measured().get(chosen.dim),
    )


@st.cache_resource(max_entries=200, show_spinner=False)
def gradients(
    words: tuple[str, ...], length: int, dim: int, recurrent_scale: float, gate_bias: float
) -> Mapping[Layer, Tensor]:
    """The gradients of all layers, computed once for everybody: moving along the words computes nothing."""
    return long_range.gradient_study(
        words, length=length, dim=dim, seeds=SEEDS, recurrent_scale=recurrent_scale, gate_bias=gate_bias
    )


def draw(chosen: Chosen, found: Found) -> Plot:
    ways = {layer: recurrence.path(graph, chosen.source, chosen.target) for layer, graph in found.graphs.items()}
    look_for(*_in_words(chosen, found, ways))
    steps = [
        _steps(chosen, found, ways, Layer.RNN, _("RNN, LSTM, GRU: every step waits for the one before")),
        _steps(chosen, found, ways, Layer.ATTENTION, _("Attention: no output waits for another")),
    ]
    times = [] if found.times is None else [recurrence_times.chart(found.times, chosen.dim, names())]
    return figure(
        "recurrence.layers",
        [steps, [_gradients(chosen, found.gradients, share=0.5 if times else 1.0), *times]],
        name=_("recurrence"),
        alt=_(
            "Words as squares, the outputs of recurrent layers and of attention as circles above them, each at the "
            "step at which it is ready. Below: the size of the gradient against distance for each layer, a dashed line "
            "marks the two words; and, once measured, the time of each layer against length."
        ),
    )


def _steps(
    chosen: Chosen, found: Found, ways: Mapping[Layer, tuple[Edge, ...] | None], layer: Layer, title: str
) -> Part:
    return part(
        layer.value,
        unrolled.unrolled,
        unrolled.unrolled_data(_places(found.graphs[layer]), _places(ways[layer] or ())),
        share=0.5,
        words=chosen.words,
        num_steps=len(chosen.words),
        labels=unrolled.UnrolledWords(axis=_("step"), token=_("word"), step=_("ready after step")),
        dense=layer is Layer.ATTENTION and len(chosen.words) > FEW_WORDS,
        title=title,
        height=98,
    )


def _places(edges: Sequence[Edge]) -> list[tuple[unrolled.Place, unrolled.Place]]:
    return [((one.position, one.step), (other.position, other.step)) for one, other in edges]


def _gradients(chosen: Chosen, sizes: Mapping[Layer, Tensor], *, share: float) -> Part:
    return part(
        "gradients",
        curves.curves,
        curves.curves_data(
            [range(chosen.length)] * len(sizes),
            [found.median(dim=0).values for found in sizes.values()],
            low=[found.amin(dim=0) for found in sizes.values()],
            high=[found.amax(dim=0) for found in sizes.values()],
            marks=[chosen.distance],
        ),
        share=share,
        series=names(),
        x=curves.Axis(_("distance to the last word")),
        y=curves.Axis(_("size of ∂h_last/∂x"), log=True, format="~e"),
        band=True,
        title=_("What is left of an early word: middle and range of {count} seeds").format(count=len(SEEDS)),
        height=recurrence_times.HEIGHT,
    )


def names() -> tuple[str, ...]:
    """The layers, in the order of LAYERS."""
    return (Layer.RNN.value, Layer.LSTM.value, Layer.GRU.value, _("attention"))


def _in_words(chosen: Chosen, found: Found, ways: Mapping[Layer, tuple[Edge, ...] | None]) -> Sequence[str]:
    source, target = quoted(chosen.words[chosen.source]), quoted(chosen.words[chosen.target])
    way = ways[Layer.RNN]
    numbers = {"source": source, "target": target, "steps": recurrence.sequential_steps(found.graphs[Layer.RNN])}
    if way is None:
        first = _(
            "“{source}” stands behind “{target}”: a layer that reads from left to right never carries it there, "
            "attention does in {moves} step."
        )
    else:
        first = _(
            "Steps from “{source}” to “{target}”: {recurrent} by recurrence, {moves} by attention. Steps that wait for "
            "each other until all outputs are there: {steps}, with attention {at_once}."
        )
    words = [
        first.format(
            **numbers,
            recurrent=recurrence.moves(way or ()),
            moves=recurrence.moves(ways[Layer.ATTENTION] or ()),
            at_once=recurrence.sequential_steps(found.graphs[Layer.ATTENTION]),
        )
    ]
    middle = {layer: float(sizes.median(dim=0).values[chosen.distance]) for layer, sizes in found.gradients.items()}
    words.append(
        _("At distance {distance} the gradient's size is {sizes}; nothing here is trained.").format(
            distance=chosen.distance,
            sizes=", ".join(f"{name} {middle[layer]:.2g}" for name, layer in zip(names(), LAYERS, strict=True)),
        )
    )
    if found.times is not None:
        words.append(recurrence_times.in_words(found.times))
    return words
