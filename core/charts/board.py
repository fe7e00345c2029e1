"""A drawing board: grids of cells at free places of one chart.

Where everything stands is part of the data. So one specification draws whatever the grids are, however they are cut,
and a picture of a hundred small grids is still one chart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

WIDTH = 1000
"""The board is so many units wide, however many pixels these are; downwards a unit is a pixel at normal size."""


@dataclass(frozen=True, slots=True)
class Place:
    """A rectangle on the board."""

    left: float
    top: float
    right: float
    bottom: float

    def columns(self, first: float, last: float, count: int) -> Place:
        """The part of a grid of `count` columns that reaches from the left of one to the left of another."""
        width = (self.right - self.left) / count
        return Place(self.left + first * width, self.top, self.left + last * width, self.bottom)

    def shrunk(self, across: float) -> Place:
        """Less wide by this at either side."""
        return Place(self.left + across, self.top, self.right - across, self.bottom)


def scale_x() -> alt.Scale:
    return alt.Scale(domain=[0, WIDTH], zero=False, nice=False)


def scale_y(height: float) -> alt.Scale:
    """From the top down."""
    return alt.Scale(domain=[0, height], zero=False, nice=False, reverse=True)


def rectangle(height: float) -> dict[str, Any]:
    """Encodings of the fields left, right, top and bottom."""
    return {
        "x": alt.X("left:Q", scale=scale_x(), axis=None),
        "x2": alt.X2("right"),
        "y": alt.Y("top:Q", scale=scale_y(height), axis=None),
        "y2": alt.Y2("bottom"),
    }


def point(height: float) -> dict[str, Any]:
    """Encodings of the fields x and y."""
    return {
        "x": alt.X("x:Q", scale=scale_x(), axis=None),
        "y": alt.Y("y:Q", scale=scale_y(height), axis=None),
    }


def places(found: Sequence[Place]) -> dict[str, npt.NDArray[np.float32]]:
    """The columns of several rectangles."""
    numbers = np.array([(p.left, p.right, p.top, p.bottom) for p in found], np.float32).reshape(-1, 4)
    return {name: numbers[:, i] for i, name in enumerate(("left", "right", "top", "bottom"))}


def grid(place: Place, values: npt.ArrayLike) -> dict[str, npt.NDArray[Any]]:
    """The cells of a grid that fills a place: left, right, top, bottom, value: float32; q, k: int16 (row, column).

    Raises: ValueError if the values are not of shape (rows, columns).
    """
    array = np.asarray(values, np.float32)
    if array.ndim != 2:
        raise ValueError(f"values {array.shape} must be (rows, columns)")
    rows, columns = array.shape
    q, k = (index.ravel().astype(np.int16) for index in np.indices(array.shape))
    wide, high = (place.right - place.left) / max(columns, 1), (place.bottom - place.top) / max(rows, 1)
    return {
        "left": (place.left + k * wide).astype(np.float32),
        "right": (place.left + (k + 1) * wide).astype(np.float32),
        "top": (place.top + q * high).astype(np.float32),
        "bottom": (place.top + (q + 1) * high).astype(np.float32),
        "q": q,
        "k": k,
        "value": array.ravel(),
    }


def stacked(grids: Sequence[dict[str, npt.NDArray[Any]]]) -> pa.Table:
    """Several grids, each with the same columns, as one table."""
    return pa.table({name: np.concatenate([each[name] for each in grids]) for name in grids[0]})
