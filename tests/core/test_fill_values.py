"""Overflow, NaN and attention on forbidden places really happen, each where it must."""

import math

import pytest
import torch
from torch import Tensor

from core.attention import scaled_dot_product_attention
from core.fill_values import Fill, FillOverflowError, masked_softmax, seen
from core.masks import causal_mask, permutation_mask

TYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


def scores(dtype: torch.dtype = torch.float32) -> Tensor:
    return (1.6 * torch.randn(7, 7, generator=torch.Generator().manual_seed(0))).to(dtype)


EMPTY_ROW = permutation_mask(range(7))  # position 0 sees nothing


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("fill", [Fill.MINUS_INFINITY, Fill.GUARDED])
def test_ordinary_rows_are_a_softmax_of_what_is_permitted(dtype: torch.dtype, fill: Fill) -> None:
    weights = masked_softmax(scores(dtype), causal_mask(7), fill)
    assert weights.dtype == dtype
    assert torch.equal(weights[~causal_mask(7)], torch.zeros(21, dtype=dtype))
    for row in range(7):
        alone = torch.softmax(scores(dtype)[row, : row + 1], dim=-1)
        torch.testing.assert_close(weights[row, : row + 1], alone)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_minus_1e9_is_the_same_in_rows_that_permit_something(dtype: torch.dtype) -> None:
    filled = (masked_softmax(scores(dtype), causal_mask(7), fill) for fill in (Fill.MINUS_1E9, Fill.MINUS_INFINITY))
    assert torch.equal(*filled)


def test_an_empty_row_is_nan_with_minus_infinity() -> None:
    weights = masked_softmax(scores(), EMPTY_ROW, Fill.MINUS_INFINITY)
    assert weights[0].isnan().all()
    assert not weights[1:].isnan().any()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_an_empty_row_is_shared_out_among_the_forbidden_with_minus_1e9(dtype: torch.dtype) -> None:
    weights = masked_softmax(scores(dtype), EMPTY_ROW, Fill.MINUS_1E9)
    torch.testing.assert_close(weights[0], torch.full((7,), 1 / 7, dtype=dtype))


def test_an_empty_row_is_zero_when_guarded() -> None:
    assert torch.equal(masked_softmax(scores(), EMPTY_ROW, Fill.GUARDED)[0], torch.zeros(7))


@pytest.mark.parametrize("dtype", TYPES)
def test_guarded_is_what_our_attention_computes(dtype: torch.dtype) -> None:
    """Queries of one-hot keys make any scores: with k = 1 and scale 1 they are q itself."""
    ours = scaled_dot_product_attention(
        scores(dtype)[None], torch.eye(7, dtype=dtype)[None], torch.eye(7, dtype=dtype)[None],
        attend_mask=EMPTY_ROW, scale=1.0,
    )  # fmt: skip
    torch.testing.assert_close(masked_softmax(scores(dtype), EMPTY_ROW, Fill.GUARDED), ours.weights[0])


def test_float16_has_no_room_for_minus_1e9() -> None:
    with pytest.raises(FillOverflowError, match="overflow"):
        masked_softmax(scores(torch.float16), causal_mask(7), Fill.MINUS_1E9)


def test_a_mask_must_be_bool() -> None:
    with pytest.raises(ValueError, match=r"attend_mask \(torch.float32\) must be bool, True = may attend"):
        masked_softmax(scores(), causal_mask(7).float(), Fill.GUARDED)


def test_by_hand() -> None:
    weights = masked_softmax(
        torch.tensor([math.log(1.0), math.log(3.0), 9.0]), torch.tensor([True, True, False]), Fill.GUARDED
    )
    torch.testing.assert_close(weights, torch.tensor([0.25, 0.75, 0.0]))


def test_seen_are_the_permitted_and_what_has_a_weight_all_the_same() -> None:
    weights = torch.tensor([[0.0, 0.5, 0.0], [math.nan, 0.0, 1.0]])
    mask = torch.tensor([[True, False, False], [False, False, True]])
    assert seen(weights, mask).tolist() == [[True, True, False], [True, False, True]]
