"""Numbers as a picture of few bytes: a PNG whose pixels are places in a table of colours."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt

from core.charts.colour import Ramp, channels

MASKED = 254
"""The pixel of a cell that may not be looked at."""

EMPTY = 255
"""The pixel of what is no cell: the page shows through."""

SHADES = 254
"""So many colours of a ramp, from its low end to its high one."""


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
    Source: PNG specification, third edition, sections 5 (chunks) and 11.2 (PLTE, tRNS, IDAT).
    Raises: ValueError if there are no pixels.
    """
    if pixels.ndim != 2 or pixels.size == 0:
        raise ValueError(f"pixels {pixels.shape} must be of shape (height, width) with at least one pixel")
    height, width = pixels.shape
    step = (ramp.high - ramp.low) / (SHADES - 1)
    colours = [ramp.at(ramp.low + place * step) for place in range(SHADES)] + [masked, masked]
    table = bytes(round(255 * part) for colour in colours for part in channels(colour))
    lines = np.zeros((height, width + 1), np.uint8)  # each begins with the kind of its filter: 0, none
    lines[:, 1:] = pixels
    parts = [
        _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),  # 8 bits, with a table of colours
        _chunk(b"PLTE", table),
        _chunk(b"tRNS", bytes([255] * EMPTY + [0])),
        _chunk(b"IDAT", zlib.compress(lines.tobytes(), 2)),
        _chunk(b"IEND", b""),
    ]
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
