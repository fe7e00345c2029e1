"""A map of the encoder–decoder Transformer, whose blocks can be clicked.

Source of the picture: Vaswani et al. 2017, figure 1.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt

from core.charts.colour import mix
from core.charts.theme import Style, themed

_WIDTH, _HEIGHT = 900, 560  # the map's own units; a pixel each at the normal size
_ENCODER, _DECODER = 275, 640  # the middles of the two columns
_LOOP = 128  # how far from the middle a residual connection runs

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class MapLabels:
    """What is written on the map, in the reader's language. The first thirteen are the blocks, by their id."""

    input_embedding: str = "Input embedding"
    encoder_position: str = "Position"
    encoder_self_attention: str = "Self-attention"
    encoder_feed_forward: str = "Feed-forward"
    encoder_add_norm: str = "Add and normalise"
    output_embedding: str = "Output embedding"
    decoder_position: str = "Position"
    decoder_self_attention: str = "Masked self-attention"
    cross_attention: str = "Cross-attention"
    decoder_feed_forward: str = "Feed-forward"
    decoder_add_norm: str = "Add and normalise"
    output_projection: str = "Linear and softmax"
    whole: str = "The whole walk: a translation, token by token"
    encoder: str = "Encoder"
    decoder: str = "Decoder"
    layers: str = "N ×"
    source: str = "the sentence to translate"
    target: str = "what has been said so far"
    prediction: str = "probabilities of the next token"


@dataclass(frozen=True, slots=True)
class _Box:
    """A rectangle around the middle (x, y); y grows downwards."""

    block: str
    x: float
    y: float
    width: float = 210
    height: float = 38


@dataclass(frozen=True, slots=True)
class _Arrow:
    points: tuple[Point, ...]
    points_to: str  # up, left or right
    strong: bool = False


_FRAMES = (_Box("encoder", _ENCODER, 313, 290, 214), _Box("decoder", _DECODER, 265, 290, 310))

_BOXES = (
    _Box("whole", 215, 62, 390, 50),
    _Box("input_embedding", _ENCODER, 505),
    _Box("encoder_position", 68, 455, 116, 34),
    _Box("encoder_self_attention", _ENCODER, 376),
    _Box("encoder_add_norm", _ENCODER, 338, height=24),
    _Box("encoder_feed_forward", _ENCODER, 280),
    _Box("encoder_add_norm", _ENCODER, 242, height=24),
    _Box("output_embedding", _DECODER, 505),
    _Box("decoder_position", 839, 455, 116, 34),
    _Box("decoder_self_attention", _DECODER, 376),
    _Box("decoder_add_norm", _DECODER, 338, height=24),
    _Box("cross_attention", _DECODER, 280),
    _Box("decoder_add_norm", _DECODER, 242, height=24),
    _Box("decoder_feed_forward", _DECODER, 184),
    _Box("decoder_add_norm", _DECODER, 146, height=24),
    _Box("output_projection", _DECODER, 62),
)

_SUMS: tuple[Point, ...] = ((_ENCODER, 455), (_DECODER, 455))  # where the positions are added


def _residual(column: float, side: int, below: float, above: float) -> _Arrow:
    """Around a sublayer: from the line below it to the side of the "add" above it."""
    far, near = column + side * _LOOP, column + side * 105
    return _Arrow(((column, below), (far, below), (far, above), (near, above)), "left" if side > 0 else "right")


def _up(column: float, *heights: float) -> list[_Arrow]:
    """Upward arrows between pairs of heights."""
    return [_Arrow(((column, a), (column, b)), "up") for a, b in zip(heights[::2], heights[1::2], strict=True)]


_ARROWS = (
    *_up(_ENCODER, 542, 524, 486, 465, 445, 395, 326, 299),
    *_up(_DECODER, 542, 524, 486, 465, 445, 395, 326, 299, 230, 203, 134, 81, 43, 30),
    _Arrow(((126, 455), (265, 455)), "right"),
    _Arrow(((781, 455), (650, 455)), "left"),
    *(_residual(_ENCODER, -1, below, above) for below, above in ((409, 338), (313, 242))),
    *(_residual(_DECODER, +1, below, above) for below, above in ((409, 338), (313, 242), (217, 146))),
    _Arrow(((_ENCODER, 230), (_ENCODER, 188), (458, 188), (458, 280), (535, 280)), "right", strong=True),
)


def transformer_map(
    style: Style, labels: MapLabels, linked: Collection[str], *, width: int | None = None
) -> alt.LayerChart:
    """The Transformer as a map; the blocks in ``linked`` are filled, bear an arrow, and can be clicked.

    It brings its own data: send none. Selection: "block", with field id (a name of ``MapLabels``).
    Without ``width`` it fills its container.
    Raises: ValueError if a linked block is not on the map.
    """
    blocks = {box.block for box in _BOXES}
    unknown = sorted(set(linked) - blocks)
    if unknown:
        raise ValueError(f"linked ({', '.join(unknown)}) must be among {', '.join(sorted(blocks))}")
    written: Mapping[str, str] = asdict(labels)
    select = alt.PointSelectionConfig(type="point", fields=["id"], on="click", clear=False)
    layers = [
        *_frames(style, written),
        *_arrows(style),
        *_boxes(style, written, [box for box in _BOXES if box.block not in linked], clickable=False),
        *_boxes(style, written, [box for box in _BOXES if box.block in linked], clickable=True),
        *_captions(style, labels),
    ]
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[alt.TopLevelSelectionParameter(name="block", select=select, views=["linked"])],
            width=width or "container",
            height=style.px(_HEIGHT),
        ),
        style,
    )


