"""Dimensions in two orders."""

from __future__ import annotations

import pytest

from core.charts import style, to_svg
from core.charts.reordering import ReorderingWords, reordering, reordering_data

LIGHT = style("light")
ORDER = (0, 3, 1, 4, 2, 5)


def test_neighbours_below_are_a_pair() -> None:
    frame = reordering_data(ORDER, chosen=1)["dimensions"].to_pandas()
    assert frame["d"].tolist() == frame["above"].tolist() == list(ORDER)
    assert frame["below"].tolist() == [0, 1, 2, 3, 4, 5]
    assert frame["pair"].tolist() == [0, 0, 1, 1, 2, 2]
    assert frame["chosen"].tolist() == [0, 0, 1, 1, 0, 0]
    assert reordering_data(ORDER)["dimensions"].to_pandas()["chosen"].sum() == 0
    assert set(frame.dtypes.astype(str)) == {"int16", "int8"}


@pytest.mark.parametrize("look", [LIGHT, style("dark", "projector")], ids=["light", "projector"])
def test_it_can_be_drawn(look) -> None:  # type: ignore[no-untyped-def]
    words = ReorderingWords(above="A<", below="B")
    chart = reordering(look, 6, words=words, title="T", outer_width=400)
    svg = to_svg(chart.to_dict(), reordering_data(ORDER, chosen=1), look)
    assert all(f">{text}<" in svg for text in ("A&lt;", "B", "T", "5"))
    assert [svg.count(f">({pair})<") for pair in range(3)] == [4, 4, 4]  # no pair is told by its colour alone


def test_pairs_have_colours_of_their_own() -> None:
    scale = reordering(LIGHT, 12).to_dict()["layer"][0]["encoding"]["color"]["scale"]
    assert len(set(scale["range"])) == len(scale["domain"]) == 6


@pytest.mark.parametrize("count", [0, 5, 14])
def test_counts_that_cannot_be_drawn_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=rf"count \({count}\) must be even and between 2 and 12"):
        reordering(LIGHT, count)


def test_an_order_must_be_one() -> None:
    with pytest.raises(ValueError, match=r"order \(\[0, 0, 1\]\) must hold each number from 0 to 2 once"):
        reordering_data([0, 0, 1])
