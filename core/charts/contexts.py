"""How much each position may look at: a bar for every position, and the mean as a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, themed
from core.checks import check_between, check_sizes

_NUMBERS_UP_TO = 24  # bars; above more, a number no longer fits


@dataclass(frozen=True, slots=True)
class ContextWords:
    """What the chart says, in the reader's language."""

    axis: str = "visible keys"
    query: str = "query"
    mean: str = "mean"


def visible_contexts(
    style: Style,
    queries: Sequence[str],
    *,
    most: int,
    words: ContextWords | None = None,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    height: int = 220,
    expected_width: int = 460,
) -> alt.LayerChart:
    """How many of `most` keys each query may look at; the bar of one query is drawn in the accent.

    Datasets: "contexts" (q, count: int16; marked: int8) and "mean" (count: float32; one row), from
    :func:`visible_contexts_data`. ``outer_width`` is that with the axis; without a width it fills its container.
    Raises: ValueError if there are no queries, or most is below 1.
    """
    if not queries:
        raise ValueError("queries must hold at least one token")
    check_sizes(most=most)
    words = words or ContextWords()
    if outer_width:
        width = outer_width - tokens.beside_axis([str(most)], style.font_size)
    bands = max(len(queries), 5)
    labels = tokens.labels_across(queries, (width or expected_width) / bands, style.font_size)
    axis = alt.Axis(
        title=None,
        values=list(range(len(queries))),
        labelExpr="query_tokens[datum.value]",
        labelAngle=labels.angle,
        labelFontSize=labels.size,
        labelLimit=labels.limit,
        labelOverlap=False,
    )
    x = alt.X("q:O", scale=alt.Scale(domain=list(range(bands)), paddingInner=0.36, paddingOuter=0.18), axis=axis)
    ticks = alt.Axis(title=words.axis, format="d", tickMinStep=1, tickCount=5, grid=True)
    y = alt.Y("count:Q", scale=alt.Scale(domain=[0, 1.14 * most], nice=False), axis=ticks)
    tooltip = {words.query: "query_tokens[datum.q] + '  ·  ' + (datum.q + 1)", words.axis: "format(datum.count, 'd')"}
    bars = alt.Chart(alt.NamedData("contexts"))
    mean = alt.Chart(alt.NamedData("mean"))
    layers = [
        bars.mark_bar(
            fill=alt.expr(f"datum.marked ? '{style.accent}' : '{style.primary}'"),
            tooltip=alt.expr(tokens.record(tooltip)),
        ).encode(x=x, y=y, y2=alt.datum(0)),
        mean.mark_rule(stroke=style.text, strokeDash=[6, 3], strokeWidth=1.5 * style.scale).encode(y=y),
        mean.mark_text(
            align="left",
            dx=4,
            text=alt.expr(f"{tokens.quoted(f'╌╌ {words.mean} ')} + format(datum.count, '.2f')"),
            fontSize=style.font_size,
            fontWeight=600,
        ).encode(x=alt.value(0), y=alt.value(0.5 * style.font_size)),  # above the bars, which leave room there
    ]
    if len(queries) <= _NUMBERS_UP_TO:
        layers.append(
            bars.mark_text(
                dy=-0.7 * style.small_size,
                text=alt.expr("format(datum.count, 'd')"),
                fill=style.muted,
                fontSize=style.small_size,
            ).encode(x=x, y=y)
        )
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[tokens.label_table("query_tokens", queries)],
            width=width or "container",
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def visible_contexts_data(counts: npt.ArrayLike, *, marked: int | None = None) -> dict[str, pa.Table]:
    """The data of :func:`visible_contexts`: how many keys each query sees, shape (queries,).

    Raises: ValueError if the counts are not one for each query, or the marked query is not among them.
    """
    seen = np.asarray(counts)
    if seen.ndim != 1 or seen.size == 0:
        raise ValueError(f"counts {seen.shape} must be (queries,)")
    if marked is not None:
        check_between("marked", marked, 0, seen.size - 1)
    q = np.arange(seen.size, dtype=np.int16)
    frame = pa.table(
        {"q": q, "count": seen.astype(np.int16), "marked": (q == (-1 if marked is None else marked)).astype(np.int8)}
    )
    return {"contexts": frame, "mean": pa.table({"count": np.array([seen.mean()], np.float32)})}
