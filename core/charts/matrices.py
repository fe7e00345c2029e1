"""Matrices of one computation in a row: equal rows, different columns, each with its shape written above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.colour import Ramp
from core.charts.theme import Style, hand, themed
from core.checks import check_between

MOST = 100  # rows, and columns: a cell is told by one number, matrix · 10 000 + row · 100 + column

Kind = Literal["features", "scores", "weights"]

_FEATURES = 3.0  # the colours of features end at ± this
_SPACING = 16
_SHORT = {"features": ".1f", "scores": ".1f", "weights": ".2f"}


@dataclass(frozen=True, slots=True)
class Matrix:
    """One of the matrices; ``name`` is that of its dataset."""

    name: str
    title: str
    shape: str  # as it is written above
    columns: int  # that are drawn
    kind: Kind
    follows_query: bool  # whether the query's row is outlined: keys and values are read as a whole
    of_keys: bool = False  # whether its columns are the tokens


@dataclass(frozen=True, slots=True)
class MatrixWords:
    """What the tooltip says, in the reader's language."""

    row: str = "token"
    key: str = "key"
    feature: str = "feature"
    value: str = "value"


def matrices(
    style: Style,
    rows: Sequence[str],
    shown: Sequence[Matrix],
    *,
    words: MatrixWords | None = None,
    outer_width: int = 1065,
    height: int = 170,
    clickable: bool = True,
) -> alt.HConcatChart:
    """Matrices side by side, the row labels written once; ``outer_width`` includes these labels.

    Datasets: one for each matrix (cell: int32; q, k: int16; value: float32; nonce: int8), "mark" (q: int16) and
    "picked" (m: int8; q, k: int16), from :func:`matrices_data`. Selection: "cell", with fields cell and nonce; see
    :func:`read_cell`.
    Raises: ValueError if there are no rows or matrices, or more rows or columns than MOST.
    """
    if not shown:
        raise ValueError("shown must hold at least one matrix")
    for name, count in (("rows", len(rows)), *((f"columns of {matrix.name}", matrix.columns) for matrix in shown)):
        check_between(name, count, 1, MOST)
    gutter = min(max(tokens.text_width(text, style.font_size) for text in rows), 9 * style.font_size) + 12
    ring = 4 * style.scale  # half of its line stands out on either side of a matrix
    width = (outer_width - gutter - ring - (_SPACING + ring) * (len(shown) - 1)) / len(shown)
    row = _Row(style, rows, words or MatrixWords(), max(int(width), 20), style.px(height), clickable)
    select = alt.PointSelectionConfig(type="point", fields=["cell", "nonce"], on="click", clear=False)
    views = [f"cells_{index}" for index in range(len(shown))]
    chart = alt.HConcatChart(
        hconcat=[_matrix(row, matrix, index) for index, matrix in enumerate(shown)],
        params=[
            alt.TopLevelSelectionParameter(name="cell", select=select, views=views),
            tokens.label_table("row_tokens", rows),
        ],
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(color="independent")),
        spacing=_SPACING,
    )
    return themed(chart, style)


def matrices_data(
    values: Mapping[str, npt.ArrayLike],
    *,
    marked_row: int | None = None,
    picked: tuple[str, int, int] | None = None,
    nonce: int = 0,
) -> dict[str, pa.Table]:
    """The data of :func:`matrices`: arrays of shape (rows, columns) by name, in the order of the picture.

    picked: a cell to outline: matrix, row, column.
    Raises: ValueError if an array is not 2-D, or the rows differ.
    """
    arrays = {name: np.asarray(array, np.float32) for name, array in values.items()}
    if any(array.ndim != 2 for array in arrays.values()) or len({array.shape[0] for array in arrays.values()}) > 1:
        named = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"arrays ({named}) must be 2-D and have equally many rows")
    frames = {}
    for number, (name, array) in enumerate(arrays.items()):
        q, k = (index.ravel() for index in np.indices(array.shape))
        frames[name] = pa.table(
            {
                "cell": (10_000 * number + 100 * q + k).astype(np.int32),
                "q": q.astype(np.int16),
                "k": k.astype(np.int16),
                "value": array.ravel(),
                "nonce": np.full(array.size, nonce % 100, np.int8),
            }
        )
    cell = [] if picked is None else [(list(arrays).index(picked[0]), *picked[1:])]
    frames["mark"] = pa.table({"q": np.array([] if marked_row is None else [marked_row], np.int16)})
    frames["picked"] = pa.table(
        {"m": np.array([m for m, _, _ in cell], np.int8)}
        | {name: np.array([place[1 + i] for place in cell], np.int16) for i, name in enumerate("qk")}
    )
    return frames


