"""Strips of dots: every single value of several series in several places, their means, and a bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.series import NAME, colour_and_shape, names
from core.charts.theme import Style, themed

_MEAN = 15  # pixels: the length of the stroke of a mean


def strips(
    style: Style,
    series: Sequence[str],
    places: Sequence[str],
    *,
    axis: str,
    mean: str,
    domain: tuple[float, float] = (0, 1),
    place_axis: str | None = None,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    legend_columns: int | None = None,
    height: int = 240,
) -> alt.LayerChart:
    """For every place a strip of each series side by side: a symbol for each value, a stroke for their mean.

    mean: what the mean is called in tooltips. domain: of the values; what lies outside lies on the border.
    Datasets: "dots" (p, s: int8; value: float32), "means" (p, s: int8; value, low, high: float32) and "bounds" (p:
    int8; value: float32; a dashed line across a place each), from :func:`strips_data`.
    ``width`` is the plot's, ``outer_width`` that with its axis; without either it fills its container.
    Raises: ValueError if there are no places, no series, or more series than there are symbols.
    """
    if not places:
        raise ValueError("places must hold at least one label")
    colour, shape = colour_and_shape(style, len(series), legend_columns=legend_columns)
    if outer_width:
        width = outer_width - tokens.beside_axis(["0.0"], style.font_size) - round(0.6 * style.font_size)
    label = "strip_places[datum.value]"
    across = alt.Scale(domain=list(range(len(places))), paddingInner=0.16, paddingOuter=0.08)
    x = alt.X(
        "p:O",
        scale=across,
        axis=alt.Axis(title=place_axis, labelExpr=label, labelAngle=0, labelOverlap=False, labelLimit=0, grid=False),
    )
    y = alt.Y(
        "value:Q", scale=alt.Scale(domain=list(domain), clamp=True, nice=False), axis=alt.Axis(title=axis, tickCount=5)
    )
    beside = alt.XOffset("s:N", scale=alt.Scale(domain=list(range(len(series)))))
    place = "strip_places[datum.p]"
    dots = alt.Chart(alt.NamedData("dots")).mark_point(
        filled=True, size=38 * style.scale, opacity=0.8,
        tooltip=alt.expr(tokens.record({"·": f"{place} + '  ·  ' + {NAME}", axis: "format(datum.value, '.3f')"})),
    )  # fmt: skip
    span = "format(datum.value, '.3f') + '  (' + format(datum.low, '.3f') + ' – ' + format(datum.high, '.3f') + ')'"
    means = alt.Chart(alt.NamedData("means")).mark_tick(
        orient="horizontal", size=_MEAN * style.scale, thickness=2.4 * style.scale, opacity=1,
        tooltip=alt.expr(tokens.record({"·": f"{place} + '  ·  ' + {NAME}", mean: span})),
    )  # fmt: skip
    bounds = alt.Chart(alt.NamedData("bounds")).mark_rule(
        aria=False, stroke=style.accent, strokeDash=[4, 3], strokeWidth=style.scale
    )
    return themed(
        alt.LayerChart(
            layer=[
                bounds.encode(x=x.bandPosition(0), x2=alt.X2("p", bandPosition=1), y=y),
                means.encode(x=x, y=y, color=colour, xOffset=beside),
                dots.encode(x=x, y=y, color=colour, shape=shape, xOffset=beside),
            ],
            params=[names(series), tokens.label_table("strip_places", places)],
            width=width or "container",
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def strips_data(
    values: Sequence[Sequence[npt.ArrayLike]], *, bounds: Mapping[int, float] | None = None
) -> dict[str, pa.Table]:
    """The data of :func:`strips`: for every place, for every series its values, each of shape (values,).

    bounds: place → where its dashed line lies.
    Raises: ValueError if a place has no values for a series, or not as many series as the first.
    """
    arrays = [[np.asarray(one, np.float32) for one in place] for place in values]
    if any(len(place) != len(arrays[0]) or any(one.ndim != 1 or not one.size for one in place) for place in arrays):
        raise ValueError("values must hold as many series in every place, and at least one value in each")
    flat = [(p, s, one) for p, place in enumerate(arrays) for s, one in enumerate(place)]
    means: dict[str, npt.NDArray[Any]] = {
        "p": np.array([p for p, _s, _one in flat], np.int8),
        "s": np.array([s for _p, s, _one in flat], np.int8),
        **{
            name: np.array([measure(one) for _p, _s, one in flat], np.float32)
            for name, measure in (("value", np.mean), ("low", np.min), ("high", np.max))
        },
    }
    counts = [one.size for _p, _s, one in flat]
    dots = {
        "p": np.repeat(means["p"], counts),
        "s": np.repeat(means["s"], counts),
        "value": np.concatenate([one for _p, _s, one in flat]) if flat else np.array([], np.float32),
    }
    lines = bounds or {}
    bound = {"p": np.array(list(lines), np.int8), "value": np.array(list(lines.values()), np.float32)}
    return {"dots": pa.table(dots), "means": pa.table(means), "bounds": pa.table(bound)}
