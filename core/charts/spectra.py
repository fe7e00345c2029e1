"""Spectra of singular values: how fast they fall, from the largest one on, and which are too small to count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.series import NAME, colour_and_shape, names
from core.charts.theme import Style, themed

SMALLEST = 1e-17
"""Where the axis ends; what is smaller is drawn there."""

_LARGEST = 2.0  # the first value, 1, keeps off the edge
_POWER = "datum.value == 1 ? '1' : format(datum.value, '.0e')"
_TICKS = (1e-16, 1e-12, 1e-8, 1e-4, 1.0)


@dataclass(frozen=True, slots=True)
class SpectrumWords:
    """What the chart says, in the reader's language."""

    place: str = "number of the singular value"
    share: str = "singular value / the largest"
    value: str = "singular value"
    limits: tuple[str, str] = ("tolerance", "torch's tolerance")  # the first is written above its line


def spectra(
    style: Style,
    series: Sequence[str],
    *,
    words: SpectrumWords | None = None,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    legend_columns: int | None = None,
    height: int = 240,
) -> alt.LayerChart:
    """Several spectra on one logarithmic axis, each divided by its largest value; what does not count is pale.

    Datasets: "values" (s, counted: int8; i: int16; share, value: float32) and "limits" (t: int8; share: float32), from
    :func:`spectra_data`. ``width`` is the plot's, ``outer_width`` that with its axis; else it fills its container.
    Raises: ValueError if there are no series, or more than there are symbols.
    """
    colour, shape = colour_and_shape(style, len(series), legend_columns=legend_columns)
    words = words or SpectrumWords()
    if outer_width:
        width = outer_width - tokens.beside_axis(["1e-16"], style.font_size)
    x = alt.X(
        "i:Q",
        scale=alt.Scale(zero=False, nice=False, padding=8),
        axis=alt.Axis(title=words.place, grid=False, tickMinStep=1),
    )
    across = alt.Axis(title=words.share, values=list(_TICKS), labelExpr=_POWER, labelFlush=False)
    y = alt.Y("share:Q", scale=alt.Scale(type="log", domain=[SMALLEST, _LARGEST], clamp=True, nice=False), axis=across)
    values = alt.Chart(alt.NamedData("values"))
    tooltip = {
        "·": NAME,
        words.place: "datum.i",
        words.value: "format(datum.value, '.4~g')",
        words.share: "format(datum.share, '.3~g')",
    }
    points = values.mark_point(filled=True, size=22 * style.scale, tooltip=alt.expr(tokens.record(tooltip)))
    faint = alt.OpacityValue(0.35, condition={"test": "datum.counted == 1", "value": 1})
    return themed(
        alt.LayerChart(
            layer=[
                *_limits(style, y, width),
                values.mark_line(strokeWidth=1.2 * style.scale).encode(x=x, y=y, color=colour, opacity=alt.value(0.5)),
                points.encode(x=x, y=y, color=colour, shape=shape, opacity=faint),
            ],
            params=[names(series), tokens.label_table("limit_names", words.limits)],
            width=width or "container",
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def _limits(style: Style, y: alt.Y, width: int | None) -> list[alt.Chart]:
    """Dashed lines with their names: above the first, below the second, so that both can be read wherever they are."""
    limits = alt.Chart(alt.NamedData("limits"))
    layers = [limits.mark_rule(stroke=style.accent, strokeDash=[4, 3], strokeWidth=style.scale).encode(y=y)]
    places: tuple[tuple[int, Literal["bottom", "top"], int], ...] = ((0, "bottom", -3), (1, "top", 4))
    for number, baseline, away in places:
        text = limits.transform_filter(f"datum.t == {number}").mark_text(
            text=alt.expr("limit_names[datum.t]"), align="right", baseline=baseline, dx=-4, dy=away, fill=style.accent
        )
        layers.append(text.encode(x=alt.value(width or "width"), y=y))
    return layers


def spectra_data(values: Sequence[npt.ArrayLike], *, limits: tuple[float, float]) -> dict[str, pa.Table]:
    """The data of :func:`spectra`: singular values, (count,), largest first, of every series.

    limits: the tolerances, relative to the largest value; what is not above the smaller one is pale.
    Raises: ValueError if a series is not (count,).
    """
    arrays = [np.asarray(given, np.float64) for given in values]
    for number, array in enumerate(arrays):
        if array.ndim != 1 or array.size == 0:
            raise ValueError(f"values of series {number} {array.shape} must be (count,), at least one")
    every = np.concatenate(arrays)
    share = np.concatenate([array / (array[0] or 1.0) for array in arrays])
    frame = pa.table(
        {
            "s": np.repeat(np.arange(len(arrays), dtype=np.int8), [array.size for array in arrays]),
            "i": np.concatenate([np.arange(1, array.size + 1, dtype=np.int16) for array in arrays]),
            "share": np.maximum(share, SMALLEST).astype(np.float32),
            "value": every.astype(np.float32),
            "counted": (share > min(limits)).astype(np.int8),
        }
    )
    lines = pa.table({"t": np.arange(2, dtype=np.int8), "share": np.array(limits, np.float32)})
    return {"values": frame, "limits": lines}
