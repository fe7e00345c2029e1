"""Curves: how one quantity goes with another, one line per series, on linear or logarithmic axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.series import NAME, colour_and_shape, names
from core.charts.theme import Style, themed

_WIDEST = "0.00001"  # of the usual labels of an axis
_DECADE = "abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 1e-6"


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: what it says, linear or logarithmic, and its range (that of the data if None).

    ticks: where the axis is labelled; Vega chooses if None. format: of its numbers, as d3 writes it; by default 1e-7 on
    a logarithmic axis, and plain decimals on a linear one. least_step: between two labels; 1 where halves mean nothing.
    """

    title: str
    log: bool = False
    domain: tuple[float, float] | None = None
    ticks: tuple[float, ...] | None = None
    format: str | None = None
    least_step: float | None = None

    def scale(self) -> alt.Scale:
        return alt.Scale(
            type="log" if self.log else "linear",
            domain=alt.Undefined if self.domain is None else list(self.domain),
            zero=False,
            nice=self.domain is None and not self.log,  # whole decades would leave much of a log axis empty
            padding=10 if self.domain is None and self.log else alt.Undefined,
            clamp=self.domain is not None,
        )

    def drawn(self, *, grid: bool) -> alt.Axis:
        ticks: dict[str, Any] = {"tickCount": 5} if self.ticks is None else {"values": list(self.ticks)}
        if self.least_step is not None:
            ticks["tickMinStep"] = self.least_step
        if self.log:  # Vega draws a line for 1, 2, 3, … 9, 10, 20: those between the decades step back
            ticks["gridOpacity"] = {"condition": {"test": _DECADE, "value": 1}, "value": 0.2}
        form = self.format or ("~g" if self.log else "~r")
        return alt.Axis(title=self.title, format=form, grid=grid, labelOverlap=True, labelFlush=False, **ticks)


def curves(
    style: Style,
    series: Sequence[str],
    *,
    x: Axis,
    y: Axis,
    band: bool = False,
    symbols: bool = True,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    legend_columns: int | None = None,
    height: int = 220,
) -> alt.LayerChart:
    """A line with symbols for every series, in the order of ``series``; a legend on top says which is which.

    band: shade from ``low`` to ``high``, as for the range of several seeds.
    symbols: False draws the symbols at the end of each line only, for curves with very many points.
    Datasets: "curves" (s: int8; x, y, low, high: float32; end: int8) and "marks" (x: float32; a dashed vertical line
    each), from :func:`curves_data`. What a logarithmic axis cannot show, zero and below, is left out.
    ``width`` is the plot's, ``outer_width`` that of the plot with its axis; without either it fills its container.
    legend_columns: the names stand in one row by default; a narrow chart needs several.
    Raises: ValueError if there are no series, or more than there are symbols.
    """
    which, shape = colour_and_shape(style, len(series), legend_columns=legend_columns, symbol_size=70)
    if outer_width:
        width = outer_width - _beside(y, style.font_size)
    across = alt.X("x:Q", scale=x.scale(), axis=x.drawn(grid=False))
    up = alt.Y("y:Q", scale=y.scale(), axis=y.drawn(grid=True))
    tooltip = {
        "·": NAME,
        x.title: "format(datum.x, '.4~g')",
        y.title: "format(datum.y, '.4~g')"
        + (" + '  (' + format(datum.low, '.3~g') + ' – ' + format(datum.high, '.3~g') + ')'" if band else ""),
    }
    possible = [f"datum.{name} > 0" for name, axis in (("x", x), ("y", y)) if axis.log]
    every = alt.Chart(alt.NamedData("curves"))
    data = every.transform_filter(" && ".join(possible)) if possible else every
    layers: list[alt.Chart] = []
    if band:
        shaded = data.transform_filter("datum.low > 0") if y.log else data
        area = shaded.mark_area(opacity=0.16)
        layers.append(area.encode(x=across, y=alt.Y("low:Q"), y2="high:Q", color=which))
    layers.append(data.mark_line(strokeWidth=2 * style.scale, clip=True).encode(x=across, y=up, color=which))
    dots = data if symbols else data.transform_filter("datum.end == 1")
    mark = dots.mark_point(
        filled=True, size=46 * style.scale, opacity=1, stroke=style.background, strokeWidth=0.8 * style.scale,
        tooltip=alt.expr(tokens.record(tooltip)),
    )  # fmt: skip
    layers.append(mark.encode(x=across, y=up, color=which, shape=shape))
    rule = alt.Chart(alt.NamedData("marks")).mark_rule(
        stroke=style.accent, strokeDash=[4, 3], strokeWidth=style.scale, aria=False
    )
    layers.append(rule.encode(x=across))
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[names(series)],
            width=width or "container",
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def _beside(y: Axis, font_size: float) -> int:
    """Pixels that the labels and the title at the left need, and half of a label at the right end of the other axis."""
    labels = [_WIDEST] if y.ticks is None else [f"{tick:g}" for tick in y.ticks]
    return tokens.beside_axis(labels, font_size) + round((0.6 if y.title else -0.8) * font_size)


def curves_data(
    x: Sequence[npt.ArrayLike],
    y: Sequence[npt.ArrayLike],
    *,
    low: Sequence[npt.ArrayLike] | None = None,
    high: Sequence[npt.ArrayLike] | None = None,
    marks: Sequence[float] = (),
) -> dict[str, pa.Table]:
    """The data of :func:`curves`: for every series its x and y; NaN and infinity are left out.

    marks: where vertical lines stand. Without ``low`` and ``high`` the band has no width.
    Raises: ValueError if the shapes of a series differ, or the numbers of series.
    """
    low, high = y if low is None else low, y if high is None else high
    if not len(x) == len(y) == len(low) == len(high):
        raise ValueError(f"x ({len(x)} series), y ({len(y)}), low ({len(low)}) and high ({len(high)}) must be as many")
    series = [_one(number, *parts) for number, parts in enumerate(zip(x, y, low, high, strict=True))]
    whole = series or [_one(0, [], [], [], [])]  # no series at all still has columns
    return {
        "curves": pa.table({name: np.concatenate([one[name] for one in whole]) for name in whole[0]}),
        "marks": pa.table({"x": np.asarray(marks, np.float32)}),
    }


def _one(number: int, *parts: npt.ArrayLike) -> dict[str, npt.NDArray[Any]]:
    """The columns of one series."""
    columns = [np.asarray(part, dtype=np.float32) for part in parts]
    if columns[0].ndim != 1 or len({column.shape for column in columns}) > 1:
        shapes = ", ".join(str(column.shape) for column in columns)
        raise ValueError(f"x, y, low and high of series {number} ({shapes}) must be of one shape (points,)")
    finite = np.isfinite(columns[0]) & np.isfinite(columns[1])
    count = int(finite.sum())
    return {
        "s": np.full(count, number, np.int8),
        **{name: column[finite] for name, column in zip(("x", "y", "low", "high"), columns, strict=True)},
        "end": (np.arange(count) == count - 1).astype(np.int8),
    }
