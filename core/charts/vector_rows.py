"""Vectors below each other: a row for each, its numbers in the cells, dimensions counted from 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.colour import Ramp
from core.charts.theme import Style, themed
from core.checks import check_sizes

_STRONGEST = 2.0  # the colours end at ± this


@dataclass(frozen=True, slots=True)
class VectorWords:
    """What the chart says, in the reader's language."""

    vector: str = "vector"
    dimension: str = "dimension"
    value: str = "value"


def vector_rows(
    style: Style,
    rows: Sequence[str],
    count: int,
    *,
    words: VectorWords | None = None,
    title: str | None = None,
    width: int = 500,
    outer_width: int | None = None,
    height: int | None = None,
) -> alt.LayerChart:
    """Vectors of ``count`` dimensions, coloured about 0.

    Dataset: "vectors" (r, d: int16; value: float32), from :func:`vector_rows_data`. ``outer_width`` is that of the grid
    with the names of the rows.
    Raises: ValueError if there are no rows, or count is less than 1.
    """
    if not rows:
        raise ValueError("rows must hold at least one name")
    check_sizes(count=count)
    words = words or VectorWords()
    if outer_width:
        width = outer_width - tokens.beside_axis(rows, style.font_size)
    x = alt.X(
        "d:O",
        scale=alt.Scale(domain=list(range(count)), padding=0),
        axis=alt.Axis(title=words.dimension, orient="top", labelAngle=0),
    )
    names = alt.Axis(
        title=None, values=list(range(len(rows))), labelExpr="vector_names[datum.value]", labelLimit=9 * style.font_size
    )
    y = alt.Y("r:O", scale=alt.Scale(domain=list(range(len(rows))), padding=0), axis=names)
    ramp = Ramp(-_STRONGEST, _STRONGEST, style.scores.colours)
    tooltip = {
        words.vector: "vector_names[datum.r]",
        words.dimension: "datum.d",
        words.value: "format(datum.value, '.6f')",
    }
    data = alt.Chart(alt.NamedData("vectors"))
    cell = data.mark_rect(stroke=style.background, strokeWidth=1, tooltip=alt.expr(tokens.record(tooltip)))
    number = data.mark_text(
        text=alt.expr("format(datum.value, '.2f')"),
        fill=alt.expr(ramp.ink("datum.value", style.dark_ink, style.light_ink)),
        fontSize=style.small_size,
    )
    return themed(
        alt.LayerChart(
            layer=[
                cell.encode(x=x, y=y, color=alt.Color("value:Q", scale=ramp.scale(), legend=None)),
                number.encode(x=x, y=y),
            ],
            params=[tokens.label_table("vector_names", rows)],
            width=width,
            height=style.px(height or 28 * len(rows)),
            title=title or alt.Undefined,
        ),
        style,
    )


def vector_rows_data(values: npt.ArrayLike) -> dict[str, pa.Table]:
    """The data of :func:`vector_rows`: values of shape (rows, count).

    Raises: ValueError if the shape does not fit.
    """
    array = np.asarray(values, np.float32)
    if array.ndim != 2:
        raise ValueError(f"values {array.shape} must be (rows, count)")
    r, d = (index.ravel().astype(np.int16) for index in np.indices(array.shape))
    return {"vectors": pa.table({"r": r, "d": d, "value": array.ravel()})}
