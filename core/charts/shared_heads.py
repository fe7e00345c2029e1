"""Which query head uses which KV head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, themed
from core.checks import check_sizes

_LARGEST, _SMALLEST = 11.0, 2.0  # pixels from the middle of a head to its edge
_QUERY, _KV = 1, 0  # the two lines


@dataclass(frozen=True, slots=True)
class SharedWords:
    """What the chart says, in the reader's language."""

    query_heads: str = "query heads"
    kv_heads: str = "KV heads"
    query_head: str = "query head"
    kv_head: str = "KV head"
    used_by: str = "used by query heads"


def shared_heads(
    style: Style,
    num_heads: int,
    *,
    words: SharedWords | None = None,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    rows_below: Sequence[str] = (),
    height: int = 90,
    expected_width: int = 900,
) -> alt.LayerChart:
    """Query heads as circles above, KV heads as squares below, a line from each query head to the one that it uses.

    Datasets: "queries" (head, kv: int16; x, end: float32) and "kvs" (kv, first, last: int16; x: float32), from
    :func:`shared_heads_data`. Numbers stand in the heads where there is room. ``outer_width`` is that with the names of
    the two lines; without a width it fills its container.
    rows_below: the names of the rows of a chart below it, to keep as much room at the left as that one needs.
    Raises: ValueError if there are no heads.
    """
    check_sizes(num_heads=num_heads)
    words = words or SharedWords()
    lines = (words.query_heads, words.kv_heads)
    if outer_width:
        names = round(max(tokens.text_width(line, style.font_size) for line in lines) + 8)
        below = tokens.beside_axis(rows_below, style.font_size) if rows_below else 0
        width = outer_width - max(names, below)
    column = (width or expected_width) / num_heads
    largest = _LARGEST * style.scale
    radius = max(_SMALLEST, min(largest, 0.42 * column))
    kv_radius = f"max({_SMALLEST}, min({largest:g}, {0.42 * column:g} * (datum.last - datum.first + 1)))"
    room = 0.75 * style.small_size  # for a number
    axis = alt.Axis(title=None, values=[_KV, _QUERY], labelExpr="head_lines[datum.value]", labelLimit=0, grid=False)
    across = alt.X("x:Q", scale=alt.Scale(domain=[-0.5, num_heads - 0.5], nice=False, zero=False), axis=None)

    def up(line: int) -> alt.Y:
        return alt.Y(datum=line, type="quantitative", scale=alt.Scale(domain=[-0.25, 1.25], nice=False), axis=axis)

    queries, kvs = alt.Chart(alt.NamedData("queries")), alt.Chart(alt.NamedData("kvs"))
    colour = f"datum.kv % 2 ? '{style.categorical[1]}' : '{style.categorical[0]}'"  # neighbours differ
    said = {words.query_head: "datum.head + 1", words.kv_head: "datum.kv + 1"}
    from_to = "(datum.first + 1) + (datum.first == datum.last ? '' : '–' + (datum.last + 1))"
    shared = {words.kv_head: "datum.kv + 1", words.used_by: from_to}
    wire = queries.mark_rule(stroke=alt.expr(colour), strokeWidth=1.4 * style.scale, opacity=0.75, aria=False)
    layers: list[alt.Chart] = [
        wire.encode(x=across, y=up(_QUERY), x2="end:Q", y2=alt.datum(_KV)),
        _heads(queries, "circle", f"{radius:g}", colour, tokens.record(said)).encode(x=across, y=up(_QUERY)),
        _heads(kvs, "square", kv_radius, colour, tokens.record(shared)).encode(x=across, y=up(_KV)),
    ]
    ink: dict[str, Any] = {"fill": style.background, "fontSize": style.small_size, "aria": False}
    if radius >= room:
        layers.append(queries.mark_text(text=alt.expr("datum.head + 1"), **ink).encode(x=across, y=up(_QUERY)))
    number = kvs.mark_text(text=alt.expr(f"{kv_radius} < {room:g} ? '' : datum.kv + 1"), **ink)
    layers.append(number.encode(x=across, y=up(_KV)))
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[tokens.label_table("head_lines", (words.kv_heads, words.query_heads))],
            width=width or "container",
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def shared_heads_data(kv_head_of: Sequence[int]) -> dict[str, pa.Table]:
    """The data of :func:`shared_heads`: entry h is the KV head, from 0, that query head h uses.

    A KV head stands below the middle of the query heads that use it.
    Raises: ValueError if there are no heads, or a KV head between the first and the last is used by none.
    """
    kv = np.asarray(kv_head_of, np.int16)
    if kv.size == 0 or not np.array_equal(np.unique(kv), np.arange(kv.max() + 1)):
        raise ValueError(f"kv_head_of ({list(kv_head_of)}) must name every KV head from 0 to the largest")
    users = [np.flatnonzero(kv == number) for number in range(kv.max() + 1)]
    middles = np.array([heads.mean() for heads in users], np.float32)
    heads = np.arange(kv.size)
    return {
        "queries": pa.table(
            {"head": heads.astype(np.int16), "kv": kv, "x": heads.astype(np.float32), "end": middles[kv]}
        ),
        "kvs": pa.table(
            {
                "kv": np.arange(len(users), dtype=np.int16),
                "first": np.array([found[0] for found in users], np.int16),
                "last": np.array([found[-1] for found in users], np.int16),
                "x": middles,
            }
        ),
    }


def _heads(chart: alt.Chart, shape: str, radius: str, colour: str, tooltip: str) -> alt.Chart:
    size = alt.expr(f"4 * pow({radius}, 2)")
    heads: alt.Chart = chart.mark_point(
        shape=shape, filled=True, opacity=1, size=size, fill=alt.expr(colour), tooltip=alt.expr(tooltip)
    )
    return heads
