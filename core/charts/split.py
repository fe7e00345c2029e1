"""Multi-head attention on one board: X → Q, K, V → cut into heads → weights → outputs → merged → result.

Cutting copies nothing: a head's columns of Q stand below the same columns of Q, only with a gap beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import board, tokens
from core.charts.board import Place
from core.charts.colour import Ramp
from core.charts.theme import Style, hand, themed
from core.checks import check_between

PARTS = ("x", "q", "k", "v", "q_heads", "k_heads", "v_heads", "weights", "output", "merged", "result")
"""The tensors on the board; those of all heads have three axes."""

HEIGHT = 384
MOST = 8  # tokens: more rows would be too low to read

_FEATURES = 3.0  # the colours of features end at ± this
_GUTTER, _COLUMN, _GAP = 78, 150, 24  # units across; the last column is what is left
_TITLE, _BODY, _BELOW = 33, 88, 7  # units down: of a row of tensors its titles, its cells, the room below
_LARGE_LABELS = 66  # units beside the chosen head's weights
_END, _END_OF_LABELS = 8, 26  # units left at the right, and beside labels that lean to the right
_NUMBERS_UP_TO = 6  # tokens: with more, a number no longer fits into a cell of the large weights
_WHOLE = -1  # the head of a cell that belongs to no head
_OF_NO_HEAD = ("x", "result")
_CUT = ("q_heads", "k_heads", "v_heads", "weights", "output")


@dataclass(frozen=True, slots=True)
class SplitWords:
    """What the tooltip says, in the reader's language."""

    tensor: str = "tensor"
    head: str = "head"
    token: str = "token"
    key: str = "key"
    feature: str = "feature"
    value: str = "value"


def split(
    style: Style,
    rows: Sequence[str],
    *,
    words: SplitWords | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    clickable: bool = True,
) -> alt.LayerChart:
    """The board for a sentence with these tokens; how many heads there are is said by the data alone.

    Datasets, from :func:`split_data`: "features" and "weights" (left, right, top, bottom, value: float32; q, k: int16;
    part, head, nonce: int8) and "labels" (x, y: float32; bold: int8; text: str); from :func:`split_head`: "large" (as
    "weights") and "boxes" (left, right, top, bottom: float32).
    Selection: "head", with fields head and nonce, from a click on any cell: those of all datasets have them.
    Raises: ValueError if there are no tokens, or more than MOST.
    """
    check_between("rows", len(rows), 1, MOST)
    words, width = words or SplitWords(), width or outer_width
    place, spot = board.rectangle(HEIGHT), board.point(HEIGHT)
    named = {
        words.tensor: "split_parts[datum.part]",
        words.head: "datum.head < 0 ? '–' : datum.head + 1",
        words.token: "split_tokens[datum.q] + '  ·  ' + (datum.q + 1)",
    }
    value = {words.value: "format(datum.value, '.4f')"}
    key = {words.key: "split_tokens[datum.k] + '  ·  ' + (datum.k + 1)"}
    kinds = {
        "features": ({words.feature: "datum.k + 1"}, Ramp(-_FEATURES, _FEATURES, style.scores.colours)),
        "weights": (key, style.weights),
        "large": (key, style.weights),
    }
    layers = [
        alt.Chart(alt.NamedData(name))
        .properties(name=name)
        .mark_rect(
            stroke=style.background,
            strokeWidth=0.5,
            tooltip=alt.expr(tokens.record({**named, **column, **value})),
            cursor=hand(clickable),
        )
        .encode(**place, color=alt.Color("value:Q", scale=ramp.scale(), legend=None))
        for name, (column, ramp) in kinds.items()
    ]
    layers += [
        alt.Chart(alt.NamedData("boxes"))
        .mark_rect(filled=False, stroke=stroke, strokeWidth=thickness, strokeJoin="round")
        .encode(**place)
        for stroke, thickness in ((style.background, 4 * style.scale), (style.accent, 2 * style.scale))
    ]
    label = alt.Chart(alt.NamedData("labels")).mark_text(
        align="left",
        baseline="top",
        fontSize=alt.expr(f"datum.bold ? {style.font_size} : {style.small_size * 1.1}"),
        fontWeight=alt.expr("datum.bold ? 600 : 'normal'"),
        fill=alt.expr(f"datum.bold ? '{style.text}' : '{style.muted}'"),
        text=alt.expr("datum.text"),
    )
    layers += [each.encode(**spot) for each in (label, *_token_labels(style, len(rows), width or board.WIDTH))]
    if len(rows) <= _NUMBERS_UP_TO:
        number = (
            alt.Chart(alt.NamedData("large"))
            .transform_calculate(x="(datum.left + datum.right) / 2", y="(datum.top + datum.bottom) / 2")
            .mark_text(
                fontSize=style.small_size,
                text=alt.expr("format(datum.value, '.2f')"),
                fill=alt.expr(style.weights.ink("datum.value", style.dark_ink, style.light_ink)),
            )
        )
        layers.append(number.encode(**spot))
    select = alt.PointSelectionConfig(type="point", fields=["head", "nonce"], on="click", clear=False)
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[
                alt.TopLevelSelectionParameter(name="head", select=select, views=["features"]),
                tokens.label_table("split_tokens", rows),
                tokens.label_table("split_parts", PARTS),
            ],
            resolve=alt.Resolve(scale=alt.ScaleResolveMap(color="independent")),
            width=width or "container",
            height=style.px(HEIGHT),
        ),
        style,
    )


