"""Several series in one chart: a colour and a symbol for each, and a legend on top that says which is which."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from core.charts import tokens
from core.charts.theme import Style

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
"""A symbol for each series, so that they are told apart without their colours."""

NAME = "series_names[datum.s]"
"""A Vega expression for tooltips: the name of the series of a row."""


def colour_and_shape(
    style: Style, count: int, *, legend_columns: int | None = None, symbol_size: int = 60
) -> tuple[alt.Color, alt.Shape]:
    """The encodings of the field "s", the number of the series; the chart needs the parameter of `names`.

    legend_columns: the names stand in one row by default; a narrow chart needs several.
    Raises: ValueError if there are no series, or more than there are symbols.
    """
    if not 1 <= count <= len(SHAPES):
        raise ValueError(f"series ({count} names) must hold from 1 to {len(SHAPES)} names")
    numbers = list(range(count))
    legend = alt.Legend(
        title=None,
        orient="top",
        direction="horizontal",
        columns=legend_columns or count,
        labelExpr="series_names[datum.value]",
        labelFont=style.font,
        labelFontSize=style.font_size,
        labelColor=style.text,
        labelLimit=0,
        symbolSize=symbol_size * style.scale,
        symbolOpacity=1,
        columnPadding=14 * style.scale,
        offset=4,
    )
    colours = alt.Scale(domain=numbers, range=list(style.categorical[:count]))
    shapes = alt.Scale(domain=numbers, range=list(SHAPES[:count]))
    return alt.Color("s:N", scale=colours, legend=legend), alt.Shape("s:N", scale=shapes, legend=legend)


def names(series: Sequence[str]) -> alt.VariableParameter:
    """The parameter that holds the names: the data have only numbers."""
    return tokens.label_table("series_names", series)
