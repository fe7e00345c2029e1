"""Units in which people read quantities."""

import doctest

from core import units


def test_the_example() -> None:
    assert doctest.testmod(units).failed == 0
    assert doctest.testmod(units).attempted == 1
