"""What is made of losses by position."""

import math
from typing import Any

import pytest

from core.labs.longer_summary import (
    SPANS,
    centres,
    cheapest,
    collect,
    cost,
    costs,
    curve_values,
    found,
    mean_beyond,
    reference,
    span_mean,
    spread,
    spread_by_bucket,
    worst_cost,
)
from core.labs.record import Record
from core.labs.shipped import Run
from core.labs.spread import Spread

LOSSES = [float(number) for number in range(32)]
WINDOW = [None] * 4 + [1.0] * 28


def run(losses: list[float], **readings: list[float]) -> Run:
    found: dict[str, dict[str, Any]] = {"rope": {"loss": losses, "window": WINDOW}, "rope.linear": dict(readings)}
    return Run({"seed": 0}, Record(found=found))


def test_spans_hold_every_bucket_once() -> None:
    assert [bucket for buckets in SPANS.values() for bucket in buckets] == list(range(32))


def test_the_middle_of_a_bucket() -> None:
    assert centres(32)[:2] == [4.5, 12.5]  # of 1 to 8, of 9 to 16
    assert centres(32)[-1] == 252.5  # of 249 to 256
    with pytest.raises(ValueError, match=r"trained_len \(0\)"):
        centres(0)


def test_means_over_spans() -> None:
    assert [span_mean(LOSSES, span) for span in SPANS] == [1.5, 5.5, 11.5, 23.5]
    assert span_mean(LOSSES[:4], 1) == 1.5
    assert span_mean(LOSSES[:4], 2) is None
    assert span_mean(WINDOW, 1) is None
    assert span_mean([], 1) is None
    with pytest.raises(ValueError, match=r"span \(3\)"):
        span_mean(LOSSES, 3)


def test_what_strange_positions_cost() -> None:
    record = run(LOSSES, before=[loss + 2 for loss in LOSSES]).record
    assert reference(record, "rope") == [0.0, 1.0, 2.0, 3.0] + [1.0] * 28
    assert [cost(record, "rope", "loss", span) for span in SPANS] == [0.0, 4.5, 10.5, 22.5]
    assert [cost(record, "rope.linear", "before", span) for span in SPANS] == [2.0, 6.5, 12.5, 24.5]
    assert cost(record, "rope.linear", "after", 2) is None
    assert cost(run(LOSSES[:4]).record, "rope", "loss", 2) is None  # learnt positions end
    assert cost(Record(), "rope", "loss", 1) is None
    assert reference(Record(found={"rope": {"loss": LOSSES}}), "rope") == []  # while it is trained
    with pytest.raises(ValueError, match=r"span \(16\)"):
        cost(record, "rope", "loss", 16)


def test_costs_of_the_runs_that_measured_them() -> None:
    runs = [run(LOSSES), run([1.0] * 32), Run({"seed": 1}, Record())]
    assert costs(runs, "rope", "loss", 4) == (10.5, 0.0)


def test_nothing_was_found_yet() -> None:
    assert found(Record(), "rope", "loss") == []
    assert found(run(LOSSES).record, "rope", "loss") == LOSSES
    assert found(run(LOSSES).record, "rope.linear", "before") == []


def test_what_several_runs_measured() -> None:
    runs = [run([1.0]), run([2.0]), Run({"seed": 1}, Record())]
    assert collect(runs, "rope", "loss") == [[1.0], [2.0]]
    assert collect(runs, "sinusoidal", "loss") == []


def test_the_spread_over_seeds() -> None:
    assert spread([1.0, 2.0, 6.0]) == Spread((1.0, 2.0, 6.0))
    assert spread([]) is None
    assert spread([1.0, None]) is None
    assert spread_by_bucket([[1.0, None], [3.0, None]]) == [Spread((1.0, 3.0)), None]
    assert spread_by_bucket([]) == []
    with pytest.raises(ValueError, match=r"losses \(1, 2\)"):
        spread_by_bucket([[1.0], [1.0, 2.0]])


def test_what_was_not_measured_is_not_drawn() -> None:
    drawn = curve_values([0.5, None])
    assert drawn[0] == 0.5
    assert all(math.isnan(value) for value in drawn[1:])
    assert len(drawn) == 32


def test_the_mean_beyond() -> None:
    assert mean_beyond(LOSSES) == 17.5
    assert mean_beyond(WINDOW) == 1.0
    assert mean_beyond(LOSSES[:4]) is None


def test_the_cheapest_reading() -> None:
    found = {
        "rope": {"loss": LOSSES, "window": WINDOW},
        "rope.none": {"before": LOSSES},
        "rope.ntk": {"before": [5.0] * 32},
    }
    record = Record(found=found)
    assert worst_cost(record, "rope.none", "before", 2) == 4.5
    assert worst_cost(record, "rope.ntk", "before", 2) == 4.0
    assert worst_cost(record, "rope.ntk", "before", 1) == 3.5
    assert cheapest(record, ["rope.none", "rope.ntk"], "before", 2) == ("rope.ntk", 4.0)
    assert cheapest(record, ["rope.none", "rope.ntk"], "before", 1) == ("rope.none", 0.0)
    assert cheapest(record, ["rope.none", "rope.yarn"], "before", 1) is None
    assert cheapest(record, [], "before", 1) is None
    assert worst_cost(record, "rope.ntk", "after", 1) is None
