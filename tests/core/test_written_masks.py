"""Orders and cells as people and addresses write them."""

import re
from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.written_masks import OrderError, OrderProblem, read_closed, read_order, shuffled_order, write_closed


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("3 1 4 2", (2, 0, 3, 1)),
        ("[3, 1, 4, 2]", (2, 0, 3, 1)),
        ("3→1，4;2 ", (2, 0, 3, 1)),
        ("4", (3, 0, 1, 2)),
        ("", (0, 1, 2, 3)),
    ],
)
def test_an_order_is_counted_from_one_and_completed(text: str, order: tuple[int, ...]) -> None:
    assert read_order(text, 4) == order


@pytest.mark.parametrize(
    ("text", "problem", "culprit", "message"),
    [
        ("1 2 2", OrderProblem.TWICE, "2", "order (2) must stand there once"),
        ("1 5", OrderProblem.OUT_OF_RANGE, "5", "order (5) must be between 1 and 4"),
        ("0 1", OrderProblem.OUT_OF_RANGE, "0", "order (0) must be between 1 and 4"),
        ("1 zwei", OrderProblem.NOT_NUMBERS, "zwei", "order (zwei) must be a whole number"),
        ("-1", OrderProblem.NOT_NUMBERS, "-1", "order (-1) must be a whole number"),
        ("1.5", OrderProblem.NOT_NUMBERS, "1.5", "order (1.5) must be a whole number"),
        ("²", OrderProblem.NOT_NUMBERS, "²", "order (²) must be a whole number"),
        ("9" * 5000, OrderProblem.NOT_NUMBERS, "9" * 5000, "must be a whole number"),
    ],
)
def test_a_bad_order_is_told_apart(text: str, problem: OrderProblem, culprit: str, message: str) -> None:
    with pytest.raises(OrderError, match=re.escape(message)) as caught:
        read_order(text, 4)
    assert (caught.value.problem, caught.value.culprit) == (problem, culprit)


def test_a_shuffled_order_holds_every_position_and_follows_its_generator() -> None:
    orders = [shuffled_order(11, torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)]
    assert sorted(orders[0]) == list(range(11))
    assert orders[0] == orders[1] != orders[2]
    with pytest.raises(ValueError, match=r"seq_len \(-1\) must be at least 0"):
        shuffled_order(-1, torch.Generator())


@given(st.integers(1, 20), st.integers(1, 20), st.randoms(use_true_random=False))
def test_what_is_written_is_read_again(seq_q: int, seq_k: int, random: Random) -> None:
    mask = torch.tensor([[random.random() < 0.5 for _ in range(seq_k)] for _ in range(seq_q)])
    assert torch.equal(read_closed(write_closed(mask), seq_q, seq_k), mask)


def test_by_hand() -> None:
    mask = torch.tensor([[True, False, True], [True, True, True]])
    assert write_closed(mask) == "2-0"
    assert write_closed(torch.ones(2, 3, dtype=torch.bool)) == ""


def test_what_has_no_room_counts_for_nothing() -> None:
    assert read_closed("ff-1-1", 2, 3).tolist() == [[False] * 3, [False, True, True]]
    assert read_closed("", 2, 3).all()
    assert read_closed("1", 2, 2).tolist() == [[False, True], [True, True]]


def test_other_texts_raise() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        read_closed("xyz", 1, 1)
