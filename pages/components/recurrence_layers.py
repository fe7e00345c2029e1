"""The view of recurrent layers beside attention: who waits for whom, how far gradients reach, how long it takes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
import torch
from torch import Tensor

from core import layer_times, long_range, recurrence
from core.charts import curves, unrolled
from core.layer_times import Times
from core.recurrence import RECURRENT, Edge, Layer
from pages.components import recurrence_sentence
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.job import job
from pages.components.plot import Plot
from pages.components.plot import draw as draw_plot
from pages.components.words import look_for

SEEDS = tuple(range(5))
LAYERS = (*RECURRENT, Layer.ATTENTION)
CHART_HEIGHT = 165
FEW_WORDS = 8  # of more, attention's pairs are drawn faintly


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the controls say; positions are counted from 0."""

    words: tuple[str, ...]
    source: int
    target: int
    length: int
    dim: int
    recurrent_scale: float
    gate_bias: float

    @property
    def distance(self) -> int:
        return abs(self.target - self.source)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was computed from it."""

    graphs: Mapping[Layer, tuple[Edge, ...]]
    ways: Mapping[Layer, tuple[Edge, ...] | None]
    gradients: Mapping[Layer, Tensor]  # (num_seeds, length) each
    times: Times | None


def controls(panel: Panel) -> Chosen:
    words = recurrence_sentence.words(panel)
    left, right = st.columns(2)
    last = max(len(words), 1)
    with left:
        source = panel.slider("source", _("From word"), 1, last, default=1, step=1)
        length = panel.slider("length", _("Length"), 24, 96, default=48, step=8)
        scale = panel.slider("recurrent_scale", _("State weights ×"), 0.5, 5.0, default=1.0, step=0.5)
    with right:
        target = panel.slider("target", _("To word"), 1, last, default=6, step=1)
        dim = panel.slider("dim", _("Hidden size"), 8, 64, default=24, step=8)
        gate_bias = panel.slider("gate_bias", _("Gate bias"), 0.0, 5.0, default=0.0, step=0.5)
    return Chosen(words, source - 1, target - 1, length, dim, scale, gate_bias)


def compute(chosen: Chosen) -> Found:
    graphs = {layer: recurrence.edges(layer, len(chosen.words)) for layer in LAYERS}
    return Found(
        graphs,
        {layer: recurrence.path(graph, chosen.source, chosen.target) for layer, graph in graphs.items()},
        gradients(chosen.words, chosen.length, chosen.dim, chosen.recurrent_scale, chosen.gate_bias),
        _measured().get(chosen.dim),
    )


@st.cache_resource(max_entries=200, show_spinner=False)
def gradients(
    words: tuple[str, ...], length: int, dim: int, recurrent_scale: float, gate_bias: float
) -> Mapping[Layer, Tensor]:
    """The gradients of all layers, computed once for everybody: moving along the words computes nothing."""
    return long_range.gradient_study(
        words, length=length, dim=dim, seeds=SEEDS, recurrent_scale=recurrent_scale, gate_bias=gate_bias
    )


@st.cache_resource(show_spinner=False)
def _measured() -> dict[int, Times]:
    """What has been measured on this server, by hidden size: one person measures, all see it."""
    return {}


def draw(chosen: Chosen, found: Found) -> Sequence[Plot]:
    left, right = st.columns(2, gap="medium")
    with left:
        waiting = _draw_steps(chosen, found, Layer.RNN, _("RNN, LSTM, GRU: every step waits for the one before"))
    with right:
        at_once = _draw_steps(chosen, found, Layer.ATTENTION, _("Attention: no output waits for another"))
    left, right = st.columns(2, gap="medium")
    with left:
        reach = _draw_gradients(chosen, found.gradients)
    with right:
        times = _draw_times(chosen, found.times)
    look_for(*_in_words(chosen, found))
    return (waiting, at_once, reach, *times)


def _draw_steps(chosen: Chosen, found: Found, layer: Layer, title: str) -> Plot:
    return draw_plot(
        f"recurrence.{layer}.steps",
        unrolled.unrolled,
        unrolled.unrolled_data(_places(found.graphs[layer]), _places(found.ways[layer] or ())),
        alt=_("Words as squares, the layer's outputs as circles above them, each at the step at which it is ready."),
        words=chosen.words,
        num_steps=len(chosen.words),
        labels=unrolled.UnrolledWords(axis=_("step"), token=_("word"), step=_("ready after step")),
        dense=layer is Layer.ATTENTION and len(chosen.words) > FEW_WORDS,
        title=title,
        height=120,
        expected_width=500,
    )


def _places(edges: Sequence[Edge]) -> list[tuple[unrolled.Place, unrolled.Place]]:
    return [((one.position, one.step), (other.position, other.step)) for one, other in edges]


def _draw_gradients(chosen: Chosen, sizes: Mapping[Layer, Tensor]) -> Plot:
    distances = [range(chosen.length)] * len(sizes)
    return draw_plot(
        "recurrence.gradients",
        curves.curves,
        curves.curves_data(
            distances,
            [found.median(dim=0).values for found in sizes.values()],
            low=[found.amin(dim=0) for found in sizes.values()],
            high=[found.amax(dim=0) for found in sizes.values()],
            marks=[chosen.distance],
        ),
        alt=_("Curves: the size of the gradient against distance for each layer; a dashed line marks the two words."),
        series=names(),
        x=curves.Axis(_("distance to the last word")),
        y=curves.Axis(_("size of ∂h_last/∂x"), log=True),
        band=True,
        title=_("What is left of an early word: middle and range of {count} seeds").format(count=len(SEEDS)),
        height=CHART_HEIGHT,
    )


def _draw_times(chosen: Chosen, times: Times | None) -> Sequence[Plot]:
    dim = chosen.dim

    def work(on_progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        found = layer_times.measure_times(
            dim, generator=torch.Generator().manual_seed(0), on_progress=on_progress, cancelled=cancelled
        )
        if not cancelled():
            _measured()[dim] = found

    plots: list[Plot] = []
    if times is None:
        st.markdown(f"**{_('Time against length, on this machine')}**")
        st.write(
            _(
                "One forward pass of each layer with hidden size {dim}, at lengths from {first} to {last}. The "
                "measurement takes up to {seconds:.0f} seconds and {megabytes} MB; it is made when you ask for it."
            ).format(
                dim=dim,
                first=layer_times.LENGTHS[0],
                last=layer_times.LENGTHS[-1],
                seconds=layer_times.MOST_SECONDS,
                megabytes=layer_times.MOST_BYTES // 1_000_000,
            )
        )
    else:
        crossed = layer_times.crossing(times, Layer.ATTENTION, Layer.RNN)
        plots.append(
            draw_plot(
                "recurrence.times",
                curves.curves,
                curves.curves_data(
                    [times.lengths[: len(times.seconds[layer])] for layer in LAYERS],
                    [[1000 * second for second in times.seconds[layer]] for layer in LAYERS],
                    marks=[] if crossed is None else [crossed],
                ),
                alt=_("Curves: the time of each layer against the length of the sequence, both axes logarithmic."),
                series=names(),
                x=curves.Axis(_("length"), log=True, ticks=layer_times.LENGTHS),
                y=curves.Axis(_("milliseconds"), log=True),
                title=_("Time against length, on this machine; hidden size {dim}").format(dim=dim),
                height=CHART_HEIGHT - 46,
            )
        )
    label = _("Measure") if times is None else _("Measure again")
    measuring = job(f"recurrence.times.{dim}", label, work)
    if measuring is not None and measuring.failed:
        st.error(_("The measurement failed. Try again; if it fails again, start the server anew."))
    return plots


def names() -> tuple[str, ...]:
    """The layers, in the order of LAYERS."""
    return (Layer.RNN.value, Layer.LSTM.value, Layer.GRU.value, _("attention"))


def _in_words(chosen: Chosen, found: Found) -> Sequence[str]:
    source, target = chosen.words[chosen.source], chosen.words[chosen.target]
    way = found.ways[Layer.RNN]
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
            moves=recurrence.moves(found.ways[Layer.ATTENTION] or ()),
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
        words.append(_times_in_words(found.times))
    return words


def _times_in_words(times: Times) -> str:
    powers = {layer: layer_times.growth(times, layer) for layer in (Layer.RNN, Layer.ATTENTION)}
    said = []
    if powers[Layer.RNN] is not None and powers[Layer.ATTENTION] is not None:
        said.append(
            _(
                "At the long end time grows as length to the power {rnn:.1f} (RNN) and {attention:.1f} (attention)."
            ).format(rnn=powers[Layer.RNN], attention=powers[Layer.ATTENTION])
        )
    faster = [
        _("{layer} from length {length:.0f} on").format(layer=layer.value, length=crossed)
        for layer in RECURRENT
        if (crossed := layer_times.crossing(times, Layer.ATTENTION, layer)) is not None
    ]
    if faster:
        said.append(_("Faster than attention: {layers}.").format(layers=", ".join(faster)))
    return " ".join(said)
