"""Numbers as people read them."""

import doctest

from pages.components import numbers


def test_the_examples_in_the_docstrings() -> None:
    assert doctest.testmod(numbers).failed == 0
    assert doctest.testmod(numbers).attempted == 3


def test_only_nothing_is_nothing() -> None:
    assert [numbers.percent(share) for share in (0.0, 1e-12, 0.00499, 0.0051, 0.9949, 0.995, 1.0)] == [
        "0%",
        "<1%",
        "<1%",
        "1%",
        "99%",
        ">99%",
        "100%",
    ]
