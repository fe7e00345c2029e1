"""Masks: worked by hand, then by their definitions, then every error."""

import doctest
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from core import masks
from core.masks import causal_mask, combine, padding_mask, permutation_mask, prefix_mask, sliding_window_mask

PROPERTY = settings(deadline=None, max_examples=40, derandomize=True)
SIZES = st.integers(0, 11)


def rows(mask: Tensor) -> list[str]:
    assert mask.dtype == torch.bool
    return ["".join("x" if visible else "." for visible in row) for row in mask.tolist()]


def test_examples_in_the_docstrings() -> None:
    result = doctest.testmod(masks)
    assert (result.failed, result.attempted) == (0, 5)


def test_causal_by_hand() -> None:
    assert rows(causal_mask(3)) == ["x..", "xx.", "xxx"]
    assert rows(causal_mask(2, offset=3)) == ["xxxx.", "xxxxx"]
    assert rows(causal_mask(2, 7, offset=3)) == ["xxxx...", "xxxxx.."]
    assert rows(causal_mask(3, 2)) == ["x.", "xx", "xx"]


def test_padding_by_hand() -> None:
    mask = padding_mask([2, 0, 3], 3)
    assert mask.shape == (3, 1, 1, 3)
    assert rows(mask[:, 0, 0]) == ["xx.", "...", "xxx"]
    assert torch.equal(padding_mask(torch.tensor([2, 0, 3]), 3), mask)
    assert padding_mask([], 5).shape == (0, 1, 1, 5)


def test_sliding_window_by_hand() -> None:
    assert rows(sliding_window_mask(4, left=1)) == ["x...", "xx..", ".xx.", "..xx"]
    assert rows(sliding_window_mask(4, left=0, right=1)) == ["xx..", ".xx.", "..xx", "...x"]
    assert rows(sliding_window_mask(2, left=1, offset=3)) == ["..xx.", "...xx"]
    assert rows(sliding_window_mask(2, 7, left=1, right=1, offset=3)) == ["..xxx..", "...xxx."]


def test_prefix_by_hand() -> None:
    assert rows(prefix_mask(5, 3)) == ["xxx..", "xxx..", "xxx..", "xxxx.", "xxxxx"]
    assert rows(prefix_mask(3, 0)) == rows(causal_mask(3))
    assert rows(prefix_mask(3, 3)) == ["xxx"] * 3


def test_permutation_by_hand() -> None:
    """The order 2, 0, 3, 1: position 3 comes third, after 2 and 0."""
    assert rows(permutation_mask([2, 0, 3, 1])) == ["..x.", "x.xx", "....", "x.x."]
    assert rows(permutation_mask([2, 0, 3, 1], include_self=True)) == ["x.x.", "xxxx", "..x.", "x.xx"]
    assert torch.equal(permutation_mask(torch.tensor([2, 0, 3, 1])), permutation_mask([2, 0, 3, 1]))


def test_combine_by_hand() -> None:
    both = combine(causal_mask(3), padding_mask([3, 1], 3))
    assert both.shape == (2, 1, 3, 3)
    assert rows(both[0, 0]) == ["x..", "xx.", "xxx"]
    assert rows(both[1, 0]) == ["x..", "x..", "x.."]


def test_combining_one_mask_gives_a_new_tensor() -> None:
    mask = causal_mask(3)
    alone = combine(mask)
    assert torch.equal(alone, mask)
    assert alone.data_ptr() != mask.data_ptr()


def test_sizes_may_be_zero() -> None:
    assert causal_mask(0).shape == (0, 0)
    assert causal_mask(0, offset=3).shape == (0, 3)
    assert causal_mask(3, 0).shape == (3, 0)
    assert padding_mask([0, 0], 0).shape == (2, 1, 1, 0)
    assert sliding_window_mask(0, left=2).shape == (0, 0)
    assert prefix_mask(0, 0).shape == (0, 0)
    assert permutation_mask([]).shape == (0, 0)


@PROPERTY
@given(seq_q=SIZES, seq_k=SIZES, left=SIZES, right=SIZES, offset=SIZES)
def test_windows_by_definition(seq_q: int, seq_k: int, left: int, right: int, offset: int) -> None:
    window = sliding_window_mask(seq_q, seq_k, left=left, right=right, offset=offset)
    causal = causal_mask(seq_q, seq_k, offset=offset)
    assert window.shape == causal.shape == (seq_q, seq_k)
    for query in range(seq_q):
        for key in range(seq_k):
            assert window[query, key] == (offset + query - left <= key <= offset + query + right)
            assert causal[query, key] == (key <= offset + query)


