"""Times of layers: bounded in time and memory, stoppable, and read off by hand."""

import itertools

import pytest
import torch

from core.layer_times import (
    LENGTHS,
    MOST_BYTES,
    ROUNDS,
    Growth,
    Times,
    attention_bytes,
    crossing,
    growth,
    growth_over_rounds,
    measure_times,
)
from core.recurrence import Layer


def measured(*, lengths: tuple[int, ...] = (2, 4, 8), cancelled: bool = False, **settings: float) -> Times:
    return measure_times(
        4,
        generator=torch.Generator(),
        on_progress=lambda *_: None,
        cancelled=lambda: cancelled,
        lengths=lengths,
        **settings,  # type: ignore[arg-type]
    )


def test_every_layer_is_timed_at_every_length() -> None:
    reports: list[tuple[int, int]] = []
    times = measure_times(
        4,
        generator=torch.Generator(),
        on_progress=lambda *report: reports.append(report),
        cancelled=lambda: False,
        lengths=(2, 4),
    )
    assert times.lengths == (2, 4)
    assert all(len(seconds) == 2 and min(seconds) > 0 for seconds in times.seconds.values())
    assert len(times.rounds) == ROUNDS
    assert reports == [(done, 8 * ROUNDS) for done in range(8 * ROUNDS + 1)]


def test_what_would_need_too_much_memory_is_left_out() -> None:
    times = measured(most_bytes=attention_bytes(4))
    assert len(times.seconds[Layer.ATTENTION]) == 2
    assert len(times.seconds[Layer.RNN]) == 3
    assert all(attention_bytes(length) <= MOST_BYTES for length in LENGTHS)


def test_what_would_take_too_long_is_left_out() -> None:
    ticks = itertools.count(0, 0.25)  # every look at this clock costs a quarter of a second
    times = measured(lengths=(2, 4, 8, 16, 32), most_seconds=6.0, clock=lambda: next(ticks))  # type: ignore[arg-type]
    assert all(1 <= len(seconds) < 5 for seconds in times.seconds.values())
    assert len(times.rounds) == 1


def test_a_round_that_is_broken_off_does_not_count() -> None:
    looks = itertools.count()
    times = measure_times(
        4,
        generator=torch.Generator(),
        on_progress=lambda *_: None,
        cancelled=lambda: next(looks) > 12,  # 8 looks in the first round, one before the second
        lengths=(2, 4),
    )
    assert len(times.rounds) == 1
    assert all(len(seconds) == 2 for seconds in times.seconds.values())


def test_the_shortest_of_the_rounds_counts() -> None:
    times = Times((1, 2), tuple({Layer.RNN: (seconds, 1.0)} for seconds in (9.0, 2.0, 3.0)))
    assert times.seconds == {Layer.RNN: (2.0, 1.0)}


def test_measuring_can_be_stopped() -> None:
    assert all(seconds == () for seconds in measured(cancelled=True).seconds.values())


def times(lengths: tuple[int, ...], attention: tuple[float, ...], rnn: tuple[float, ...]) -> Times:
    return Times(lengths, ({Layer.ATTENTION: attention, Layer.RNN: rnn},))


def test_the_crossing_of_two_powers() -> None:
    lengths = (10, 100, 1000)
    found = times(lengths, tuple(n**2 for n in lengths), tuple(200 * n for n in lengths))  # equal at 200
    assert crossing(found, Layer.ATTENTION, Layer.RNN) == pytest.approx(200)
    assert crossing(found, Layer.RNN, Layer.ATTENTION) is None


@pytest.mark.parametrize("rnn", [(9.0, 9.0, 9.0), (0.1, 0.1, 0.1), (0.1, 9.0, 9.0)])
def test_no_crossing(rnn: tuple[float, ...]) -> None:
    assert crossing(times((1, 2, 4), (1.0, 1.0, 1.0), rnn), Layer.ATTENTION, Layer.RNN) is None


def test_the_last_crossing_counts_and_missing_lengths_do_not() -> None:
    found = times((1, 2, 4, 8, 16), (1.0, 1.0, 1.0, 1.0), (2.0, 0.5, 2.0, 0.5, 0.1))
    assert crossing(found, Layer.ATTENTION, Layer.RNN) == pytest.approx(4 * 2**0.5)
    touching = times((1, 2), (1.0, 2.0), (1.0, 1.0))
    assert crossing(touching, Layer.ATTENTION, Layer.RNN) == pytest.approx(1)
    assert crossing(times((), (), ()), Layer.ATTENTION, Layer.RNN) is None


def test_growth_is_the_power_at_the_long_end() -> None:
    assert growth((1, 2, 4, 8), (9.0, 4.0, 16.0, 64.0)) == pytest.approx(2)
    assert growth((1, 2, 4, 8), (1.0, 1.0)) is None


def test_growth_comes_with_what_the_rounds_say() -> None:
    found = Times((1, 2, 4), tuple({Layer.RNN: (1.0, 1.0, 4.0**power)} for power in (1.0, 2.5, 1.5)))
    assert growth_over_rounds(found, Layer.RNN) == Growth(pytest.approx(1), pytest.approx(1), pytest.approx(2.5), 3)
    assert growth_over_rounds(times((1, 2), (1.0, 2.0), (1.0, 1.0)), Layer.RNN) is None
