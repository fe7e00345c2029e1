"""A table of measures, sorted by one of them; and bars in order."""

from __future__ import annotations

import pytest

from core.charts import style, to_svg
from core.charts.measures import MeasureRow, measures, measures_data
from core.charts.ranking import RankingWords, ranking, ranking_data
from core.charts.shifts import ShiftWords, shifts, shifts_data
from core.heads_off import Shift

LIGHT, PROJECTOR = style("light"), style("dark", "projector")
ROWS = (MeasureRow("bits", 3.0, ".1f"), MeasureRow("share, %", 1.0))
NAMES = ("E1.1", "D1.1", "C1.1")
VALUES = [[1.5, 0.5], [3.0, 0.004], [0.0, 1.0]]


def test_columns_follow_the_order() -> None:
    frames = measures_data(VALUES, [2, 0, 1], sorted_by=1, chosen=0, nonce=3)
    assert frames["columns"].to_pandas()["head"].tolist() == [2, 0, 1]
    cells = frames["cells"].to_pandas().set_index(["column", "row"])
    assert cells["value"][0, 1] == 1
    assert cells["value"][1, 0] == 1.5
    assert cells["value"][2, 1] == pytest.approx(0.004)
    assert cells["head"][2, 0] == 1
    assert frames["chosen"].to_pandas()["column"].tolist() == [1]
    assert frames["sorted"].to_pandas().to_dict("list") == {"row": [1], "largest": [1]}
    assert frames["cells"].to_pandas().dtypes.astype(str).tolist() == ["int16", "int16", "int16", "float32", "int8"]


def test_the_table_is_written() -> None:
    svg = to_svg(
        measures(LIGHT, ROWS, NAMES, width=500).to_dict(), measures_data(VALUES, [2, 0, 1], sorted_by=0), LIGHT
    )
    assert all(f">{text}<" in svg for text in ("bits", "share, %", *NAMES, "1.5", "3.0", "50", "100", "▼"))
    upwards = measures_data(VALUES, [2, 0, 1], sorted_by=0, largest_first=False)
    assert ">▲<" in to_svg(measures(LIGHT, ROWS, NAMES, width=500).to_dict(), upwards, LIGHT)


def test_names_stand_upright_where_they_would_run_together() -> None:
    def angle(width: int) -> int:
        layers = measures(LIGHT, ROWS, NAMES, width=width).to_dict()["layer"]
        (found,) = (layer["mark"]["angle"] for layer in layers if layer["data"]["name"] == "columns")
        return int(found)

    assert (angle(600), angle(130)) == (0, 270)


def test_the_order_must_hold_every_name_once() -> None:
    with pytest.raises(ValueError, match=r"order \(3 places\) must hold every number from 0 to 2 once"):
        measures_data(VALUES, [0, 1, 1], sorted_by=0)


@pytest.mark.parametrize(("rows", "names"), [((), NAMES), (ROWS, ())])
def test_a_table_needs_rows_and_names(rows: tuple[MeasureRow, ...], names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=rf"rows \({len(rows)}\) and names \({len(names)}\)"):
        measures(LIGHT, rows, names)


def test_the_dearest_stands_first() -> None:
    frame = ranking_data([0.1, -0.02, 0.3, 0.1], marked=[2], nonce=101)["bars"].to_pandas()
    assert frame["head"].tolist() == [2, 0, 3, 1]
    assert frame["value"].tolist() == pytest.approx([0.3, 0.1, 0.1, -0.02])
    assert frame["marked"].tolist() == [1, 0, 0, 0]
    assert set(frame["nonce"]) == {1}


def test_the_ranking_is_written() -> None:
    spec = ranking(LIGHT, NAMES, (-0.1, 0.4), words=RankingWords(value="costs"), width=400).to_dict()
    svg = to_svg(spec, ranking_data([0.1, -0.02, 0.3], marked=[2]), LIGHT)
    assert all(f">{text}<" in svg for text in ("E1.1", "✕C1.1", ".300", "−.020"))
    assert spec["params"][0]["select"]["fields"] == ["head", "nonce"]


def test_only_a_leading_zero_is_left_out() -> None:
    spec = ranking(LIGHT, NAMES, (-20.0, 20.0), width=400).to_dict()
    svg = to_svg(spec, ranking_data([10.123, -0.5, -10.25]), LIGHT)
    assert all(f">{text}<" in svg for text in ("10.123", "−.500", "−10.250"))


@pytest.mark.parametrize(("names", "domain"), [((), (0.0, 1.0)), (NAMES, (1.0, 1.0))])
def test_a_ranking_needs_names_and_a_domain(names: tuple[str, ...], domain: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="must hold at least one"):
        ranking(LIGHT, names, domain)


SHIFTS = [Shift(7, "</b>", 0.75, 0.5), Shift(9, "爱", 0.125, 0.25), Shift(3, "x", 0.0, 0.1)]


def test_shifts_have_both_numbers() -> None:
    frame = shifts_data(SHIFTS, count=2)["shifts"].to_pandas()
    assert frame.to_dict("list") == {
        "row": [0, 1],
        "token": ["</b>", "爱"],
        "before": [0.75, 0.125],
        "after": [0.5, 0.25],
    }
    spec = shifts(PROJECTOR, count=3, words=ShiftWords(axis="概率"), width=400).to_dict()
    svg = to_svg(spec, shifts_data(SHIFTS, count=3), PROJECTOR)
    assert all(f">{text}<" in svg for text in ("&lt;/b&gt;", "爱", "0.750 → 0.500", "0.000 → 0.100", "概率"))


def test_before_and_after_do_not_differ_by_colour_alone() -> None:
    before, after = (layer["mark"] for layer in shifts(LIGHT).to_dict()["layer"] if layer["mark"]["type"] == "rect")
    assert before["strokeDash"]
    assert before["fillOpacity"] == 0
    assert "strokeDash" not in after


def test_count_must_be_positive() -> None:
    with pytest.raises(ValueError, match=r"count \(0\) must be at least 1"):
        shifts(LIGHT, count=0)


def test_a_ranking_may_show_only_the_first_and_mark_what_is_chosen() -> None:
    frame = ranking_data([0.1, 0.4, 0.3], shown=2, marked=[2])["bars"].to_pandas()
    assert frame["head"].tolist() == [1, 2]
    assert frame["marked"].tolist() == [0, 1]
    spec = ranking(LIGHT, NAMES, (0, 1), width=400, shown=2, crossed=False, format=".4f").to_dict()
    assert "✕" not in str(spec)
    assert "▸" in str(spec)
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 1]
