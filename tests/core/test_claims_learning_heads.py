"""The claims about heads that learn: every verdict on both sides of its threshold."""

import math

import pytest

from core.claims import Verdict
from core.claims.learning_heads import (
    GAIN,
    LOSS,
    MOST,
    NOTICED,
    better_verdict,
    catches_up,
    kinds_verdict,
    lost,
    one_row_verdict,
    rank_verdict,
    share_of_owners,
    specialise_verdict,
)
from core.labs.learning_heads_seeds import Result


def result(*, solved: int = 0, focus: tuple[tuple[float, ...], ...] = ((0.0,),)) -> Result:
    return Result(0, len(focus), 0.5, (1.0,) * solved + (0.2,), focus, {}, {})


FIRST, SECOND, NONE = (0.9, 0.1), (0.1, 0.9), (0.3, 0.3)


@pytest.mark.parametrize(
    ("solved", "verdict"),
    [
        ({2: {1: 1.0, 2: 2.0, 4: 2.0}}, Verdict.ONLY_IF),
        ({2: {1: 1.0, 2: 1.0 + GAIN, 4: 2.0 + GAIN}}, Verdict.HOLDS),
        ({2: {1: 1.0, 2: 1.0 + GAIN, 4: 2.0 + GAIN - 0.51}}, Verdict.ONLY_IF),
        ({2: {1: 1.0, 2: 1.0 + GAIN - 0.01, 4: 2.0}}, Verdict.DOES_NOT_HOLD),
        ({4: {1: 1.0, 2: 2.0, 4: 4.0}, 2: {1: 1.0, 2: 1.0}}, Verdict.DOES_NOT_HOLD),
        ({3: {2: 2.0, 4: 3.0}}, Verdict.HOLDS),  # the step from 2 heads was needed: there are 3 look-ups
        ({2: {1: 1.0}}, Verdict.UNDECIDED),
        ({}, Verdict.UNDECIDED),
    ],
)
def test_kinds_verdict(solved: dict[int, dict[int, float]], verdict: Verdict) -> None:
    assert kinds_verdict(solved) is verdict


@pytest.mark.parametrize(
    ("alone", "with_mlp", "verdict"),
    [
        ((1, 1), (1, 1), Verdict.HOLDS),
        ((1, 1), (1, 2), Verdict.ONLY_IF),
        ((1, 2), (2, 2), Verdict.DOES_NOT_HOLD),
        ((), (2,), Verdict.UNDECIDED),
        ((1,), (), Verdict.UNDECIDED),
    ],
)
def test_one_row_verdict(alone: tuple[int, ...], with_mlp: tuple[int, ...], verdict: Verdict) -> None:
    first, second = ([result(solved=number) for number in numbers] for numbers in (alone, with_mlp))
    assert one_row_verdict(first, second) is verdict


def test_a_look_up_has_one_owner() -> None:
    assert share_of_owners([result(focus=(FIRST, SECOND))]) == 1
    assert share_of_owners([result(focus=(FIRST, FIRST))]) == 0.5
    assert share_of_owners([result(focus=(FIRST, NONE)), result(focus=(FIRST, SECOND))]) == 0.75
    assert share_of_owners([]) == 0


@pytest.mark.parametrize(
    ("good", "more", "verdict"),
    [
        (9, (FIRST, SECOND), Verdict.HOLDS),
        (9, (FIRST, SECOND, NONE), Verdict.ONLY_IF),
        (8, (FIRST, SECOND), Verdict.DOES_NOT_HOLD),
    ],
)
def test_specialise_verdict(good: int, more: tuple[tuple[float, ...], ...], verdict: Verdict) -> None:
    as_many = [result(focus=(FIRST,))] * good + [result(focus=(NONE,))] * (10 - good)
    assert share_of_owners(as_many) == good / 10
    assert MOST == 0.9
    assert specialise_verdict(as_many, [result(focus=more)]) is verdict


def test_specialise_needs_both() -> None:
    assert specialise_verdict([], [result()]) is Verdict.UNDECIDED
    assert specialise_verdict([result()], []) is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("logits", "weights", "verdict"),
    [
        (-NOTICED, -NOTICED, Verdict.HOLDS),
        (-NOTICED, 0.99 * -NOTICED, Verdict.ONLY_IF),
        (1.0, -1.0, Verdict.ONLY_IF),
        (0.99 * -NOTICED, 1.0, Verdict.DOES_NOT_HOLD),
        (math.nan, -1.0, Verdict.UNDECIDED),
        (-1.0, math.nan, Verdict.UNDECIDED),
    ],
)
def test_rank_verdict(logits: float, weights: float, verdict: Verdict) -> None:
    assert rank_verdict(logits, weights) is verdict


@pytest.mark.parametrize(
    ("wide", "narrow", "verdict"),
    [
        ({1: 0.5, 8: 1.0}, {1: 0.5, 8: 1.0}, Verdict.HOLDS),
        ({1: 0.5, 8: 1.0}, {1: 0.5, 4: 0.75, 8: 0.75 - LOSS}, Verdict.ONLY_IF),
        ({1: 0.5, 8: 1.0}, {1: 0.5, 4: 0.75, 8: 0.76 - LOSS}, Verdict.HOLDS),
        ({4: 1.0, 8: 1.0 - LOSS}, {1: 0.5, 8: 1.0}, Verdict.DOES_NOT_HOLD),
        ({}, {1: 1.0}, Verdict.UNDECIDED),
        ({1: 1.0}, {}, Verdict.UNDECIDED),
    ],
)
def test_better_verdict(wide: dict[int, float], narrow: dict[int, float], verdict: Verdict) -> None:
    assert better_verdict(wide, narrow) is verdict


def test_what_is_lost() -> None:
    assert lost({1: 0.5, 2: 1.0, 8: 0.75}) == 0.25
    assert lost({1: 0.5, 2: 1.0}) == 0
    assert lost({}) == 0


def test_what_catches_up() -> None:
    narrow = {2: 0.9, 8: 0.5}
    assert catches_up(narrow, {8: 0.9 - 0.99 * LOSS})
    assert not catches_up(narrow, {8: 0.9 - 1.01 * LOSS})
    assert not catches_up({}, {8: 1.0})
    assert not catches_up(narrow, {})
