"""Words as points: each group with a colour and a shape of its own, some with their names beside them.

A map has no unit that matters, only distances: one unit is as long across as up, and the points fill the picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, hand, themed

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
"""Of the groups, in their order; there can be no more groups than these."""

ASPECT = 1.25
"""How much wider than high the part of a picture is that points may fill."""

_MARGIN = 0.86  # of the height and of ASPECT: the rest is for names at the border
_FONT = 12  # pixels at the normal size, as all lengths here
_BESIDE = 13  # from the middle of the target to its name
_GAP = 8  # from the middle of a point to its name
_ALL_NAMED = 14  # with more points, a name that would cover another is left out
_RING = 6  # pixels that a ring is wider than its point
_MANY = 400  # points: more are drawn smaller
_TRIED = 500  # points, at most, for whose names room is looked for

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScatterWords:
    """What a map says, in the reader's language."""

    word: str = "word"
    group: str = "group"
    near: str = "nearest by cosine"
    notes: tuple[str, ...] = ()  # sentences that may stand across the picture
    target: str = ""  # the name of what the arrows lead to


def group_colour(style: Style, group: int) -> str:
    """The colour of a group; there are fewer colours than shapes."""
    return style.categorical[group % len(style.categorical)]


def scatter(
    style: Style,
    names: Sequence[str],
    groups: Sequence[str],
    *,
    axes: tuple[str, str] = ("", ""),
    axis_names: Sequence[str] = (),
    words: ScatterWords | None = None,
    title: str | None = None,
    outer_width: int = 520,
    height: int = 300,
    clickable: bool = True,
) -> alt.LayerChart:
    """A point for every word, with lines from a chosen one to its neighbours, and arrows.

    axes: what stands below and beside the picture. axis_names: of the three axes of a space that is looked at.
    Datasets, from :func:`scatter_data`: "points" (w, near: int16; x, y, size: float32; group, faint, nonce: int8),
    "names" (w: int16; x, y: float32; side, strong: int8), "links", "arrows", "spokes" (x, y, x2, y2: float32; tilt:
    float32), "rings" (x, y: float32; strong: int8), "target" (x, y: float32; below, align: int8), "note" (n: int8).
    Selection: "word", with fields w and nonce.
    Raises: ValueError if there are no groups, or more than SHAPES.
    """
    if not 1 <= len(groups) <= len(SHAPES):
        raise ValueError(f"groups ({len(groups)}) must be between 1 and {len(SHAPES)}")
    words = words or ScatterWords()
    high = style.px(height)
    width = outer_width - (round(1.6 * style.font_size) if axes[1] else 0) - 4
    unit = min(high / 2, width / (2 * ASPECT))  # pixels
    across = alt.Scale(domain=[-width / (2 * unit), width / (2 * unit)])
    down = alt.Scale(domain=[-high / (2 * unit), high / (2 * unit)])
    (x, far_x), (y, far_y) = (
        [channel(f"{name}:Q", scale=scale, axis=_axis(title)) for name in names_of]
        for channel, names_of, scale, title in (
            (alt.X, ("x", "x2"), across, axes[0]),
            (alt.Y, ("y", "y2"), down, axes[1]),
        )
    )
    scale = style.scale
    spokes, links, arrows, rings, points, labels, target, note = (
        alt.Chart(alt.NamedData(name))
        for name in ("spokes", "links", "arrows", "rings", "points", "names", "target", "note")
    )
    ends = {"x": x, "y": y, "x2": "x2", "y2": "y2"}
    domain = list(range(len(groups)))
    colours = [group_colour(style, group) for group in domain]
    tooltip = {words.word: "map_names[datum.w]"}
    if any(groups):
        tooltip[words.group] = "map_groups[datum.group]"
    tooltip[words.near] = "datum.near < 0 ? '–' : map_names[datum.near]"
    dots = (
        points.properties(name="points")
        .mark_point(
            filled=True,
            stroke=style.background,
            strokeWidth=0.8 * scale,
            size=alt.expr(f"datum.size * {70 * scale * scale}"),
            opacity=alt.expr("datum.faint ? 0.25 : 1"),
            tooltip=alt.expr(tokens.record(tooltip)),
            description=alt.expr("datum.w < 0 ? map_notes[datum.near] : map_names[datum.w]"),
            cursor=hand(clickable),
        )
        .encode(
            x=x,
            y=y,
            color=alt.Color("group:O", scale=alt.Scale(domain=domain, range=colours), legend=None),
            shape=alt.Shape("group:O", scale=alt.Scale(domain=domain, range=list(SHAPES[: len(groups)])), legend=None),
        )
    )
    away = f"({_GAP * scale} + datum.strong * {_RING * scale})"
    text = labels.mark_text(
        text=alt.expr("map_names[datum.w]"),
        align=alt.expr("['left', 'right', 'center', 'center'][datum.side]"),
        baseline=alt.expr("['middle', 'middle', 'bottom', 'top'][datum.side]"),
        dx=alt.expr(f"[1, -1, 0, 0][datum.side] * {away}"),
        dy=alt.expr(f"[0, 0, -0.8, 0.8][datum.side] * {away}"),
        fontWeight=alt.expr("datum.strong ? 'bold' : 'normal'"),
        fill=alt.expr(f"datum.strong ? '{style.accent}' : '{style.text}'"),
        limit=_LONGEST * scale,
    ).encode(x=x, y=y)
    layers = [
        spokes.mark_rule(aria=False, stroke=style.faint, strokeWidth=1.2 * scale).encode(**ends),
        spokes.transform_window(row="row_number()")
        .mark_text(aria=False, text=alt.expr("map_axes[datum.row - 1]"), fill=style.muted, fontSize=style.small_size)
        .encode(x=far_x, y=far_y),
        links.mark_rule(aria=False, stroke=style.accent, strokeWidth=scale, strokeDash=[3, 3]).encode(**ends),
        rings.mark_point(
            aria=False,
            shape="circle",
            filled=False,
            stroke=style.accent,
            opacity=1,
            size=alt.expr(f"datum.strong ? {330 * scale * scale} : {190 * scale * scale}"),
            strokeWidth=alt.expr(f"datum.strong ? {2.4 * scale} : {1.2 * scale}"),
        ).encode(x=x, y=y),
        arrows.mark_rule(aria=False, stroke=style.accent, strokeWidth=2 * scale).encode(**ends),
        dots,
        arrows.mark_point(
            aria=False,
            shape="triangle",
            filled=True,
            fill=style.accent,
            opacity=1,
            size=80 * scale * scale,
            angle=alt.expr("datum.tilt"),
        ).encode(x=far_x, y=far_y),
        text,
        target.mark_point(
            aria=False, shape="cross", angle=45, filled=True, fill=style.accent, opacity=1, size=130 * scale * scale)
        .encode(x=x, y=y),
        target.mark_text(
            text=words.target,
            dy=alt.expr(f"datum.below ? {_BESIDE * scale} : {-_BESIDE * scale}"),
            baseline=alt.expr("datum.below ? 'top' : 'bottom'"),
            align=alt.expr("['right', 'center', 'left'][datum.align]"),
            fontWeight="bold",
            fill=style.accent,
        ).encode(x=x, y=y),
        note.mark_text(
            text=alt.expr("map_notes[datum.n]"), fontSize=1.1 * style.font_size, fontWeight=600, fill=style.text
        ).encode(x=alt.value(width / 2), y=alt.value(0.5 * high)),
    ]  # fmt: skip
    select = alt.PointSelectionConfig(type="point", fields=["w", "nonce"], on="click", clear=False)
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[
                alt.TopLevelSelectionParameter(name="word", select=select, views=["points"]),
                tokens.label_table("map_names", names),
                tokens.label_table("map_groups", groups),
                tokens.label_table("map_axes", axis_names),
                tokens.label_table("map_notes", words.notes),
            ],
            width=width,
            height=high,
            view=alt.ViewBackground(stroke=style.faint),
            title=title or alt.Undefined,
        ),
        style,
    )