def split_data(tensors: Mapping[str, npt.ArrayLike], *, titles: Mapping[str, tuple[str, str]]) -> dict[str, pa.Table]:
    """What :func:`split` draws, whichever head is chosen, for :func:`clicked`.

    tensors: every one of PARTS, of (seq_len, features) or (num_heads, seq_len, features).
    titles: what stands above each part and, under "large", above the large weights: its name, and a line below it.
    Raises: ValueError if a part is missing.
    """
    missing = [name for name in PARTS if name not in tensors]
    if missing:
        raise ValueError(f"tensors ({', '.join(tensors)}) must hold {', '.join(missing)}")
    arrays = {name: np.asarray(tensors[name], np.float32) for name in PARTS}
    num_heads = len(arrays["weights"])
    cells = {name: _cells(_PLACES[name], arrays[name], number, num_heads) for number, name in enumerate(PARTS)}
    weights = cells.pop("weights")
    frames = {"features": board.stacked(list(cells.values())), "weights": pa.table(weights)}
    return {**frames, "labels": _labels(titles)}


def clicked(frames: Mapping[str, pa.Table], nonce: int) -> dict[str, pa.Table]:
    """What :func:`split_data` made, with the number of clicks; the labels know of none."""
    return {
        name: frame
        if name == "labels"
        else frame.append_column("nonce", pa.array(np.full(len(frame), nonce % 100, np.int8)))
        for name, frame in frames.items()
    }


def split_head(weights: npt.ArrayLike, chosen: int, *, nonce: int = 0) -> dict[str, pa.Table]:
    """The rest: the head that is outlined everywhere, and whose weights are drawn large.

    Shape: weights (num_heads, seq_len, seq_len).
    Raises: ValueError if there is no such head.
    """
    array = np.asarray(weights, np.float32)
    num_heads = len(array)
    check_between("chosen", chosen, 0, num_heads - 1)
    cells = _cells(_PLACES["large"], array[chosen], PARTS.index("weights"), num_heads)
    size = cells["value"].size
    cells |= {"head": np.full(size, chosen, np.int8), "nonce": np.full(size, nonce % 100, np.int8)}
    boxes = [_piece(_PLACES[name], chosen, num_heads, cut=name in _CUT) for name in PARTS if name not in _OF_NO_HEAD]
    return {"large": pa.table(cells), "boxes": pa.table(board.places(boxes))}


def _places() -> dict[str, Place]:
    """Where everything stands: three rows of four columns, and a wider column for the chosen head."""

    def at(column: int, row: int, right: float | None = None) -> Place:
        left, top = _GUTTER + column * (_COLUMN + _GAP), row * (_TITLE + _BODY + _BELOW) + _TITLE
        return Place(left, top, left + _COLUMN if right is None else right, top + _BODY)

    first = {name: at(column, 0) for column, name in enumerate(("x", "q", "k", "v"))}
    second = {name: at(column, 1) for column, name in enumerate(("cut", "q_heads", "k_heads", "v_heads"))}
    third = {name: at(column, 2) for column, name in enumerate(("output", "merged"), start=2)}
    last = at(4, 2)
    return {
        **first,
        **second,
        "weights": at(0, 2, at(1, 2).right),
        **third,
        "result": Place(last.left, last.top, board.WIDTH - _END, last.bottom),
        "large": Place(last.left + _LARGE_LABELS, 72, board.WIDTH - _END_OF_LABELS, at(4, 1).bottom),
    }


