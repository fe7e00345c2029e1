"""Spectra on one logarithmic axis, and columns of symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.charts import style, to_svg
from core.charts.columns import ALL, ColumnWords, columns, columns_data
from core.charts.spectra import SMALLEST, SpectrumWords, spectra, spectra_data

LIGHT = style("light")
BOTH = (1e-5, 1e-14)


def layer(specification: dict[str, Any], dataset: str, mark: str) -> dict[str, Any]:
    found = (one for one in specification["layer"] if one["mark"]["type"] == mark and one["data"]["name"] == dataset)
    return next(found)


# ------------------------------------------------------------------------------------------------------------- spectra


def test_a_spectrum_is_divided_by_its_largest_value() -> None:
    frames = spectra_data([[4.0, 2.0, 1e-15], [8.0]], limits=BOTH)
    values = frames["values"].to_pandas()
    assert values["share"].tolist() == pytest.approx([1, 0.5, 2.5e-16, 1])
    assert values["value"].tolist() == pytest.approx([4, 2, 1e-15, 8])
    assert values["i"].tolist() == [1, 2, 3, 1]
    assert values["s"].tolist() == [0, 0, 0, 1]
    assert values["counted"].tolist() == [1, 1, 0, 1]
    assert frames["limits"].to_pandas()["share"].tolist() == pytest.approx(BOTH)
    assert values.dtypes.astype(str).to_dict() == {
        "s": "int8", "i": "int16", "share": "float32", "value": "float32", "counted": "int8",
    }  # fmt: skip


def test_what_is_above_one_tolerance_counts() -> None:
    assert spectra_data([[1.0, 1e-3, 1e-6]], limits=(1e-2, 1e-4))["values"].to_pandas()["counted"].tolist() == [1, 1, 0]
    assert spectra_data([[1.0, 1e-3, 1e-6]], limits=(1e-4, 1e-2))["values"].to_pandas()["counted"].tolist() == [1, 1, 0]


def test_zeros_stand_at_the_end_of_the_axis() -> None:
    assert spectra_data([[2.0, 0.0]], limits=BOTH)["values"].to_pandas()["share"].tolist() == pytest.approx(
        [1, SMALLEST]
    )
    nothing = spectra_data([[0.0, 0.0]], limits=BOTH)["values"].to_pandas()
    assert nothing["share"].tolist() == pytest.approx([SMALLEST, SMALLEST])
    assert nothing["counted"].tolist() == [0, 0]


@pytest.mark.parametrize("values", [[], [[1.0, 0.5]], 3.0])
def test_a_spectrum_is_a_row_of_values(values: Any) -> None:
    with pytest.raises(ValueError, match=r"values of series 0 .* must be \(count,\), at least one"):
        spectra_data([values], limits=BOTH)


def test_the_axis_of_spectra_is_logarithmic_and_fixed() -> None:
    chart = spectra(LIGHT, ("a", "b"), outer_width=500).to_dict()
    points = layer(chart, "values", "point")["encoding"]
    assert points["y"]["scale"]["type"] == "log"
    assert points["y"]["scale"]["domain"][0] == SMALLEST
    assert len({tuple(points[channel]["scale"]["range"]) for channel in ("color", "shape")}) == 2
    assert 350 < chart["width"] < 500


def test_both_tolerances_are_drawn_with_their_names() -> None:
    words = SpectrumWords(limits=("mine", "theirs"))
    frames = spectra_data([[1.0, 0.1]], limits=BOTH)
    svg = to_svg(spectra(LIGHT, ("a",), words=words, width=400).to_dict(), frames, LIGHT)
    assert svg.count(">mine<") == svg.count(">theirs<") == 1


@pytest.mark.parametrize("count", [0, 7])
def test_too_few_and_too_many_series_are_refused(count: int) -> None:
    for chart in (spectra, columns):
        settings = {"most": 8} if chart is columns else {}
        with pytest.raises(ValueError, match=rf"series \({count} names\) must hold from 1 to 6 names"):
            chart(LIGHT, "abcdefg"[:count], **settings)  # type: ignore[operator]


# ------------------------------------------------------------------------------------------------------------- columns


def test_a_column_for_each_thing_and_one_for_all() -> None:
    frames = columns_data([[1, 2], [3, 4], [5, 6]], together=(7, 8), marked=1, nonce=3)
    assert frames["dots"].to_pandas()["p"].tolist() == [0, 0, 1, 1, 2, 2, ALL, ALL]
    assert frames["dots"].to_pandas()["s"].tolist() == [0, 1] * 4
    assert frames["dots"].to_pandas()["value"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert frames["columns"].to_pandas()["p"].tolist() == [0, 1, 2, ALL]
    assert frames["columns"].to_pandas()["nonce"].tolist() == [3] * 4
    assert frames["mark"].to_pandas()["p"].tolist() == [1]
    assert columns_data([[1, 2]])["columns"].to_pandas()["p"].tolist() == [0]
    assert len(columns_data([[1, 2]])["mark"].to_pandas()) == 0


@pytest.mark.parametrize("together", [(1,), (1, 2, 3)])
def test_all_together_have_the_same_measures(together: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=rf"values \(1, 2\) must be .* together \({len(together)}\) as many"):
        columns_data([[1, 2]], together=together)


@pytest.mark.parametrize("marked", [-1, 2])
def test_only_a_column_can_be_marked(marked: int) -> None:
    with pytest.raises(ValueError, match=rf"marked \({marked}\) must be between 0 and 1"):
        columns_data(np.ones((2, 3)), marked=marked)


def test_columns_are_named_and_can_be_clicked() -> None:
    words = ColumnWords(axis="rank", places="head", together="all of them")
    chart = columns(LIGHT, ("a", "b"), most=256, words=words, width=400).to_dict()
    (selection,) = (param for param in chart["params"] if param["name"] == "column")
    assert selection["views"] == ["columns"]
    assert selection["select"]["fields"] == ["p", "nonce"]
    y = layer(chart, "dots", "point")["encoding"]["y"]
    assert (y["scale"]["type"], y["scale"]["base"], y["axis"]["values"][-1]) == ("log", 2, 256)
    svg = to_svg(chart, columns_data([[1, 2], [3, 4]], together=(5, 6)), LIGHT)
    assert svg.count(">all of them<") == 1
    assert svg.count('aria-roledescription="point"') == 6


def test_columns_keep_within_their_width() -> None:
    assert 300 < columns(LIGHT, ("a",), most=256, outer_width=400).to_dict()["width"] < 400
