"""Many small attention maps as one chart: a block for each kind of attention, its layers down, its heads across."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import board, tokens
from core.charts.board import Place
from core.charts.theme import Style, hand, themed
from core.checks import check_between

_TITLE, _NAME = 20, 15  # units down: of a block's title, and of the name above each map
_BETWEEN_BLOCKS, _BETWEEN_MAPS, _BELOW = 20, 7, 4


@dataclass(frozen=True, slots=True)
class GalleryBlock:
    """One kind of attention: its title, and how many maps it has."""

    title: str
    layers: int
    heads: int


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a map's tooltip: what it is called, and how its number is written (a format of d3)."""

    name: str
    format: str = ".2f"


def gallery(
    style: Style,
    blocks: Sequence[GalleryBlock],
    names: Sequence[str],
    *,
    facts: Sequence[Fact] = (),
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    height: int = 250,
    clickable: bool = True,
) -> alt.LayerChart:
    """Maps without labels of their own: they show a shape. The names of all heads go block by block, layer by layer.

    A head that is off is crossed out. Where a fact is not known (NaN), the tooltip has a dash.
    Datasets, from :func:`gallery_data`: "cells" (left, right, top, bottom, value: float32), "heads" (the same without
    value; head: int16; off, nonce: int8; f0, f1 …: float32), "chosen" (left, right, top, bottom: float32) and "titles"
    (b: int8; x, y: float32).
    Selection: "head", with fields head and nonce.
    Raises: ValueError if there are no blocks, or not as many names as maps.
    """
    count = sum(block.layers * block.heads for block in blocks)
    if not blocks or len(names) != count:
        raise ValueError(f"names ({len(names)}) must be as many as the maps of all blocks ({count})")
    width = width or outer_width
    place, spot = board.rectangle(height), board.point(height)
    small = style.small_size
    cells = (
        alt.Chart(alt.NamedData("cells"))
        .mark_rect()
        .encode(**place, color=alt.Color("value:Q", scale=style.weights.scale(), legend=None))
    )
    heads = alt.Chart(alt.NamedData("heads"))
    gone = heads.transform_filter("datum.off == 1")
    cover = gone.mark_rect(fill=style.masked, fillOpacity=0.85).encode(**place)
    strokes = [
        gone.mark_rule(aria=False, stroke=style.text, strokeWidth=1.5 * style.scale).encode(
            **place | {"y": alt.Y(f"{start}:Q", scale=board.scale_y(height), axis=None), "y2": alt.Y2(end)}
        )
        for start, end in (("top", "bottom"), ("bottom", "top"))
    ]
    frame = heads.mark_rect(filled=False, stroke=style.faint, strokeWidth=1).encode(**place)
    ring = [
        alt.Chart(alt.NamedData("chosen"))
        .mark_rect(filled=False, stroke=stroke, strokeWidth=thickness, strokeJoin="round")
        .encode(**place)
        for stroke, thickness in ((style.background, 4.5 * style.scale), (style.accent, 2.5 * style.scale))
    ]
    label = heads.mark_text(
        align="left", baseline="bottom", dy=-1, fontSize=small,
        text=alt.expr("(datum.off ? '✕ ' : '') + gallery_names[datum.head]"),
    ).encode(x=place["x"], y=place["y"])  # fmt: skip
    above = alt.Chart(alt.NamedData("titles")).mark_text(
        align="left", baseline="top", fontSize=style.font_size, fontWeight=600, text=alt.expr("gallery_titles[datum.b]")
    )
    tooltip = {"·": "gallery_names[datum.head]"} | {
        fact.name: f"isValid(datum.f{i}) ? format(datum.f{i}, '{fact.format}') : '–'" for i, fact in enumerate(facts)
    }
    hit = (
        heads.properties(name="heads")
        .mark_rect(
            fill=style.background, fillOpacity=0, tooltip=alt.expr(tokens.record(tooltip)), cursor=hand(clickable)
        )
        .encode(**place)
    )
    select = alt.PointSelectionConfig(type="point", fields=["head", "nonce"], on="click", clear=False)
    return themed(
        alt.LayerChart(
            layer=[cells, frame, cover, *strokes, *ring, label, above.encode(**spot), hit],
            params=[
                alt.TopLevelSelectionParameter(name="head", select=select, views=["heads"]),
                tokens.label_table("gallery_names", names),
                tokens.label_table("gallery_titles", [block.title for block in blocks]),
            ],
            width=width or "container",
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def gallery_data(
    maps: Sequence[npt.ArrayLike],
    blocks: Sequence[GalleryBlock],
    *,
    chosen: int | None = None,
    off: Sequence[int] = (),
    facts: Mapping[int, Sequence[float]] | None = None,
    height: int = 250,
    nonce: int = 0,
) -> dict[str, pa.Table]:
    """The data of :func:`gallery`: a map (queries, keys) for every head, in the order of the names.

    chosen: the map with a ring. off: which heads are crossed out. facts: the numbers of the tooltip for each head.
    height: that of the chart.
    Raises: ValueError if there are not as many maps as the blocks have, or there is no such head.
    """
    stands = _places(blocks, height)
    if len(maps) != len(stands):
        raise ValueError(f"maps ({len(maps)}) must be as many as the blocks have ({len(stands)})")
    for name, numbers in (("chosen", [] if chosen is None else [chosen]), ("off", off)):
        for number in numbers:
            check_between(name, number, 0, len(stands) - 1)
    cells = board.stacked([board.grid(place, values) for place, values in zip(stands, maps, strict=True)])
    every = np.arange(len(stands), dtype=np.int16)
    heads = {
        **board.places(stands),
        "head": every,
        "off": np.isin(every, list(off)).astype(np.int8),
        "nonce": np.full(len(stands), nonce % 100, np.int8),
    }
    if facts:
        table = np.array([facts[number] for number in range(len(stands))], np.float32)  # (heads, facts)
        for fact in range(table.shape[1]):
            heads[f"f{fact}"] = table[:, fact]
    ring = [] if chosen is None else [stands[chosen]]
    return {
        "cells": cells.drop_columns(["q", "k"]),
        "heads": pa.table(heads),
        "chosen": pa.table(board.places(ring)),
        "titles": _titles(blocks),
    }


def _lefts(blocks: Sequence[GalleryBlock]) -> tuple[list[float], float]:
    """Where every block begins, and how wide a map is with the room behind it."""
    across = sum(block.heads for block in blocks)
    step = (board.WIDTH - _BETWEEN_BLOCKS * (len(blocks) - 1)) / across
    lefts, left = [], 2.0
    for block in blocks:
        lefts.append(left)
        left += step * block.heads + _BETWEEN_BLOCKS
    return lefts, step


def _titles(blocks: Sequence[GalleryBlock]) -> pa.Table:
    lefts = np.array(_lefts(blocks)[0], np.float32)
    return pa.table({"b": np.arange(lefts.size, dtype=np.int8), "x": lefts, "y": np.zeros_like(lefts)})


def _places(blocks: Sequence[GalleryBlock], height: float) -> list[Place]:
    lefts, step = _lefts(blocks)
    down = (height - _TITLE) / max(block.layers for block in blocks)
    return [
        Place(
            left + head * step,
            _TITLE + layer * down + _NAME,
            left + (head + 1) * step - _BETWEEN_MAPS,
            _TITLE + (layer + 1) * down - _BELOW,
        )
        for block, left in zip(blocks, lefts, strict=True)
        for layer in range(block.layers)
        for head in range(block.heads)
    ]
