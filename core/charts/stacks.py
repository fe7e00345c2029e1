"""The stacks of any Transformer as a diagram: a shape on every arrow, and blocks that can be clicked.

Source of the picture: Vaswani et al. 2017, figure 1; with the normalisation first: Xiong et al. 2020, figure 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, hand, themed

WIDTH, HEIGHT = 650, 430  # the diagram's own units; a pixel each at the normal size
_BOX, _THIN, _SUM, _CAPTION = 23.0, 16.0, 12.0, 12.0  # heights
_HALF = 88.0  # of a block's width
_LOOP = 102.0  # how far from the middle a residual connection runs
_FRAME = 130.0  # half of the width of the frame around a layer
_BESIDE = 84.0  # width of the box for positions
_TITLE = 13.0  # height of a column's name, above the frame
_MEMORY = 14.0  # how far what the other column reads rises above its own
_SINGLE, _PAIR = (325.0,), (190.0, 460.0)  # the middles of the columns

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A block: its number among the names, and the shape of what leaves it."""

    number: int
    leaving: str
    thin: bool = False


@dataclass(frozen=True, slots=True)
class Sublayer:
    """Blocks with a connection around them: it ends in a sum of its own, or in the last block, which adds."""

    blocks: tuple[Box, ...]  # in the order in which they run
    entering: str
    sums: bool  # a sum of its own
    reads_memory: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """One stack, from its input to its end."""

    entering: str
    embedding: Box
    positions: Box | None
    added: bool  # positions are added to the embeddings; else they reach into the first block of the layers
    before: tuple[Box, ...]
    layer: tuple[Sublayer, ...]
    after: tuple[Box, ...]
    memory: str = ""  # the shape of what the other column reads of it
    num_layers: int = 1  # that are alike


@dataclass(frozen=True, slots=True)
class StacksWords:
    """What the chart says, in the reader's language; a title, an input and an end for each column."""

    titles: tuple[str, ...]
    inputs: tuple[str, ...]
    ends: tuple[str, ...]
    block: str = "block"
    share: str = "share"
    inside: str = "inside"


def stacks(
    style: Style,
    names: Sequence[str],
    words: StacksWords,
    *,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
) -> alt.LayerChart:
    """One or two columns of blocks; the share of each is its colour and stands in it; the chosen one is outlined.

    Datasets, from :func:`stacks_data`: "blocks" (n: int16; x, x2, y, y2, share: float32; text, inside: str; thin,
    chosen, nonce: int8), "lines" (line, order: int16; x, y: float32; strong: int8), "heads" (x, y: float32; turn:
    int16; strong: int8), "shapes" (x, y: float32; turn: int16; before: int8; text: str), "sums" (x, y: float32),
    "frames" (x, x2, y, y2: float32) and "captions" (x, y: float32; kind, column, before: int8; layers: int16).
    Selection: "block", with fields n and nonce.
    Raises: ValueError if there are no names, or the words are not for one or two columns.
    """
    if not names:
        raise ValueError("names must hold at least one name")
    if not 1 <= len(words.titles) == len(words.inputs) == len(words.ends) <= 2:
        raise ValueError(f"titles ({len(words.titles)}), inputs and ends must be as many: 1 or 2")
    width = width or outer_width
    unit = (width or WIDTH) / WIDTH
    room = 2 * _HALF * unit - 2.8 * style.small_size - 14  # the rest is for the share
    longest = max(tokens.text_width(name, 1) for name in names)
    size = min(style.font_size, room / longest)
    layers = [
        _frames(style),
        *_lines(style),
        *_blocks(style, words, size, room),
        *_texts(style),
    ]
    select = alt.PointSelectionConfig(type="point", fields=["n", "nonce"], on="click", clear=False)
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[
                alt.TopLevelSelectionParameter(name="block", select=select, views=["blocks"]),
                tokens.label_table("block_names", names),
                tokens.label_table("column_titles", words.titles),
                tokens.label_table("column_inputs", words.inputs),
                tokens.label_table("column_ends", words.ends),
            ],
            width=width or "container",
            height=style.px(HEIGHT),
            title=title or alt.Undefined,
        ),
        style,
    )


def _x(name: str) -> alt.X:
    return alt.X(f"{name}:Q", scale=alt.Scale(domain=[0, WIDTH], nice=False, zero=False), axis=None)


def _y(name: str) -> alt.Y:
    return alt.Y(f"{name}:Q", scale=alt.Scale(domain=[HEIGHT, 0], nice=False, zero=False), axis=None)


