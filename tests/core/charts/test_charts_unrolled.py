"""Layers unrolled in time."""

import json

import pytest

from core.charts import style, to_svg
from core.charts.unrolled import UnrolledWords, unrolled, unrolled_data

LIGHT = style("light")
EDGES = [((0, 0), (0, 1)), ((0, 1), (1, 2)), ((1, 0), (1, 2))]
WAY = EDGES[:2]


def test_data_are_lean_and_mark_the_way() -> None:
    frames = unrolled_data(EDGES, WAY)
    assert frames["edges"].to_pandas().dtypes.astype(str).to_dict() == {
        "x": "int16", "y": "int16", "x2": "int16", "y2": "int16", "on": "int8",
    }  # fmt: skip
    assert frames["edges"].to_pandas().values.tolist() == [[0, 0, 0, 1, 1], [0, 1, 1, 2, 1], [1, 0, 1, 2, 0]]
    assert frames["nodes"].to_pandas().values.tolist() == [[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 2, 1]]


def test_without_a_way_nothing_is_marked() -> None:
    frames = unrolled_data(EDGES)
    assert frames["edges"].to_pandas()["on"].sum() == frames["nodes"].to_pandas()["on"].sum() == 0
    assert unrolled_data([])["nodes"].to_pandas().empty


def test_it_is_drawn_with_its_words() -> None:
    words = ("<b>", "猫", "cat")
    svg = to_svg(
        unrolled(LIGHT, words, 3, labels=UnrolledWords(axis="第几步"), title="RNN").to_dict(),
        unrolled_data(EDGES, WAY),
        LIGHT,
    )
    assert all(f">{text}<" in svg for text in ("&lt;b&gt;", "猫", "cat", "第几步", "RNN"))
    assert svg.count('aria-roledescription="point"') == 4
    assert LIGHT.accent in svg


@pytest.mark.parametrize("num_steps", [1, 6, 24])
def test_the_axis_reaches_from_the_inputs_to_the_last_step(num_steps: int) -> None:
    layer = unrolled(LIGHT, ("a", "b"), num_steps).to_dict()["layer"][0]
    low, high = layer["encoding"]["y"]["scale"]["domain"]
    assert low < 0
    assert num_steps < high < num_steps + 1
    ticks = layer["encoding"]["y"]["axis"]["values"]
    assert ticks[0] == 0
    assert len(ticks) <= 8


def test_a_layer_needs_words() -> None:
    with pytest.raises(ValueError, match="words must hold at least one word"):
        unrolled(LIGHT, (), 1)


def test_the_spec_never_changes() -> None:
    assert json.dumps(unrolled(LIGHT, ("a",), 1).to_dict()) == json.dumps(unrolled(LIGHT, ("a",), 1).to_dict())


def test_the_outer_width_holds_the_axis() -> None:
    inner = [unrolled(LIGHT, ("a", "b"), steps, outer_width=300).to_dict()["width"] for steps in (6, 24)]
    assert 300 > inner[0] > inner[1] > 240
