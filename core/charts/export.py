"""Charts as files: SVG and PNG.

vl-convert takes about 90 MB of memory once it is loaded, so it is imported only when someone asks for a file.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from core.charts.theme import Style

IMAGES = "url"
"""The column that may hold images, each as an address that is the image."""

_FROM_DATA = {"field": IMAGES, "type": "nominal"}
_EXPORT_WIDTH = 720


def to_svg(spec: Mapping[str, Any], frames: Mapping[str, pa.Table], style: Style, *, width: int = _EXPORT_WIDTH) -> str:
    """The chart as SVG text, on the look's background.

    ``spec`` is the chart's ``to_dict()`` and ``frames`` are its data. A chart that fills its container gets ``width``.

    Raises: ValueError if the chart cannot be drawn, or wants data from an address.
    """
    import vl_convert

    return vl_convert.vegalite_to_svg(_inlined(spec, frames, style, width), allowed_base_urls=[])


def to_png(
    spec: Mapping[str, Any],
    frames: Mapping[str, pa.Table],
    style: Style,
    *,
    width: int = _EXPORT_WIDTH,
    scale: float = 2,
) -> bytes:
    """The chart as a PNG image, ``scale`` pixels for each of the chart's; otherwise as :func:`to_svg`."""
    import vl_convert

    return vl_convert.vegalite_to_png(_inlined(spec, frames, style, width), scale=scale, allowed_base_urls=[])


def _inlined(spec: Mapping[str, Any], frames: Mapping[str, pa.Table], style: Style, width: int) -> dict[str, Any]:
    """The spec with its data and an opaque background, as everything that leaves the page needs them."""
    images = [table[IMAGES].to_pylist() for table in frames.values() if IMAGES in table.column_names]
    if _loads(spec) or not all(map(_holds_itself, itertools.chain(*images))):
        raise ValueError("spec must not load data from an address")  # vl-convert would even read local files
    chart = {**spec, "datasets": {name: _rows(frame) for name, frame in frames.items()}}
    if chart.get("width") == "container":
        chart["width"] = width
    chart["background"] = style.background
    chart["padding"] = 12
    return chart


def _loads(part: object) -> bool:
    """Whether an address stands anywhere in a specification; images may have theirs in a column of the data."""
    if isinstance(part, Mapping):
        return ("url" in part and part["url"] != _FROM_DATA) or any(_loads(inner) for inner in part.values())
    return isinstance(part, list) and any(_loads(inner) for inner in part)


def _holds_itself(address: object) -> bool:
    return str(address).startswith("data:image/png;base64,")


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    return [{name: _plain(value) for name, value in row.items()} for row in table.to_pylist()]


def _plain(value: Any) -> Any:
    """As JSON can hold it: the seven digits that float32 has, however small the number; null for what is none."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.7g}") if math.isfinite(value) else None