def _placed(name: str) -> alt.Chart:
    chart: alt.Chart = alt.Chart(alt.NamedData(name)).encode(x=_x("x"), y=_y("y"))
    return chart


def _frames(style: Style) -> alt.Chart:
    chart: alt.Chart = (
        _placed("frames")
        .mark_rect(fill=style.surface, stroke=style.faint, strokeWidth=style.scale, cornerRadius=8, aria=False)
        .encode(x2="x2:Q", y2="y2:Q")
    )
    return chart


def _lines(style: Style) -> list[alt.Chart]:
    layers = []
    for strong, colour, thickness in ((0, style.muted, 1.1), (1, style.accent, 2.0)):
        line = _placed("lines").transform_filter(f"datum.strong == {strong}")
        head = _placed("heads").transform_filter(f"datum.strong == {strong}")
        layers += [
            line.mark_line(stroke=colour, strokeWidth=thickness * style.scale, strokeJoin="round", aria=False).encode(
                detail="line:N", order="order:Q"
            ),
            head.mark_point(
                shape="M-0.6,1L0,0L0.6,1Z",
                filled=True,
                fill=colour,
                opacity=1,
                size=(220 if strong else 110) * style.scale**2,
                angle=alt.expr("datum.turn"),
                aria=False,
            ),
        ]
    sums = _placed("sums")
    disc = sums.mark_point(
        shape="circle",
        size=150 * style.scale**2,
        fill=style.background,
        stroke=style.muted,
        strokeWidth=style.scale,
        opacity=1,
        aria=False,
    )
    return [*layers, disc, sums.mark_text(text="+", fill=style.muted, fontSize=style.font_size, aria=False)]


def _blocks(style: Style, words: StacksWords, size: float, room: float) -> list[alt.Chart]:
    data = _placed("blocks")
    ink = style.weights.ink("datum.share", style.dark_ink, style.light_ink)
    tooltip = {words.block: "block_names[datum.n]", words.share: "datum.text", words.inside: "datum.inside"}
    box = (
        data.properties(name="blocks")
        .mark_rect(
            stroke=style.muted,
            strokeWidth=0.8 * style.scale,
            cornerRadius=5,
            cursor=hand(True),
            tooltip=alt.expr(tokens.record(tooltip)),
            description=alt.expr("block_names[datum.n] + ' ' + datum.text"),
        )
        .encode(x2="x2:Q", y2="y2:Q", color=alt.Color("share:Q", scale=style.weights.scale(), legend=None))
    )
    chosen = (
        data.transform_filter("datum.chosen == 1")
        .mark_rect(filled=False, stroke=style.accent, strokeWidth=2.5 * style.scale, cornerRadius=5, aria=False)
        .encode(x2="x2:Q", y2="y2:Q")
    )
    middle = data.transform_calculate(left="datum.x + 7", right="datum.x2 - 6", middle="(datum.y + datum.y2) / 2")
    name = middle.mark_text(
        align="left",
        text=alt.expr("block_names[datum.n]"),
        fill=alt.expr(ink),
        fontSize=alt.expr(f"datum.thin ? {0.9 * size:.3g} : {size:.3g}"),
        limit=room,
        aria=False,
    ).encode(x=_x("left"), y=_y("middle"))
    share = middle.mark_text(
        align="right", text=alt.expr("datum.text"), fill=alt.expr(ink), fontSize=style.small_size, aria=False
    ).encode(x=_x("right"), y=_y("middle"))
    return [box, chosen, name, share]


def _texts(style: Style) -> list[alt.Chart]:
    shape = _placed("shapes").mark_text(
        align=alt.expr("datum.turn ? 'center' : datum.before ? 'right' : 'left'"),
        angle=alt.expr("datum.turn"),
        text=alt.expr("datum.text"),
        fill=style.muted,
        fontSize=style.small_size,
    )
    captions = _placed("captions")
    title = captions.transform_filter("datum.kind == 0").mark_text(
        align=alt.expr("datum.before ? 'right' : 'left'"),
        text=alt.expr("column_titles[datum.column] + ' · ' + datum.layers + ' ×'"),
        fontWeight=600,
    )
    ends = captions.transform_filter("datum.kind > 0").mark_text(
        text=alt.expr("datum.kind == 1 ? column_inputs[datum.column] : column_ends[datum.column]"),
        fill=style.muted,
        fontStyle="italic",
    )
    return [shape, title, ends]


# ------------------------------------------------------------------------------------------------------- the layout