def _axis(title: str) -> alt.Axis | None:
    return alt.Axis(title=title, values=[], grid=False) if title else None


_LONGEST = 130  # pixels of a name
_TOP = 0.6  # a target above this has its name below it


def scatter_data(
    places: npt.ArrayLike,
    groups: Sequence[int],
    names: Sequence[str],
    *,
    near: Sequence[int] = (),
    chosen: int | None = None,
    linked: Sequence[int] = (),
    ringed: Sequence[int] = (),
    arrows: npt.ArrayLike = (),
    target: npt.ArrayLike | None = None,
    target_name: str = "",
    spokes: npt.ArrayLike = (),
    reach: float | None = None,
    framed: int | None = None,
    faint: bool = False,
    note: int | None = None,
    height: int = 300,
    nonce: int = 0,
) -> dict[str, pa.Table]:
    """The data of :func:`scatter`.

    places: (num_words, 2), or (num_words, 3) with what lies towards the eye, which is drawn larger. near: of each word
    its nearest. linked: words to which lines lead from the chosen one. ringed: others with a ring. arrows: of shape
    (count, 2, 2), from where to where. target: (2,), and what it is called. spokes: (3, 2), the ends of the axes of a
    space. reach: the largest distance from 0 that shall fit in; else the points fill the picture. framed: so many
    points decide what the picture holds; of the others it leaves out what lies beyond. note: a sentence, by its place
    in the chart's words. height: that of the chart.
    Raises: ValueError if a shape does not fit.
    """
    place = np.asarray(places, np.float64)
    count = len(names)
    if place.shape not in ((count, 2), (count, 3)) or len(groups) != count or len(near) not in (0, count):
        raise ValueError(
            f"places {place.shape}, groups ({len(groups)}), near ({len(near)}) and names ({count}) must fit"
        )
    lines = np.asarray(arrows, np.float64).reshape(-1, 2, 2)
    end = np.zeros((0, 2)) if target is None else np.asarray(target, np.float64).reshape(1, 2)
    beams = np.asarray(spokes, np.float64).reshape(-1, 2)
    centre, factor = _frame(np.concatenate((place[:framed, :2], lines.reshape(-1, 2), end)), reach)

    def seen(array: Array) -> Array:
        return (array - centre) * factor

    flat, lines, end = seen(place[:, :2]), seen(lines), seen(end)
    inside = np.flatnonzero((np.abs(flat) <= (ASPECT, 1)).all(axis=1))
    first = list(dict.fromkeys([*([] if chosen is None else [chosen, *linked]), *ringed]))
    order = [word for word in dict.fromkeys([*first, *range(count)]) if word in inside and not faint]
    shown, sides = _named(
        flat,
        names,
        order,
        height,
        ringed=first,
        arrows=lines,
        taken=[_target_box(spot, target_name, height) for spot in end],
    )
    ties = np.array([flat[[chosen, word]] for word in linked] if chosen is not None else []).reshape(-1, 2, 2)
    points: dict[str, Array] = {
        "w": np.arange(count, dtype=np.int16),
        "near": np.asarray(near if len(near) else [-1] * count, np.int16),
        "x": flat[:, 0].astype(np.float32),
        "y": flat[:, 1].astype(np.float32),
        "size": _sizes(place, factor).astype(np.float32),
        "group": np.asarray(groups, np.int8),
        "faint": np.full(count, faint, np.int8),
        "nonce": np.full(count, nonce % 100, np.int8),
    }
    return {
        "points": pa.table({name: column[inside] for name, column in points.items()}) if count else _nothing(note),
        "names": pa.table(
            {
                "w": np.asarray(shown, np.int16),
                "x": flat[shown, 0].astype(np.float32),
                "y": flat[shown, 1].astype(np.float32),
                "side": np.asarray(sides, np.int8),
                "strong": np.asarray([word in first for word in shown], np.int8),
            }
        ),
        "links": _lines(ties),
        "arrows": _lines(lines),
        "spokes": _lines(np.stack([seen(np.zeros_like(beams)), seen(beams)], axis=1)),
        "rings": pa.table(
            {
                "x": flat[first, 0].astype(np.float32),
                "y": flat[first, 1].astype(np.float32),
                "strong": np.asarray([word == chosen for word in first], np.int8),
            }
        ),
        "target": pa.table(
            {
                **{name: end[:, axis].astype(np.float32) for axis, name in enumerate("xy")},
                "below": (end[:, 1] > _TOP).astype(np.int8),
                "align": np.array([_align(spot, target_name, height) for spot in end], np.int8),
            }
        ),
        "note": pa.table({"n": np.array([] if note is None else [note], np.int8)}),
    }


