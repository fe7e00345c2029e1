"""One quantity with the range it moves in, in several small charts side by side, all on the same axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.curves import Axis
from core.charts.theme import Style, themed
from core.checks import check_between


@dataclass(frozen=True, slots=True)
class ProfileWords:
    """What the charts say, in the reader's language."""

    size: str = "usual size"


def profiles(
    style: Style,
    names: Sequence[str],
    *,
    x: Axis,
    y: Axis,
    chosen: int | None = None,
    words: ProfileWords | None = None,
    width: int = 160,
    outer_width: int | None = None,
    height: int = 150,
) -> alt.HConcatChart:
    """A small chart for each name: a line, behind it a band from −size to size.

    chosen: the one whose name is marked by an arrow.

    Datasets: "profiles" (s: int8; x, value, size: float32) and "marks" (x: float32; a dashed vertical line in each),
    from :func:`profiles_data`. ``width`` is that of one plot, ``outer_width`` that of all with their axes.
    Raises: ValueError if there are no names, or chosen is not one of them.
    """
    if not names:
        raise ValueError("names must hold at least one name")
    if chosen is not None:
        check_between("chosen", chosen, 0, len(names) - 1)
    words = words or ProfileWords()
    spacing = 12 * style.scale
    if outer_width:
        free = outer_width - tokens.beside_axis(["-10"], style.font_size) - spacing * (len(names) - 1)
        width = int(free / len(names))
    every = alt.Chart(alt.NamedData("profiles"))
    tooltip = {
        x.title: "format(datum.x, ',')",
        y.title: "format(datum.value, '.4f')",
        words.size: "format(datum.size, '.4f')",
    }
    across = alt.X("x:Q", scale=x.scale(), axis=x.drawn(grid=False))
    shown = []
    for number, name in enumerate(names):
        axis = y.drawn(grid=True)
        if number:
            axis.labels, axis.title = False, None
        up = alt.Y("value:Q", scale=y.scale(), axis=axis)
        own = every.transform_filter(f"datum.s == {number}")
        colour = style.accent if number == chosen else style.primary
        hover = own.mark_rule(opacity=0, strokeWidth=6 * style.scale, tooltip=alt.expr(tokens.record(tooltip)))
        layers = [
            own.transform_calculate(low="-datum.size")
            .mark_area(fill=colour, opacity=0.16, clip=True)
            .encode(x=across, y=alt.Y("low:Q"), y2="size:Q"),
            own.mark_line(stroke=colour, strokeWidth=1.6 * style.scale, clip=True).encode(x=across, y=up),
            hover.encode(x=across, y=alt.value(0), y2=alt.value("height")),
            alt.Chart(alt.NamedData("marks"))
            .mark_rule(stroke=style.muted, strokeDash=[4, 3], strokeWidth=style.scale, aria=False)
            .encode(x=across),
        ]
        title = alt.TitleParams(f"→ {name}" if number == chosen else name, fontSize=style.font_size)
        shown.append(alt.LayerChart(layer=layers, width=width, height=style.px(height), title=title))
    return themed(alt.HConcatChart(hconcat=shown, spacing=spacing), style)


def profiles_data(
    x: npt.ArrayLike, values: npt.ArrayLike, sizes: npt.ArrayLike, *, marks: Sequence[float] = ()
) -> dict[str, pa.Table]:
    """The data of :func:`profiles`: x (points,); values and sizes (names, points).

    Raises: ValueError if the shapes do not fit together.
    """
    across, value, size = (np.asarray(array, np.float32) for array in (x, values, sizes))
    if across.ndim != 1 or value.ndim != 2 or value.shape != size.shape or value.shape[1:] != across.shape:
        raise ValueError(
            f"x {across.shape}, values {value.shape} and sizes {size.shape} must be (points,), (names, points) and "
            "(names, points)"
        )
    count = len(value)
    frame = pa.table(
        {
            "s": np.repeat(np.arange(count, dtype=np.int8), across.size),
            "x": np.tile(across, count),
            "value": value.ravel(),
            "size": size.ravel(),
        }
    )
    return {"profiles": frame, "marks": pa.table({"x": np.asarray(marks, np.float32)})}
