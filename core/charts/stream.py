"""The residual stream: how large it is between the blocks of a network, and how large what each of them adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, themed
from core.checks import check_between


@dataclass(frozen=True, slots=True)
class StreamWords:
    """What the chart says, in the reader's language."""

    axis: str = "length of the vector"
    block: str = "block"
    before: str = "stream before the block"
    added: str = "added by the block"
    after: str = "stream after it"


def stream(
    style: Style,
    blocks: Sequence[str],
    *,
    most: float,
    words: StreamWords | None = None,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    height: int = 150,
) -> alt.LayerChart:
    """A bar for what each block adds, a line for the stream behind it; thin strokes from the smallest to the largest.

    most: where the axis ends.
    Dataset: "steps" (b: int16; before, added, added_low, added_high, after: float32), from :func:`stream_data`.
    Raises: ValueError if there are no blocks.
    """
    if not blocks:
        raise ValueError("blocks must hold at least one name")
    words = words or StreamWords()
    if outer_width:
        width = outer_width - tokens.beside_axis([f"{most:.0f}"], style.font_size)
    column = (width or 500) / len(blocks)
    labels = tokens.labels_across(blocks, column, style.font_size)
    axis = alt.Axis(
        title=None,
        values=list(range(len(blocks))),
        labelExpr="stream_blocks[datum.value]",
        labelAngle=labels.angle,
        labelFontSize=labels.size,
        labelLimit=labels.limit,
        labelOverlap=False,
    )
    x = alt.X("b:O", scale=alt.Scale(domain=list(range(len(blocks))), paddingInner=0.45, paddingOuter=0.3), axis=axis)
    scale = alt.Scale(domain=[0, most], clamp=True, nice=False)
    up = alt.Axis(title=words.axis, tickCount=4, grid=True)
    tooltip = {
        words.block: "stream_blocks[datum.b]",
        words.before: "format(datum.before, '.2f')",
        words.added: "format(datum.added, '.2f')"
        " + '  (' + format(datum.added_low, '.2f') + ' – ' + format(datum.added_high, '.2f') + ')'",
        words.after: "format(datum.after, '.2f')",
    }
    legend = alt.Legend(
        title=None, orient="top", direction="horizontal", labelFont=style.font, labelFontSize=style.font_size,
        labelColor=style.text, labelLimit=0, symbolOpacity=1, offset=2,
    )  # fmt: skip
    named = alt.Scale(domain=[words.added, words.after], range=[style.categorical[0], style.categorical[1]])
    data = alt.Chart(alt.NamedData("steps"))
    column_area = data.mark_rect(fill=style.background, fillOpacity=0, tooltip=alt.expr(tokens.record(tooltip)))
    bar = data.transform_calculate(what=tokens.quoted(words.added)).mark_bar(aria=False)
    line = data.transform_calculate(what=tokens.quoted(words.after))
    y = alt.Y("added:Q", scale=scale, axis=up)
    which = alt.Color("what:N", scale=named, legend=legend)
    layers = [
        bar.encode(x=x, y=y, y2=alt.datum(0), color=which),
        data.mark_rule(stroke=style.text, strokeWidth=1.2 * style.scale, aria=False).encode(
            x=x, y=alt.Y("added_low:Q"), y2="added_high:Q"
        ),
        line.mark_line(strokeWidth=2 * style.scale, clip=True, aria=False).encode(
            x=x, y=alt.Y("after:Q"), color=which, order="b:Q"
        ),
        line.mark_point(filled=True, size=46 * style.scale, opacity=1, aria=False).encode(
            x=x, y=alt.Y("after:Q"), color=which
        ),
        column_area.encode(x=x, y=alt.value(0), y2=alt.value("height")),
    ]
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[tokens.label_table("stream_blocks", blocks)],
            width=width or "container",
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def stream_data(
    before: npt.ArrayLike, added: npt.ArrayLike, after: npt.ArrayLike, *, token: int | None = None
) -> dict[str, pa.Table]:
    """The data of :func:`stream`: lengths of vectors, of shape (blocks, tokens); the means, or those of one token.

    Raises: ValueError if the shapes differ, or there is no such token.
    """
    tables = [np.asarray(each, np.float32) for each in (before, added, after)]
    if tables[0].ndim != 2 or len({table.shape for table in tables}) > 1:
        shapes = ", ".join(str(table.shape) for table in tables)
        raise ValueError(f"before, added and after ({shapes}) must have one shape (blocks, tokens)")
    blocks, count = tables[0].shape
    if token is not None:
        check_between("token", token, 0, count - 1)
    shown = [table.mean(axis=1) if token is None else table[:, token] for table in tables]
    return {
        "steps": pa.table(
            {
                "b": np.arange(blocks, dtype=np.int16),
                "before": shown[0],
                "added": shown[1],
                "added_low": tables[1].min(axis=1),
                "added_high": tables[1].max(axis=1),
                "after": shown[2],
            }
        )
    }
