"""The claims of the open-book page: every verdict on both sides of its threshold."""

import pytest
import torch

from core.claims import Verdict
from core.claims.open_book import (
    Reach,
    glimpse_verdict,
    gpt2_verdict,
    lower_is_better_verdict,
    measure_reach,
    unfair_verdict,
)
from core.labs.open_book_exam import Score
from core.labs.open_book_results import Row
from core.labs.spread import Spread


@pytest.mark.parametrize(
    ("training", "exam", "verdict"),
    [
        ((0.43, 0.002), (0.42, 9.2), Verdict.DOES_NOT_HOLD),
        ((0.002, 0.43), (9.2, 0.42), Verdict.DOES_NOT_HOLD),
        ((0.43, 0.002), (9.2, 0.42), Verdict.HOLDS),
        ((0.4, 0.5), (0.4, 0.5), Verdict.HOLDS),
        ((0.5, 0.25), (1.0, 1.25), Verdict.UNDECIDED),
        ((0.5, 0.75), (1.0, 1.5), Verdict.UNDECIDED),
        ((0.5, 0.125), (1.0, 1.375), Verdict.DOES_NOT_HOLD),
    ],
)
def test_a_lower_training_loss(training: tuple[float, float], exam: tuple[float, float], verdict: Verdict) -> None:
    margin = 0.25 if verdict is Verdict.UNDECIDED else 0.05
    assert lower_is_better_verdict(training, exam, margin=margin) is verdict


def test_gpt2_is_causal_without_a_mask() -> None:
    reach = measure_reach()
    assert (reach.without, reach.ones) == (0, 0)
    assert reach.twin > 0.1
    assert gpt2_verdict(reach) is Verdict.DOES_NOT_HOLD


def test_the_measurement_leaves_the_common_generator_alone() -> None:
    before = torch.random.get_rng_state()
    measure_reach(1)
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    ("reach", "verdict"),
    [
        (Reach(0.0, 1e-9, 1.0), Verdict.DOES_NOT_HOLD),
        (Reach(0.0, 1.1e-9, 1.0), Verdict.HOLDS),
        (Reach(1.1e-9, 0.0, 1.0), Verdict.HOLDS),
    ],
)
def test_what_moves_an_earlier_logit_was_seen(reach: Reach, verdict: Verdict) -> None:
    assert gpt2_verdict(reach) is verdict


def row(*losses: float) -> Row:
    other = Spread.of([0.0])
    return Row(1, other, Spread.of(losses), other, other, other, other)


@pytest.mark.parametrize(
    ("glimpse", "verdict"),
    [
        ((1.5, 4.0), Verdict.DOES_NOT_HOLD),
        ((1.25, 4.0), Verdict.UNDECIDED),
        ((0.75, 1.0), Verdict.HOLDS),
        ((0.75, 1.25), Verdict.UNDECIDED),
    ],
)
def test_a_glimpse(glimpse: tuple[float, float], verdict: Verdict) -> None:
    assert glimpse_verdict(row(0.25, 1.0), row(*glimpse), margin=0.25) is verdict


@pytest.mark.parametrize(
    ("so_far", "verdict"),
    [
        (0.75, Verdict.HOLDS),
        (0.8, Verdict.ONLY_IF),
        (2.9, Verdict.ONLY_IF),
        (3.0, Verdict.DOES_NOT_HOLD),
        (9.0, Verdict.DOES_NOT_HOLD),
    ],
)
def test_an_unfair_exam(so_far: float, verdict: Verdict) -> None:
    assert unfair_verdict(Score(0.5, 0.8), Score(so_far, 0.1), guessing=3.0, margin=0.25) is verdict
