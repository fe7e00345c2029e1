"""One attention map of more cells than a browser can draw one by one: an image, with rows that can be clicked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.heatmaps import Words
from core.charts.png import MASKED, picture, shades
from core.charts.theme import Style, hand, themed
from core.checks import check_between

_EXACT = alt.AutoSizeParams(type="pad", contains="padding")
"""The image is as large as it was made, and so must be what lies over it."""


def large_map(
    style: Style,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    words: Words | None = None,
    title: str | None = None,
    outer_width: int = 900,
    height: int = 430,
    clickable: bool = True,
) -> alt.LayerChart:
    """Rows are queries, columns are keys; a row tells of its largest weight, and can be clicked.

    Datasets: "image" (url: str), "rows" (q, k: int16; weight: float32; nonce: int8) and "mark" (q: int16), from
    :func:`large_map_data`. Selection: "cell", with fields q and nonce.
    Raises: ValueError if there are no tokens on a side.
    """
    if not queries or not keys:
        raise ValueError(f"queries ({len(queries)}) and keys ({len(keys)}) must hold at least one token")
    words = words or Words()
    width, high = outer_width - tokens.beside_axis(queries, style.font_size), style.px(height)
    y = alt.Y("q:O", scale=_bands(len(queries)), axis=_axis(words.row_axis, "query_tokens", "left", style))
    keys_axis = _axis(words.column_axis, "key_tokens", "top", style)
    x = alt.X("k:O", scale=_bands(len(keys)), axis=keys_axis)
    image = (
        alt.Chart(alt.NamedData("image"))
        .mark_image(width=width, height=high, aspect=False, smooth=False)
        .encode(x=alt.value(width / 2), y=alt.value(high / 2), url="url:N")
    )
    tooltip = {
        words.query: "query_tokens[datum.q] + '  ·  ' + (datum.q + 1)",
        words.key: "key_tokens[datum.k] + '  ·  ' + (datum.k + 1)",
        words.value: "format(datum.weight, '.4f')",
    }
    rows = alt.Chart(alt.NamedData("rows"))
    columns = rows.mark_point(opacity=0, aria=False).encode(x=x, y=y)
    row = (
        rows.properties(name="rows")
        .mark_rect(
            fill=style.background, fillOpacity=0, tooltip=alt.expr(tokens.record(tooltip)), cursor=hand(clickable)
        )
        .encode(y=y, x=alt.value(0), x2=alt.value("width"))
    )
    ring = [
        alt.Chart(alt.NamedData("mark"))
        .mark_rect(filled=False, stroke=stroke, strokeWidth=thickness)
        .encode(y=y, x=alt.value(0), x2=alt.value("width"))
        for stroke, thickness in ((style.background, 3.5 * style.scale), (style.accent, 1.8 * style.scale))
    ]
    select = alt.PointSelectionConfig(type="point", fields=["q", "nonce"], on="click", clear=False)
    chart = themed(
        alt.LayerChart(
            layer=[image, columns, *ring, row],
            params=[
                alt.TopLevelSelectionParameter(name="cell", select=select, views=["rows"]),
                tokens.label_table("query_tokens", queries),
                tokens.label_table("key_tokens", keys),
            ],
            width=width,
            height=high,
            title=title or alt.Undefined,
        ),
        style,
    )
    return chart.properties(autosize=_EXACT)


def large_map_data(
    style: Style,
    weights: npt.ArrayLike,
    *,
    attend_mask: npt.ArrayLike | None = None,
    marked_row: int | None = None,
    nonce: int = 0,
) -> dict[str, pa.Table]:
    """The data of :func:`large_map`: weights of shape (queries, keys), mask True = may attend.

    Raises: ValueError if the shape or the marked row does not fit.
    """
    array = np.asarray(weights, np.float32)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"weights {array.shape} must be (queries, keys), with at least one of each")
    count = len(array)
    if marked_row is not None:
        check_between("marked_row", marked_row, 0, count - 1)
    pixels = shades(array, style.weights)
    if attend_mask is not None:
        pixels = np.where(np.asarray(attend_mask, bool), pixels, np.uint8(MASKED))
    strongest = array.argmax(axis=1)
    rows: dict[str, npt.NDArray[Any]] = {
        "q": np.arange(count, dtype=np.int16),
        "k": strongest.astype(np.int16),
        "weight": array[np.arange(count), strongest],
        "nonce": np.full(count, nonce % 100, np.int8),
    }
    return {
        "image": pa.table({"url": [picture(pixels, style.weights, style.masked)]}),
        "rows": pa.table(rows),
        "mark": pa.table({"q": np.array([] if marked_row is None else [marked_row], np.int16)}),
    }


def _bands(count: int) -> alt.Scale:
    return alt.Scale(domain=list(range(count)), padding=0)


def _axis(title: str, table: str, side: Literal["top", "left"], style: Style) -> alt.Axis:
    """Where there is no room for all labels, some are left out."""
    slanted: dict[str, Any] = {"labelAngle": -90} if side == "top" else {}
    return alt.Axis(
        title=title or None,
        orient=side,
        labelExpr=f"{table}[datum.value]",
        labelLimit=tokens.LIMIT * style.font_size,
        labelOverlap=True,
        **slanted,
    )
