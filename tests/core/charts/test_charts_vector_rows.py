"""Vectors below each other."""

from __future__ import annotations

import pytest

from core.charts import style, to_svg
from core.charts.vector_rows import VectorWords, vector_rows, vector_rows_data

LIGHT = style("light")


def test_data_are_lean() -> None:
    frame = vector_rows_data([[1, 2, 3], [4, 5, 6]])["vectors"].to_pandas()
    assert frame.dtypes.astype(str).to_dict() == {"r": "int16", "d": "int16", "value": "float32"}
    assert frame["r"].tolist() == [0, 0, 0, 1, 1, 1]
    assert frame["d"].tolist() == [0, 1, 2, 0, 1, 2]
    assert frame["value"].tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("look", [LIGHT, style("dark", "projector")], ids=["light", "projector"])
def test_it_can_be_drawn(look) -> None:  # type: ignore[no-untyped-def]
    chart = vector_rows(look, ("a<", "b"), 3, words=VectorWords(dimension="D"), title="T", outer_width=400)
    svg = to_svg(chart.to_dict(), vector_rows_data([[1, 2, 3], [-0.125, 0, 0.5]]), look)
    assert all(f">{text}<" in svg for text in ("a&lt;", "b", "D", "T", "2.00", "0.50", "0", "2"))


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="rows must hold at least one name"):
        vector_rows(LIGHT, (), 3)
    with pytest.raises(ValueError, match=r"count \(0\) must be at least 1"):
        vector_rows(LIGHT, ("a",), 0)
    with pytest.raises(ValueError, match=r"values \(2,\) must be \(rows, count\)"):
        vector_rows_data([1, 2])
