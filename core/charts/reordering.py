"""Things in one order above, in another below, and where each of them goes; what belongs together has one colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, themed


@dataclass(frozen=True, slots=True)
class ReorderingWords:
    """What the chart says, in the reader's language."""

    above: str = "as it is"
    below: str = "reordered"
    dimension: str = "dimension"
    pair: str = "pair"


def reordering(
    style: Style,
    count: int,
    *,
    words: ReorderingWords | None = None,
    title: str | None = None,
    width: int = 400,
    outer_width: int | None = None,
    height: int = 150,
) -> alt.LayerChart:
    """``count`` dimensions as numbered squares in two rows, with a line from each to itself and its pair's number.

    Dataset: "dimensions" (d, above, below, pair: int16; chosen: int8), from :func:`reordering_data`.
    ``outer_width`` is that of the plot with the names of the rows.
    Raises: ValueError if count is less than 2, or odd, or more than twice as many as there are colours.
    """
    most = 2 * len(style.categorical)
    if not 2 <= count <= most or count % 2:
        raise ValueError(f"count ({count}) must be even and between 2 and {most}")
    words = words or ReorderingWords()
    if outer_width:
        width = outer_width - tokens.beside_axis([words.above, words.below], style.font_size)
    column = width / count
    side = min(26 * style.scale, 0.8 * column)
    data = alt.Chart(alt.NamedData("dimensions"))
    places = alt.Scale(domain=[-0.5, count - 0.5])
    rows = alt.Scale(domain=[-0.35, 1.35], reverse=True)
    axis = alt.Axis(
        title=None, values=[0, 1], labelExpr="row_names[datum.value]", grid=False, labelLimit=9 * style.font_size
    )
    pairs = list(range(count // 2))
    colour = alt.Color(
        "pair:O", scale=alt.Scale(domain=pairs, range=list(style.categorical[: count // 2])), legend=None
    )
    tooltip = {words.dimension: "datum.d", words.pair: "datum.pair"}

    def at(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=places, axis=None)

    def row(number: int) -> alt.Y:
        return alt.Y(datum=number, type="quantitative", scale=rows, axis=axis)

    layers: list[alt.Chart] = [
        data.mark_rule(strokeWidth=alt.expr(f"datum.chosen ? {3 * style.scale} : {1.4 * style.scale}")).encode(
            x=at("above"), x2=alt.X2("below"), y=row(0), y2=alt.datum(1), color=colour
        )
    ]
    for number, field in enumerate(("above", "below")):
        square = data.mark_point(
            shape="square", filled=True, fill=style.background, fillOpacity=1, opacity=1, size=side**2,
            strokeWidth=alt.expr(f"datum.chosen ? {3 * style.scale} : {1.4 * style.scale}"),
            tooltip=alt.expr(tokens.record(tooltip)),
        )  # fmt: skip
        layers.append(square.encode(x=at(field), y=row(number), stroke=colour.copy()))
        layers.append(data.mark_text(text=alt.expr("datum.d"), fill=style.text).encode(x=at(field), y=row(number)))
        away = (side / 2 + 0.7 * style.font_size) * (1 if number else -1)
        said = data.mark_text(
            text=alt.expr("'(' + datum.pair + ')'"), fill=style.muted, fontSize=style.small_size, dy=away
        )
        layers.append(said.encode(x=at(field), y=row(number)))
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[tokens.label_table("row_names", [words.above, words.below])],
            width=width,
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def reordering_data(order: Sequence[int], *, chosen: int | None = None) -> dict[str, pa.Table]:
    """The data of :func:`reordering`: place i of the lower row holds dimension order[i]; neighbours there are a pair.

    Raises: ValueError if order is not a permutation.
    """
    if sorted(order) != list(range(len(order))):
        raise ValueError(f"order ({list(order)}) must hold each number from 0 to {len(order) - 1} once")
    below = np.arange(len(order), dtype=np.int16)
    dimension = np.asarray(order, np.int16)
    pair = below // 2
    return {
        "dimensions": pa.table(
            {
                "d": dimension,
                "above": dimension,
                "below": below,
                "pair": pair,
                "chosen": (pair == chosen).astype(np.int8),
            }
        )
    }
