"""One number of several seeds."""

import pytest

from core.labs.spread import Spread


def test_a_spread_of_three_seeds_worked_by_hand() -> None:
    found = Spread.of([6, 1, 2])
    assert found.values == (6, 1, 2)
    assert (found.mean, found.low, found.high, found.count) == (3, 1, 6, 3)
    assert found.deviation == pytest.approx(7**0.5)  # (9 + 4 + 1) / (3 − 1)


def test_one_seed_deviates_from_nothing() -> None:
    assert Spread.of([0.5]).deviation == 0


def test_a_generator_is_read_once() -> None:
    assert Spread.of(number / 2 for number in (1, 3)) == Spread((0.5, 1.5))


def test_no_seeds_have_no_spread() -> None:
    with pytest.raises(ValueError, match="values must hold at least one number"):
        Spread.of([])
    with pytest.raises(ValueError, match="values must hold at least one number"):
        Spread(())