def _nothing(note: int | None) -> pa.Table:
    """A point that nobody sees; it tells the note to those who listen: Vega names a picture without marks to nobody."""
    one = {"w": -1, "near": note or 0, "x": 0, "y": 0, "size": 0, "group": 0, "faint": 1, "nonce": 0}
    kinds = {"w": np.int16, "near": np.int16, "x": np.float32, "y": np.float32, "size": np.float32}
    return pa.table({name: np.array([value], kinds.get(name, np.int8)) for name, value in one.items()})


def _frame(place: Array, reach: float | None) -> tuple[Array, float]:
    """What is the middle of the picture, and by how much all is enlarged."""
    if reach is not None:
        return np.zeros(2), _MARGIN / reach if reach > 0 else 1.0
    if not len(place):
        return np.zeros(2), 1.0
    low, high = place.min(axis=0), place.max(axis=0)
    half = max((high[0] - low[0]) / ASPECT, high[1] - low[1]) / 2
    return (low + high) / 2, _MARGIN / half if half > 0 else 1.0


def _sizes(place: Array, factor: float) -> Array:
    """1 in the middle of a space and on a plane, more for what is closer to the eye; less where there are many."""
    usual = min(1.0, _MANY / max(len(place), 1))
    if place.shape[1] == 2:
        return np.full(len(place), usual)
    return usual * np.clip(1 + 0.6 * place[:, 2] * factor, 0.35, 1.7)