_X = alt.Scale(domain=[0, _WIDTH], nice=False, zero=False)
_Y = alt.Scale(domain=[_HEIGHT, 0], nice=False, zero=False)


def _placed(rows: Sequence[Mapping[str, object]], name: str) -> alt.Chart:
    # Named, so that Altair leaves the rows where they are instead of moving them to a dataset of the whole chart.
    data = alt.InlineData(list(rows), name=name)
    chart: alt.Chart = alt.Chart(data).encode(x=alt.X("x:Q", scale=_X, axis=None), y=alt.Y("y:Q", scale=_Y, axis=None))
    return chart


def _rectangles(boxes: Sequence[_Box], written: Mapping[str, str], name: str) -> alt.Chart:
    rows = [
        {
            "id": box.block,
            "label": written[box.block],
            "x": box.x - box.width / 2,
            "x2": box.x + box.width / 2,
            "y": box.y - box.height / 2,
            "y2": box.y + box.height / 2,
            "middle": box.y,
        }
        for box in boxes
    ]
    chart: alt.Chart = _placed(rows, name).encode(x2="x2", y2="y2")
    return chart


def _texts(rows: Sequence[Mapping[str, object]], name: str, **options: Any) -> alt.Chart:
    chart: alt.Chart = _placed(rows, name).mark_text(text=alt.ExprRef("datum.label"), **options)
    return chart


def _frames(style: Style, written: Mapping[str, str]) -> list[alt.Chart]:
    frame = _rectangles(_FRAMES, written, "frames").mark_rect(
        fill=style.surface, stroke=style.faint, strokeWidth=style.scale, cornerRadius=10
    )
    names = []
    for box, side in zip(_FRAMES, (-1, 1), strict=True):
        edge, top = box.x + side * (box.width / 2 + 10), box.y - box.height / 2
        align = "right" if side < 0 else "left"
        rows = [{"label": written[box.block], "x": edge, "y": top + 14}]
        names.append(_texts(rows, f"{box.block}_name", align=align, fontWeight=600, fill=style.text))
        rows = [{"label": written["layers"], "x": edge, "y": top + 14}]
        names.append(_texts(rows, f"{box.block}_layers", align=align, dy=1.4 * style.font_size, fill=style.muted))
    return [frame, *names]


def _arrows(style: Style) -> list[alt.Chart]:
    layers = []
    turns = {"up": 0, "right": 90, "left": -90}
    for strong, colour, thickness in ((False, style.muted, 1.2), (True, style.accent, 2.2)):
        chosen = [arrow for arrow in _ARROWS if arrow.strong is strong]
        name = "memory" if strong else "arrows"
        rows = [
            {"arrow": number, "order": order, "x": x, "y": y}
            for number, arrow in enumerate(chosen)
            for order, (x, y) in enumerate(arrow.points)
        ]
        heads = [{"x": a.points[-1][0], "y": a.points[-1][1], "turn": turns[a.points_to]} for a in chosen]
        line = _placed(rows, name).mark_line(stroke=colour, strokeWidth=thickness * style.scale, strokeJoin="round")
        head = _placed(heads, f"{name}_heads").mark_point(
            shape="M-0.6,1L0,0L0.6,1Z",
            filled=True,
            fill=colour,
            opacity=1,
            size=(280 if strong else 150) * style.scale**2,
            angle=alt.ExprRef("datum.turn"),
        )
        layers += [line.encode(detail="arrow:N", order="order:Q"), head]
    sums = _placed([{"x": x, "y": y, "label": "+"} for x, y in _SUMS], "sums")
    disc = sums.mark_point(
        shape="circle",
        size=330 * style.scale**2,
        fill=style.background,
        stroke=style.muted,
        strokeWidth=1.2 * style.scale,
        opacity=1,
    )
    return [*layers, disc, sums.mark_text(text="+", fill=style.muted, fontSize=1.25 * style.font_size)]


def _boxes(style: Style, written: Mapping[str, str], boxes: Sequence[_Box], *, clickable: bool) -> list[alt.Chart]:
    if not boxes:
        return []
    tint = mix(style.background, style.primary, 0.16)
    base = _rectangles(boxes, written, "linked" if clickable else "plain")
    if clickable:
        base = base.properties(name="linked")
    rect = base.mark_rect(
        fill=alt.ExprRef(f"datum.id == 'whole' ? '{style.primary}' : '{tint}'") if clickable else style.background,
        stroke=style.primary if clickable else mix(style.faint, style.muted, 0.3),
        strokeWidth=(1.5 if clickable else 1) * style.scale,
        cornerRadius=6,
        cursor="pointer" if clickable else "default",
        tooltip=alt.ExprRef("datum.label") if clickable else False,
    )
    rows = [{"label": written[box.block], "id": box.block, "x": box.x, "y": box.y} for box in boxes]
    text = _placed(rows, f"{'linked' if clickable else 'plain'}_labels").mark_text(
        text=alt.ExprRef("datum.label + '  ↗'" if clickable else "datum.label"),
        fill=alt.ExprRef(f"datum.id == 'whole' ? '{style.on_primary}' : '{style.text}'") if clickable else style.muted,
        fontWeight=600 if clickable else "normal",
        fontSize=alt.ExprRef(f"(datum.id == 'whole' ? 1.25 : 1.05) * {style.font_size}"),
    )
    return [rect, text]


def _captions(style: Style, labels: MapLabels) -> list[alt.Chart]:
    rows = [
        {"label": labels.source, "x": _ENCODER, "y": 552},
        {"label": labels.target, "x": _DECODER, "y": 552},
        {"label": labels.prediction, "x": _DECODER, "y": 18},
    ]
    return [_texts(rows, "captions", fill=style.muted, fontStyle="italic")]
