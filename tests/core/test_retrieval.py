"""The soft look-up: strict tables, and shares that softmax makes."""

import math

import pytest
import torch

from core.retrieval import Shelf, TableError, TableProblem, answer_of_labels, closest_label, look_up, read_shelf

ROWS = [["Nets", 1, 0.5, 2], ["Verse", 0, 1.0, -3]]


def read(rows: list[list[object]], most_rows: int = 3) -> Shelf:
    return read_shelf(rows, features=2, contents=1, most_rows=most_rows, largest=9.0)


def vector(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def test_a_table_is_read_as_it_stands() -> None:
    shelf = read(ROWS)
    assert shelf.titles == ("Nets", "Verse")
    assert shelf.keys.tolist() == [[1.0, 0.5], [0.0, 1.0]]
    assert shelf.values.tolist() == [[2.0], [-3.0]]


@pytest.mark.parametrize(
    ("rows", "problem", "row", "column"),
    [
        ([], TableProblem.NO_ROWS, 0, 0),
        ([["a", 1, 1, 1]] * 4, TableProblem.TOO_MANY_ROWS, 0, 0),
        ([["a", 1, 1, 1], [None, 1, 1, 1]], TableProblem.NO_TITLE, 1, 0),
        ([["  ", 1, 1, 1]], TableProblem.NO_TITLE, 0, 0),
        ([[float("nan"), 1, 1, 1]], TableProblem.NO_TITLE, 0, 0),
        ([[]], TableProblem.NO_TITLE, 0, 0),
        ([["a", 1, 1, 1], ["b", 1, 1]], TableProblem.EMPTY_CELL, 1, 3),
        ([["a", 1, None, 1]], TableProblem.EMPTY_CELL, 0, 2),
        ([["a", math.nan, 1, 1]], TableProblem.EMPTY_CELL, 0, 1),
        ([["a", 1, "", 1]], TableProblem.EMPTY_CELL, 0, 2),
        ([["a", 1, 1, 1, 1]], TableProblem.EXTRA_CELL, 0, 4),
        ([["a", 1, "three", 1]], TableProblem.NOT_A_NUMBER, 0, 2),
        ([["a", 1, "3", 1]], TableProblem.NOT_A_NUMBER, 0, 2),
        ([["a", True, 1, 1]], TableProblem.NOT_A_NUMBER, 0, 1),
        ([["a", 1, 1, math.inf]], TableProblem.TOO_LARGE, 0, 3),
        ([["a", 1, -9.5, 1]], TableProblem.TOO_LARGE, 0, 2),
    ],
)
def test_whatever_is_wrong_is_named_with_its_place(
    rows: list[list[object]], problem: TableProblem, row: int, column: int
) -> None:
    with pytest.raises(TableError) as caught:
        read(rows)
    assert (caught.value.problem, caught.value.row, caught.value.column) == (problem, row, column)


def test_messages_name_value_and_rule() -> None:
    with pytest.raises(TableError, match=r"rows \(4\) must be at most 3"):
        read([["a", 1, 1, 1]] * 4)
    with pytest.raises(TableError, match=r"row 0, column 1 \(12\) must lie between -9 and 9"):
        read([["a", 12, 1, 1]])


def test_the_largest_number_is_allowed() -> None:
    assert read([["a", 9, -9.0, 0]]).keys.tolist() == [[9.0, -9.0]]


def test_an_answer_by_hand() -> None:
    answer = look_up(read(ROWS), vector(2.0, 0.0), temperature=2.0)
    e = math.e
    assert answer.similarities.tolist() == [1.0, 0.0]
    assert answer.shares.tolist() == pytest.approx([e / (e + 1), 1 / (e + 1)])
    assert answer.contributions.flatten().tolist() == pytest.approx([2 * e / (e + 1), -3 / (e + 1)])
    assert float(answer.answer) == pytest.approx((2 * e - 3) / (e + 1))


def test_raw_similarities_are_the_shares_if_asked_for() -> None:
    keys = torch.eye(3, dtype=torch.float64)
    answer = look_up(Shelf(("The", "cat", "sat"), keys, keys), vector(0.2, 1.0, 0.7), softmax=False)
    assert answer.shares.tolist() == [0.2, 1.0, 0.7]
    assert answer.answer.tolist() == pytest.approx([0.2, 1.0, 0.7])
    assert float(answer.shares.sum()) == pytest.approx(1.9)


@pytest.mark.parametrize("softmax", [True, False])
def test_the_contributions_sum_to_the_answer(softmax: bool) -> None:
    answer = look_up(read(ROWS), vector(0.3, -1.1), temperature=0.7, softmax=softmax)
    torch.testing.assert_close(answer.contributions.sum(dim=0), answer.answer)


def test_a_low_temperature_takes_one_book_and_a_high_one_all_alike() -> None:
    cold, hot = (look_up(read(ROWS), vector(1.0, 0.0), temperature=t).shares for t in (0.01, 1000.0))
    assert cold.tolist() == pytest.approx([1, 0])
    assert hot.tolist() == pytest.approx([0.5, 0.5], abs=1e-3)


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.inf, math.nan])
def test_a_temperature_must_be_positive(temperature: float) -> None:
    with pytest.raises(ValueError, match=r"temperature .* must be positive and finite"):
        look_up(read(ROWS), vector(1.0, 0.0), temperature=temperature)


def test_a_query_must_have_the_features_of_the_labels() -> None:
    with pytest.raises(ValueError, match="head_dim"):
        look_up(read(ROWS), vector(1.0, 0.0, 0.0))


def test_how_close_a_query_comes_to_a_label() -> None:
    assert closest_label(read(ROWS), vector(0.0, 3.0)) == pytest.approx(1)
    assert closest_label(read(ROWS), vector(0.0, -3.0)) < 0


def test_with_labels_as_contents_the_answer_is_a_mix_of_labels() -> None:
    shelf = read(ROWS)
    answer = look_up(shelf, vector(0.0, 0.0))
    assert answer_of_labels(shelf, answer).tolist() == pytest.approx([0.5, 0.75])
