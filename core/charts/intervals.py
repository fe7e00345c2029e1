"""Estimates with the interval that they may lie in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import altair as alt
import numpy as np
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, themed


class IntervalLike(Protocol):
    """``core.quality.Interval`` has it."""

    @property
    def low(self) -> float: ...
    @property
    def estimate(self) -> float: ...
    @property
    def high(self) -> float: ...


def intervals(
    style: Style,
    labels: Sequence[str],
    *,
    axis: str,
    label_axis: str,
    title: str | None = None,
    width: int | None = None,
    height: int = 220,
) -> alt.LayerChart:
    """A dot for every estimate, with a bar from the low to the high end of its interval.

    Dataset: "intervals" (i: int16; low, estimate, high: float32), from :func:`interval_data`.
    Raises: ValueError if there are no labels.
    """
    if not labels:
        raise ValueError("labels must hold at least one label")
    data = alt.Chart(alt.NamedData("intervals"))
    x = alt.X(
        "i:O",
        scale=alt.Scale(domain=list(range(len(labels))), padding=0.5),
        axis=alt.Axis(title=label_axis, labelExpr="interval_labels[datum.value]", labelAngle=0),
    )
    y = alt.Y("estimate:Q", scale=alt.Scale(zero=False, nice=True, padding=8), axis=alt.Axis(title=axis, tickCount=5))
    low, estimate, high = (f"format(datum.{name}, '.1f')" for name in ("low", "estimate", "high"))
    tooltip = {axis: f"{estimate} + '  (' + {low} + ' – ' + {high} + ')'"}
    layers = [
        data.mark_rule(stroke=style.muted, strokeWidth=2.5 * style.scale).encode(
            x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q")
        ),
        data.mark_circle(
            fill=style.primary, size=110 * style.scale, opacity=1, tooltip=alt.expr(tokens.record(tooltip))
        ).encode(x=x, y=y),
        data.mark_text(
            dx=10 * style.scale,
            align="left",
            text=alt.expr("format(datum.estimate, '.1f')"),
            fontSize=style.small_size * 1.1,
        ).encode(x=x, y=y),
    ]
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[tokens.label_table("interval_labels", labels)],
            width=width or "container",
            height=height * style.scale,
            title=title or alt.Undefined,
        ),
        style,
    )


def interval_data(estimates: Sequence[IntervalLike]) -> dict[str, pa.Table]:
    """The data of :func:`intervals`, one row per label."""
    columns = {"i": np.arange(len(estimates), dtype=np.int16)}
    for name in ("low", "estimate", "high"):
        columns[name] = np.array([getattr(estimate, name) for estimate in estimates], np.float32)
    return {"intervals": pa.table(columns)}
