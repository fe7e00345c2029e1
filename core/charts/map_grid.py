"""Small maps of the same words in a grid: what changes from one to the next is in their distances alone."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from core.charts import tokens
from core.charts.scatter import SHAPES, group_colour
from core.charts.theme import Style, themed

_FILLED = 0.84  # of a cell
_GUTTER = 3.2  # of the font size: for a label beside a row
_SAID = 0.16  # of a cell's height: for the line below a map


def map_grid(
    style: Style,
    names: Sequence[str],
    groups: Sequence[str],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    word: str = "word",
    said: Sequence[str] = (),
    title: str | None = None,
    outer_width: int = 700,
    height: int = 330,
) -> alt.LayerChart:
    """A map in each cell; below each what is `said` of it.

    Datasets, from :func:`map_grid_data`: "points" (w: int16; x, y: float32; group: int8) and "cells" (row, column,
    n: int8), n counting the cells that are there.
    Raises: ValueError if there are no rows or columns, no groups, or more groups than SHAPES.
    """
    if not rows or not columns or not 1 <= len(groups) <= len(SHAPES):
        raise ValueError(
            f"rows ({len(rows)}) and columns ({len(columns)}) must not be empty, groups ({len(groups)}) between 1 and "
            f"{len(SHAPES)}"
        )
    gutter = round(_GUTTER * style.font_size) if any(rows) else 2
    high, width = style.px(height), outer_width - 4
    cell = (width - gutter) / len(columns)
    domain = list(range(len(groups)))
    across = alt.Scale(domain=[0, len(columns)], range=[gutter, width], nice=False)
    down = alt.Scale(domain=[0, len(rows)], range=[0, high], nice=False)
    x, y = alt.X("x:Q", scale=across, axis=None), alt.Y("y:Q", scale=down, axis=None)
    points, cells = (alt.Chart(alt.NamedData(name)) for name in ("points", "cells"))
    small = min(1.0, cell / style.px(190))
    dots = points.mark_point(
        filled=True,
        opacity=1,
        size=45 * small * style.scale**2,
        tooltip=alt.expr(tokens.record({word: "grid_names[datum.w]"})),
    ).encode(
        x=x,
        y=y,
        color=alt.Color(
            "group:O", scale=alt.Scale(domain=domain, range=[group_colour(style, g) for g in domain]), legend=None
        ),
        shape=alt.Shape("group:O", scale=alt.Scale(domain=domain, range=list(SHAPES[: len(groups)])), legend=None),
    )
    places = cells.transform_calculate(
        left="datum.column + 0.02", right="datum.column + 0.98", top="datum.row + 0.02",
        bottom=f"datum.row + {1 - _SAID}", middle="datum.column + 0.5", under=f"datum.row + {1 - _SAID / 2}",
    )  # fmt: skip
    layers = [
        places.mark_rect(fill=style.surface, stroke=style.faint).encode(
            x=alt.X("left:Q", scale=across, axis=None), x2="right", y=alt.Y("top:Q", scale=down, axis=None),
            y2="bottom",
        ),
        dots,
        places.mark_text(fontSize=style.small_size, fill=style.muted, text=alt.expr("grid_said[datum.n]"), limit=cell)
        .encode(x=alt.X("middle:Q"), y=alt.Y("under:Q")),
        cells.transform_filter("datum.column == 0")
        .mark_text(align="left", fontWeight=600, text=alt.expr("grid_rows[datum.row]"))
        .transform_calculate(side=f"datum.row + {(1 - _SAID) / 2}")
        .encode(x=alt.value(0), y=alt.Y("side:Q")),
        cells.transform_filter("datum.row == 0")
        .mark_text(baseline="bottom", dy=-4, fontWeight=600, text=alt.expr("grid_columns[datum.column]"))
        .transform_calculate(middle="datum.column + 0.5")
        .encode(x=alt.X("middle:Q"), y=alt.value(0)),
    ]  # fmt: skip
    above = alt.Title(title, offset=22 * style.scale) if title else alt.Undefined
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[
                tokens.label_table("grid_names", names),
                tokens.label_table("grid_rows", rows),
                tokens.label_table("grid_columns", columns),
                tokens.label_table("grid_said", said),
            ],
            width=width,
            height=high,
            title=above,
        ),
        style,
    )


def map_grid_data(
    maps: Sequence[npt.ArrayLike | None], groups: Sequence[int], *, columns: int, aspect: float = 1.4
) -> dict[str, pd.DataFrame]:
    """The data of :func:`map_grid`: maps of shape (num_words, 2), row by row; None where there is none yet.

    aspect: of a cell, without the line below its map.
    Raises: ValueError if a map is not of as many words as there are groups, or columns is less than 1.
    """
    if columns < 1:
        raise ValueError(f"columns ({columns}) must be at least 1")
    frames, cells = [], []
    for number, one in enumerate(maps):
        if one is None:
            continue
        flat = np.asarray(one, np.float64)
        if flat.shape != (len(groups), 2):
            raise ValueError(f"map {number} {flat.shape} must be ({len(groups)}, 2)")
        row, column = divmod(number, columns)
        cells.append((row, column, number))
        low, high = flat.min(axis=0), flat.max(axis=0)
        half = max((high[0] - low[0]) / aspect, high[1] - low[1]) / 2
        inside = (flat - (low + high) / 2) * (_FILLED / 2 / half if half > 0 else 0)
        frames.append(
            pd.DataFrame(
                {
                    "w": np.arange(len(flat), dtype=np.int16),
                    "x": (column + 0.5 + inside[:, 0] / aspect).astype(np.float32),
                    "y": (row + (0.5 - inside[:, 1]) * (1 - _SAID)).astype(np.float32),
                    "group": np.asarray(groups, np.int8),
                }
            )
        )
    empty = pd.DataFrame(
        {
            name: np.array([], kind)
            for name, kind in zip(("w", "x", "y", "group"), ("i2", "f4", "f4", "i1"), strict=True)
        }
    )
    return {
        "points": pd.concat(frames, ignore_index=True) if frames else empty,
        "cells": pd.DataFrame(np.array(cells, np.int8).reshape(-1, 3), columns=["row", "column", "n"]),
    }
