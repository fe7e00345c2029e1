"""The verdicts of the masks page, on both sides of what decides them."""

import math
from dataclasses import replace

import pytest
import torch

from core.claims import Verdict
from core.claims.masks import (
    HALF_A_DIGIT,
    FillComparison,
    GradientLeak,
    PaddingShare,
    PrintedRow,
    compare_fills,
    fill_verdict,
    gradient_leak,
    gradient_verdict,
    mean_context,
    mean_context_verdict,
    no_mask_verdict,
    padding_share,
    printed_padding_mask,
    printed_row,
    printed_row_verdict,
    row_verdict,
    run_printed_padding_mask,
    runs_verdict,
    xlnet_row,
)
from core.masks import causal_mask, permutation_mask
from core.token_attention import gradient_reach, random_layer, token_vectors


def test_xlnet_row() -> None:
    assert xlnet_row() == (1, 0, 1, 0)
    assert row_verdict(xlnet_row()) is Verdict.DOES_NOT_HOLD
    assert row_verdict((0, 0, 1, 1)) is Verdict.HOLDS


def test_the_printed_row_of_weights() -> None:
    row = printed_row()
    total = sum(math.exp(score) for score in (1.2, -0.5, 0.8))
    assert row.computed == pytest.approx((math.exp(1.2) / total, math.exp(-0.5) / total, math.exp(0.8) / total, 0, 0))
    assert row.printed_sum == pytest.approx(0.8)
    assert row.computed_sum == pytest.approx(1.0)
    assert printed_row_verdict(row) is Verdict.DOES_NOT_HOLD


@pytest.mark.parametrize(("off", "verdict"), [(0.9, Verdict.HOLDS), (1.1, Verdict.DOES_NOT_HOLD)])
def test_a_printed_row_may_be_rounded(off: float, verdict: Verdict) -> None:
    row = PrintedRow((0.25, 0.75), (0.25 + off * HALF_A_DIGIT, 0.75))
    assert printed_row_verdict(row) is verdict


def test_fills_are_compared_for_real() -> None:
    scores = torch.randn(5, 5, generator=torch.Generator().manual_seed(0))
    compared = compare_fills(scores, causal_mask(5))
    assert compared.difference == 0
    assert "overflow" in (compared.refusal or "")
    assert compared.forbidden_weight == pytest.approx(0.2)
    assert math.isnan(compared.forbidden_weight_at_infinity)
    assert fill_verdict(compared) is Verdict.ONLY_IF


def test_fills_where_nothing_is_permitted() -> None:
    assert compare_fills(torch.zeros(2, 2), torch.zeros(2, 2, dtype=torch.bool)).difference == 0


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, Verdict.HOLDS),
        ({"refusal": "overflow"}, Verdict.ONLY_IF),
        ({"forbidden_weight": 0.2}, Verdict.ONLY_IF),
        ({"difference": 1e-12}, Verdict.DOES_NOT_HOLD),
        ({"difference": 1e-12, "refusal": "overflow"}, Verdict.DOES_NOT_HOLD),
    ],
)
def test_fill_verdict(change: dict[str, object], verdict: Verdict) -> None:
    same = FillComparison(difference=0.0, refusal=None, forbidden_weight=0.0, forbidden_weight_at_infinity=0.0)
    assert fill_verdict(replace(same, **change)) is verdict  # type: ignore[arg-type]


@pytest.mark.parametrize("seq_len", [1, 2, 9, 10])
def test_mean_context(seq_len: int) -> None:
    assert mean_context(seq_len) == (seq_len + 1) / 2
    assert mean_context_verdict(mean_context(seq_len), seq_len) is Verdict.DOES_NOT_HOLD
    assert mean_context_verdict(seq_len / 2, seq_len) is Verdict.HOLDS


def test_mean_context_of_nothing() -> None:
    with pytest.raises(ValueError, match=r"seq_len \(0\) must be at least 1"):
        mean_context(0)


def test_the_printed_padding_mask_raises() -> None:
    assert "expand" in (run_printed_padding_mask() or "")
    assert runs_verdict(run_printed_padding_mask()) is Verdict.DOES_NOT_HOLD
    assert runs_verdict(None) is Verdict.HOLDS
    with pytest.raises(RuntimeError, match="expand"):
        printed_padding_mask(5, 3)


def test_padding_share() -> None:
    measured = padding_share([torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([[0.2, 0.3, 0.5], [0, 0, 1]])], [2, 3])
    assert measured == PaddingShare(sentences=2, padding=1, share=pytest.approx(0.25 / 3))
    assert no_mask_verdict(measured) is Verdict.ONLY_IF
    assert no_mask_verdict(PaddingShare(2, 1, 0.0)) is Verdict.HOLDS
    assert no_mask_verdict(PaddingShare(2, 0, 0.0)) is Verdict.UNDECIDED


def test_padding_share_needs_a_length_for_each() -> None:
    with pytest.raises(ValueError, match=r"weights \(1\) and lengths \(2\) must be of the same sentences"):
        padding_share([torch.ones(1, 1)], [1, 1])
    with pytest.raises(ValueError, match=r"weights \(0\)"):
        padding_share([], [])


@pytest.mark.parametrize(
    ("mask", "leak", "verdict"),
    [
        (causal_mask(5), GradientLeak(10, 0, 0, 0), Verdict.HOLDS),
        (permutation_mask(range(5)), GradientLeak(10, 0, 5, 3), Verdict.ONLY_IF),
        (torch.ones(5, 5, dtype=torch.bool), GradientLeak(0, 0, 0, 0), Verdict.UNDECIDED),
    ],
)
def test_gradient_leaks_are_counted(mask: torch.Tensor, leak: GradientLeak, verdict: Verdict) -> None:
    x = token_vectors("abcde", seed=0)
    reach = gradient_reach(random_layer(torch.Generator().manual_seed(0)), x, None, mask)
    assert gradient_leak(reach, mask, same_tokens=True) == leak
    assert gradient_verdict(leak) is verdict


def test_one_gradient_that_leaks_refutes() -> None:
    reach = torch.zeros(3, 3, dtype=torch.float64)
    assert gradient_verdict(gradient_leak(reach, causal_mask(3), same_tokens=True)) is Verdict.HOLDS
    reach[0, 2] = 1e-300
    assert gradient_verdict(gradient_leak(reach, causal_mask(3), same_tokens=True)) is Verdict.DOES_NOT_HOLD


def test_in_cross_attention_the_diagonal_is_no_exception() -> None:
    mask = ~torch.eye(3, dtype=torch.bool)
    leak = gradient_leak(torch.ones(3, 3), mask, same_tokens=False)
    assert leak == GradientLeak(forbidden=3, reached=3, own_forbidden=0, own_reached=0)
