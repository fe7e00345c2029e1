"""A training that is run again: the same numbers, or within what the seed alone changes."""

import pytest

from core.labs.events import JSON, Found, Step
from core.labs.record import Record
from core.labs.reproduction import compare, numbers
from core.labs.shipped import Run


def record(loss: float, accuracy: JSON) -> Record:
    record = Record()
    record.add(Step("a", 1, loss, 10, 1, 1))
    record.add(Found("a", "accuracy", accuracy))
    return record


RUNS = (
    Run({"kind": "x", "seed": 0}, record(1.0, 0.5)),
    Run({"kind": "x", "seed": 1}, record(1.25, 0.75)),
    Run({"kind": "y", "seed": 0}, record(9.0, 0.0)),
)


def test_numbers_have_names() -> None:
    found = record(1.00004, [0.5, [None, "text"], {"best": 2}, True])
    assert numbers(found) == {
        "a: last loss": 1.0,
        "a: accuracy[0]": 0.5,
        "a: accuracy[2].best": 2.0,
        "a: accuracy[3]": 1.0,
    }


@pytest.mark.parametrize(
    ("accuracy", "exact", "within"),
    [(0.5, True, True), (0.75, False, True), (0.25, False, True), (0.76, False, False), (None, False, False)],
)
def test_the_spread_of_the_seeds_is_what_is_allowed(accuracy: float | None, exact: bool, within: bool) -> None:
    """The seeds lie 0.25 apart; the other kind lies farther, and does not count."""
    loss, found = compare({"kind": "x", "seed": 0}, record(1.0, accuracy), RUNS)
    assert (loss.exact, loss.within, loss.spread) == (True, True, 0.25)
    assert (found.name, found.shipped, found.now, found.spread) == ("a: accuracy", 0.5, accuracy, 0.25)
    assert (found.exact, found.within) == (exact, within)


def test_what_does_not_ship_lies_outside() -> None:
    now = record(1.0, 0.5)
    now.add(Found("b", "new", 1))
    new = compare({"kind": "x", "seed": 0}, now, RUNS)[-1]
    assert (new.name, new.shipped, new.within) == ("b: new", None, False)


def test_other_settings_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="must be those of a shipped run"):
        compare({"kind": "x", "seed": 2}, record(1.0, 0.5), RUNS)
