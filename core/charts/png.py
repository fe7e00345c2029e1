"""Numbers as a picture of few bytes: a PNG whose pixels are places in a table of colours."""

from __future__ import annotations

import base64
import io

import numpy as np
import numpy.typing as npt
from PIL import Image

from core.charts.colour import Ramp, channels

MASKED = 254
"""The pixel of a cell that may not be looked at."""

EMPTY = 255
"""The pixel of what is no cell: the page shows through."""

SHADES = 254
"""So many colours of a ramp, from its low end to its high one."""

FAST = 2
"""How hard to press the picture together, of 9: more costs much more time than it saves bytes."""


def shades(values: npt.ArrayLike, ramp: Ramp) -> npt.NDArray[np.uint8]:
    """The place of each value in the table of colours; what lies outside the ramp gets the colour of its end.

    Values that are no numbers become MASKED.
    """
    array = np.asarray(values, np.float32)
    share = (array - ramp.low) / (ramp.high - ramp.low)
    known = np.isfinite(share)
    scaled = np.clip(np.where(known, share, 0), 0, 1) * (SHADES - 1) + 0.5
    return np.where(known, scaled, MASKED).astype(np.uint8)


def picture(pixels: npt.NDArray[np.uint8], ramp: Ramp, masked: str) -> str:
    """The address that holds the picture itself: ``data:image/png;base64,…``.

    pixels: shape (height, width), from :func:`shades`, or MASKED, or EMPTY.
    Raises: ValueError if there are no pixels.
    """
    if pixels.ndim != 2 or pixels.size == 0:
        raise ValueError(f"pixels {pixels.shape} must be of shape (height, width) with at least one pixel")
    step = (ramp.high - ramp.low) / (SHADES - 1)
    colours = [ramp.at(ramp.low + place * step) for place in range(SHADES)] + [masked, masked]
    image = Image.fromarray(pixels)
    image.putpalette([round(255 * part) for colour in colours for part in channels(colour)])
    written = io.BytesIO()
    image.save(written, "PNG", transparency=EMPTY, compress_level=FAST)
    return "data:image/png;base64," + base64.b64encode(written.getvalue()).decode()
