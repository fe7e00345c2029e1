"""Matrices of one computation in a row."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from core.charts import style, to_svg
from core.charts.matrices import MOST, Matrix, matrices, matrices_data, read_cell

LIGHT = style("light")
ROWS = ("The", "<b>cat</b>", "The")
SHOWN = (
    Matrix("q", "Q", "3 × 2", 2, "features", follows_query=True),
    Matrix("k", "K", "3 × 2", 2, "features", follows_query=False),
    Matrix("weights", "weights", "3 × 3", 3, "weights", follows_query=True, of_keys=True),
)
VALUES = {"q": np.arange(6).reshape(3, 2), "k": -np.ones((3, 2)), "weights": np.full((3, 3), 1 / 3)}


def spec(**settings: Any) -> dict[str, Any]:
    found: dict[str, Any] = matrices(LIGHT, ROWS, SHOWN, **settings).to_dict()
    return found


def test_each_matrix_has_its_title_shape_and_scale() -> None:
    panels = spec()["hconcat"]
    assert [panel["title"]["text"] for panel in panels] == ["Q", "K", "weights"]
    assert [panel["title"]["subtitle"] for panel in panels] == ["3 × 2", "3 × 2", "3 × 3"]
    domains = [panel["layer"][0]["encoding"]["color"]["scale"]["domain"] for panel in panels]
    assert [(domain[0], domain[-1]) for domain in domains] == [(-3, 3), (-3, 3), (0, 1)]


def test_rows_are_labelled_once_and_keys_where_columns_are_tokens() -> None:
    panels = spec()["hconcat"]
    axes = [panel["layer"][0]["encoding"] for panel in panels]
    assert [axis["y"]["axis"] is not None for axis in axes] == [True, False, False]
    assert [axis["x"]["axis"] is not None for axis in axes] == [False, False, True]


def test_only_what_follows_the_query_is_outlined() -> None:
    outlined = [
        any(layer.get("data", {}).get("name") == "mark" for layer in panel["layer"]) for panel in spec()["hconcat"]
    ]
    assert outlined == [True, False, True]


def test_a_click_is_told_by_one_number() -> None:
    parameter = spec()["params"][0]
    assert parameter["select"]["fields"] == ["cell", "nonce"]
    assert parameter["views"] == ["cells_0", "cells_1", "cells_2"]
    frames = matrices_data(VALUES, nonce=7)
    assert [read_cell(int(cell)) for cell in frames["weights"].to_pandas()["cell"]] == [
        (2, row, column) for row in range(3) for column in range(3)
    ]


def test_data_are_lean() -> None:
    frames = matrices_data(VALUES, marked_row=1, picked=("k", 2, 1), nonce=107)
    assert {name: str(kind) for name, kind in frames["q"].to_pandas().dtypes.items()} == {
        "cell": "int32",
        "q": "int16",
        "k": "int16",
        "value": "float32",
        "nonce": "int8",
    }
    assert set(frames["q"].to_pandas()["nonce"]) == {7}
    assert frames["q"].to_pandas()["value"].tolist() == [0, 1, 2, 3, 4, 5]
    assert frames["mark"].to_pandas()["q"].tolist() == [1]
    assert frames["picked"].to_pandas().to_dict("list") == {"m": [1], "q": [2], "k": [1]}


def test_nothing_need_be_marked() -> None:
    frames = matrices_data(VALUES)
    assert len(frames["mark"].to_pandas()) == len(frames["picked"].to_pandas()) == 0


@pytest.mark.parametrize("look", [LIGHT, style("dark", "projector")], ids=["light", "projector"])
def test_it_can_be_drawn(look: Any) -> None:
    chart = matrices(look, ROWS, SHOWN).to_dict()
    svg = to_svg(chart, matrices_data(VALUES, marked_row=0, picked=("q", 0, 0)), look)
    assert "&lt;b&gt;cat&lt;/b&gt;" in svg
    assert svg.count(">The<") >= 2  # repeated tokens stay apart


def test_a_narrow_place_still_shows_something() -> None:
    widths = {panel["width"] for panel in spec(outer_width=60)["hconcat"]}
    assert min(widths) >= 20


def test_the_spec_does_not_depend_on_the_data() -> None:
    assert json.dumps(spec()) == json.dumps(spec())


def test_no_rows_or_matrices_are_refused() -> None:
    with pytest.raises(ValueError, match="shown must hold at least one matrix"):
        matrices(LIGHT, ROWS, ())
    with pytest.raises(ValueError, match=r"rows \(0\) must be between 1 and 100"):
        matrices(LIGHT, (), SHOWN)
    wide = Matrix("x", "X", "", MOST + 1, "features", follows_query=True)
    with pytest.raises(ValueError, match=r"columns of x \(101\) must be between 1 and 100"):
        matrices(LIGHT, ROWS, (wide,))


@pytest.mark.parametrize("values", [{"a": np.zeros(3)}, {"a": np.zeros((3, 2)), "b": np.zeros((2, 2))}])
def test_arrays_must_fit_together(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be 2-D and have equally many rows"):
        matrices_data(values)
