"""What is made of losses by position."""

import math

import pytest

from core.labs.longer_summary import (
    SPANS,
    Spread,
    centres,
    collect,
    curve_values,
    excess,
    found,
    span_mean,
    spread,
    spread_by_bucket,
)
from core.labs.record import Record
from core.labs.shipped import Run

LOSSES = [float(number) for number in range(32)]
WINDOW = [None] * 4 + [1.0] * 28


def run(seed: int, losses: list[float], **settings: object) -> Run:
    return Run({"seed": seed, "rope": True, "steps": 5, **settings}, Record(found={"rope": {"loss": losses}}))


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
    assert excess(LOSSES, WINDOW, 4) == 10.5
    assert excess(LOSSES, WINDOW, 1) is None
    assert excess(LOSSES[:4], WINDOW, 2) is None


def test_nothing_was_found_yet() -> None:
    assert found(Record(), "rope", "loss") == []
    assert found(run(0, LOSSES).record, "rope", "loss") == LOSSES
    assert found(run(0, LOSSES).record, "rope", "window") == []


def test_runs_are_collected_by_their_settings() -> None:
    runs = [run(0, [1.0]), run(1, [2.0]), run(2, [3.0], steps=6), run(3, [4.0], rope=False)]
    assert collect(runs, "rope", "loss", like={"rope": True, "steps": 5}) == [[1.0], [2.0]]
    assert collect(runs, "rope", "window", like={}) == []


def test_the_spread_over_seeds() -> None:
    assert spread([1.0, 2.0, 6.0]) == Spread(3.0, 1.0, 6.0, 3)
    assert spread([]) is None
    assert spread([1.0, None]) is None
    assert spread_by_bucket([[1.0, None], [3.0, None]]) == [Spread(2.0, 1.0, 3.0, 2), None]
    assert spread_by_bucket([]) == []
    with pytest.raises(ValueError, match=r"losses \(1, 2\)"):
        spread_by_bucket([[1.0], [1.0, 2.0]])


def test_what_was_not_measured_is_not_drawn() -> None:
    drawn = curve_values([0.5, None])
    assert drawn[0] == 0.5
    assert all(math.isnan(value) for value in drawn[1:])
    assert len(drawn) == 32
