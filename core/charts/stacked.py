"""Stacked bars: several quantities, each whole split among the same parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.colour import contrast
from core.charts.theme import Style, themed

_NAMED = 0.07  # a part at least so large has its name in it


@dataclass(frozen=True, slots=True)
class StackedWords:
    """What the chart says, in the reader's language."""

    row: str = "quantity"
    part: str = "part"
    value: str = "value"
    share: str = "share"


def stacked(
    style: Style,
    rows: Sequence[str],
    parts: Sequence[str],
    *,
    totals: float = 6,
    words: StackedWords | None = None,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    row_height: int = 34,
) -> alt.LayerChart:
    """A bar for every row, all of one length, cut into its parts; the whole stands behind it.

    totals: room for the wholes at the right, in font sizes.
    Datasets, from :func:`stacked_data`: "segments" (row: int16; part: int8; from, to: float32; value: float64; text:
    str) and "totals" (row: int16; text: str).
    Raises: ValueError if there are no rows, no parts, or more parts than colours.
    """
    if not rows:
        raise ValueError("rows must hold at least one name")
    if not 1 <= len(parts) <= len(style.categorical):
        raise ValueError(f"parts ({len(parts)} names) must hold from 1 to {len(style.categorical)} names")
    words = words or StackedWords()
    if outer_width:
        width = outer_width - tokens.beside_axis(rows, style.font_size) - round(totals * style.font_size)
    numbers = list(range(len(parts)))
    legend = alt.Legend(
        title=None,
        orient="top",
        direction="horizontal",
        columns=len(parts),
        labelExpr="stacked_parts[datum.value]",
        labelFont=style.font,
        labelFontSize=style.font_size,
        labelColor=style.text,
        labelLimit=0,
        symbolType="square",
        symbolSize=90 * style.scale,
        symbolStrokeWidth=0,
        columnPadding=12 * style.scale,
        offset=4,
    )
    colours = style.categorical[: len(parts)]
    colour = alt.Color("part:N", scale=alt.Scale(domain=numbers, range=list(colours)), legend=legend)
    axis = alt.Axis(
        title=None, labelExpr="stacked_rows[datum.value]", labelLimit=tokens.LIMIT * style.font_size, labelOverlap=False
    )
    y = alt.Y("row:O", scale=alt.Scale(domain=list(range(len(rows))), paddingInner=0.3, paddingOuter=0.1), axis=axis)
    span = alt.Scale(domain=[0, 1], nice=False)
    tooltip = {
        words.row: "stacked_rows[datum.row]",
        words.part: "stacked_parts[datum.part]",
        words.value: "datum.text",
        words.share: "format(datum.to - datum.from, '.1%')",
    }
    segments = alt.Chart(alt.NamedData("segments"))
    bar = segments.mark_bar(
        stroke=style.background, strokeWidth=style.scale, tooltip=alt.expr(tokens.record(tooltip))
    ).encode(y=y, x=alt.X("from:Q", scale=span, axis=None), x2="to:Q", color=colour)
    dark = "[" + ", ".join("1" if _reads_better_dark(one, style) else "0" for one in colours) + "]"
    name = (
        segments.transform_filter(f"datum.to - datum.from >= {_NAMED}")
        .transform_calculate(middle="(datum.from + datum.to) / 2")
        .mark_text(
            text=alt.expr("format(datum.to - datum.from, '.0%')"),
            fill=alt.expr(f"{dark}[datum.part] ? '{style.dark_ink}' : '{style.light_ink}'"),
            fontSize=style.font_size,
            aria=False,
        )
        .encode(y=y, x=alt.X("middle:Q", scale=span, axis=None))
    )
    whole = (
        alt.Chart(alt.NamedData("totals"))
        .mark_text(align="left", dx=6, text=alt.expr("datum.text"), fontWeight=600)
        .encode(y=y, x=alt.value(width or "width"))
    )
    return themed(
        alt.LayerChart(
            layer=[bar, name, whole],
            params=[tokens.label_table("stacked_rows", rows), tokens.label_table("stacked_parts", parts)],
            width=width or "container",
            height=style.px(row_height * len(rows)),
            title=title or alt.Undefined,
        ),
        style,
    )


def _reads_better_dark(colour: str, style: Style) -> bool:
    return contrast(style.dark_ink, colour) >= contrast(style.light_ink, colour)


def stacked_data(values: npt.ArrayLike, texts: Sequence[Sequence[str]], totals: Sequence[str]) -> dict[str, pa.Table]:
    """The data of :func:`stacked`: numbers, 0 or more, of shape (rows, parts), how they are written, and the wholes.

    Raises: ValueError if shapes do not fit, or a number is negative or not finite.
    """
    table = np.asarray(values, np.float64)
    if table.ndim != 2 or table.shape != np.asarray(texts, object).shape or len(totals) != len(table):
        raise ValueError(f"values {table.shape}, texts and totals ({len(totals)}) must be of as many rows and parts")
    if not (np.isfinite(table).all() and (table >= 0).all()):
        raise ValueError("values must be finite and not negative")
    whole = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, whole, out=np.zeros_like(table), where=whole > 0)
    ends = shares.cumsum(axis=1)
    row, part = (index.ravel() for index in np.indices(table.shape))
    seen = table.ravel() > 0
    segments = {
        "row": row.astype(np.int16),
        "part": part.astype(np.int8),
        "from": (ends - shares).ravel().astype(np.float32),
        "to": ends.ravel().astype(np.float32),
        "value": table.ravel(),
        "text": np.asarray(texts, object).ravel(),
    }
    return {
        "segments": pa.table({name: column[seen] for name, column in segments.items()}),
        "totals": pa.table({"row": np.arange(len(table), dtype=np.int16), "text": list(totals)}),
    }