def stacks_data(
    columns: Sequence[Column],
    shares: Sequence[float],
    texts: Sequence[str],
    insides: Sequence[str],
    *,
    chosen: int,
    nonce: int = 0,
) -> dict[str, pa.Table]:
    """The data of :func:`stacks`: what stands where.

    shares: from 0 to 1, how each is written, and the shape inside, by the numbers of the blocks.
    Raises: ValueError if there are not one or two columns, or shares, texts and insides are not equally many.
    """
    if not 1 <= len(columns) <= 2:
        raise ValueError(f"columns ({len(columns)}) must be 1 or 2")
    if not len(shares) == len(texts) == len(insides):
        raise ValueError(f"shares ({len(shares)}), texts ({len(texts)}) and insides ({len(insides)}) must be as many")
    gap = min(_gap(column) for column in columns)
    sketch = _Sketch()
    middles = _PAIR if len(columns) == 2 else _SINGLE
    for number, (column, middle) in enumerate(zip(columns, middles, strict=True)):
        side = -1 if len(columns) == 2 and number == 0 else 1
        _draw_column(sketch, column, number, middle, side, gap)
    frames = sketch.frames()
    numbers = [box[0] for box in sketch.boxes]
    more: dict[str, Any] = {
        "share": np.array([shares[number] for number in numbers], np.float32),
        "text": [texts[number] for number in numbers],
        "inside": [insides[number] for number in numbers],
        "chosen": np.array([number == chosen for number in numbers], np.int8),
        "nonce": np.full(len(numbers), nonce % 100, np.int8),
    }
    for name, values in more.items():
        frames["blocks"] = frames["blocks"].append_column(name, pa.array(values))
    return frames


def _gap(column: Column) -> float:
    """The length of an arrow where this column fills the height."""
    boxes = [column.embedding, *column.before, *(b for s in column.layer for b in s.blocks), *column.after]
    sums = [s for s in column.layer if s.sums]
    heights = sum(_THIN if box.thin else _BOX for box in boxes) + _SUM * (len(sums) + _adds(column)) + 2 * _CAPTION
    heights += _TITLE
    arrows = 1 + len(boxes) + len(sums) + _adds(column)
    return (HEIGHT - heights) / arrows


def _adds(column: Column) -> int:
    return int(column.positions is not None and column.added)


@dataclass(slots=True)
class _Sketch:
    """What has been drawn so far."""

    boxes: list[tuple[int, float, float, float, float, int]] = field(default_factory=list)
    lines: list[tuple[int, int, float, float, int]] = field(default_factory=list)
    heads: list[tuple[float, float, int, int]] = field(default_factory=list)
    shapes: list[tuple[float, float, int, int, str]] = field(default_factory=list)
    sums: list[Point] = field(default_factory=list)
    around: list[tuple[float, float, float, float]] = field(default_factory=list)  # frames
    captions: list[tuple[float, float, int, int, int, int]] = field(default_factory=list)
    memory: Point | None = None  # where the first column ends, for the second one to read

    def arrow(self, points: Sequence[Point], *, strong: bool = False) -> None:
        """Along the points; its head looks the way of the last stretch."""
        line = len({row[0] for row in self.lines})
        self.lines += [(line, order, x, y, int(strong)) for order, (x, y) in enumerate(points)]
        (x0, y0), (x, y) = points[-2:]
        turn = (90 if x > x0 else -90) if y == y0 else (0 if y < y0 else 180)
        self.heads.append((x, y, turn, int(strong)))

    def box(self, box: Box, left: float, right: float, top: float, bottom: float) -> None:
        self.boxes.append((box.number, left, right, top, bottom, int(box.thin)))

    def frames(self) -> dict[str, pa.Table]:
        return {
            "blocks": _table(
                self.boxes, n=np.int16, x=np.float32, x2=np.float32, y=np.float32, y2=np.float32, thin=np.int8
            ),
            "lines": _table(self.lines, line=np.int16, order=np.int16, x=np.float32, y=np.float32, strong=np.int8),
            "heads": _table(self.heads, x=np.float32, y=np.float32, turn=np.int16, strong=np.int8),
            "shapes": _table(self.shapes, x=np.float32, y=np.float32, turn=np.int16, before=np.int8, text=object),
            "sums": _table(self.sums, x=np.float32, y=np.float32),
            "frames": _table(self.around, x=np.float32, x2=np.float32, y=np.float32, y2=np.float32),
            "captions": _table(
                self.captions,
                x=np.float32,
                y=np.float32,
                kind=np.int8,
                column=np.int8,
                before=np.int8,
                layers=np.int16,
            ),
        }


