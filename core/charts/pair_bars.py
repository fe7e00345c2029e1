"""What each pair of dimensions adds to a score."""

from __future__ import annotations

from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, hand, themed
from core.checks import check_between, check_sizes


@dataclass(frozen=True, slots=True)
class PairWords:
    """What the bars say, in the reader's language."""

    pair: str = "pair of dimensions"
    value: str = "adds to the score"


def pair_bars(
    style: Style,
    count: int,
    *,
    limit: float,
    words: PairWords | None = None,
    title: str | None = None,
    width: int = 300,
    outer_width: int | None = None,
    height: int = 250,
) -> alt.LayerChart:
    """What each of ``count`` pairs adds to a score, from −limit to limit; the chosen one in the accent's colour.

    Dataset: "pairs" (i: int16; value: float32; chosen, nonce: int8), from :func:`pair_bars_data`. Selection: "pair",
    with fields i and nonce. ``width`` is that of the plot, ``outer_width`` that of the plot with its axis.
    Raises: ValueError if count is less than 1, or limit is not above 0.
    """
    check_sizes(count=count)
    if limit <= 0:
        raise ValueError(f"limit ({limit}) must be above 0")
    words = words or PairWords()
    if outer_width:
        width = outer_width - tokens.beside_axis(["-0.5"], style.font_size)
    step = next(step for step in (1, 2, 4, 8, 16, count) if step * 14 >= count)
    axis = alt.Axis(title=words.pair, values=list(range(0, count, step)), labelAngle=0)
    x = alt.X("i:O", scale=alt.Scale(domain=list(range(count)), paddingInner=0.25, paddingOuter=0.1), axis=axis)
    y = alt.Y(
        "value:Q",
        scale=alt.Scale(domain=[-limit, limit], clamp=True),
        axis=alt.Axis(title=words.value, tickCount=5, format="~r", grid=True),
    )
    data = alt.Chart(alt.NamedData("pairs"))
    tooltip = {words.pair: "datum.i", words.value: "format(datum.value, '.6f')"}
    column = data.properties(name="pairs").mark_rect(
        fill=style.background, fillOpacity=0, tooltip=alt.expr(tokens.record(tooltip)), cursor=hand(True)
    )
    bar = data.mark_bar(fill=alt.expr(f"datum.chosen ? '{style.accent}' : '{style.primary}'"))
    mark = data.transform_filter("datum.chosen == 1").mark_text(
        text="▼", fill=style.accent, fontSize=style.font_size, baseline="top"
    )
    layers = [
        column.encode(x=x, y=alt.value(0), y2=alt.value("height")),
        bar.encode(x=x, y=y, y2=alt.datum(0)),
        mark.encode(x=x, y=alt.value(0)),
    ]
    select = alt.PointSelectionConfig(type="point", fields=["i", "nonce"], on="click", clear=False)
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[alt.TopLevelSelectionParameter(name="pair", select=select, views=["pairs"])],
            width=width,
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def pair_bars_data(values: npt.ArrayLike, *, chosen: int, nonce: int = 0) -> dict[str, pa.Table]:
    """The data of :func:`pair_bars`: one value for each pair, (count,).

    Raises: ValueError if values are not of one dimension, or chosen is not one of the pairs.
    """
    value = np.asarray(values, np.float32)
    if value.ndim != 1:
        raise ValueError(f"values {value.shape} must be (count,)")
    check_between("chosen", chosen, 0, value.size - 1)
    pair = np.arange(value.size, dtype=np.int16)
    return {
        "pairs": pa.table(
            {
                "i": pair,
                "value": value,
                "chosen": (pair == chosen).astype(np.int8),
                "nonce": np.full(value.size, nonce % 100, np.int8),
            }
        )
    }
