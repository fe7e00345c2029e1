"""Small charts side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.charts import style, to_svg
from core.charts.curves import Axis
from core.charts.profiles import ProfileWords, profiles, profiles_data

LIGHT = style("light")
AXES = {"x": Axis("far", log=True, domain=(1, 100)), "y": Axis("score", domain=(-2, 2))}
DATA = ([1, 10, 100], [[1, 0, -1], [0.5, 0.25, 0.125]], [[1, 1, 1], [2, 2, 2]])


def spec(**settings: Any) -> dict[str, Any]:
    found: dict[str, Any] = profiles(LIGHT, ("a", "b"), **AXES, **settings).to_dict()
    return found


def test_all_are_on_the_same_axes_which_are_labelled_once() -> None:
    first, second = (panel["layer"][1]["encoding"] for panel in spec()["hconcat"])
    assert first["y"]["scale"] == second["y"]["scale"]
    assert first["x"]["scale"] == second["x"]["scale"]
    assert (first["y"]["axis"]["title"], second["y"]["axis"]["title"]) == ("score", None)
    assert second["y"]["axis"]["labels"] is False


def test_each_shows_its_own_numbers() -> None:
    filters = [panel["layer"][1]["transform"][0]["filter"] for panel in spec()["hconcat"]]
    assert filters == ["datum.s == 0", "datum.s == 1"]


def test_the_chosen_one_is_marked_in_words_too() -> None:
    assert [panel["title"]["text"] for panel in spec(chosen=1)["hconcat"]] == ["a", "→ b"]
    colours = [panel["layer"][1]["mark"]["stroke"] for panel in spec(chosen=1)["hconcat"]]
    assert colours == [LIGHT.primary, LIGHT.accent]


def test_together_they_are_as_wide_as_asked() -> None:
    widths = [panel["width"] for panel in spec(outer_width=500)["hconcat"]]
    assert widths[0] == widths[1]
    assert 400 < sum(widths) < 500


def test_data_are_lean() -> None:
    frames = profiles_data(*DATA, marks=[7])
    assert frames["profiles"].to_pandas().dtypes.astype(str).to_dict() == {
        "s": "int8", "x": "float32", "value": "float32", "size": "float32",
    }  # fmt: skip
    assert frames["profiles"].to_pandas()["s"].tolist() == [0, 0, 0, 1, 1, 1]
    assert frames["profiles"].to_pandas()["x"].tolist() == [1, 10, 100] * 2
    assert frames["profiles"].to_pandas()["value"].tolist() == [1, 0, -1, 0.5, 0.25, 0.125]
    assert frames["profiles"].to_pandas()["size"].tolist() == [1, 1, 1, 2, 2, 2]
    assert frames["marks"].to_pandas()["x"].tolist() == [7]


@pytest.mark.parametrize("look", [LIGHT, style("dark", "projector")], ids=["light", "projector"])
def test_it_can_be_drawn(look) -> None:  # type: ignore[no-untyped-def]
    chart = profiles(look, ("a<", "b"), **AXES, words=ProfileWords(size="S"))
    svg = to_svg(chart.to_dict(), profiles_data(*DATA, marks=[7]), look)
    assert "a&lt;" in svg
    assert svg.count(">score<") == 1
    assert svg.count(">far<") == 2


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="names must hold at least one name"):
        profiles(LIGHT, (), **AXES)
    with pytest.raises(ValueError, match=r"chosen \(2\) must be between 0 and 1"):
        spec(chosen=2)
    for wrong in (([1, 2], *DATA[1:]), (DATA[0], DATA[1], np.ones((3, 3))), (DATA[0], [1, 0, 1], [1, 0, 1])):
        with pytest.raises(ValueError, match=r"must be \(points,\), \(names, points\) and \(names, points\)"):
            profiles_data(*wrong)
