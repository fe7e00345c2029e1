"""Labels: how wide they are, how they are set, and how far they reach."""

import math

import pytest

from core.charts import tokens

SLANTED = tokens.Labels(-40, 10, 85)


@pytest.mark.parametrize("angle", [0, -90])
def test_level_and_upright_labels_stay_within_their_columns(angle: int) -> None:
    assert tokens.beyond_axis(["word"] * 5, 4, tokens.Labels(angle, 10, 85), 5) == 0


def test_slanted_labels_reach_beyond_the_last_column() -> None:
    width = tokens.text_width("word", 10)
    assert tokens.beyond_axis(["word"], 20, SLANTED, 1) == pytest.approx(width * math.cos(math.radians(40)) - 10 + 4.5)


def test_the_farthest_label_counts_as_far_as_it_is_drawn() -> None:
    of_the_last, of_the_first = (tokens.beyond_axis(texts, 20, SLANTED, 2) for texts in (["", "word"], ["word", ""]))
    assert of_the_last > of_the_first
    assert tokens.beyond_axis(["m" * 20], 20, SLANTED, 1) == tokens.beyond_axis(["m" * 40], 20, SLANTED, 1)


def test_columns_that_stay_empty_leave_room() -> None:
    assert tokens.beyond_axis(["word"], 20, SLANTED, 5) == 0
    assert tokens.beyond_axis([], 20, SLANTED, 5) == 0