def _table(rows: Sequence[tuple[object, ...]], **types: type) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    made: dict[str, Any] = {
        name: list(values) if kind is object else np.array(values, kind)
        for (name, kind), values in zip(types.items(), columns, strict=True)
    }
    return pa.table(made)


def _draw_column(sketch: _Sketch, column: Column, number: int, x: float, side: int, gap: float) -> None:
    """Upwards from the input. side: on which the connections run, −1 left or 1 right."""
    y = HEIGHT - _CAPTION
    sketch.captions.append((x, y + _CAPTION / 2, 1, number, 0, 0))

    def up(to_height: float, shape: str, more: float = 0) -> float:
        """An arrow with a shape, and the top of what stands above it. more: how much longer than others it is."""
        nonlocal y
        sketch.arrow([(x, y), (x, y - gap - more)])
        sketch.shapes.append((x - side * 6, y - gap / 2, 0, int(side > 0), shape))  # not where connections begin
        y -= gap + more + to_height
        return y

    def block(box: Box, shape: str, more: float = 0) -> str:
        height = _THIN if box.thin else _BOX
        top = up(height, shape, more)
        sketch.box(box, x - _HALF, x + _HALF, top, top + height)
        return box.leaving

    def plus(shape: str) -> float:
        middle = up(_SUM, shape) + _SUM / 2
        sketch.sums.append((x, middle))
        return middle

    shape = block(column.embedding, column.entering)
    beside = y + _BOX / 2
    if column.positions is not None and column.added:
        middle = plus(shape)
        _draw_positions(sketch, column.positions, x, side, [(x + side * (_SUM / 2 + 1), middle)])
    for box in column.before:
        shape = block(box, shape)
    bottom = y - 0.2 * gap
    for index, sublayer in enumerate(column.layer):
        start = y - 0.5 * gap
        shape = sublayer.entering
        for box in sublayer.blocks:
            shape = block(box, shape)
            if not box.thin:
                middle = y + _BOX / 2
                if sublayer.reads_memory and sketch.memory is not None:
                    _draw_memory(sketch, (x - _HALF, middle))
                if index == 0 and column.positions is not None and not column.added:
                    turn = x + side * (_HALF + 7)
                    way = [(turn, beside), (turn, middle), (x + side * _HALF, middle)]
                    _draw_positions(sketch, column.positions, x, side, way)
        end = plus(shape) if sublayer.sums else y + _THIN / 2
        reach = _SUM / 2 + 1 if sublayer.sums else _HALF
        far = x + side * _LOOP
        sketch.arrow([(x, start), (far, start), (far, end), (x + side * reach, end)])
        sketch.shapes.append((far + side * 8, (start + end) / 2, -90 * side, 0, sublayer.entering))
        shape = sublayer.entering
    top = y - 0.45 * gap
    sketch.around.append((x - _FRAME, x + _FRAME, top, bottom))
    before = int(side > 0)  # not where the shapes stand
    sketch.captions.append((x + side * (_FRAME - 2), top - 8, 0, number, before, column.num_layers))
    for place, box in enumerate(column.after):
        shape = block(box, shape, _TITLE if place == 0 else 0)
    if column.memory:
        sketch.memory = (x, y)
        sketch.shapes.append((x + 6, y - _MEMORY - 8, 0, 0, column.memory))
        return
    up(0, shape)
    sketch.captions.append((x, y - _CAPTION / 2, 2, number, 0, 0))


def _draw_positions(sketch: _Sketch, box: Box, x: float, side: int, way: Sequence[Point]) -> None:
    """Beside the column, as high as their arrow begins."""
    far, middle = x + side * (_HALF + 14), way[0][1]
    left, right = sorted((far, far + side * _BESIDE))
    sketch.box(box, left, right, middle - _BOX / 2, middle + _BOX / 2)
    sketch.arrow([(far, middle), *way])
    straight = len(way) == 1
    place = (far - side * 5, middle + 9) if straight else (far + side * _BESIDE, middle + _BOX / 2 + 7)
    sketch.shapes.append((*place, 0, int(side > 0), box.leaving))


def _draw_memory(sketch: _Sketch, end: Point) -> None:
    """From the top of the first column to the block that reads it."""
    if sketch.memory is None:
        return
    x, y = sketch.memory
    turn, above = end[0] - 32, y - _MEMORY
    sketch.arrow([(x, y), (x, above), (turn, above), (turn, end[1]), end], strong=True)
