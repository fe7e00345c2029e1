"""How probabilities move: for every token a bar before, and one after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import altair as alt
import numpy as np
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, themed
from core.checks import check_sizes

_END = 8  # pixels left at the right


class ShiftLike(Protocol):
    """What a pair of bars needs to know: ``core.heads_off.Shift`` has it."""

    @property
    def token(self) -> str: ...
    @property
    def before(self) -> float: ...
    @property
    def after(self) -> float: ...


@dataclass(frozen=True, slots=True)
class ShiftWords:
    """What the chart says, in the reader's language."""

    axis: str = "probability of being next"
    token: str = "token"
    before: str = "before"
    after: str = "after"


def shifts(
    style: Style,
    *,
    count: int = 8,
    words: ShiftWords | None = None,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    height: int | None = None,
) -> alt.LayerChart:
    """`count` lines, each with an open bar for before, a filled one for after, and both numbers; a legend is on top.

    Dataset: "shifts" (row: int16; token: str; before, after: float32), from :func:`shifts_data`.
    Without a width it fills its container.
    Raises: ValueError if count is less than 1.
    """
    check_sizes(count=count)
    words, width = words or ShiftWords(), width or outer_width
    gutter, end = round(8 * style.font_size), round(8.5 * style.font_size)  # room for the token, and for the numbers
    room = width - end if width else alt.expr(f"width - {end}")
    lines = alt.Scale(domain=list(range(count)), paddingInner=0.3, paddingOuter=0.1)
    row = alt.Y("row:O", scale=lines, axis=None)
    share = alt.Scale(domain=[0, 1], range=[gutter, room], clamp=True)
    axis = alt.Axis(title=words.axis, values=[0, 0.5, 1], format=".1f", grid=True)
    data = alt.Chart(alt.NamedData("shifts"))
    tooltip = {words.token: "datum.token"} | {
        name: f"format(datum.{field}, '.4f')" for name, field in ((words.before, "before"), (words.after, "after"))
    }
    hover = alt.expr(tokens.record(tooltip))
    before = data.mark_rect(
        fill=style.background, fillOpacity=0, stroke=style.muted, strokeDash=[3, 2], strokeWidth=1.3 * style.scale,
        tooltip=hover,
    ).encode(
        y=alt.Y("row:O", scale=lines, axis=None, bandPosition=0), y2=alt.Y2("row", bandPosition=0.46),
        x=alt.X("before:Q", scale=share, axis=axis), x2=alt.datum(0),
    )  # fmt: skip
    after = data.mark_rect(fill=style.primary, tooltip=hover).encode(
        y=alt.Y("row:O", scale=lines, axis=None, bandPosition=0.54), y2=alt.Y2("row", bandPosition=1),
        x=alt.X("after:Q", scale=share, axis=axis), x2=alt.datum(0),
    )  # fmt: skip
    token = data.mark_text(align="right", text=alt.expr("datum.token"), limit=gutter - 10)
    number = data.mark_text(
        align="right",
        text=alt.expr("format(datum.before, '.3f') + ' → ' + format(datum.after, '.3f')"),
        fill=style.muted,
        fontSize=style.small_size,
    )
    layers = [
        before,
        after,
        token.encode(y=row, x=alt.value(gutter - 8)),
        number.encode(y=row, x=alt.value(width - _END if width else alt.expr(f"width - {_END}"))),
    ]
    return themed(
        alt.LayerChart(
            layer=layers,
            width=width or "container",
            height=style.px(height or 30 * count),
            title=title or alt.Undefined,
        ),
        style,
    )


def shifts_data(shown: Sequence[ShiftLike], *, count: int = 8) -> dict[str, pa.Table]:
    """The data of :func:`shifts`: the first `count`."""
    lines = shown[:count]
    return {
        "shifts": pa.table(
            {
                "row": np.arange(len(lines), dtype=np.int16),
                "token": [line.token for line in lines],
                "before": np.array([line.before for line in lines], np.float32),
                "after": np.array([line.after for line in lines], np.float32),
            }
        )
    }