def _lines(ends: Array) -> pa.Table:
    """From ends of shape (count, 2, 2); tilt is the direction in degrees, clockwise from the top."""
    way = ends[:, 1] - ends[:, 0]
    frame = {name: ends[:, end, axis] for name, end, axis in (("x", 0, 0), ("y", 0, 1), ("x2", 1, 0), ("y2", 1, 1))}
    frame["tilt"] = np.degrees(math.pi / 2 - np.arctan2(way[:, 1], way[:, 0]))
    return pa.table({name: column.astype(np.float32) for name, column in frame.items()})


def _target_box(spot: Array, name: str, height: int) -> Array:
    """Where the name of the target stands, in pixels from the middle."""
    x, y = spot[0] * height / 2, -spot[1] * height / 2
    wide = tokens.text_width(name, 1.08 * _FONT)
    left = x - (1, 0.5, 0)[_align(spot, name, height)] * wide
    top = y + _BESIDE if spot[1] > _TOP else y - _BESIDE - 1.1 * _FONT
    return np.array([left, top, left + wide, top + 1.1 * _FONT])


def _align(spot: Array, name: str, height: int) -> int:
    """0 if the name of the target ends above it, 1 if it has its middle there, 2 if it begins there."""
    room = ASPECT - tokens.text_width(name, 1.08 * _FONT) / height
    return 0 if spot[0] > room else 2 if spot[0] < -room else 1


def _named(
    flat: Array,
    names: Sequence[str],
    order: Sequence[int],
    height: int,
    *,
    ringed: Sequence[int],
    arrows: Array,
    taken: Sequence[Array],
) -> tuple[list[int], list[int]]:
    """Which points have their names beside them, and on which side: right, left, above or below.

    taken: boxes, in pixels from the middle, that are covered already. The first in order come first. A side is taken
    that covers nothing; if there is none, few points are named all the same, where they cover least, and many are not.
    """
    unit = height / 2  # pixels
    spots = np.column_stack((flat[:, 0], -flat[:, 1])) * unit
    radii = np.full((len(spots), 1), 5.0)
    radii[list(ringed)] += _RING
    dots = np.column_stack((spots - radii, spots + radii))
    along = np.linspace(0, 1, 24)[:, None, None]
    shafts = (arrows[:, 0] + along * (arrows[:, 1] - arrows[:, 0])).reshape(-1, 2) * (unit, -unit)
    dots = np.vstack((dots, np.column_stack((shafts - 3, shafts + 3))))
    tried = list(order)[:_TRIED]
    wide = [min(tokens.text_width(names[word], _FONT), _LONGEST) for word in tried]
    gaps = [_GAP + (_RING if word in ringed else 0) for word in tried]
    sides_of = _boxes(spots[tried], np.array(wide), np.array(gaps))  # (tried, 4, 4)
    covered = 0.6 * _overlap(sides_of.reshape(-1, 4), dots) + _outside(sides_of.reshape(-1, 4), unit)
    boxes = np.array(taken).reshape(-1, 4)
    shown, sides = [], []
    for word, around, lost in zip(tried, sides_of, covered.reshape(-1, 4), strict=True):
        lost = lost + _overlap(around, boxes)
        best = int(lost.argmin())
        if lost[best] > 1 and len(names) > _ALL_NAMED:
            continue
        boxes = np.vstack((boxes, around[best]))
        shown.append(word)
        sides.append(best)
    return shown, sides


