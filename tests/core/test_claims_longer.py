"""The claims about longer texts: verdicts on both sides of every threshold."""

import pytest

from core.claims import Verdict
from core.claims.longer import (
    Reading,
    drop_verdict,
    is_better,
    kind_costs,
    measure_reading,
    no_training_verdict,
    reach,
    scaling_verdict,
    short_training_verdict,
    unnoticed_verdict,
    worst,
)
from core.labs.longer import Kind
from core.labs.record import Record
from core.labs.shipped import Run
from core.positions.scalings import Method

HOLDS, ONLY_IF, DOES_NOT, UNDECIDED = (
    Verdict.HOLDS,
    Verdict.ONLY_IF,
    Verdict.DOES_NOT_HOLD,
    Verdict.UNDECIDED,
)


def reading(before: tuple[float, ...], after: tuple[float, ...] = (0.0, 0.0, 0.0)) -> Reading:
    """One cost for each of the spans 1, 2 and 4; two seeds, of which the second one is a little lower."""
    spans = (1, 2, 4)
    return Reading(
        {span: (cost, cost - 0.01) for span, cost in zip(spans, before, strict=True)},
        {span: (cost, cost - 0.01) for span, cost in zip(spans, after, strict=True)},
    )


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ((0.21, 0.9), HOLDS),
        ((0.2, 0.9), UNDECIDED),
        ((0.2, -0.1), DOES_NOT),
        ((), UNDECIDED),
    ],
)
def test_a_drop(found: tuple[float, ...], expected: Verdict) -> None:
    assert drop_verdict(found) == expected


@pytest.mark.parametrize(("found", "expected"), [((0.21,), DOES_NOT), ((0.2,), HOLDS), ((), UNDECIDED)])
def test_no_drop(found: tuple[float, ...], expected: Verdict) -> None:
    assert unnoticed_verdict(found) == expected


@pytest.mark.parametrize(
    ("before", "expected", "reached"),
    [
        ((0.0, 0.2, 0.2), HOLDS, 4),
        ((0.0, 0.2, 0.21), ONLY_IF, 2),
        ((0.2, 0.21, 0.1), DOES_NOT, 1),
        ((0.21, 0.0, 0.0), DOES_NOT, 0),
    ],
)
def test_no_training(before: tuple[float, ...], expected: Verdict, reached: int) -> None:
    assert no_training_verdict(reading(before)) == expected
    assert reach(reading(before).before) == reached


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((0.0, 0.2, 0.2), (0.0, 0.0, 0.0), DOES_NOT),  # it needs none
        ((0.0, 0.0, 0.21), (0.2, 0.2, 0.2), HOLDS),
        ((0.5, 1.0, 0.9), (0.1, 0.49, 0.3), ONLY_IF),
        ((0.5, 1.0, 0.9), (0.1, 0.505, 0.3), DOES_NOT),
    ],
)
def test_a_short_training(before: tuple[float, ...], after: tuple[float, ...], expected: Verdict) -> None:
    assert short_training_verdict(reading(before, after)) == expected


def test_one_bad_seed_is_enough() -> None:
    assert reach({1: (0.0, 0.0), 2: (0.1, 0.3)}) == 1
    assert worst({1: (0.0, 0.0), 2: (0.1, 0.3)}) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("plain", "scaled", "expected"),
    [
        (0.5, (0.4, 0.3), HOLDS),
        (0.5, (0.4, 0.6), ONLY_IF),
        (0.5, (0.5, 0.6), DOES_NOT),
        (0.5, (), UNDECIDED),
    ],
)
def test_the_scaling_helps(plain: float, scaled: tuple[float, ...], expected: Verdict) -> None:
    def after(cost: float) -> Reading:
        return reading((1.0, 1.0, 1.0), (0.0, cost, 0.1))

    assert scaling_verdict(after(plain), [after(cost) for cost in scaled]) == expected


def test_better_with_every_seed() -> None:
    plain = Reading({}, {1: (0.1, 0.1), 2: (0.5, 0.5)})
    assert is_better(Reading({}, {1: (0.4, 0.1), 2: (0.1, 0.49)}), plain)
    assert not is_better(Reading({}, {1: (0.6, 0.1), 2: (0.1, 0.4)}), plain)


def test_measured_from_runs() -> None:
    loss, window = [1.0] * 4 + [3.0] * 28, [None] * 4 + [1.5] * 28
    linear = {"before": [2.0] * 32, "after": [1.6] * 32}
    run = Run({"seed": 0}, Record(found={"rope": {"loss": loss, "window": window}, "rope.linear": linear}))
    assert kind_costs([run, run], Kind.ROPE) == (1.5, 1.5)
    assert kind_costs([run], Kind.LEARNT) == ()
    found = measure_reading([run], Method.LINEAR, 4)
    assert found.before == {1: (1.0,), 2: (0.5,), 4: (0.5,)}
    assert {span: [round(cost, 6) for cost in costs] for span, costs in found.after.items()} == {
        1: [0.6],
        2: [0.1],
        4: [0.1],
    }
    nothing = measure_reading([run], Method.NTK, 4)
    assert not nothing.measured
    assert no_training_verdict(nothing) == short_training_verdict(nothing) == UNDECIDED
    assert scaling_verdict(found, [nothing]) == UNDECIDED
