"""Curves on linear and logarithmic axes."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from core.charts import style, to_svg
from core.charts.curves import Axis, curves, curves_data
from core.charts.series import SHAPES
from core.charts.theme import Style

LIGHT = style("light")
LINEAR = Axis("size"), Axis("value")
LOG = Axis("length", log=True), Axis("seconds", log=True)


def spec(*series: str, axes: tuple[Axis, Axis] = LINEAR, look: Style = LIGHT, **settings: bool) -> dict:  # type: ignore[type-arg]
    return curves(look, series, x=axes[0], y=axes[1], **settings).to_dict()


def marks_of(kind: str, specification: dict) -> dict:  # type: ignore[type-arg]
    return next(layer for layer in specification["layer"] if layer["mark"]["type"] == kind)  # type: ignore[no-any-return]


def test_the_axes_say_what_they_are() -> None:
    line = marks_of("line", spec("a", axes=LOG))["encoding"]
    assert (line["x"]["scale"]["type"], line["y"]["scale"]["type"]) == ("log", "log")
    assert (line["x"]["axis"]["title"], line["y"]["axis"]["title"]) == ("length", "seconds")
    assert marks_of("line", spec("a"))["encoding"]["x"]["scale"]["type"] == "linear"


def test_a_stated_range_and_ticks_are_kept() -> None:
    axes = Axis("n", domain=(1, 64), ticks=(1, 8, 64)), Axis("value", domain=(0, 1))
    line = marks_of("line", spec("a", axes=axes))["encoding"]
    assert line["x"]["scale"]["domain"] == [1, 64]
    assert line["x"]["axis"]["values"] == [1, 8, 64]
    assert line["y"]["scale"] == {"type": "linear", "domain": [0, 1], "zero": False, "nice": False, "clamp": True}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_series_differ_in_symbol_as_well_as_in_colour(theme: str) -> None:
    names = ("RNN", "LSTM", "GRU")
    look = style(theme)  # type: ignore[arg-type]
    point = marks_of("point", spec(*names, look=look))["encoding"]
    assert point["shape"]["scale"] == {"domain": [0, 1, 2], "range": list(SHAPES[:3])}
    assert point["color"]["scale"] == {"domain": [0, 1, 2], "range": list(look.categorical[:3])}
    svg = to_svg(spec(*names, look=look), curves_data([[1, 2]] * 3, [[1, 2], [2, 3], [3, 4]]), look)
    assert all(svg.count(f">{name}<") == 1 for name in names)  # one legend for colour and symbol


def test_there_is_a_symbol_for_every_colour() -> None:
    assert len(SHAPES) == len(LIGHT.categorical) == len(set(SHAPES))


@pytest.mark.parametrize("count", [0, 7])
def test_too_few_and_too_many_series_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=rf"series \({count} names\) must hold from 1 to 6 names"):
        spec(*"abcdefg"[:count])


def test_a_narrow_chart_keeps_within_its_width() -> None:
    chart = curves(LIGHT, "abcd", x=LINEAR[0], y=LINEAR[1], outer_width=300, legend_columns=2).to_dict()
    assert 200 < chart["width"] < 300
    assert marks_of("line", chart)["encoding"]["color"]["legend"]["columns"] == 2
    assert marks_of("line", spec(*"abcd"))["encoding"]["color"]["legend"]["columns"] == 4


def test_labels_may_keep_a_distance() -> None:
    line = marks_of("line", spec("a", axes=(Axis("layer", least_step=1), LINEAR[1])))["encoding"]
    assert line["x"]["axis"]["tickMinStep"] == 1
    assert "tickMinStep" not in line["y"]["axis"]


def test_data_are_lean_and_keep_their_order() -> None:
    frames = curves_data([[1, 2, 3], [5]], [[0.5, 0.25, 0.125], [7]], marks=[2])
    assert frames["curves"].to_pandas().dtypes.astype(str).to_dict() == {
        "s": "int8", "x": "float32", "y": "float32", "low": "float32", "high": "float32", "end": "int8",
    }  # fmt: skip
    assert frames["curves"].to_pandas()["s"].tolist() == [0, 0, 0, 1]
    assert (
        frames["curves"].to_pandas()["y"].tolist()
        == frames["curves"].to_pandas()["low"].tolist()
        == [0.5, 0.25, 0.125, 7]
    )
    assert frames["curves"].to_pandas()["end"].tolist() == [0, 0, 1, 1]
    assert frames["marks"].to_pandas()["x"].tolist() == [2]


def test_what_is_no_number_is_left_out() -> None:
    frame = curves_data([[1, 2, 3]], [[1, math.nan, math.inf]])["curves"].to_pandas()
    assert frame["x"].tolist() == [1]
    assert frame["end"].tolist() == [1]


def test_nothing_measured_yet_is_an_empty_picture() -> None:
    frames = curves_data([], [])
    assert list(frames["curves"].to_pandas().columns) == ["s", "x", "y", "low", "high", "end"]
    assert "length" in to_svg(spec("a", axes=LOG), frames, LIGHT)


def test_series_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(ValueError, match=r"x \(2 series\), y \(1\), low \(1\) and high \(1\) must be as many"):
        curves_data([[1], [2]], [[1]])
    with pytest.raises(ValueError, match=r"of series 1 \(\(2,\), \(1,\), \(1,\), \(1,\)\) must be of one shape"):
        curves_data([[1], [1, 2]], [[1], [1]])


def test_numbers_on_the_axes_can_be_read() -> None:
    frames = curves_data([[0, 47]], [[1e-9, 1.0]])
    svg = to_svg(spec("a", axes=(Axis("distance"), Axis("size", log=True))), frames, LIGHT)
    assert ">20<" in svg
    assert ">1e-8<" in svg
    assert ">20.0<" in to_svg(spec("a", axes=(Axis("distance", format=".1f"), LINEAR[1])), frames, LIGHT)


def drawn_points(svg: str) -> int:
    return svg.count('aria-roledescription="point"')


def test_a_logarithmic_axis_leaves_out_what_it_cannot_show() -> None:
    frames = curves_data([[0, 1, 10, 100]], [[1, 0, 1e-3, 1e-6]])
    assert drawn_points(to_svg(spec("a", axes=LOG), frames, LIGHT)) == 2
    assert drawn_points(to_svg(spec("a"), frames, LIGHT)) == 4


def test_long_curves_can_have_their_symbol_at_the_end_only() -> None:
    frames = curves_data([np.arange(1, 50)] * 2, [np.arange(1, 50), np.arange(2, 51)])
    assert drawn_points(to_svg(spec("a", "b", symbols=False), frames, LIGHT)) == 2


def test_a_band_is_drawn_when_asked_for() -> None:
    frames = curves_data([[1, 2]], [[2, 3]], low=[[1, 2]], high=[[3, 4]], marks=[1.5])
    assert marks_of("area", spec("a", band=True))["encoding"]["y2"] == {"field": "high"}
    assert "(' + format(datum.low" in json.dumps(spec("a", band=True))
    assert 'aria-roledescription="area mark container"' in to_svg(spec("a", band=True), frames, LIGHT)
    assert "area" not in [layer["mark"]["type"] for layer in spec("a")["layer"]]


def test_names_of_any_kind_stay_text() -> None:
    svg = to_svg(spec("<b>\"'\\", "注意力", axes=(Axis("长度"), Axis("a'b"))), curves_data([[1]], [[1]]), LIGHT)
    assert "&lt;b&gt;" in svg
    assert "注意力" in svg


def test_the_spec_never_changes() -> None:
    assert json.dumps(spec("a", axes=LOG)) == json.dumps(spec("a", axes=LOG))
