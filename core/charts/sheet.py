"""Maps of all heads as one picture: layers down, heads across, a pixel for each weight.

A row of data for each of 144 · 64 · 64 weights would be tens of megabytes; as one image with a table of colours it is
some hundred kilobytes, whatever the browser. Only what can be clicked and told of is a mark of its own: the maps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.png import EMPTY, MASKED, picture, shades
from core.charts.theme import Style, hand, themed

MOST = 64
"""Most rows, and most columns, of a map that is one of many."""

_EXACT = alt.AutoSizeParams(type="pad", contains="padding")
"""The image is as large as it was made, and so must be what lies over it."""

_GAP = 0.07  # of a map's side, between two maps


@dataclass(frozen=True, slots=True)
class SheetWords:
    """What a sheet says, in the reader's language."""

    layers: str = "layer"
    heads: str = "head"
    strongest: str = "strongest"
    weight: str = "weight"


def sheet(
    style: Style,
    layers: int,
    heads: int,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    sharp: bool = True,
    words: SheetWords | None = None,
    title: str | None = None,
    outer_width: int = 700,
    height: int = 430,
    clickable: bool = True,
) -> alt.LayerChart:
    """One image under a grid of maps that can be clicked; a ring around the chosen one.

    sharp: pixels keep their edges; False where they are smaller than the screen's, and are meaned.
    Datasets: "image" (url: str), "maps" (layer, head, q, k: int16; weight: float32; nonce: int8) and "chosen" (layer,
    head: int16), from :func:`sheet_data`. Selection: "map", with fields layer, head and nonce.
    Raises: ValueError if there are no layers, heads or tokens.
    """
    if min(layers, heads, len(queries), len(keys)) < 1:
        raise ValueError(
            f"layers ({layers}), heads ({heads}), queries ({len(queries)}) and keys ({len(keys)}) must be at least 1"
        )
    words = words or SheetWords()
    width = outer_width - tokens.beside_axis(["00"], style.font_size)
    x = alt.X("head:O", scale=_bands(heads), axis=_axis(words.heads, "top"))
    y = alt.Y("layer:O", scale=_bands(layers), axis=_axis(words.layers, "left"))
    image = (
        alt.Chart(alt.NamedData("image"))
        .mark_image(width=width, height=style.px(height), aspect=False, smooth=not sharp)
        .encode(x=alt.value(width / 2), y=alt.value(style.px(height) / 2), url="url:N")
    )
    tooltip = {
        words.layers: "datum.layer + 1",
        words.heads: "datum.head + 1",
        words.strongest: "sheet_queries[datum.q] + ' → ' + sheet_keys[datum.k]",
        words.weight: "format(datum.weight, '.3f')",
    }
    maps = (
        alt.Chart(alt.NamedData("maps"), name="maps")
        .mark_rect(
            fill=style.background, fillOpacity=0, tooltip=alt.expr(tokens.record(tooltip)), cursor=hand(clickable)
        )
        .encode(x=x, y=y)
    )
    rings = [
        alt.Chart(alt.NamedData("chosen"))
        .mark_rect(filled=False, stroke=stroke, strokeWidth=thickness, strokeJoin="round")
        .encode(x=x, y=y)
        for stroke, thickness in ((style.background, 4.5 * style.scale), (style.accent, 2.5 * style.scale))
    ]
    select = alt.PointSelectionConfig(type="point", fields=["layer", "head", "nonce"], on="click", clear=False)
    chart = themed(
        alt.LayerChart(
            layer=[image, *rings, maps],
            params=[
                alt.TopLevelSelectionParameter(name="map", select=select, views=["maps"]),
                tokens.label_table("sheet_queries", queries),
                tokens.label_table("sheet_keys", keys),
            ],
            width=width,
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )
    return chart.properties(autosize=_EXACT)


def sheet_image(style: Style, weights: npt.ArrayLike, attend_mask: npt.ArrayLike | None = None) -> str:
    """The image of :func:`sheet`, worth keeping: maps side by side, each in the middle of its band.

    weights: what is drawn, (layers, heads, rows, columns), at most MOST × MOST each. attend_mask: of the drawn cells,
    True = may attend.
    Raises: ValueError if the shape does not fit.
    """
    array = np.asarray(weights, np.float32)
    if array.ndim != 4 or max(array.shape[2:]) > MOST or array.size == 0:
        raise ValueError(f"weights {array.shape} must be (layers, heads, rows, columns), at most {MOST} × {MOST} cells")
    pixels = shades(array, style.weights)  # (layers, heads, rows, columns)
    if attend_mask is not None:
        pixels = np.where(np.asarray(attend_mask, bool), pixels, np.uint8(MASKED))
    layers, heads, rows, columns = pixels.shape
    down, across = (max(1, round(_GAP * side / 2)) for side in (rows, columns))
    framed = np.full((layers, heads, rows + 2 * down, columns + 2 * across), EMPTY, np.uint8)
    framed[:, :, down:-down, across:-across] = pixels
    whole = framed.transpose(0, 2, 1, 3).reshape(layers * framed.shape[2], heads * framed.shape[3])
    return picture(whole, style.weights, style.masked)


def is_sharp(columns: int, heads: int, width: float) -> bool:
    """Whether the maps' cells are at least as large as the screen's pixels."""
    return heads * columns * (1 + _GAP) <= width


def sheet_data(
    image: str,
    strongest: npt.ArrayLike,
    *,
    chosen: tuple[int, int] | None = None,
    nonce: int = 0,
) -> dict[str, pa.Table]:
    """The data of :func:`sheet`: the image, and query, key and weight of each map's largest, (layers, heads, 3).

    Raises: ValueError if the shape does not fit, or there is no such map to choose.
    """
    told = np.asarray(strongest, np.float32)
    if told.ndim != 3 or told.shape[2] != 3:
        raise ValueError(f"strongest {told.shape} must be (layers, heads, 3)")
    layers, heads = told.shape[:2]
    if chosen is not None and not (0 <= chosen[0] < layers and 0 <= chosen[1] < heads):
        raise ValueError(f"chosen {chosen} must be a layer below {layers} and a head below {heads}")
    layer, head = (index.ravel().astype(np.int16) for index in np.indices((layers, heads)))
    flat = told.reshape(-1, 3)
    maps = pa.table(
        {
            "layer": layer,
            "head": head,
            "q": flat[:, 0].astype(np.int16),
            "k": flat[:, 1].astype(np.int16),
            "weight": flat[:, 2],
            "nonce": np.full(layer.size, nonce % 100, np.int8),
        }
    )
    ring = np.array([] if chosen is None else [chosen], np.int16).reshape(-1, 2)
    return {
        "image": pa.table({"url": [image]}),
        "maps": maps,
        "chosen": pa.table({"layer": ring[:, 0], "head": ring[:, 1]}),
    }


def _bands(count: int) -> alt.Scale:
    return alt.Scale(domain=list(range(count)), padding=0)


def _axis(title: str, orient: Literal["top", "left"]) -> alt.Axis:
    return alt.Axis(title=title, orient=orient, labelExpr="datum.value + 1", labelAngle=0, grid=False)
