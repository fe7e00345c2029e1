"""Strips of dots: places, series, means and bounds."""

import pytest

from core.charts import style, to_svg
from core.charts.series import SHAPES
from core.charts.strips import strips, strips_data

LIGHT = style("light")
VALUES = [[[0.5, 1.0], [0.25]], [[0.75], [0.0, 0.5, 1.0]]]


def spec(**settings: object) -> dict:  # type: ignore[type-arg]
    return strips(LIGHT, ("a", "b"), ("here", "there"), axis="accuracy", mean="mean", **settings).to_dict()  # type: ignore[arg-type]


def test_the_axes_say_what_they_are() -> None:
    bounds, means, dots = spec(place_axis="task")["layer"]
    assert [layer["mark"]["type"] for layer in (bounds, means, dots)] == ["rule", "tick", "point"]
    assert dots["encoding"]["y"]["axis"]["title"] == "accuracy"
    assert dots["encoding"]["y"]["scale"]["domain"] == [0, 1]
    assert dots["encoding"]["x"]["scale"]["domain"] == [0, 1]
    assert dots["encoding"]["x"]["axis"]["title"] == "task"
    assert dots["encoding"]["shape"]["scale"]["range"] == list(SHAPES[:2])
    assert means["encoding"]["xOffset"] == dots["encoding"]["xOffset"]


def test_the_range_can_be_another() -> None:
    assert spec(domain=(0, 2.5))["layer"][2]["encoding"]["y"]["scale"]["domain"] == [0, 2.5]


def test_the_data() -> None:
    frames = strips_data(VALUES, bounds={1: 0.625})
    assert frames["dots"].to_pandas().to_numpy().tolist() == [
        [0, 0, 0.5], [0, 0, 1.0], [0, 1, 0.25], [1, 0, 0.75], [1, 1, 0.0], [1, 1, 0.5], [1, 1, 1.0]
    ]  # fmt: skip
    means = frames["means"].to_pandas()
    assert list(means["value"]) == [0.75, 0.25, 0.75, 0.5]
    assert list(means["low"]) == [0.5, 0.25, 0.75, 0.0]
    assert list(means["high"]) == [1.0, 0.25, 0.75, 1.0]
    assert frames["bounds"].to_pandas().to_numpy().tolist() == [[1, 0.625]]
    assert not len(strips_data(VALUES)["bounds"].to_pandas())


def test_it_can_be_drawn() -> None:
    svg = to_svg(spec(outer_width=400), strips_data(VALUES, bounds={0: 0.5}), LIGHT)
    assert all(f">{text}<" in svg for text in ("a", "b", "here", "there", "accuracy"))


@pytest.mark.parametrize("values", [[[[1.0], []]], [[[1.0], [0.5]], [[1.0]]], [[[[1.0]], [[0.5]]]]])
def test_what_does_not_fit_is_refused(values: list[list[list[float]]]) -> None:
    with pytest.raises(ValueError, match="as many series in every place, and at least one value in each"):
        strips_data(values)


def test_without_places_or_series_there_is_no_chart() -> None:
    with pytest.raises(ValueError, match="places must hold at least one label"):
        strips(LIGHT, ("a",), (), axis="y", mean="mean")
    with pytest.raises(ValueError, match=r"series \(0 names\)"):
        strips(LIGHT, (), ("here",), axis="y", mean="mean")
