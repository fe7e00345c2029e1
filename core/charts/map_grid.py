"""Small maps of the same words in a grid: what changes from one to the next is in their distances alone."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.scatter import SHAPES, group_colour
from core.charts.theme import Style, themed
from core.checks import check_sizes

_FILLED = 0.84  # of a map's height
_ASPECT = 1.4  # how much wider than high the part of a cell is that points may fill
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

    Datasets, from :func:`map_grid_data`: "points" (w: int16; x, y: float32; row, column, group: int8), in heights of a
    map from its middle, and "cells" (row, column, n: int8), n counting the cells that are there.
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
    points, cells = (alt.Chart(alt.NamedData(name)) for name in ("points", "cells"))
    small = min(1.0, cell / style.px(190))
    room = style.px(height) / len(rows) * (1 - _SAID)
    unit = min(room, cell / _ASPECT)  # pixels
    spots = points.transform_calculate(
        across=f"datum.column + 0.5 + datum.x * {unit / cell:.6g}",
        down=f"datum.row + {(1 - _SAID) / 2:.6g} - datum.y * {unit / high * len(rows):.6g}",
    )
    dots = spots.mark_point(
        aria=False,
        filled=True,
        opacity=1,
        size=45 * small * style.scale**2,
        tooltip=alt.expr(tokens.record({word: "grid_names[datum.w]"})),
    ).encode(
        x=alt.X("across:Q", scale=across, axis=None),
        y=alt.Y("down:Q", scale=down, axis=None),
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
        places.mark_rect(aria=False, fill=style.surface, stroke=style.faint).encode(
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


def map_grid_data(maps: Sequence[npt.ArrayLike | None], groups: Sequence[int], *, columns: int) -> dict[str, pa.Table]:
    """The data of :func:`map_grid`: maps of shape (num_words, 2), row by row; None where there is none yet.

    Raises: ValueError if a map is not of as many words as there are groups, or columns is less than 1.
    """
    check_sizes(columns=columns)
    drawn = [(number, np.asarray(one, np.float64)) for number, one in enumerate(maps) if one is not None]
    for number, flat in drawn:
        if flat.shape != (len(groups), 2):
            raise ValueError(f"map {number} {flat.shape} must be ({len(groups)}, 2)")
    inside = np.array([_fitted(flat) for _number, flat in drawn]).reshape(-1, 2)
    places = np.array([(*divmod(number, columns), number) for number, _flat in drawn], np.int8).reshape(-1, 3)
    of_points = np.repeat(places, len(groups), axis=0)
    points = {
        "w": np.tile(np.arange(len(groups), dtype=np.int16), len(drawn)),
        "x": inside[:, 0].astype(np.float32),
        "y": inside[:, 1].astype(np.float32),
        "row": of_points[:, 0],
        "column": of_points[:, 1],
        "group": np.tile(np.asarray(groups, np.int8), len(drawn)),
    }
    return {"points": pa.table(points), "cells": pa.table(dict(zip(("row", "column", "n"), places.T, strict=True)))}


def _fitted(flat: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The points in heights of a map, from its middle."""
    low, high = flat.min(axis=0), flat.max(axis=0)
    half = max((high[0] - low[0]) / _ASPECT, high[1] - low[1]) / 2
    inside: npt.NDArray[np.float64] = (flat - (low + high) / 2) * (_FILLED / 2 / half if half > 0 else 0.0)
    return inside
