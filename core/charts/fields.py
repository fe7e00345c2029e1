"""A field of numbers from −1 to 1 over two axes that count, such as positions and dimensions.

Its size is part of the data: the picture changes in place when the field grows. Up to 64 × 64 cells are drawn; of a
larger field only some rows and columns are, see :func:`drawn`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.heatmaps import LIMIT
from core.charts.theme import Style, hand, themed

_CANVAS = {"embedOptions": {"renderer": "canvas"}}
"""Measured: a thousand cells are painted in 0.6 of the time that a thousand elements of a page take."""

DASHES = ((1, 0), (6, 3))
"""How outlines are drawn, so that they are told apart without their colours."""


@dataclass(frozen=True, slots=True)
class FieldWords:
    """What a field says, in the reader's language."""

    row_axis: str = "row"
    column_axis: str = "column"
    row: str = "row"
    column: str = "column"
    value: str = "value"


def drawn(count: int, *, most: int = LIMIT, together: int = 1) -> list[int]:
    """Which of `count` rows or columns are drawn: all, or every n-th run of `together` of them.

    >>> drawn(8, most=4, together=2)
    [0, 1, 4, 5]

    Raises: ValueError if one of the numbers is less than 1, or most is not a multiple of together.
    """
    if min(count, most, together) < 1:
        raise ValueError(f"count ({count}), most ({most}) and together ({together}) must be at least 1")
    if most % together:
        raise ValueError(f"most ({most}) must be a multiple of together ({together})")
    step = together * -(-count // most)
    return [index for start in range(0, count, step) for index in range(start, min(start + together, count))]


def field(
    style: Style,
    *,
    words: FieldWords | None = None,
    rows: Sequence[str] = (),
    row_outlines: Sequence[str] = (),
    column_outlines: Sequence[str] = (),
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    height: int = 220,
    clickable: bool = True,
) -> alt.LayerChart:
    """A heatmap with row 0 on top, and outlines around whole rows and columns.

    rows: names of the rows, instead of numbers. row_outlines, column_outlines: what is written at each outline.
    Datasets: "cells" (row, column: int16, what is in a cell; x, x2, y, y2: float32, where it is drawn; value: float32;
    nonce: int8) and "outlines" (s, is_row: int8; x, x2, y, y2: float32), from :func:`field_data`.
    Selection: "cell", with fields row, column and nonce.
    ``width`` is that of the grid, ``outer_width`` that of the grid with its labels. Without either it fills its
    container.
    Raises: ValueError if there are more outlined rows, or columns, than DASHES.
    """
    for name, outlines in (("row_outlines", row_outlines), ("column_outlines", column_outlines)):
        if len(outlines) > len(DASHES):
            raise ValueError(f"{name} ({len(outlines)}) must be at most {len(DASHES)}")
    words = words or FieldWords()
    if outer_width:
        width = outer_width - tokens.beside_axis(rows or ["0000"], style.font_size)
    tooltip = {
        words.row: "field_rows[datum.row]" if rows else "datum.row",
        words.column: "datum.column",
        words.value: "format(datum.value, '.4f')",
    }
    cells = (
        alt.Chart(alt.NamedData("cells"), name="cells")
        .mark_rect(
            stroke=style.background,
            strokeWidth=1 if rows else 0.5,
            tooltip=alt.expr(tokens.record(tooltip)),
            cursor=hand(clickable),
            aria=False,  # nobody hears of what is painted, and a sentence for each cell takes its time
        )
        .encode(
            x=alt.X("x:Q", scale=_scale(), axis=_across(words)),
            x2="x2",
            y=alt.Y("y:Q", scale=_scale(reverse=True), axis=_down(words, rows, style)),
            y2="y2",
            color=alt.Color("value:Q", scale=style.signed.scale(), legend=None),
        )
    )
    layers = [cells, *(_outlines(style) if row_outlines or column_outlines else ())]
    select = alt.PointSelectionConfig(type="point", fields=["row", "column", "nonce"], on="click", clear=False)
    chart = themed(
        alt.LayerChart(
            layer=layers,
            params=[
                alt.TopLevelSelectionParameter(name="cell", select=select, views=["cells"]),
                tokens.label_table("field_rows", rows),
                tokens.label_table("row_outlines", row_outlines),
                tokens.label_table("column_outlines", column_outlines),
            ],
            width=width or "container",
            height=style.px(height),
            title=alt.Title(title, offset=22 * style.scale if column_outlines else 8) if title else alt.Undefined,
        ),
        style,
    )
    return chart.properties(usermeta=_CANVAS)


def _scale(*, reverse: bool = False) -> alt.Scale:
    return alt.Scale(zero=False, nice=False, padding=0, reverse=reverse)


def _across(words: FieldWords) -> alt.Axis:
    return alt.Axis(title=words.column_axis, orient="bottom", grid=False, format="d", tickMinStep=1, labelOverlap=True)


def _down(words: FieldWords, rows: Sequence[str], style: Style) -> alt.Axis:
    title = words.row_axis or None
    if not rows:
        return alt.Axis(title=title, grid=False, format="d", tickMinStep=1, labelOverlap=True)
    return alt.Axis(
        title=title,
        grid=False,
        values=[number + 0.5 for number in range(len(rows))],
        labelExpr="field_rows[floor(datum.value)]",
        labelLimit=tokens.LIMIT * style.font_size,
    )


def _outlines(style: Style) -> list[alt.Chart]:
    """A halo that keeps the outlines clear of the cells' colours, the outlines, and their names at an end of each."""
    data = alt.Chart(alt.NamedData("outlines")).transform_calculate(
        centre="(datum.y + datum.y2) / 2", middle="(datum.x + datum.x2) / 2"
    )
    line = 1.8 * style.scale
    place = {"x": alt.X("x:Q"), "x2": "x2", "y": alt.Y("y:Q"), "y2": "y2"}
    layers = [data.mark_rect(filled=False, stroke=style.background, strokeWidth=2.2 * line).encode(**place)]
    for number, dash in enumerate(DASHES):
        kind = data.transform_filter(f"datum.s == {number}")
        colour = style.categorical[number]
        layers.append(
            kind.mark_rect(filled=False, stroke=colour, strokeWidth=line, strokeDash=list(dash)).encode(**place)
        )
    # Each name has a place of its own: two outlines may lie on each other.
    beside = data.transform_filter("datum.is_row").mark_text(
        text=alt.expr("row_outlines[datum.s]"),
        align="left",
        dx=alt.expr(f"{style.scale} * (4 + 13 * datum.s)"),
        fontWeight="bold",
        fill=style.text,
    )
    above = data.transform_filter("!datum.is_row").mark_text(
        text=alt.expr("column_outlines[datum.s]"),
        dx=alt.expr(f"{style.scale} * (6 * datum.s - 3)"),
        fontWeight="bold",
        fill=style.text,
    )
    layers.append(beside.encode(x=alt.X("x2:Q"), y=alt.Y("centre:Q")))
    layers.append(above.encode(x=alt.X("middle:Q"), y=alt.value(-9 * style.scale)))
    return layers


def field_data(
    values: npt.ArrayLike,
    *,
    rows: Sequence[int] | None = None,
    columns: Sequence[int] | None = None,
    size: tuple[int, int] | None = None,
    outlined_rows: Sequence[int] = (),
    outlined_columns: Sequence[int] = (),
    nonce: int = 0,
) -> dict[str, pa.Table]:
    """The data of :func:`field`, and what is outlined: the first of each kind solid, the second dashed.

    values: shape (rows, columns), those that are drawn. rows, columns: their numbers, from :func:`drawn`; by default
    all. size: of the whole field, which the drawn cells fill.
    Raises: ValueError if the numbers of rows or columns do not fit the values.
    """
    array = np.asarray(values, dtype=np.float32)
    if array.ndim != 2:
        raise ValueError(f"values (shape {array.shape}) must be of shape (rows, columns)")
    down = np.arange(array.shape[0]) if rows is None else np.asarray(rows)
    across = np.arange(array.shape[1]) if columns is None else np.asarray(columns)
    if (len(down), len(across)) != array.shape:
        raise ValueError(f"rows ({len(down)}) and columns ({len(across)}) must fit values {array.shape}")
    height, width = array.shape if size is None else size
    top, left = np.linspace(0, height, len(down) + 1), np.linspace(0, width, len(across) + 1)
    q, k = (index.ravel() for index in np.indices(array.shape))
    cells = pa.table(
        {
            "row": down[q].astype(np.int16),
            "column": across[k].astype(np.int16),
            "x": left[k].astype(np.float32),
            "x2": left[k + 1].astype(np.float32),
            "y": top[q].astype(np.float32),
            "y2": top[q + 1].astype(np.float32),
            "value": array.ravel(),
            "nonce": np.full(q.size, nonce % 100, np.int8),
        }
    )
    boxes = [(s, 1, 0, width, row, row + 1) for s, row in enumerate(outlined_rows)]
    boxes += [(s, 0, column, column + 1, 0, height) for s, column in enumerate(outlined_columns)]
    outlines = pa.table(
        {
            name: np.array([box[place] for box in boxes], np.int8 if place < 2 else np.float32)
            for place, name in enumerate(("s", "is_row", "x", "x2", "y", "y2"))
        }
    )
    return {"cells": cells, "outlines": outlines}
