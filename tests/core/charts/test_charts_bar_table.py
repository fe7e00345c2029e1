"""A table of bars."""

from typing import Any

import pytest

from core.charts import style, to_svg
from core.charts.bar_table import TableWords, bar_table, bar_table_data

LIGHT = style("light")
ROWS, COLUMNS = ("1 · MQA", "2", "MLA"), ("Weights\nof attention", "Users")
VALUES = [[10, 8], [20, 4], [5, 0]]
TEXTS = [["10 M", "8"], ["20 M", "4"], ["5 M", "0"]]


def spec(rows: tuple[str, ...] = ROWS, columns: tuple[str, ...] = COLUMNS, **settings: Any) -> dict[str, Any]:
    found: dict[str, Any] = bar_table(LIGHT, rows, columns, **settings).to_dict()
    return found


def test_a_bar_is_as_long_as_its_share_of_the_columns_largest() -> None:
    cells = bar_table_data(VALUES, TEXTS)["cells"].to_pandas()
    lengths = ((cells["to"] - cells["from"]) / 0.58).tolist()
    assert lengths == pytest.approx([0.5, 1, 1, 0.5, 0.25, 0], abs=1e-6)
    assert cells["value"].tolist() == [10, 8, 20, 4, 5, 0]
    assert cells["text"].tolist() == ["10 M", "8", "20 M", "4", "5 M", "0"]
    assert (cells["next"] - cells["from"] == 1).all()


def test_a_column_of_zeros_has_no_bars() -> None:
    cells = bar_table_data([[0.0], [0.0]], [["0"], ["0"]])["cells"].to_pandas()
    assert (cells["to"] == cells["from"]).all()


def test_large_counts_stay_exact() -> None:
    assert bar_table_data([[2**53 - 1]], [["many"]])["cells"].to_pandas()["value"].tolist() == [9007199254740991]


def test_it_is_drawn_with_its_words_and_the_marked_row() -> None:
    words = TableWords(row_axis="KV 头")
    svg = to_svg(spec(words=words, title="成本"), bar_table_data(VALUES, TEXTS, marked_row=1), LIGHT)
    assert all(f">{text}<" in svg for text in ("KV 头", "成本", "1 · MQA", "MLA", "Weights", "of attention", "20 M"))
    assert f'stroke="{LIGHT.accent}"' in svg
    assert f'stroke="{LIGHT.accent}"' not in to_svg(spec(), bar_table_data(VALUES, TEXTS), LIGHT)


def test_a_click_tells_the_row_again_and_again() -> None:
    select = next(param for param in spec()["params"] if param["name"] == "row")
    assert select["select"]["fields"] == ["row", "nonce"]
    assert bar_table_data(VALUES, TEXTS, nonce=103)["cells"].to_pandas()["nonce"].unique().tolist() == [3]


def test_a_width_holds_the_names_too() -> None:
    assert spec(outer_width=600)["width"] < 560
    assert spec(width=600)["width"] == 600
    assert spec()["width"] == "container"


@pytest.mark.parametrize(("rows", "columns", "name"), [((), COLUMNS, "rows"), (ROWS, (), "columns")])
def test_an_empty_table_is_refused(rows: tuple[str, ...], columns: tuple[str, ...], name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must hold at least one name"):
        spec(rows, columns)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"values \(3, 2\) and texts must be of one shape"):
        bar_table_data(VALUES, TEXTS[:2])
    with pytest.raises(ValueError, match=r"values \(0,\) and texts must be of one shape"):
        bar_table_data([], [])
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="values must be finite and not negative"):
            bar_table_data([[wrong]], [["?"]])
    with pytest.raises(ValueError, match=r"marked_row \(3\) must be between 0 and 2"):
        bar_table_data(VALUES, TEXTS, marked_row=3)
