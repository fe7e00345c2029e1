"""Columns of symbols: a column for each of several things and one for all together, a symbol for each measure of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.series import NAME, colour_and_shape, names
from core.charts.theme import Style, hand, themed
from core.checks import check_between

ALL = 999
"""The place of the column behind all others: what the things are together."""


@dataclass(frozen=True, slots=True)
class ColumnWords:
    """What the chart says, in the reader's language."""

    axis: str = "rank"
    places: str = "head"
    together: str = "all"


def columns(
    style: Style,
    series: Sequence[str],
    *,
    most: int,
    words: ColumnWords | None = None,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    legend_columns: int = 3,
    height: int = 240,
) -> alt.LayerChart:
    """Columns of symbols on a logarithmic axis from 1 to ``most``, powers of two labelled; an outline marks a column.

    Datasets: "dots" (p: int16; s: int8; value: float32), "columns" (p: int16; nonce: int8) and "mark" (p: int16), from
    :func:`columns_data`. Selection: "column", with fields p and nonce. There are as many columns as the data have.
    ``width`` is the plot's, ``outer_width`` that with its axis; without either it fills its container.
    Raises: ValueError if there are no series, or more than there are symbols.
    """
    colour, shape = colour_and_shape(style, len(series), legend_columns=legend_columns)
    words = words or ColumnWords()
    if outer_width:
        width = outer_width - tokens.beside_axis([str(most)], style.font_size)
    x = alt.X("p:O", scale=alt.Scale(paddingInner=0.12, paddingOuter=0.06), axis=_places(words))
    powers = [2**exponent for exponent in range(most.bit_length())]
    scale = alt.Scale(type="log", base=2, domain=[0.9, 1.1 * most], nice=False, clamp=True)
    y = alt.Y("value:Q", scale=scale, axis=alt.Axis(title=words.axis, values=powers, format="~g"))
    tooltip = {
        words.places: _name("datum.p", words),
        "·": NAME,
        words.axis: "format(datum.value, '.4~g')",
    }
    beside = alt.XOffset("s:N", scale=alt.Scale(domain=list(range(len(series)))))  # equal values would cover each other
    dots = alt.Chart(alt.NamedData("dots")).mark_point(
        filled=True, size=40 * style.scale, opacity=1, tooltip=alt.expr(tokens.record(tooltip))
    )
    area = alt.Chart(alt.NamedData("columns")).mark_rect(fill=style.surface, cursor=hand(True))
    mark = alt.Chart(alt.NamedData("mark")).mark_rect(filled=False, stroke=style.accent, strokeWidth=2 * style.scale)
    select = alt.PointSelectionConfig(type="point", fields=["p", "nonce"], on="click", clear=False)
    return themed(
        alt.LayerChart(
            layer=[
                area.properties(name="columns").encode(x=x.bandPosition(0), x2=alt.X2("p", bandPosition=1)),
                mark.encode(x=x.bandPosition(0), x2=alt.X2("p", bandPosition=1)),
                dots.encode(x=x, y=y, color=colour, shape=shape, xOffset=beside),
            ],
            params=[
                alt.TopLevelSelectionParameter(name="column", select=select, views=["columns"]),
                names(series),
            ],
            width=width or "container",
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def columns_data(
    values: npt.ArrayLike, *, together: Sequence[float] = (), marked: int | None = None, nonce: int = 0
) -> dict[str, pa.Table]:
    """The data of :func:`columns`: values of shape (things, measures), and the measures of all together, if there are.

    Raises: ValueError if the shapes do not fit, or there is no such thing to mark.
    """
    array = np.asarray(values, np.float32)
    if array.ndim != 2 or len(together) not in (0, array.shape[1]):
        raise ValueError(f"values {array.shape} must be (things, measures), together ({len(together)}) as many")
    if marked is not None:
        check_between("marked", marked, 0, len(array) - 1)
    places = np.arange(len(array), dtype=np.int16)
    if together:
        array, places = np.vstack([array, np.asarray(together, np.float32)]), np.append(places, np.int16(ALL))
    count = array.shape[1]
    series = np.tile(np.arange(count, dtype=np.int8), len(places))
    return {
        "dots": pa.table({"p": np.repeat(places, count), "s": series, "value": array.ravel()}),
        "columns": pa.table({"p": places, "nonce": np.full(len(places), nonce % 100, np.int8)}),
        "mark": pa.table({"p": np.array([] if marked is None else [marked], np.int16)}),
    }


def _name(place: str, words: ColumnWords) -> str:
    """A Vega expression: what a column is called."""
    return f"{place} == {ALL} ? {tokens.quoted(words.together)} : {place} + 1"


def _places(words: ColumnWords) -> alt.Axis:
    return alt.Axis(title=words.places, labelExpr=_name("datum.value", words), labelAngle=0, labelOverlap=False)
