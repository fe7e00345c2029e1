"""A plane with a query and a key in it, before and after they are turned."""

from __future__ import annotations

import math
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, themed

REACH = 3.0
"""From the middle of the plane to its upper and lower edge; longer arrows are cut."""

_LABEL = 0.22  # from the tip of an arrow to its label
_BETWEEN = 0.55  # radius of the wedge between the arrows


@dataclass(frozen=True, slots=True)
class PlaneWords:
    """What the chart says, in the reader's language."""

    query: str = "q"
    key: str = "k"
    unturned: str = "not turned"
    first: str = "first dimension of the pair"
    second: str = "second dimension of the pair"
    turn: str = "turned by"
    between: str = "angle between"


def plane(
    style: Style,
    *,
    words: PlaneWords | None = None,
    title: str | None = None,
    width: int = 300,
    outer_width: int | None = None,
    height: int = 250,
) -> alt.LayerChart:
    """Arrows before (dashed) and after (solid) the turn, the way of their tips, and the angle between them.

    Datasets: "arrows" (w, turned: int8; x, y, label_x, label_y, tilt: float32) and "turns" (w: int8; from, to, radius,
    angle: float32), from :func:`plane_data`; w is 0 for the query, 1 for the key, 2 for the angle between them.
    ``width`` is that of the plane, ``outer_width`` that of the plane with its axis.
    """
    words = words or PlaneWords()
    if outer_width:
        width = outer_width - tokens.beside_axis(["-2"], style.font_size)
    high = style.px(height)
    unit = high / (2 * REACH)  # pixels
    side = width / (2 * unit)
    ticks = [-2, -1, 0, 1, 2]
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[-side, side]),
        axis=alt.Axis(title=words.first, values=ticks, format="~r", grid=True),
    )
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(domain=[-REACH, REACH]),
        axis=alt.Axis(title=words.second, values=ticks, format="~r", grid=True),
    )
    colours = (*style.categorical[:2], style.accent)
    colour = alt.expr(f"{list(colours)}[datum.w]")
    names = [words.query, words.key]
    turns, arrows = (alt.Chart(alt.NamedData(name)) for name in ("turns", "arrows"))
    middle = {"x": alt.datum(0), "y": alt.datum(0)}
    line = 1.5 * style.scale
    circle = turns.transform_filter("datum.w < 2").mark_arc(
        aria=False, theta=0, theta2=2 * math.pi, stroke=style.faint, fill=None, strokeWidth=style.scale,
        radius=alt.expr(f"datum.radius * {unit:.6g}"),
    )  # fmt: skip
    said = f"datum.w < 2 ? {tokens.quoted(words.turn)} : {tokens.quoted(words.between)}"
    way = turns.mark_arc(
        aria=False,
        theta=alt.expr("datum.from"),
        theta2=alt.expr("datum.to"),
        radius=alt.expr(f"datum.radius * {unit:.6g} + (datum.w < 2 ? {line} : 0)"),
        radius2=alt.expr(f"datum.w < 2 ? datum.radius * {unit:.6g} - {line} : 0"),
        fill=colour,
        fillOpacity=alt.expr("datum.w < 2 ? 0.55 : 0.4"),
        tooltip=alt.expr(f"{{'·': ({said}) + '  ' + format(datum.angle, '.4f') + ' rad'}}"),
    )
    shafts = arrows.mark_rule(
        stroke=colour,
        strokeWidth=alt.expr(f"datum.turned ? {2.6 * style.scale} : {1.3 * style.scale}"),
        strokeDash=alt.expr("datum.turned ? [1, 0] : [4, 3]"),
        clip=True,
    )
    heads = arrows.mark_point(
        shape="triangle",
        filled=True,
        fill=colour,
        opacity=1,
        size=alt.expr(f"datum.turned ? {90 * style.scale} : {45 * style.scale}"),
        angle=alt.expr("datum.tilt"),
        clip=True,
        tooltip=alt.expr(
            tokens.record(
                {
                    "·": f"plane_names[datum.w] + (datum.turned ? '' : '  ·  ' + {tokens.quoted(words.unturned)})",
                    words.first: "format(datum.x, '.4f')",
                    words.second: "format(datum.y, '.4f')",
                }
            )
        ),
    )
    label = arrows.transform_filter("datum.turned == 1").mark_text(
        text=alt.expr("plane_names[datum.w]"),
        fill=colour,
        fontWeight=600,
        align=alt.expr("datum.x < 0 ? 'right' : 'left'"),
    )
    layers = [
        circle.encode(**middle),
        way.encode(**middle),
        shafts.encode(x=x, y=y, x2=alt.datum(0), y2=alt.datum(0)),
        heads.encode(x=x, y=y),
        label.encode(x=alt.X("label_x:Q"), y=alt.Y("label_y:Q")),
    ]
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[tokens.label_table("plane_names", names)],
            width=width,
            height=high,
            title=title or alt.Undefined,
        ),
        style,
    )


def plane_data(before: npt.ArrayLike, after: npt.ArrayLike, angles: npt.ArrayLike) -> dict[str, pa.Table]:
    """The data of :func:`plane`: query and key before and after, (2, 2) each, and their turns in radians, (2,).

    The way of a tip is drawn from where it was, without its full turns.
    Raises: ValueError if a shape does not fit.
    """
    start, end, turned = (np.asarray(array, np.float64) for array in (before, after, angles))
    if start.shape != (2, 2) or end.shape != (2, 2) or turned.shape != (2,):
        raise ValueError(
            f"before {start.shape}, after {end.shape} and angles {turned.shape} must be (2, 2), (2, 2), (2,)"
        )
    tips = np.concatenate((start, end))  # (4, 2)
    lengths, directions = np.hypot(*tips.T), np.arctan2(tips[:, 1], tips[:, 0])
    away = 1 + _LABEL / np.maximum(lengths, 1e-6)
    arrows = pa.table(
        {
            "w": np.array([0, 1, 0, 1], np.int8),
            "turned": np.array([0, 0, 1, 1], np.int8),
            **{name: column.astype(np.float32) for name, column in zip("xy", tips.T, strict=True)},
            "label_x": (tips[:, 0] * away).astype(np.float32),
            "label_y": (tips[:, 1] * away).astype(np.float32),
            "tilt": np.degrees(_clockwise(directions)).astype(np.float32),
        }
    )
    between = math.remainder(directions[2] - directions[3], 2 * math.pi)
    starts = np.array([*directions[:2], directions[3]])
    parts = np.array([*np.fmod(turned, 2 * math.pi), between])
    turns = pa.table(
        {
            "w": np.arange(3, dtype=np.int8),
            "from": _clockwise(starts).astype(np.float32),
            "to": _clockwise(starts + parts).astype(np.float32),
            "radius": np.array([*lengths[:2], _BETWEEN], np.float32),
            "angle": np.array([*turned, between], np.float32),
        }
    )
    return {"arrows": arrows, "turns": turns}


def _clockwise(angle: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Counted from the top and clockwise, as Vega does it, from an angle as mathematics counts it."""
    return math.pi / 2 - angle
