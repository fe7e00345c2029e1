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
import pandas as pd

from core.charts import board, tokens
from core.charts.board import Place
from core.charts.colour import Ramp
from core.charts.theme import Style, hand, themed

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
    part, head, nonce: int8), "labels" (x, y: float32; bold: int8; text: str), "rows" (x, y: float32; q: int16),
    "keys" (the same), "numbers" (x, y, value: float32) and "boxes" (left, right, top, bottom: float32).
    Selection: "head", with fields head and nonce, from a click on any cell: those of both datasets have them.
    Raises: ValueError if there are no tokens, or more than MOST.
    """
    if not 1 <= len(rows) <= MOST:
        raise ValueError(f"rows ({len(rows)}) must be between 1 and {MOST}")
    words, width = words or SplitWords(), width or outer_width
    place, spot = board.rectangle(HEIGHT), board.point(HEIGHT)
    named = {
        words.tensor: "split_parts[datum.part]",
        words.head: "datum.head < 0 ? '–' : datum.head + 1",
        words.token: "split_tokens[datum.q] + '  ·  ' + (datum.q + 1)",
    }
    value = {words.value: "format(datum.value, '.4f')"}
    kinds = {
        "features": ({words.feature: "datum.k + 1"}, Ramp(-_FEATURES, _FEATURES, style.scores.colours)),
        "weights": ({words.key: "split_tokens[datum.k] + '  ·  ' + (datum.k + 1)"}, style.weights),
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
    beside = (width or board.WIDTH) * _GUTTER / board.WIDTH  # pixels for the labels of rows
    small = min(style.small_size * 1.1, style.px(_BODY) / len(rows))
    row = alt.Chart(alt.NamedData("rows")).mark_text(
        align="right", dx=-5, fontSize=small, limit=beside - 7, text=alt.expr("split_tokens[datum.q]")
    )
    key = alt.Chart(alt.NamedData("keys")).mark_text(
        align="left", angle=310, dx=3, dy=-1, fontSize=small, limit=3.6 * style.font_size,
        text=alt.expr("split_tokens[datum.q]"),
    )  # fmt: skip
    layers += [text.encode(**spot) for text in (label, row, key)]
    if len(rows) <= _NUMBERS_UP_TO:
        number = alt.Chart(alt.NamedData("numbers")).mark_text(
            fontSize=style.small_size,
            text=alt.expr("format(datum.value, '.2f')"),
            fill=alt.expr(style.weights.ink("datum.value", style.dark_ink, style.light_ink)),
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


def split_data(
    tensors: Mapping[str, npt.ArrayLike],
    *,
    chosen: int,
    titles: Mapping[str, tuple[str, str]],
    nonce: int = 0,
) -> dict[str, pd.DataFrame]:
    """The data of :func:`split`: every one of PARTS, of (seq_len, features) or (num_heads, seq_len, features).

    chosen: the head that is outlined everywhere and whose weights are drawn large, counted from 0.
    titles: what stands above each part and, under "large", above the large weights: its name, and a line below it.
    Raises: ValueError if a part is missing, or there is no such head.
    """
    missing = [name for name in PARTS if name not in tensors]
    if missing:
        raise ValueError(f"tensors ({', '.join(tensors)}) must hold {', '.join(missing)}")
    arrays = {name: np.asarray(tensors[name], np.float32) for name in PARTS}
    num_heads, seq_len, _ = arrays["weights"].shape
    if not 0 <= chosen < num_heads:
        raise ValueError(f"chosen ({chosen}) must be between 0 and {num_heads - 1}")
    stands = _places()
    cells: dict[str, list[dict[str, npt.NDArray[Any]]]] = {"features": [], "weights": []}
    boxes = []
    for number, name in enumerate(PARTS):
        if arrays[name].ndim == 2:
            of_heads = name not in ("x", "result")
            cells["features"].append(_whole(stands[name], arrays[name], number, num_heads, of_heads=of_heads))
        else:
            pieces = _pieces(stands[name], num_heads)
            cells["weights" if name == "weights" else "features"] += [
                _tagged(board.grid(piece, values), number, head)
                for head, (piece, values) in enumerate(zip(pieces, arrays[name], strict=True))
            ]
            boxes.append(pieces[chosen])
        if name in ("q", "k", "v", "merged"):
            boxes.append(stands[name].columns(chosen, chosen + 1, num_heads))
    large = board.grid(stands["large"], arrays["weights"][chosen])
    cells["weights"].append(_tagged(large, PARTS.index("weights"), chosen))
    frames = {name: board.stacked(grids) for name, grids in cells.items()}
    for frame in frames.values():
        frame["nonce"] = np.full(len(frame), nonce % 100, np.int8)
    return {
        **frames,
        "labels": _labels({name: stands[name] for name in titles}, titles),
        "rows": _beside([stands["x"], stands["weights"], stands["large"]], seq_len),
        "keys": _above(stands["large"], seq_len),
        "numbers": _inside(stands["large"], arrays["weights"][chosen]),
        "boxes": pd.DataFrame(board.places(boxes)),
    }


def _places() -> dict[str, Place]:
    """Where everything stands: three rows of four columns, and a wider column for the chosen head."""

    def at(column: int, row: int, right: float | None = None) -> Place:
        left, top = _GUTTER + column * (_COLUMN + _GAP), row * (_TITLE + _BODY + _BELOW) + _TITLE
        return Place(left, top, left + _COLUMN if right is None else right, top + _BODY)

    first = {name: at(column, 0) for column, name in enumerate(("x", "q", "k", "v"))}
    second = {name: at(column, 1) for column, name in enumerate(("q_heads", "k_heads", "v_heads"), start=1)}
    third = {name: at(column, 2) for column, name in enumerate(("output", "merged"), start=2)}
    last = at(4, 2)
    return {
        **first,
        **second,
        **third,
        "cut": at(0, 1),
        "weights": at(0, 2, at(1, 2).right),
        "result": Place(last.left, last.top, board.WIDTH - _END, last.bottom),
        "large": Place(last.left + _LARGE_LABELS, 72, board.WIDTH - _END_OF_LABELS, at(4, 1).bottom),
    }


def _pieces(place: Place, num_heads: int) -> list[Place]:
    """A head's columns stand where they stood in the whole, less a gap."""
    gap = min(5.0, (place.right - place.left) / num_heads / 5) / 2 if num_heads > 1 else 0.0
    return [place.columns(head, head + 1, num_heads).shrunk(gap) for head in range(num_heads)]