_PLACES = _places()


def _gap(place: Place, num_heads: int) -> float:
    """Units at either side of a head's piece: it stands where it stood in the whole, less this."""
    return min(2.5, (place.right - place.left) / num_heads / 10) if num_heads > 1 else 0.0


def _piece(place: Place, head: int, num_heads: int, *, cut: bool) -> Place:
    """A head's part of a tensor, whole or cut into heads."""
    piece = place.columns(head, head + 1, num_heads)
    return piece.shrunk(_gap(place, num_heads)) if cut else piece


def _cells(place: Place, values: npt.NDArray[np.float32], part: int, num_heads: int) -> dict[str, npt.NDArray[Any]]:
    """The cells of a whole tensor, (rows, columns), or of one that is cut, (num_heads, rows, columns)."""
    if values.ndim == 2:
        cells = board.grid(place, values)
        head_dim = values.shape[1] // num_heads
        head = cells["k"] // max(head_dim, 1) if PARTS[part] not in _OF_NO_HEAD else np.full(values.size, _WHOLE)
    else:
        cells = board.grid(Place(0, place.top, 1, place.bottom), values.reshape(-1, values.shape[-1]))
        heads, rows, columns = values.shape
        head, q = np.divmod(cells["q"], rows)
        wide, gap = (place.right - place.left) / heads, _gap(place, heads)
        left = place.left + head * wide + gap + cells["k"] * ((wide - 2 * gap) / columns)
        high = (place.bottom - place.top) / rows
        cells |= {
            "left": left.astype(np.float32),
            "right": (left + (wide - 2 * gap) / columns).astype(np.float32),
            "top": (place.top + q * high).astype(np.float32),
            "bottom": (place.top + (q + 1) * high).astype(np.float32),
            "q": q,
        }
    return {**cells, "part": np.full(values.size, part, np.int8), "head": head.astype(np.int8)}


def _labels(titles: Mapping[str, tuple[str, str]]) -> pa.Table:
    lines = [
        (_PLACES[name].left, (0 if name == "large" else _PLACES[name].top - _TITLE) + down, bold, texts[1 - bold])
        for name, texts in titles.items()
        for down, bold in ((0, 1), (16, 0))
        if texts[1 - bold]
    ]
    return pa.table(
        {
            "x": np.array([line[0] for line in lines], np.float32),
            "y": np.array([line[1] for line in lines], np.float32),
            "bold": np.array([line[2] for line in lines], np.int8),
            "text": [line[3] for line in lines],
        }
    )


def _token_labels(style: Style, seq_len: int, width: float) -> list[alt.Chart]:
    """The tokens beside the rows of three grids, and above the columns of the large one; they are never sent."""
    small = min(style.small_size * 1.1, style.px(_BODY) / seq_len)
    sides = [_PLACES[name] for name in ("x", "weights", "large")]
    lefts, tops = [place.left for place in sides], [place.top for place in sides]
    highs = [place.bottom - place.top for place in sides]
    large = _PLACES["large"]
    rows = (
        alt.Chart(alt.sequence(0, len(sides) * seq_len, as_="i"))
        .transform_calculate(side=f"floor(datum.i / {seq_len})", q=f"datum.i % {seq_len}")
        .transform_calculate(
            x=f"{lefts}[datum.side]",
            y=f"{tops}[datum.side] + (datum.q + 0.5) / {seq_len} * {highs}[datum.side]",
        )
        .mark_text(
            align="right", dx=-5, fontSize=small, limit=width * _GUTTER / board.WIDTH - 7,
            text=alt.expr("split_tokens[datum.q]"),
        )
    )  # fmt: skip
    columns = (
        alt.Chart(alt.sequence(0, seq_len, as_="q"))
        .transform_calculate(
            x=f"{large.left} + (datum.q + 0.5) / {seq_len} * {large.right - large.left}", y=f"{large.top - 4}"
        )
        .mark_text(
            align="left", angle=310, dx=3, dy=-1, fontSize=small, limit=3.6 * style.font_size,
            text=alt.expr("split_tokens[datum.q]"),
        )
    )  # fmt: skip
    return [rows, columns]
