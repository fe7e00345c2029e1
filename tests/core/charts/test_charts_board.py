"""Grids at free places of one chart."""

from __future__ import annotations

import numpy as np
import pytest

from core.charts import board
from core.charts.board import Place

PLACE = Place(100, 20, 220, 60)


def test_the_cells_of_a_grid_fill_its_place() -> None:
    cells = board.grid(PLACE, np.arange(6).reshape(2, 3))
    assert cells["value"].tolist() == [0, 1, 2, 3, 4, 5]
    assert cells["q"].tolist() == [0, 0, 0, 1, 1, 1]
    assert cells["k"].tolist() == [0, 1, 2, 0, 1, 2]
    assert cells["left"].tolist() == [100, 140, 180] * 2
    assert cells["right"].tolist() == [140, 180, 220] * 2
    assert cells["top"].tolist() == [20] * 3 + [40] * 3
    assert cells["bottom"].tolist() == [40] * 3 + [60] * 3
    types = {name: str(column.dtype) for name, column in cells.items()}
    assert types == dict.fromkeys(("left", "right", "top", "bottom", "value"), "float32") | {"q": "int16", "k": "int16"}


def test_a_part_of_a_place_is_as_wide_as_its_columns() -> None:
    assert PLACE.columns(1, 3, 6) == Place(120, 20, 160, 60)
    assert PLACE.columns(0, 6, 6) == PLACE
    assert PLACE.shrunk(3) == Place(103, 20, 217, 60)


def test_grids_are_stacked_in_their_order() -> None:
    frame = board.stacked([board.grid(PLACE, [[1.0]]), board.grid(PLACE, [[2.0, 3.0]])])
    assert frame["value"].to_pylist() == [1, 2, 3]


def test_places_become_columns() -> None:
    assert {name: column.tolist() for name, column in board.places([PLACE]).items()} == {
        "left": [100], "right": [220], "top": [20], "bottom": [60],
    }  # fmt: skip
    assert board.places([])["left"].size == 0


def test_values_must_be_a_grid() -> None:
    with pytest.raises(ValueError, match=r"values \(2,\) must be \(rows, columns\)"):
        board.grid(PLACE, [1, 2])
