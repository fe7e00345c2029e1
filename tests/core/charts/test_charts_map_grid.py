"""Small maps in a grid."""

from __future__ import annotations

import numpy as np
import pytest

from core.charts import style, to_svg
from core.charts.compose import compose, compose_data
from core.charts.map_grid import map_grid, map_grid_data

LIGHT = style("light")
ONE = np.array([[0.0, 0.0], [7.0, 0.0], [0.0, 1.0]])


def test_every_map_stands_in_its_cell() -> None:
    frames = map_grid_data([ONE, None, 100 * ONE + 5], (0, 1, 1), columns=2)
    assert frames["cells"].to_pandas().to_numpy().tolist() == [[0, 0, 0], [1, 0, 2]]
    points = frames["points"].to_pandas()
    assert points[["row", "column"]].to_numpy().tolist() == [[0, 0]] * 3 + [[1, 0]] * 3
    assert points["w"].tolist() == [0, 1, 2] * 2
    assert points["group"].tolist() == [0, 1, 1] * 2
    np.testing.assert_allclose(
        points[["x", "y"]][:3], points[["x", "y"]][3:], atol=1e-6
    )  # how large a map is: no matter
    np.testing.assert_allclose(np.ptp(points["x"][:3]) / np.ptp(points["y"][:3]), 7)
    assert np.ptp(points["x"][:3]) == pytest.approx(0.84 * 1.4)


def test_a_map_without_extent_stands_in_the_middle() -> None:
    points = map_grid_data([np.full((3, 2), 4.0)], (0, 0, 0), columns=1)["points"].to_pandas()
    assert points[["x", "y"]].to_numpy().tolist() == [[0, 0]] * 3


def test_no_map_yet() -> None:
    frames = map_grid_data([None, None], (0, 0, 0), columns=2)
    assert frames["points"].to_pandas().empty
    assert frames["cells"].to_pandas().empty
    assert frames["points"].to_pandas().dtypes.astype(str).to_dict() == {
        "w": "int16", "x": "float32", "y": "float32", "row": "int8", "column": "int8", "group": "int8",
    }  # fmt: skip


def test_shapes_must_fit() -> None:
    with pytest.raises(ValueError, match=r"map 1 \(3, 2\) must be \(2, 2\)"):
        map_grid_data([ONE[:2], ONE], (0, 0), columns=2)
    with pytest.raises(ValueError, match=r"columns \(0\) must be at least 1"):
        map_grid_data([ONE], (0, 0, 0), columns=0)


@pytest.mark.parametrize("look", [LIGHT, style("dark", "projector")], ids=["light", "projector"])
def test_it_can_be_drawn_in_a_figure(look) -> None:  # type: ignore[no-untyped-def]
    chart = map_grid(
        look, ("a", "b", "c"), ("g", "h"), rows=("5", "13"), columns=("seed 0", "seed 1"), title="T",
        said=("first", "second", "third", "fourth"), outer_width=600,
    )  # fmt: skip
    frames = map_grid_data([ONE, -ONE, ONE, None], (0, 1, 1), columns=2)
    svg = to_svg(compose([{"a": chart.to_dict()}]), compose_data({"a": frames}), look)
    for text in ("T", "5", "13", "seed 0", "seed 1", "first", "second", "third"):
        assert f">{text}<" in svg
    assert ">fourth<" not in svg


@pytest.mark.parametrize(
    ("rows", "columns", "groups"), [((), ("a",), ("g",)), (("a",), (), ("g",)), (("a",), ("a",), ())]
)
def test_there_must_be_a_grid(rows: tuple[str, ...], columns: tuple[str, ...], groups: tuple[str, ...]) -> None:
    with pytest.raises(
        ValueError, match=r"rows \(\d\) and columns \(\d\) must not be empty, groups \(\d\) between 1 and 8"
    ):
        map_grid(LIGHT, (), groups, rows=rows, columns=columns)
