"""A record grows by events; its curves can be thinned, and it can be written down."""

import json
from typing import Any

import pytest

from core.labs.events import Found, Step
from core.labs.record import DIGITS, POINTS, Curve, Record


def grown(steps: int, curve: str = "a") -> Record:
    record = Record()
    for step in range(1, steps + 1):
        record.add(Step(curve, step, 1 / step, 10, step, steps))
    return record


def test_it_holds_what_was_told() -> None:
    record = Record()
    record.add(Step("a", 1, 2.0, 10, 1, 3))
    record.add(Step("a", 2, 1.5, 10, 2, 3))
    record.add(Found("a", "accuracy", 0.5))
    record.add(Step("b", 1, 1.75, 20, 3, 3))
    record.add(Found("a", "accuracy", 0.75))
    assert list(record.curves) == ["a", "b"]
    assert (record.curves["a"].steps, record.curves["a"].losses) == ([1, 2], [2.0, 1.5])
    assert record.found == {"a": {"accuracy": 0.75}}
    assert (record.done, record.total, record.tokens) == (3, 3, 40)


def test_a_copy_stays_as_it_is() -> None:
    record = grown(3)
    record.add(Found("a", "x", 1))
    copy = record.copy()
    record.add(Step("a", 4, 0.0, 10, 4, 4))
    record.add(Step("b", 1, 0.0, 10, 5, 5))
    record.add(Found("a", "x", 2))
    assert copy.curves.keys() == {"a"}
    assert copy.curves["a"].steps == [1, 2, 3]
    assert copy.found == {"a": {"x": 1}}
    assert (copy.done, copy.total, copy.tokens) == (3, 3, 30)


@pytest.mark.parametrize("points", [0, 1, 2, 5, 99, 100, 101, 199, 200, 201, 397, 4001])
@pytest.mark.parametrize("most", [2, 5, 100])
def test_a_thinned_curve_keeps_its_ends(points: int, most: int) -> None:
    curve = Curve(list(range(1, points + 1)), [float(point) for point in range(points)])
    thin = curve.thinned(most)
    assert len(thin.steps) == len(thin.losses) <= most
    assert thin.steps[:1] == curve.steps[:1]
    assert thin.steps[-1:] == curve.steps[-1:]
    assert thin.losses == [step - 1 for step in thin.steps]
    if points <= most:
        assert thin.steps == curve.steps
    else:
        assert len(thin.steps) >= most // 2
    again = thin.thinned(most)
    assert again.steps == thin.steps


def test_a_growing_curve_keeps_the_points_it_has() -> None:
    """Otherwise the picture would tremble."""
    before = set(grown(150).curves["a"].thinned(100).steps[:-1])
    after = set(grown(180).curves["a"].thinned(100).steps)
    assert before < after


def test_a_curve_of_less_than_two_points_is_none() -> None:
    with pytest.raises(ValueError, match=r"most \(1\) must be at least 2"):
        Curve().thinned(1)


def test_written_and_read() -> None:
    record = grown(250)
    record.add(Found("a", "map", [[0.25, None]]))
    read = Record.from_plain(json.loads(json.dumps(record.plain())))
    thin = record.curves["a"].thinned(POINTS)
    assert read.curves["a"].steps == thin.steps
    assert read.curves["a"].losses == [round(loss, DIGITS) for loss in thin.losses]
    assert read.found == record.found
    assert (read.done, read.total, read.tokens) == (250, 250, 2500)
    assert read.plain() == record.plain()


@pytest.mark.parametrize(("values", "error"), [({}, KeyError), ({"curves": {"a": 1}}, TypeError)])
def test_what_is_no_record(values: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Record.from_plain(values)
