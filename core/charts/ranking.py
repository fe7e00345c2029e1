"""Upright bars in order: what each of many things costs, the dearest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, hand, themed

_END = 8  # pixels left at the right


@dataclass(frozen=True, slots=True)
class RankingWords:
    """What the chart says, in the reader's language."""

    name: str = "name"
    value: str = "cost"


def ranking(
    style: Style,
    names: Sequence[str],
    domain: tuple[float, float],
    *,
    words: RankingWords | None = None,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    height: int = 80,
    shown: int | None = None,
    format: str = "+.4f",
    crossed: bool = True,
    clickable: bool = True,
) -> alt.LayerChart:
    """A bar for each name, in the order that the data say; those that are marked have another colour.

    shown: how many bars there is room for; as many as names by default.
    crossed: what is marked is gone, and has a cross; without, it is chosen, and has a pointer.

    Dataset: "bars" (place, head: int16; value: float32; marked, nonce: int8), from :func:`ranking_data`.
    Selection: "head", with fields head and nonce.
    Raises: ValueError if there are no names, or the domain is empty.
    """
    if not names or domain[0] >= domain[1]:
        raise ValueError(f"names ({len(names)}) must hold at least one, and domain {domain} must not be empty")
    words = words or RankingWords()
    width = width or outer_width
    count = shown or len(names)
    column = (width or 1000) / count
    upright = max(tokens.text_width(name, style.small_size) for name in names) > column - 2
    room = [0, width - _END if width else alt.expr(f"width - {_END}")]
    bands = alt.Scale(domain=list(range(count)), paddingInner=0.25, paddingOuter=0.1, range=room)
    x = alt.X("place:O", scale=bands, axis=None)
    y = alt.Y(
        "value:Q",
        scale=alt.Scale(domain=list(domain), nice=False),
        axis=None,
    )
    data = alt.Chart(alt.NamedData("bars"))
    tooltip = {words.name: "ranking_names[datum.head]", words.value: f"format(datum.value, '{format}')"}
    column_area = (
        data.properties(name="bars")
        .mark_rect(
            fill=style.background, fillOpacity=0, tooltip=alt.expr(tokens.record(tooltip)), cursor=hand(clickable)
        )
        .encode(x=x, y=alt.value(0), y2=alt.value("height"))
    )
    bar = data.mark_bar(fill=alt.expr(f"datum.marked ? '{style.accent}' : '{style.primary}'")).encode(
        x=x, y=y, y2=alt.datum(0)
    )
    first = data.transform_filter("datum.place == 0")
    zero = first.mark_rule(aria=False, stroke=style.muted).encode(y=alt.Y(datum=0, axis=None))
    number = (
        data.transform_calculate(top="max(datum.value, 0)")
        .mark_text(
            dy=-0.7 * style.small_size,
            fontSize=min(style.small_size, 0.38 * column),
            fill=style.muted,
            text=alt.expr(
                "abs(datum.value) < 1 ? replace(format(datum.value, '.3f'), '0.', '.') : format(datum.value, '.3f')"
            ),
        )
        .encode(x=x, y=alt.Y("top:Q"))
    )
    name = data.mark_text(
        align="right" if upright else "center",
        baseline="middle" if upright else "top",
        angle=270 if upright else 0,
        dx=-4 if upright else 0,
        dy=0 if upright else 4,
        fontSize=style.small_size,
        fontWeight=alt.expr("datum.marked ? 'bold' : 'normal'"),
        fill=alt.expr(f"datum.marked ? '{style.accent}' : '{style.text}'"),
        text=alt.expr(f"(datum.marked ? '{'✕' if crossed else '▸'}' : '') + ranking_names[datum.head]"),
    ).encode(x=x, y=alt.value(style.px(height)))
    select = alt.PointSelectionConfig(type="point", fields=["head", "nonce"], on="click", clear=False)
    return themed(
        alt.LayerChart(
            layer=[column_area, bar, zero, number, name],
            params=[
                alt.TopLevelSelectionParameter(name="head", select=select, views=["bars"]),
                tokens.label_table("ranking_names", names),
            ],
            width=width or "container",
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def ranking_data(
    values: npt.ArrayLike, *, shown: int | None = None, marked: Sequence[int] = (), nonce: int = 0
) -> dict[str, pa.Table]:
    """The data of :func:`ranking`: a value for each name; the largest stands first, equal ones as they come.

    shown: how many are drawn; all by default.
    """
    costs = np.asarray(values, np.float32)
    order = np.argsort(-costs, kind="stable").astype(np.int16)[:shown]
    return {
        "bars": pa.table(
            {
                "place": np.arange(order.size, dtype=np.int16),
                "head": order,
                "value": costs[order],
                "marked": np.isin(order, list(marked)).astype(np.int8),
                "nonce": np.full(order.size, nonce % 100, np.int8),
            }
        )
    }