@PROPERTY
@given(seq_q=SIZES, offset=SIZES, left=SIZES)
def test_a_query_always_sees_itself(seq_q: int, offset: int, left: int) -> None:
    for mask in (causal_mask(seq_q, offset=offset), sliding_window_mask(seq_q, left=left, offset=offset)):
        assert mask.shape == (seq_q, seq_q + offset)
        assert mask.diagonal(offset).all()


@PROPERTY
@given(seq_q=SIZES, offset=SIZES)
def test_a_cache_only_cuts_off_rows(seq_q: int, offset: int) -> None:
    assert torch.equal(causal_mask(seq_q, offset=offset), causal_mask(seq_q + offset)[offset:])


@PROPERTY
@given(order=st.integers(0, 9).flatmap(lambda n: st.permutations(range(n))))
def test_in_a_permutation_each_turn_sees_the_turns_before(order: list[int]) -> None:
    query_stream, content_stream = permutation_mask(order), permutation_mask(order, include_self=True)
    for turn, position in enumerate(order):
        assert set(query_stream[position].nonzero().flatten().tolist()) == set(order[:turn])
        assert set(content_stream[position].nonzero().flatten().tolist()) == set(order[: turn + 1])


@PROPERTY
@given(seq_len=SIZES)
def test_prediction_from_left_to_right_is_causal(seq_len: int) -> None:
    assert torch.equal(permutation_mask(range(seq_len), include_self=True), causal_mask(seq_len))


ERRORS: list[tuple[Callable[[], Tensor], str]] = [
    (lambda: causal_mask(-1), "seq_q (-1) must be at least 0"),
    (lambda: causal_mask(2, -3), "seq_k (-3) must be at least 0"),
    (lambda: causal_mask(2, offset=-1), "offset (-1) must be at least 0"),
    (lambda: causal_mask(2.5), "seq_q (2.5) must be a whole number"),
    (lambda: padding_mask([2, 4], 3), "lengths[1] (4) must be at most seq_len (3)"),
    (lambda: padding_mask([-1], 3), "lengths[0] (-1) must be at least 0"),
    (lambda: padding_mask([1.5], 3), "lengths[0] (1.5) must be a whole number"),
    (lambda: padding_mask([1], -3), "seq_len (-3) must be at least 0"),
    (lambda: padding_mask(torch.ones(2, 1, dtype=torch.long), 3), "lengths (shape (2, 1)) must have one dimension"),
    (lambda: padding_mask(torch.tensor(2), 3), "lengths (shape ()) must have one dimension"),
    (lambda: sliding_window_mask(3, left=-1), "left (-1) must be at least 0"),
    (lambda: sliding_window_mask(3, left=1, right=-2), "right (-2) must be at least 0"),
    (lambda: sliding_window_mask(-3, left=1), "seq_q (-3) must be at least 0"),
    (lambda: sliding_window_mask(3, -1, left=1), "seq_k (-1) must be at least 0"),
    (lambda: sliding_window_mask(3, left=1, offset=-1), "offset (-1) must be at least 0"),
    (lambda: prefix_mask(3, 4), "prefix_len (4) must be at most seq_len (3)"),
    (lambda: prefix_mask(3, -1), "prefix_len (-1) must be at least 0"),
    (lambda: prefix_mask(-1, 0), "seq_len (-1) must be at least 0"),
    (lambda: permutation_mask([0, 2, 2]), "order ([0, 2, 2]) must hold each position from 0 to 2 once"),
    (lambda: permutation_mask([1, 2, 3]), "order ([1, 2, 3]) must hold each position from 0 to 2 once"),
    (lambda: permutation_mask([-1, 0]), "order[0] (-1) must be at least 0"),
    (lambda: permutation_mask([0.0, 1.0]), "order[0] (0.0) must be a whole number"),
    (lambda: permutation_mask(torch.zeros(1, 1)), "order (shape (1, 1)) must have one dimension"),
    (lambda: combine(), "masks (0) must be at least 1"),
    (lambda: combine(causal_mask(3), torch.ones(3, 3)), "masks[1] (torch.float32) must be bool, True = may attend"),
    (lambda: combine(causal_mask(3), causal_mask(5)), "masks (shapes (3, 3), (5, 5)) must broadcast together"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS, ids=[message for _, message in ERRORS])
def test_errors_name_parameter_value_and_rule(call: Callable[[], Tensor], message: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared
        call()
    assert str(error.value) == message
