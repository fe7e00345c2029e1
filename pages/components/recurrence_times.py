"""Time against length, measured on demand: the button, the chart, and what it says."""

from collections.abc import Callable, Sequence

import streamlit as st
import torch

from core import layer_times
from core.charts import curves
from core.layer_times import Times
from core.recurrence import RECURRENT, Layer
from core.units import milliseconds
from pages.components.i18n import _, joined
from pages.components.job import job
from pages.components.plot import Part, part

HEIGHT = 136  # pixels of the chart, and of the one beside it


@st.cache_resource(show_spinner=False)
def measured() -> dict[int, Times]:
    """What has been measured on this server, by hidden size: one person measures, all see it."""
    return {}


def chart(times: Times, dim: int, series: Sequence[str]) -> Part:
    """The layers stand in the order of `series`, the recurrent ones first."""
    crossed = layer_times.crossing(times, Layer.ATTENTION, Layer.RNN)
    seconds = [times.seconds[layer] for layer in (*RECURRENT, Layer.ATTENTION)]
    return part(
        "times",
        curves.curves,
        curves.curves_data(
            [times.lengths[: len(one)] for one in seconds],
            [[milliseconds(second) for second in one] for one in seconds],
            marks=[] if crossed is None else [crossed],
        ),
        share=0.5,
        series=tuple(series),
        x=curves.Axis(_("length"), log=True, ticks=layer_times.LENGTHS),
        y=curves.Axis(_("milliseconds"), log=True),
        title=_("Time against length, on this machine; hidden size {dim}").format(dim=dim),
        height=HEIGHT,
    )


def in_words(times: Times) -> str:
    rnn, attention = (layer_times.growth_over_rounds(times, layer) for layer in (Layer.RNN, Layer.ATTENTION))
    said = []
    if rnn is not None and attention is not None:
        said.append(
            _(
                "At the long end time grows as length to the power {rnn:.1f} (RNN; {rnn_low:.1f} to {rnn_high:.1f} in "
                "{rounds} rounds) and {attention:.1f} (attention; {attention_low:.1f} to {attention_high:.1f}): "
                "operations grow as 1 and 2, a time also holds memory and whatever else the machine did."
            ).format(
                rnn=rnn.power,
                rnn_low=rnn.low,
                rnn_high=rnn.high,
                rounds=rnn.rounds,
                attention=attention.power,
                attention_low=attention.low,
                attention_high=attention.high,
            )
        )
    faster = [
        _("{layer} from length {length:.0f} on").format(layer=layer.value, length=crossed)
        for layer in RECURRENT
        if (crossed := layer_times.crossing(times, Layer.ATTENTION, layer)) is not None
    ]
    if faster:
        said.append(_("Faster than attention: {layers}.").format(layers=", ".join(faster)))
    return joined(said)


def offer(dim: int) -> None:
    """The button that measures, and what it would cost."""

    def work(on_progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        found = layer_times.measure_times(
            dim, generator=torch.Generator().manual_seed(0), on_progress=on_progress, cancelled=cancelled
        )
        if not cancelled():
            measured()[dim] = found

    button, said = st.columns([1, 5], vertical_alignment="center")
    with said:
        st.caption(
            _(
                "Time against length: one forward pass of each layer with hidden size {dim}, at lengths from {first} "
                "to {last}, in {rounds} rounds. It takes up to {seconds:.0f} seconds and {megabytes} MB."
            ).format(
                dim=dim,
                first=layer_times.LENGTHS[0],
                last=layer_times.LENGTHS[-1],
                rounds=layer_times.ROUNDS,
                seconds=layer_times.MOST_SECONDS,
                megabytes=layer_times.MOST_BYTES // 1_000_000,
            )
        )
    with button:
        measuring = job(f"recurrence.times.{dim}", _("Measure again") if dim in measured() else _("Measure"), work)
    if measuring is not None and measuring.failed:
        st.error(_("The measurement failed. Try again; if it fails again, start the server anew."))