def _boxes(spots: Array, wide: Array, gaps: Array) -> Array:
    """Left, top, right and bottom of names on each of their sides, (count, 4, 4)."""
    x, y = spots.T
    half, up = np.full_like(x, _FONT * 0.55), 0.8 * gaps
    right = (x + gaps, y - half, x + gaps + wide, y + half)
    left = (x - gaps - wide, y - half, x - gaps, y + half)
    above = (x - wide / 2, y - up - 2 * half, x + wide / 2, y - up)
    below = (x - wide / 2, y + up, x + wide / 2, y + up + 2 * half)
    return np.array((right, left, above, below)).transpose(2, 0, 1)


def _overlap(boxes: Array, others: Array) -> Array:
    """Square pixels that each box, (count, 4), shares with others."""
    across = np.minimum(boxes[:, None, 2], others[:, 2]) - np.maximum(boxes[:, None, 0], others[:, 0])
    down = np.minimum(boxes[:, None, 3], others[:, 3]) - np.maximum(boxes[:, None, 1], others[:, 1])
    shared: Array = (np.maximum(across, 0) * np.maximum(down, 0)).sum(axis=1)
    return shared


def _outside(boxes: Array, unit: float) -> Array:
    """Square pixels of each box, (count, 4), that lie beyond the picture."""
    edges = unit * np.array([-ASPECT, -1, ASPECT, 1])
    beyond = np.maximum((boxes - edges) * (-1, -1, 1, 1), 0)  # (count, 4)
    width, height = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    outside: Array = (beyond[:, 0] + beyond[:, 2]) * height + (beyond[:, 1] + beyond[:, 3]) * width
    return outside


# -------------------------------------------------------------------------------------------------------- the legend


def legend(style: Style, groups: Sequence[str], *, outer_width: int = 1060) -> alt.LayerChart:
    """The shapes and colours of the groups, in a row. Dataset: "groups" (group: int8; x: float32), of legend_data.

    Raises: as :func:`scatter` does.
    """
    if not 1 <= len(groups) <= len(SHAPES):
        raise ValueError(f"groups ({len(groups)}) must be between 1 and {len(SHAPES)}")
    domain = list(range(len(groups)))
    data = alt.Chart(alt.NamedData("groups"))
    scale = alt.Scale(domain=[0, outer_width / style.scale], range=[0, outer_width], nice=False)
    x, y = alt.X("x:Q", scale=scale, axis=None), alt.value(style.px(8))
    mark = data.mark_point(filled=True, opacity=1, size=70 * style.scale**2).encode(
        x=x,
        y=y,
        color=alt.Color(
            "group:O", scale=alt.Scale(domain=domain, range=[group_colour(style, g) for g in domain]), legend=None
        ),
        shape=alt.Shape("group:O", scale=alt.Scale(domain=domain, range=list(SHAPES[: len(groups)])), legend=None),
    )
    text = data.mark_text(
        align="left", dx=9 * style.scale, text=alt.expr("legend_groups[datum.group]"), limit=_LEGEND * style.scale
    ).encode(x=x, y=y)
    return themed(
        alt.LayerChart(
            layer=[mark, text],
            params=[tokens.label_table("legend_groups", groups)],
            width=outer_width - 2,
            height=style.px(16),
        ),
        style,
    )


_LEGEND = 118  # pixels of the name of a group


def legend_data(groups: Sequence[str]) -> dict[str, pa.Table]:
    """The data of :func:`legend`: where each group stands."""
    wide = [min(tokens.text_width(name, _FONT), _LEGEND) + 26 for name in groups]
    return {
        "groups": pa.table(
            {
                "group": np.arange(len(groups), dtype=np.int8),
                "x": np.cumsum([8.0, *wide[:-1]]).astype(np.float32),
            }
        )
    }
