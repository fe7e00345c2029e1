"""A table as a picture: several measures of many things, sorted by one of them, read row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, hand, themed

_ROW = 19  # pixels
_END = 8  # pixels left at the right


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """A row: its label, the largest value that its colours reach, and how its numbers are written (a format of d3)."""

    label: str
    most: float
    format: str = ".0%"


def measures(
    style: Style,
    rows: Sequence[MeasureRow],
    names: Sequence[str],
    *,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    clickable: bool = True,
) -> alt.LayerChart:
    """A column for each name, in the order that the data say; the row that sorts has a mark beside its label.

    Datasets, from :func:`measures_data`: "cells" (column, row, head: int16; value: float32; nonce: int8), "columns"
    (column, head: int16), "rows" (row: int16), "sorted" (row: int16; largest: int8) and "chosen" (column: int16).
    Selection: "head", with fields head and nonce.
    Raises: ValueError if there are no rows or no names.
    """
    if not rows or not names:
        raise ValueError(f"rows ({len(rows)}) and names ({len(names)}) must hold at least one each")
    labels = [row.label for row in rows]
    width = width or outer_width
    gutter = round(max(tokens.text_width(label, style.font_size) for label in labels) + 1.6 * style.font_size)
    height = style.px(_ROW * len(rows))
    column = ((width or 1000) - gutter) / len(names)
    upright = max(tokens.text_width(name, style.small_size) for name in names) > column - 2
    room = [gutter, width - _END if width else alt.expr(f"width - {_END}")]
    x = alt.X("column:O", scale=alt.Scale(domain=list(range(len(names))), padding=0, range=room), axis=None)
    y = alt.Y("row:O", scale=alt.Scale(domain=list(range(len(rows))), padding=0), axis=None)
    most = "[" + ", ".join(f"{row.most:.6g}" for row in rows) + "][datum.row]"
    said = "[" + ", ".join(f"'{row.format}'" for row in rows) + "][datum.row]"
    share = f"min(1, datum.value / {most})"
    cells = alt.Chart(alt.NamedData("cells")).transform_calculate(level=share)
    tooltip = {
        "·": "measure_names[datum.head]",
        "=": f"measure_labels[datum.row] + ' ' + format(datum.value, {said} == '.0%' ? '.1%' : '.3f')",
    }
    fill = (
        cells.properties(name="cells")
        .mark_rect(
            stroke=style.background, strokeWidth=0.5, tooltip=alt.expr(tokens.record(tooltip)), cursor=hand(clickable)
        )
        .encode(x=x, y=y, color=alt.Color("level:Q", scale=style.weights.scale(), legend=None))
    )
    number = cells.mark_text(
        fontSize=min(style.small_size, 0.4 * column),
        text=alt.expr(f"replace(format(datum.value, {said}), '%', '')"),
        fill=alt.expr(style.weights.ink("datum.level", style.dark_ink, style.light_ink)),
    ).encode(x=x, y=y)
    name = (
        alt.Chart(alt.NamedData("columns"))
        .mark_text(
            align="left" if upright else "center",
            baseline="middle" if upright else "bottom",
            angle=270 if upright else 0,
            dx=4 if upright else 0,
            dy=0 if upright else -4,
            fontSize=style.small_size,
            text=alt.expr("measure_names[datum.head]"),
        )
        .encode(x=x, y=alt.value(0))
    )
    label = (
        alt.Chart(alt.NamedData("rows"))
        .mark_text(align="right", text=alt.expr("measure_labels[datum.row]"))
        .encode(x=alt.value(gutter - 1.2 * style.font_size), y=y)
    )
    arrow = (
        alt.Chart(alt.NamedData("sorted"))
        .mark_text(align="right", dx=-2, fill=style.accent, text=alt.expr("datum.largest ? '▼' : '▲'"))
        .encode(x=alt.value(gutter), y=y)
    )
    ring = [
        alt.Chart(alt.NamedData("chosen"))
        .mark_rect(filled=False, stroke=stroke, strokeWidth=thickness)
        .encode(x=x, y=alt.value(0), y2=alt.value(height))
        for stroke, thickness in ((style.background, 4 * style.scale), (style.accent, 2 * style.scale))
    ]
    select = alt.PointSelectionConfig(type="point", fields=["head", "nonce"], on="click", clear=False)
    return themed(
        alt.LayerChart(
            layer=[fill, number, label, name, arrow, *ring],
            params=[
                alt.TopLevelSelectionParameter(name="head", select=select, views=["cells"]),
                tokens.label_table("measure_labels", labels),
                tokens.label_table("measure_names", names),
            ],
            width=width or "container",
            height=height,
            title=alt.TitleParams(title, offset=(30 if upright else 18) * style.scale) if title else alt.Undefined,
        ),
        style,
    )


def measures_data(
    values: npt.ArrayLike,
    order: Sequence[int],
    *,
    sorted_by: int,
    largest_first: bool = True,
    chosen: int | None = None,
    nonce: int = 0,
) -> dict[str, pa.Table]:
    """The data of :func:`measures`: values of shape (names, rows); `order` says which name stands in which column.

    sorted_by: the row that the order follows. chosen: the name whose column is outlined.
    Raises: ValueError if the order does not hold every name once.
    """
    table = np.asarray(values, np.float32)
    count, rows = table.shape
    if sorted(order) != list(range(count)):
        raise ValueError(f"order ({len(order)} places) must hold every number from 0 to {count - 1} once")
    column, row = (index.ravel().astype(np.int16) for index in np.indices((count, rows)))
    heads = np.asarray(order, np.int16)
    return {
        "cells": pa.table(
            {
                "column": column,
                "row": row,
                "head": heads[column],
                "value": table[heads].ravel(),
                "nonce": np.full(column.size, nonce % 100, np.int8),
            }
        ),
        "columns": pa.table({"column": np.arange(count, dtype=np.int16), "head": heads}),
        "rows": pa.table({"row": np.arange(rows, dtype=np.int16)}),
        "sorted": pa.table({"row": np.array([sorted_by], np.int16), "largest": np.array([largest_first], np.int8)}),
        "chosen": pa.table({"column": np.array([] if chosen is None else [list(order).index(chosen)], np.int16)}),
    }
