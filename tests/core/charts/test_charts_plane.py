"""A query and a key in the plane of one pair."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.charts import style, to_svg
from core.charts.compose import compose, compose_data
from core.charts.plane import PlaneWords, plane, plane_data

LIGHT = style("light")
BEFORE = [[1.0, 0.0], [0.0, 2.0]]
AFTER = [[0.0, 1.0], [0.0, -2.0]]  # a quarter of a turn; a half
ANGLES = [math.pi / 2, 3 * math.pi]  # and a whole turn more


def test_arrows_before_and_after() -> None:
    arrows = plane_data(BEFORE, AFTER, ANGLES)["arrows"].to_pandas()
    assert arrows.dtypes.astype(str).to_dict() == {
        "w": "int8", "turned": "int8", "x": "float32", "y": "float32", "label_x": "float32", "label_y": "float32",
        "tilt": "float32",
    }  # fmt: skip
    assert arrows["w"].tolist() == [0, 1, 0, 1]
    assert arrows["turned"].tolist() == [0, 0, 1, 1]
    assert arrows[["x", "y"]].to_numpy().tolist() == [*BEFORE, *AFTER]
    assert arrows["tilt"].tolist() == pytest.approx([90, 0, 0, 180])  # degrees, clockwise from the top


def test_labels_stand_beyond_the_tips() -> None:
    arrows = plane_data(BEFORE, AFTER, ANGLES)["arrows"].to_pandas()
    further = np.hypot(arrows["label_x"], arrows["label_y"]) - np.hypot(arrows["x"], arrows["y"])
    assert further.tolist() == pytest.approx([further[0]] * 4, abs=1e-6)
    assert further[0] > 0.1


def test_the_way_of_a_tip_leaves_out_full_turns_and_tells_them() -> None:
    turns = plane_data(BEFORE, AFTER, ANGLES)["turns"].to_pandas()
    assert turns["angle"].tolist() == pytest.approx([math.pi / 2, 3 * math.pi, math.pi])
    assert turns["radius"].tolist()[:2] == [1, 2]
    assert (turns["from"] - turns["to"]).tolist() == pytest.approx([math.pi / 2, math.pi, math.pi], abs=1e-6)
    assert turns["from"].tolist()[:2] == pytest.approx([math.pi / 2, 0])  # Vega counts clockwise from the top


def test_the_angle_between_goes_from_the_key_to_the_query() -> None:
    turns = plane_data(BEFORE, [[0.0, 1.0], [1.0, 0.0]], ANGLES)["turns"].to_pandas()
    assert turns["angle"].iloc[2] == pytest.approx(math.pi / 2)
    assert turns["from"].iloc[2] == pytest.approx(math.pi / 2)
    assert turns["to"].iloc[2] == pytest.approx(0)


def test_an_arrow_without_length_has_a_place() -> None:
    frames = plane_data([[0.0, 0.0]] * 2, [[0.0, 0.0]] * 2, [1.0, 2.0])
    assert np.isfinite(frames["arrows"].to_pandas().to_numpy()).all()
    assert np.isfinite(frames["turns"].to_pandas().to_numpy()).all()


@pytest.mark.parametrize("look", [LIGHT, style("dark", "projector")], ids=["light", "projector"])
def test_it_can_be_drawn_in_a_figure(look) -> None:  # type: ignore[no-untyped-def]
    words = PlaneWords(query="Q<", key="K", first="one", second="two")
    spec = compose([{"a": plane(look, words=words, title="T", outer_width=330).to_dict()}])
    svg = to_svg(spec, compose_data({"a": plane_data(BEFORE, AFTER, ANGLES)}), look)
    assert all(f">{text}<" in svg for text in ("Q&lt;", "K", "one", "two", "T"))
    assert svg.count('class="mark-arc') == 2


def test_a_unit_is_as_long_across_as_up() -> None:
    spec = plane(LIGHT, width=371, height=200).to_dict()
    across, up = (spec["layer"][2]["encoding"][axis]["scale"]["domain"] for axis in "xy")
    assert spec["width"] / (across[1] - across[0]) == pytest.approx(spec["height"] / (up[1] - up[0]))


@pytest.mark.parametrize(
    ("before", "after", "angles"), [([[1, 2]], AFTER, ANGLES), (BEFORE, [[1, 2, 3]] * 2, ANGLES), (BEFORE, AFTER, [1])]
)
def test_shapes_must_fit(before: list[list[int]], after: list[list[int]], angles: list[int]) -> None:
    with pytest.raises(ValueError, match=r"must be \(2, 2\), \(2, 2\), \(2,\)"):
        plane_data(before, after, angles)