def _whole(
    place: Place, values: npt.NDArray[np.float32], part: int, num_heads: int, *, of_heads: bool
) -> dict[str, npt.NDArray[Any]]:
    cells = board.grid(place, values)
    head_dim = values.shape[1] // num_heads
    return _tagged(cells, part, cells["k"] // head_dim if of_heads else _WHOLE)


def _tagged(cells: dict[str, npt.NDArray[Any]], part: int, head: npt.ArrayLike) -> dict[str, npt.NDArray[Any]]:
    size = cells["value"].size
    heads = np.broadcast_to(np.asarray(head, np.int8), size)
    return {**cells, "part": np.full(size, part, np.int8), "head": heads}


def _labels(stands: Mapping[str, Place], titles: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    lines = [
        (place.left, (0 if name == "large" else place.top - _TITLE) + down, bold, titles[name][1 - bold])
        for name, place in stands.items()
        for down, bold in ((0, 1), (16, 0))
    ]
    return pd.DataFrame(
        {
            "x": np.array([line[0] for line in lines], np.float32),
            "y": np.array([line[1] for line in lines], np.float32),
            "bold": np.array([line[2] for line in lines], np.int8),
            "text": [line[3] for line in lines],
        }
    )


def _beside(grids: Sequence[Place], seq_len: int) -> pd.DataFrame:
    middles = (np.arange(seq_len) + 0.5) / seq_len
    return pd.DataFrame(
        {
            "x": np.repeat(np.array([grid.left for grid in grids], np.float32), seq_len),
            "y": np.concatenate([grid.top + middles * (grid.bottom - grid.top) for grid in grids]).astype(np.float32),
            "q": np.tile(np.arange(seq_len, dtype=np.int16), len(grids)),
        }
    )


def _above(grid: Place, seq_len: int) -> pd.DataFrame:
    middles = (np.arange(seq_len) + 0.5) / seq_len
    return pd.DataFrame(
        {
            "x": (grid.left + middles * (grid.right - grid.left)).astype(np.float32),
            "y": np.full(seq_len, grid.top - 4, np.float32),
            "q": np.arange(seq_len, dtype=np.int16),
        }
    )


def _inside(grid: Place, values: npt.NDArray[np.float32]) -> pd.DataFrame:
    cells = board.grid(grid, values)
    middles = {"x": (cells["left"] + cells["right"]) / 2, "y": (cells["top"] + cells["bottom"]) / 2}
    return pd.DataFrame({**middles, "value": cells["value"]})
