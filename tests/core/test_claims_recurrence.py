"""Verdicts of the page on recurrence, on both sides of every threshold."""

import pytest

from core.claims import Verdict
from core.claims.recurrence import (
    EVEN,
    FASTER,
    KEPT,
    MOVES,
    MUCH,
    ROUNDING,
    PathLengths,
    concat_verdict,
    distance_verdict,
    dot_verdict,
    gates_verdict,
    path_verdict,
    printed_verdict,
    speed_verdict,
)


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        (PathLengths((1, 2), (1, 2), (1, 1)), Verdict.HOLDS),
        (PathLengths((1, 2), (1, 1), (1, 1)), Verdict.DOES_NOT_HOLD),
        (PathLengths((1, 2), (1, None), (1, 1)), Verdict.DOES_NOT_HOLD),
        (PathLengths((1, 2), (1, 2), (1, 2)), Verdict.DOES_NOT_HOLD),
        (PathLengths((1, 2), (1, 2), (1, None)), Verdict.DOES_NOT_HOLD),
        (PathLengths((), (), ()), Verdict.UNDECIDED),
    ],
)
def test_paths_must_be_as_told_for_every_pair(lengths: PathLengths, expected: Verdict) -> None:
    assert path_verdict(lengths) is expected


BELOW, ABOVE = 0.99 * KEPT, 1.01 * KEPT


@pytest.mark.parametrize(
    ("plain", "gated", "opened", "expected"),
    [
        (BELOW, [ABOVE, KEPT], [ABOVE, ABOVE], Verdict.HOLDS),
        (BELOW, [ABOVE, BELOW], [ABOVE, ABOVE], Verdict.ONLY_IF),
        (BELOW, [BELOW, BELOW], [BELOW, KEPT], Verdict.ONLY_IF),
        (BELOW, [BELOW, BELOW], [BELOW, BELOW], Verdict.DOES_NOT_HOLD),
        (KEPT, [ABOVE, ABOVE], [ABOVE, ABOVE], Verdict.DOES_NOT_HOLD),  # the plain RNN loses nothing
    ],
)
def test_gates(plain: float, gated: list[float], opened: list[float], expected: Verdict) -> None:
    assert gates_verdict(plain, gated, opened) is expected


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        (1.0, Verdict.HOLDS),
        (EVEN, Verdict.HOLDS),
        (1.01 * EVEN, Verdict.DOES_NOT_HOLD),
        (1 / EVEN, Verdict.HOLDS),
        (0.99 / EVEN, Verdict.DOES_NOT_HOLD),
    ],
)
def test_distance(kept: float, expected: Verdict) -> None:
    assert distance_verdict(kept) is expected


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        (None, Verdict.UNDECIDED),
        ([], Verdict.UNDECIDED),
        ([1.01 * FASTER, 9.0], Verdict.HOLDS),
        ([9.0, FASTER], Verdict.ONLY_IF),
        ([FASTER, 0.1], Verdict.DOES_NOT_HOLD),
    ],
)
def test_speed(ratios: list[float] | None, expected: Verdict) -> None:
    assert speed_verdict(ratios) is expected


@pytest.mark.parametrize(
    ("printed", "real", "expected"),
    [
        (0.0, 1.01 * MOVES, Verdict.DOES_NOT_HOLD),
        (MOVES, 0.5, Verdict.DOES_NOT_HOLD),
        (1.01 * MOVES, 0.5, Verdict.HOLDS),
        (0.0, MOVES, Verdict.UNDECIDED),
    ],
)
def test_the_printed_form(printed: float, real: float, expected: Verdict) -> None:
    assert printed_verdict(printed, real) is expected


def test_concat() -> None:
    assert concat_verdict(ROUNDING) is Verdict.HOLDS
    assert concat_verdict(1.01 * ROUNDING) is Verdict.DOES_NOT_HOLD


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, Verdict.UNDECIDED),
        ({"additive": 1.0}, Verdict.UNDECIDED),
        ({"dot": 1.0}, Verdict.UNDECIDED),
        ({"additive": MUCH, "dot": 1.0}, Verdict.HOLDS),
        ({"additive": 0.99 * MUCH, "dot": 1.0}, Verdict.ONLY_IF),
        ({"additive": 1.01, "dot": 1.0}, Verdict.ONLY_IF),
        ({"additive": 1.0, "dot": 1.0}, Verdict.DOES_NOT_HOLD),
    ],
)
def test_dot_against_additive(seconds: dict[str, float] | None, expected: Verdict) -> None:
    assert dot_verdict(seconds) is expected