def read_cell(cell: int) -> tuple[int, int, int]:
    """Which cell was clicked: the matrix's place in the row, its row and its column.

    >>> read_cell(30104)
    (3, 1, 4)
    """
    return cell // 10_000, cell // 100 % 100, cell % 100


@dataclass(frozen=True, slots=True)
class _Row:
    """What all matrices of one chart share; lengths in pixels."""

    style: Style
    rows: Sequence[str]
    words: MatrixWords
    width: int
    height: int
    clickable: bool


def _matrix(row: _Row, matrix: Matrix, index: int) -> alt.LayerChart:
    style = row.style
    x = alt.X("k:O", scale=alt.Scale(domain=list(range(matrix.columns)), padding=0), axis=_keys_axis(row, matrix))
    y = alt.Y("q:O", scale=alt.Scale(domain=list(range(len(row.rows))), padding=0), axis=_rows_axis(row, index))
    data = alt.Chart(alt.NamedData(matrix.name))
    layers: list[alt.Chart] = [_cells(row, matrix, data.properties(name=f"cells_{index}")).encode(x=x, y=y)]
    column, line = row.width / matrix.columns, row.height / len(row.rows)
    if column >= 2.5 * style.small_size and line >= 1.4 * style.small_size:
        number = data.mark_text(
            text=alt.expr(f"format(datum.value, '{_SHORT[matrix.kind]}')"),
            fill=alt.expr(_ramp(style, matrix.kind).ink("datum.value", style.dark_ink, style.light_ink)),
            fontSize=style.small_size,
        )
        layers.append(number.encode(x=x, y=y))
    if matrix.follows_query:
        mark = alt.Chart(alt.NamedData("mark"))
        layers += [
            mark.mark_rect(filled=False, stroke=stroke, strokeWidth=thickness).encode(
                x=alt.value(0), x2=alt.value(row.width), y=y
            )
            for stroke, thickness in ((style.background, 4 * style.scale), (style.accent, 2 * style.scale))
        ]
    picked = alt.Chart(alt.NamedData("picked")).transform_filter(f"datum.m == {index}")
    layers.append(picked.mark_rect(filled=False, stroke=style.text, strokeWidth=2.5 * style.scale).encode(x=x, y=y))
    title = alt.TitleParams(
        text=matrix.title,
        subtitle=matrix.shape,
        subtitleFont=style.font,
        subtitleFontSize=style.font_size,
        subtitleColor=style.muted,
        subtitlePadding=2,
        limit=row.width,
    )
    return alt.LayerChart(layer=layers, width=row.width, height=row.height, title=title)


def _cells(row: _Row, matrix: Matrix, data: alt.Chart) -> alt.Chart:
    words = row.words
    column = "row_tokens[datum.k] + '  ·  ' + (datum.k + 1)" if matrix.of_keys else "datum.k + 1"
    tooltip = {
        words.row: "row_tokens[datum.q] + '  ·  ' + (datum.q + 1)",
        words.key if matrix.of_keys else words.feature: column,
        words.value: "format(datum.value, '.4f')",
    }
    small = min(row.width / matrix.columns, row.height / len(row.rows)) < 14
    chart: alt.Chart = data.mark_rect(
        stroke=row.style.background,
        strokeWidth=0.5 if small else 1,
        tooltip=alt.expr(tokens.record(tooltip)),
        cursor=hand(row.clickable),
    ).encode(color=alt.Color("value:Q", scale=_ramp(row.style, matrix.kind).scale(), legend=None))
    return chart


def _ramp(style: Style, kind: Kind) -> Ramp:
    if kind == "weights":
        return style.weights
    return style.scores if kind == "scores" else Ramp(-_FEATURES, _FEATURES, style.scores.colours)


def _rows_axis(row: _Row, index: int) -> alt.Axis | None:
    if index > 0:
        return None
    labels = tokens.labels_beside(row.rows, row.height / len(row.rows), row.style.font_size)
    return alt.Axis(
        title=None,
        values=list(range(len(row.rows))),
        labelExpr="row_tokens[datum.value]",
        labelFontSize=labels.size,
        labelLimit=labels.limit,
        labelOverlap=False,
    )


def _keys_axis(row: _Row, matrix: Matrix) -> alt.Axis | None:
    """Below the matrix, so that all titles stand on one line."""
    if not matrix.of_keys:
        return None
    labels = tokens.labels_across(row.rows, row.width / matrix.columns, row.style.font_size)
    return alt.Axis(
        title=None,
        orient="bottom",
        values=list(range(len(row.rows))),
        labelExpr="row_tokens[datum.value]",
        labelAngle=-90 if labels.angle else 0,
        labelAlign="right" if labels.angle else "center",
        labelBaseline="middle" if labels.angle else "top",
        labelFontSize=min(labels.size, 11 * row.style.scale),
        labelLimit=5 * row.style.font_size,
        labelOverlap=False,
    )
