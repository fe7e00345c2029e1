"""Attention as a grid: rows are queries (who looks), columns are keys (who is looked at).

Up to 64 × 64 cells. Beyond that a browser needs seconds for one picture: show a part, or an image.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.colour import Ramp
from core.charts.theme import Style, hand, themed
from core.checks import check_between

LIMIT = 64
"""Most rows, and most columns, that a heatmap draws."""

Kind = Literal["weights", "scores", "signed", "mask"]
"""Weights from 0 to 1, scores from −5 to 5, signed numbers from −1 to 1 as cosines are, or a mask."""

_INFINITE = 1e30  # stands for ∞, which has no place on a colour scale, and no name in an exported file
_NUMBERS_UP_TO = 14  # columns; in more, a number no longer fits its cell
_FEWEST_BANDS = 5  # so that one token does not become a cell as wide as the page
_SHORT: dict[Kind, str] = {"weights": ".2f", "scores": ".1f", "signed": ".2f"}
_EXACT: dict[Kind, str] = {"weights": ".4f", "scores": ".3f", "signed": ".4f"}


@dataclass(frozen=True, slots=True)
class Words:
    """What a heatmap says, in the reader's language."""

    row_axis: str = "query: looks"
    column_axis: str = "key: is looked at"
    query: str = "query"
    key: str = "key"
    value: str = "weight"
    masked: str = "masked"
    allowed: str = "may look"


@dataclass(frozen=True, slots=True)
class Panel:
    """One of several heatmaps side by side: which columns of the data it shows, and how."""

    title: str
    kind: Kind
    values: str | None = None  # name among the values given to panels_data; None for a mask
    mask: str | None = None  # name among the masks given to panels_data; None if nothing is masked
    value_word: str = "weight"
    most: float = 1  # where the colours of weights end


def heatmap(
    style: Style,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    kind: Kind = "weights",
    words: Words | None = None,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    height: int | None = None,
    expected_width: int = 560,
    clickable: bool = True,
) -> alt.LayerChart:
    """One heatmap of weights, scores or a mask, with a ring around one query's row.

    Datasets: "cells" (q, k: int16; value: float32; attend, nonce: int8) and "mark" (q: int16), from
    :func:`heatmap_data`.
    Selection: "cell", with fields q, k and nonce.
    ``width`` is that of the grid, ``outer_width`` that of the grid with its labels. Without either it fills its
    container; the labels are then set for a grid of ``expected_width`` pixels. The grid's ``height`` is that at the
    normal type size; by default it follows from the number of rows.
    Raises: ValueError if there are no tokens, or more than LIMIT, on a side.
    """
    if outer_width:
        width = _fitting(style, keys, outer_width - _beside(style, queries))
    grid = _grid(style, queries, keys, words, width, height, expected_width, clickable)
    panel = Panel(title or "", kind, None if kind == "mask" else "value", "attend", grid.words.value)
    return themed(_panel(grid, panel).properties(params=grid.params(1)), style)


def panels(
    style: Style,
    queries: Sequence[str],
    keys: Sequence[str],
    shown: Sequence[Panel],
    *,
    words: Words | None = None,
    width: int = 300,
    outer_width: int | None = None,
    height: int | None = None,
    clickable: bool = True,
) -> alt.HConcatChart:
    """Heatmaps of the same tokens side by side, with the row labels written once.

    ``width`` is that of one grid, ``outer_width`` that of all together with their labels.

    Datasets: "cells" (q, k: int16; each named value: float32; each named mask, nonce: int8) and "mark" (q: int16),
    from :func:`panels_data`. Selection: "cell", with fields q, k and nonce, on every panel.
    Raises: ValueError if there are no tokens, or more than LIMIT, on a side, or no panels.
    """
    if not shown:
        raise ValueError("shown must hold at least one panel")
    spacing = 26 * style.scale
    if outer_width:
        room = outer_width - _beside(style, queries) - spacing * (len(shown) - 1)
        width = _fitting(style, keys, room / len(shown))
    grid = _grid(style, queries, keys, words, width, height, width, clickable)
    row = alt.HConcatChart(
        hconcat=[_panel(grid, panel, index) for index, panel in enumerate(shown)],
        params=grid.params(len(shown)),
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(color="independent")),
        spacing=spacing,
    )
    return themed(row, style)


