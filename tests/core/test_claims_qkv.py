"""Verdicts on both sides of their thresholds."""

from dataclasses import dataclass

import pytest

from core.claims import Verdict
from core.claims.qkv import (
    growth,
    printed_verdict,
    rank_verdict,
    scaling_verdict,
    self_verdict,
    symmetry_verdict,
    variants_verdict,
    weights_verdict,
    width_verdict,
)

HOLDS, NOT, ONLY_IF = Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.ONLY_IF


@dataclass(frozen=True)
class Point:
    head_dim: int
    variance: float
    entropy: float


def line(variance: float, entropy: float) -> list[Point]:
    return [Point(1, 1.0, 4.0), Point(10, variance, entropy)]


@pytest.mark.parametrize(
    ("weights", "verdict"),
    [
        ((0.2, 1.0, 0.7), NOT),
        ((0.25, 0.25, 0.5), HOLDS),
        ((0.5, 0.5 + 9e-7), HOLDS),
        ((0.5, 0.5 + 2e-6), NOT),
        ((1.5, -0.5), NOT),
    ],
)
def test_weights_sum_to_one(weights: tuple[float, ...], verdict: Verdict) -> None:
    assert weights_verdict(weights) is verdict


def test_growth_is_an_exponent() -> None:
    assert growth(line(10.0, 0)) == pytest.approx(1)
    assert growth(line(1.0, 0)) == 0


@pytest.mark.parametrize(
    ("bare", "scaled", "verdict"),
    [
        (line(10.0, 1.9), line(1.0, 4.0), HOLDS),
        (line(10.0, 2.0), line(1.0, 4.0), HOLDS),
        (line(10.0, 2.1), line(1.0, 4.0), ONLY_IF),
        (line(10**0.81, 1.0), line(1.0, 4.0), HOLDS),
        (line(10**0.79, 1.0), line(1.0, 4.0), NOT),
        (line(10.0, 1.0), line(10**0.19, 4.0), HOLDS),
        (line(10.0, 1.0), line(10**0.21, 4.0), NOT),
        (line(10.0, 1.0), line(10**-0.21, 4.0), NOT),
    ],
)
def test_scaling(bare: list[Point], scaled: list[Point], verdict: Verdict) -> None:
    assert scaling_verdict(bare, scaled) is verdict


@pytest.mark.parametrize(
    ("printed", "verdict"), [(0.010, NOT), (0.043, NOT), (0.044, HOLDS), (0.08, HOLDS), (0.081, NOT)]
)
def test_printed_weights(printed: float, verdict: Verdict) -> None:
    assert printed_verdict(printed, [0.06, 0.044, 0.08]) is verdict


def test_without_a_run_nothing_is_said_of_the_printed_weights() -> None:
    assert printed_verdict(0.01, []) is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [(("runs", "runs"), HOLDS), (("runs", "raises"), ONLY_IF), (("raises", "returns_nothing"), NOT)],
)
def test_printed_variants(outcomes: tuple[str, ...], verdict: Verdict) -> None:
    assert variants_verdict(dict(enumerate(outcomes))) is verdict  # type: ignore[arg-type]


@pytest.mark.parametrize(("without", "with_projection", "verdict"), [(8, 8, HOLDS), (2, 8, ONLY_IF), (2, 2, NOT)])
def test_features_in_and_out(without: int, with_projection: int, verdict: Verdict) -> None:
    assert width_verdict(8, without=without, with_projection=with_projection) is verdict


@pytest.mark.parametrize(
    ("ranks", "verdict"),
    [({192: 192, 256: 192}, HOLDS), ({128: 128, 192: 192}, ONLY_IF), ({128: 128, 191: 191}, NOT)],
)
def test_ranks(ranks: dict[int, int], verdict: Verdict) -> None:
    assert rank_verdict(ranks, told=192) is verdict


@pytest.mark.parametrize(
    ("scores", "weights", "verdict"),
    [(0.0, 0.1, ONLY_IF), (0.0, 0.0, HOLDS), (2e-12, 0.0, NOT), (9e-13, 2e-12, ONLY_IF)],
)
def test_symmetry(scores: float, weights: float, verdict: Verdict) -> None:
    assert symmetry_verdict(scores, weights) is verdict


@pytest.mark.parametrize(("share", "verdict"), [(1.0, HOLDS), (0.999, ONLY_IF), (0.9, ONLY_IF), (0.89, NOT)])
def test_looking_at_oneself(share: float, verdict: Verdict) -> None:
    assert self_verdict(share) is verdict
