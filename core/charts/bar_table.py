"""A table whose cells are bars. Every column has its own unit: a bar is its share of the column's largest number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, hand, themed
from core.checks import check_between

_BARS = 0.58  # of a column's width; the rest is for the numbers
_LINE = 1.25  # height of a line of text, in font sizes


@dataclass(frozen=True, slots=True)
class TableWords:
    """What the chart says, in the reader's language."""

    row_axis: str = "row"
    row: str = "row"
    column: str = "column"
    value: str = "value"


def bar_table(
    style: Style,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    words: TableWords | None = None,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    height: int | None = None,
    clickable: bool = True,
) -> alt.LayerChart:
    """Rows of bars with their numbers behind them; the marked row is outlined. ``\\n`` breaks a column's name.

    Datasets: "cells" (row, column: int16; value: float64; from, to: float32; text: str; nonce: int8) and "mark" (row:
    int16), from :func:`bar_table_data`. Selection: "row", with fields row and nonce. ``outer_width`` is that with the
    names of the rows; without a width it fills its container.
    Raises: ValueError if there are no rows or no columns.
    """
    for name, texts in (("rows", rows), ("columns", columns)):
        if not texts:
            raise ValueError(f"{name} must hold at least one name")
    words = words or TableWords()
    if outer_width:
        width = outer_width - tokens.beside_axis(rows, style.font_size)
    lines = max(name.count("\n") for name in columns) + 1
    row_axis = alt.Axis(
        title=words.row_axis,
        labelExpr="table_rows[datum.value]",
        labelLimit=tokens.LIMIT * style.font_size,
        labelOverlap=False,
    )
    column_axis = alt.Axis(
        title=None,
        orient="top",
        values=list(range(len(columns))),
        labelExpr="split(table_columns[datum.value], '\\n')",
        labelAlign="left",
        labelLineHeight=_LINE * style.font_size,
        labelPadding=4 + (lines - 1) * _LINE * style.font_size,  # lines after the first would run into the bars
        labelColor=style.muted,
        labelOverlap=False,
        labelFlush=False,
        grid=False,
    )
    y = alt.Y("row:O", scale=alt.Scale(domain=list(range(len(rows))), padding=0), axis=row_axis)
    span = alt.Scale(domain=[0, len(columns)], nice=False, zero=False)
    start, end = alt.X("from:Q", scale=span, axis=column_axis), alt.X("to:Q", scale=span, axis=column_axis)
    tooltip = {
        words.row: "table_rows[datum.row]",
        words.column: "join(split(table_columns[datum.column], '\\n'), ' ')",
        words.value: "format(datum.value, ',')",
    }
    cells = alt.Chart(alt.NamedData("cells"))
    mark = alt.Chart(alt.NamedData("mark"))
    # The whole cell can be clicked, also where the bar is short.
    area = cells.properties(name="cells").mark_rect(
        fill=style.background, fillOpacity=0, tooltip=alt.expr(tokens.record(tooltip)), cursor=hand(clickable)
    )
    layers = [
        mark.mark_rect(fill=style.surface, aria=False).encode(y=y, x=alt.value(0), x2=alt.value(width or "width")),
        area.encode(y=y, x=start, x2="next:Q"),
        cells.mark_bar(
            fill=style.primary, height=alt.RelativeBandSize(0.58), cornerRadiusEnd=2 * style.scale, aria=False
        ).encode(y=y, x=start, x2="to:Q"),
        cells.mark_text(
            align="left",
            dx=5,
            text=alt.expr("datum.text"),
            fontSize=style.small_size * 1.1,
        ).encode(y=y, x=end),
        mark.mark_rect(filled=False, stroke=style.accent, strokeWidth=2 * style.scale, aria=False).encode(
            y=y, x=alt.value(0), x2=alt.value(width or "width")
        ),
    ]
    select = alt.PointSelectionConfig(type="point", fields=["row", "nonce"], on="click", clear=False)
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[
                alt.TopLevelSelectionParameter(name="row", select=select, views=["cells"]),
                tokens.label_table("table_rows", rows),
                tokens.label_table("table_columns", columns),
            ],
            width=width or "container",
            height=style.px(height or 23 * len(rows)),
            title=title or alt.Undefined,
        ),
        style,
    )


def bar_table_data(
    values: Sequence[Sequence[float]],
    texts: Sequence[Sequence[str]],
    *,
    marked_row: int | None = None,
    nonce: int = 0,
) -> dict[str, pa.Table]:
    """The data of :func:`bar_table`: numbers, 0 or more, and how they are written, row by row.

    Raises: ValueError if rows or texts differ in length, a number is negative or not finite, or the marked row is none.
    """
    table = np.asarray(values, np.float64)
    if table.ndim != 2 or table.size == 0 or table.shape != np.asarray(texts, object).shape:
        raise ValueError(f"values {table.shape} and texts must be of one shape (rows, columns)")
    if not (np.isfinite(table).all() and (table >= 0).all()):
        raise ValueError("values must be finite and not negative")
    if marked_row is not None:
        check_between("marked_row", marked_row, 0, len(table) - 1)
    largest = table.max(axis=0)
    shares = np.divide(table, largest, out=np.zeros_like(table), where=largest > 0)
    row, column = (index.ravel() for index in np.indices(table.shape))
    cells = pa.table(
        {
            "row": row.astype(np.int16),
            "column": column.astype(np.int16),
            "value": table.ravel(),
            "from": column.astype(np.float32),
            "to": (column + _BARS * shares.ravel()).astype(np.float32),
            "next": (column + 1).astype(np.float32),
            "text": [text for line in texts for text in line],
            "nonce": np.full(row.size, nonce % 100, np.int8),
        }
    )
    return {
        "cells": cells,
        "mark": pa.table({"row": np.array([] if marked_row is None else [marked_row], np.int16)}),
    }