def heatmap_data(
    values: npt.ArrayLike,
    *,
    attend_mask: npt.ArrayLike | None = None,
    marked_row: int | None = None,
    nonce: int = 0,
) -> dict[str, pa.Table]:
    """The data of :func:`heatmap`: values of shape (queries, keys), mask True = may attend.

    For a mask, give it as ``values`` and as ``attend_mask``. Raise ``nonce`` after each click that was answered: the
    same cell can then be clicked again.
    Raises: ValueError if a shape or the marked row does not fit.
    """
    masks = {} if attend_mask is None else {"attend": attend_mask}
    frames = panels_data({"value": values}, masks=masks, marked_row=marked_row, nonce=nonce)
    if attend_mask is None:
        cells = frames["cells"]
        frames["cells"] = cells.append_column("attend", pa.array(np.ones(len(cells), np.int8)))
    return frames


def panels_data(
    values: Mapping[str, npt.ArrayLike],
    *,
    masks: Mapping[str, npt.ArrayLike] | None = None,
    marked_row: int | None = None,
    nonce: int = 0,
) -> dict[str, pa.Table]:
    """The data of :func:`panels`: arrays of shape (queries, keys) by the names that the panels use.

    Raises: ValueError if there is no array, a shape differs or is not 2-D, or the marked row is not among the rows.
    """
    columns: dict[str, npt.NDArray[Any]] = {}
    for given, dtype in ((values, np.float32), (masks or {}, np.int8)):
        columns |= {name: np.asarray(array).astype(dtype) for name, array in given.items()}
    for name in values:
        columns[name] = np.clip(columns[name], -_INFINITE, _INFINITE)
    shapes = {array.shape for array in columns.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 2:
        named = ", ".join(f"{name} {array.shape}" for name, array in columns.items()) or "none"
        raise ValueError(f"arrays ({named}) must have one shape (queries, keys)")
    rows, _ = shape = next(iter(shapes))
    if marked_row is not None:
        check_between("marked_row", marked_row, 0, rows - 1)
    q, k = (index.ravel().astype(np.int16) for index in np.indices(shape))
    flat = {name: array.ravel() for name, array in columns.items()}
    cells = pa.table({"q": q, "k": k, **flat, "nonce": np.full(q.size, nonce % 100, np.int8)})
    mark = pa.table({"q": np.array([] if marked_row is None else [marked_row], np.int16)})
    return {"cells": cells, "mark": mark}


def _beside(style: Style, queries: Sequence[str]) -> int:
    """Pixels that the labels of the rows need."""
    return tokens.beside_axis(queries or [""], style.font_size)


def _fitting(style: Style, keys: Sequence[str], room: float) -> int:
    """The widest grid for which there is room, together with what its slanted labels reach beyond it."""
    bands, room = max(len(keys), _FEWEST_BANDS), room - 3 * style.scale  # the ring is a little wider than the grid
    widest, narrowest = int(room), max(int(room) // 3, 1)
    for width in range(widest, narrowest, -2):
        labels = tokens.labels_across(keys or [""], width / bands, style.font_size)
        if width + tokens.beyond_axis(keys, width / bands, labels, bands) <= room:
            return width
    return narrowest


def _default_height(rows: int) -> int:
    """Rows as high as 28 px, smaller when there are many."""
    return max(min(28 * rows, 400), 9 * rows)


@dataclass(frozen=True, slots=True)
class _Grid:
    """What all panels of one chart share. ``width`` is None where the container decides; ``column`` is then a guess."""

    style: Style
    queries: Sequence[str]
    keys: Sequence[str]
    words: Words
    width: int | None
    height: int
    column: float  # pixels
    row: float
    bands: int  # columns that there is room for
    clickable: bool

    def params(self, panel_count: int) -> list[alt.TopLevelParameter]:
        # The selection is always there, whether or not the page listens: it also lets the pointer through to the
        # cells below the other layers.
        select = alt.PointSelectionConfig(type="point", fields=["q", "k", "nonce"], on="click", clear=False)
        views = [f"cells_{index}" for index in range(panel_count)]
        return [
            alt.TopLevelSelectionParameter(name="cell", select=select, views=views),
            tokens.label_table("query_tokens", self.queries),
            tokens.label_table("key_tokens", self.keys),
        ]


def _grid(
    style: Style,
    queries: Sequence[str],
    keys: Sequence[str],
    words: Words | None,
    width: int | None,
    height: int | None,
    expected_width: int,
    clickable: bool,
) -> _Grid:
    for name, count in (("queries", len(queries)), ("keys", len(keys))):
        check_between(name, count, 1, LIMIT)
    height = style.px(height or _default_height(len(queries)))
    bands = max(len(keys), _FEWEST_BANDS)
    column, row = (width or expected_width) / bands, height / len(queries)
    return _Grid(style, queries, keys, words or Words(), width, height, column, row, bands, clickable)


def _panel(grid: _Grid, panel: Panel, index: int = 0) -> alt.LayerChart:
    x = alt.X("k:O", scale=_bands(grid.bands), axis=_axis(grid, "x"))
    y = alt.Y("q:O", scale=_bands(len(grid.queries)), axis=_axis(grid, "y") if index == 0 else None)
    cells = alt.Chart(alt.NamedData("cells"))
    layers = [_fill(cells.properties(name=f"cells_{index}"), grid, panel).encode(x=x, y=y)]
    if panel.mask:
        layers.append(_hatch(cells, grid, panel.mask, x, y))
    small = grid.style.small_size
    if panel.values and len(grid.keys) <= _NUMBERS_UP_TO and grid.column >= 2.5 * small and grid.row >= 1.5 * small:
        layers.append(_numbers(cells, grid.style, panel).encode(x=x, y=y))
    layers += [ring.encode(y=y) for ring in _rings(grid)]
    title = alt.Undefined if not panel.title else panel.title
    return alt.LayerChart(layer=layers, width=grid.width or "container", height=grid.height, title=title)


def _bands(count: int) -> alt.Scale:
    # A given domain spares Vega collecting and sorting it, and a marked row can never add to it.
    return alt.Scale(domain=list(range(count)), padding=0)


def _axis(grid: _Grid, side: Literal["x", "y"]) -> alt.Axis:
    if side == "x":
        title, table, texts = grid.words.column_axis, "key_tokens", grid.keys
        labels = tokens.labels_across(texts, grid.column, grid.style.font_size)
    else:
        title, table, texts = grid.words.row_axis, "query_tokens", grid.queries
        labels = tokens.labels_beside(texts, grid.row, grid.style.font_size)
    slanted: dict[str, Any] = {"labelAlign": "left", "labelBaseline": "middle"} if labels.angle else {}
    band = grid.column if side == "x" else grid.row
    crowded = band < labels.size  # every label would cover the next: leave some out, and write the others larger
    return alt.Axis(
        title=title or None,
        titleAnchor="start" if side == "x" and grid.bands > len(texts) else "middle",
        orient="top" if side == "x" else "left",
        values=list(range(len(texts))),
        labelExpr=f"{table}[datum.value]",
        labelAngle=labels.angle,
        labelFontSize=grid.style.font_size if crowded else labels.size,
        labelLimit=labels.limit,
        labelOverlap=crowded,
        **slanted,
    )


def _fill(cells: alt.Chart, grid: _Grid, panel: Panel) -> alt.Chart:
    style, words = grid.style, grid.words
    masked = f"datum.{panel.mask} == 0" if panel.mask else "false"
    colour: alt.Color | alt.ColorValue
    is_masked = {"test": masked, "value": style.masked}
    if panel.values:
        undefined = {"test": f"!isValid(datum.{panel.values})", "value": style.surface}
        scale = _ramp(style, panel).scale()
        colour = alt.Color(f"{panel.values}:Q", scale=scale, legend=None, condition=[is_masked, undefined])
        said = _number(f"datum.{panel.values}", _EXACT[panel.kind])
    else:
        colour = alt.ColorValue(style.allowed, condition=is_masked)
        said = tokens.quoted(words.allowed)
    tooltip = {
        words.query: "query_tokens[datum.q] + '  ·  ' + (datum.q + 1)",
        words.key: "key_tokens[datum.k] + '  ·  ' + (datum.k + 1)",
        panel.value_word: f"{masked} ? {tokens.quoted(words.masked)} : {said}",
    }
    rect = cells.mark_rect(
        stroke=style.background,
        strokeWidth=1 if min(grid.row, grid.column) >= 14 else 0.5,
        tooltip=alt.expr(tokens.record(tooltip)),
        cursor=hand(grid.clickable),
        invalid="show",
    )
    chart: alt.Chart = rect.encode(color=colour)
    return chart


def _hatch(cells: alt.Chart, grid: _Grid, mask: str, x: alt.X, y: alt.Y) -> alt.Chart:
    half = min(0.26 * min(grid.column, grid.row), 6 * grid.style.scale)  # pixels: a short stroke even in a large cell
    across, down = half / grid.column, half / grid.row
    chart: alt.Chart = (
        cells.transform_filter(f"datum.{mask} == 0")
        .mark_rule(aria=False, stroke=grid.style.hatch, strokeWidth=1)
        .encode(
            x=x.bandPosition(0.5 - across),
            x2=alt.X2("k", bandPosition=0.5 + across),
            y=y.bandPosition(0.5 + down),
            y2=alt.Y2("q", bandPosition=0.5 - down),
        )
    )
    return chart


def _numbers(cells: alt.Chart, style: Style, panel: Panel) -> alt.Chart:
    value = f"datum.{panel.values}"
    ink = _ramp(style, panel).ink(value, style.dark_ink, style.light_ink)
    number = _number(value, _SHORT[panel.kind])
    if panel.kind == "scores":  # "−12.3" is too wide for a cell
        number = f"abs({value}) < 9.95 ? {number} : {_number(value, '.0f')}"
    chart: alt.Chart = cells.mark_text(
        text=alt.expr(f"datum.{panel.mask} == 0 ? '' : {number}" if panel.mask else number),
        fill=alt.expr(f"isValid({value}) ? ({ink}) : '{style.text}'"),
        fontSize=style.small_size,
        invalid="show",
    )
    return chart


def _rings(grid: _Grid) -> list[alt.Chart]:
    style, share = grid.style, len(grid.keys) / grid.bands
    right = grid.width * share if grid.width else alt.expr(f"width * {share:.6g}")
    line = min(2.5 * style.scale, max(grid.row / 8, 1.2))
    return [  # the halo keeps the ring clear of whatever colour the cells have
        alt.Chart(alt.NamedData("mark"))
        .mark_rect(aria=False, filled=False, stroke=stroke, strokeWidth=thickness, strokeJoin="round")
        .encode(x=alt.value(0), x2=alt.value(right))
        for stroke, thickness in ((style.background, 2 * line), (style.accent, line))
    ]


def _ramp(style: Style, panel: Panel) -> Ramp:
    return {"scores": style.scores, "signed": style.signed}.get(panel.kind, replace(style.weights, high=panel.most))


def _number(value: str, form: str) -> str:
    infinite = f"({value} > 0 ? '∞' : '−∞')"
    return f"!isValid({value}) ? 'NaN' : abs({value}) < {_INFINITE / 10} ? format({value}, '{form}') : {infinite}"
