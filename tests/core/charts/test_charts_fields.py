"""Fields of numbers whose size is part of the data."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from core.charts import style, to_svg
from core.charts.fields import FieldWords, drawn, field, field_data
from core.charts.theme import Style

LIGHT = style("light")
VALUES = np.linspace(-1, 1, 35).reshape(5, 7)


def spec(*, look: Style = LIGHT, **settings: Any) -> dict[str, Any]:
    specification: dict[str, Any] = field(look, width=200, **settings).to_dict()
    return specification


def layers(specification: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [layer for layer in specification["layer"] if layer["mark"]["type"] == kind]


def test_all_are_drawn_up_to_the_limit() -> None:
    assert drawn(64) == list(range(64))
    assert drawn(65) == list(range(0, 65, 2))
    assert len(drawn(512)) == 64


def test_pairs_stay_together() -> None:
    assert drawn(64, together=2) == list(range(64))
    assert drawn(14, most=6, together=2) == [0, 1, 6, 7, 12, 13]
    assert drawn(7, most=4, together=2) == [0, 1, 4, 5]
    assert all(len(drawn(count, together=2)) <= 64 for count in range(1, 520))


@pytest.mark.parametrize("sizes", [{"count": 0}, {"count": 3, "most": 0}, {"count": 3, "together": 0}])
def test_nothing_cannot_be_drawn(sizes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        drawn(**sizes)


def test_runs_must_fill_what_is_drawn() -> None:
    with pytest.raises(ValueError, match=r"most \(5\) must be a multiple of together \(2\)"):
        drawn(9, most=5, together=2)


def test_the_same_specification_for_every_size() -> None:
    """Its scales take their range from the data, so that the picture changes in place."""
    cells = layers(spec(), "rect")[0]["encoding"]
    assert "domain" not in cells["x"]["scale"]
    assert cells["x"]["scale"]["nice"] is False
    assert cells["y"]["scale"]["reverse"] is True
    assert cells["color"]["scale"]["domain"][0] == -1
    assert cells["color"]["scale"]["domain"][-1] == 1
    assert cells["color"]["scale"]["range"] == list(LIGHT.scores.colours)


def test_data_are_lean_and_say_what_is_drawn_where() -> None:
    frames = field_data(VALUES[::2, :2], rows=[0, 2, 4], columns=[0, 3], size=(6, 8), nonce=101)
    cells = frames["cells"].to_pandas()
    assert cells.dtypes.astype(str).to_dict() == {
        "row": "int16", "column": "int16", "x": "float32", "x2": "float32", "y": "float32", "y2": "float32",
        "value": "float32", "nonce": "int8",
    }  # fmt: skip
    assert cells["row"].tolist() == [0, 0, 2, 2, 4, 4]
    assert cells["column"].tolist() == [0, 3] * 3
    assert cells[["x", "x2"]].to_numpy().tolist() == [[0, 4], [4, 8]] * 3
    assert cells["y2"].tolist() == [2, 2, 4, 4, 6, 6]
    assert cells["nonce"].unique().tolist() == [1]
    np.testing.assert_allclose(cells["value"], VALUES[::2, :2].ravel(), atol=1e-7)


def test_outlines_lie_around_whole_rows_and_columns() -> None:
    outlines = field_data(VALUES, outlined_rows=[4, 1], outlined_columns=[2])["outlines"].to_pandas()
    assert outlines["s"].tolist() == [0, 1, 0]
    assert outlines["is_row"].tolist() == [1, 1, 0]
    assert outlines[["x", "x2", "y", "y2"]].to_numpy().tolist() == [[0, 7, 4, 5], [0, 7, 1, 2], [2, 3, 0, 5]]


def test_outlines_differ_in_dashes_as_well_as_in_colour_and_are_named() -> None:
    specification = spec(row_outlines=("m", "n"), column_outlines=("i", "j"))
    drawn_outlines = layers(specification, "rect")[2:]
    assert len({str(layer["mark"]["strokeDash"]) for layer in drawn_outlines}) == 2
    assert len({layer["mark"]["stroke"] for layer in drawn_outlines}) == 2
    svg = to_svg(specification, field_data(VALUES, outlined_rows=[4, 1], outlined_columns=[2, 3]), LIGHT)
    assert all(svg.count(f">{name}<") == 1 for name in "mnij")


def test_names_of_outlines_that_lie_on_each_other_do_not() -> None:
    specification = spec(row_outlines=("m", "n"), column_outlines=("i", "j"))
    svg = to_svg(specification, field_data(VALUES, outlined_rows=[2, 2], outlined_columns=[3, 3]), LIGHT)
    places = {name: re.search(rf'<text[^>]* transform="translate\(([^,]+),[^>]*>{name}<', svg) for name in "mnij"}
    across = {name: float(found[1]) for name, found in places.items() if found}
    assert across["n"] - across["m"] > 10
    assert across["j"] - across["i"] > 5


def test_without_outlines_there_are_only_cells() -> None:
    assert len(spec()["layer"]) == 1


def test_the_picture_has_its_words() -> None:
    words = FieldWords(row_axis="position", column_axis="dimension")
    svg = to_svg(spec(words=words, title="A field"), field_data(VALUES), LIGHT)
    assert ">position<" in svg
    assert ">dimension<" in svg
    assert ">A field<" in svg
    cells = re.search(r'<g class="mark-rect role-mark cells_marks"[^>]*>(.*?)</g>', svg)
    assert cells is not None
    assert cells[1].count("<path") == VALUES.size


def test_rows_may_have_names_of_any_text() -> None:
    svg = to_svg(spec(rows=("PE(pos)", "'<b>", "猫")), field_data(VALUES[:3]), LIGHT)
    assert ">PE(pos)<" in svg
    assert ">'&lt;b&gt;<" in svg
    assert ">猫<" in svg


def test_a_width_with_its_labels() -> None:
    assert field(LIGHT, outer_width=300).to_dict()["width"] < 300
    assert field(LIGHT).to_dict()["width"] == "container"


@pytest.mark.parametrize("name", ["row_outlines", "column_outlines"])
def test_too_many_outlines_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} \(3\) must be at most 2"):
        spec(**{name: ("a", "b", "c")})


def test_data_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"values \(shape \(3,\)\) must be of shape \(rows, columns\)"):
        field_data([1, 2, 3])
    with pytest.raises(ValueError, match=r"rows \(2\) and columns \(7\) must fit values \(5, 7\)"):
        field_data(VALUES, rows=[0, 1])
