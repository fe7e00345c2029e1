"""Verdicts on both sides of their thresholds."""

import pytest

from core.claims import Verdict
from core.claims.three_matrices import cost_verdict, costs, counted, nearly_ties, reason_verdict, symmetry_verdict
from core.labs.spread import Spread
from core.labs.three_matrices import Settings
from core.labs.three_matrices_seeds import Compared

HOLDS, NOT, ONLY_IF, UNDECIDED = Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.ONLY_IF, Verdict.UNDECIDED


def case(separate: float, shared: float, seeds: int = 5) -> Compared:
    return Compared(Settings(), Spread((separate,) * seeds), Spread((shared,) * seeds))


DEAR, FREE, UNSOLVED = case(1.0, 0.5), case(1.0, 1.0), case(0.125, 0.1)


@pytest.mark.parametrize(("shared", "expected"), [(0.979, True), (0.981, False), (1.0, False)])
def test_a_cost_is_more_than_the_margin(shared: float, expected: bool) -> None:
    assert costs(case(1.0, shared)) is expected


def test_a_cost_shows_in_every_seed() -> None:
    assert costs(Compared(Settings(), Spread((0.9, 1.0)), Spread((0.5, 0.87))))
    assert not costs(Compared(Settings(), Spread((0.9, 1.0)), Spread((0.5, 0.89))))


def test_what_three_matrices_do_not_solve_does_not_count() -> None:
    assert counted([case(0.9, 0.5), case(0.89, 0.5)]) == [case(0.9, 0.5)]


@pytest.mark.parametrize(
    ("every", "verdict"),
    [
        ([DEAR, DEAR], HOLDS),
        ([DEAR, FREE], ONLY_IF),
        ([FREE, FREE], NOT),
        ([DEAR, UNSOLVED], HOLDS),
        ([FREE, UNSOLVED], NOT),
        ([UNSOLVED], UNDECIDED),
        ([], UNDECIDED),
        ([DEAR, case(1.0, 0.5, seeds=4)], UNDECIDED),
    ],
)
def test_what_sharing_costs(every: list[Compared], verdict: Verdict) -> None:
    assert cost_verdict(every) is verdict


@pytest.mark.parametrize(
    ("scores", "weights", "verdict"),
    [(0.0, 0.5, ONLY_IF), (0.001, 0.0011, ONLY_IF), (0.001, 0.001, HOLDS), (0.0011, 0.5, NOT)],
)
def test_symmetry(scores: float, weights: float, verdict: Verdict) -> None:
    assert symmetry_verdict(scores, weights) is verdict


@pytest.mark.parametrize(
    ("undirected", "masked", "directed", "verdict"),
    [
        (DEAR, FREE, DEAR, ONLY_IF),
        (FREE, FREE, DEAR, HOLDS),
        (DEAR, FREE, FREE, NOT),
        (FREE, FREE, FREE, NOT),
        (DEAR, DEAR, DEAR, UNDECIDED),
    ],
)
def test_the_reason(undirected: Compared, masked: Compared, directed: Compared, verdict: Verdict) -> None:
    assert reason_verdict(undirected, masked, directed) is verdict


@pytest.mark.parametrize(("probability", "expected"), [(0.5, True), (0.46, True), (0.44, False), (0.1, False)])
def test_a_near_tie(probability: float, expected: bool) -> None:
    assert nearly_ties(0.25, probability) is expected
