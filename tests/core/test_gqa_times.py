"""Times of decoding: what is timed, bounded in time and memory, stoppable."""

import itertools
from typing import Any

import pytest
import torch

from core.gqa_times import (
    LENGTHS,
    MOST_BYTES,
    DecoderSize,
    DecodingTime,
    DecodingTimes,
    again_bytes,
    measure_decoding,
    read_bandwidth,
)
from core.kv_heads import kv_cache_bytes, legal_kv_heads

SMALL = DecoderSize(d_model=12, num_heads=6, num_layers=3)


def measured(size: DecoderSize = SMALL, *, cancelled: bool = False, **settings: Any) -> DecodingTimes:
    defaults: dict[str, Any] = {"lengths": (2, 4, 8), "bandwidth_numbers": 2**12, "on_progress": lambda *_: None}
    generator = torch.Generator().manual_seed(0)
    return measure_decoding(size, generator=generator, cancelled=lambda: cancelled, **(defaults | settings))


def test_every_number_of_kv_heads_is_timed_at_every_length() -> None:
    reports: list[tuple[int, int]] = []
    found = measured(on_progress=lambda *report: reports.append(report))
    assert [(time.num_kv_heads, time.seq_len) for time in found.times] == list(
        itertools.product(legal_kv_heads(6), (2, 4, 8))
    )
    assert all(time.seconds > 0 and (time.seconds_without or 0) > 0 for time in found.times)
    assert found.bytes_per_second > 0
    assert reports == [(done, 13) for done in range(14)]


def test_bytes_are_counted() -> None:
    for time in measured().times:
        counted = kv_cache_bytes(
            num_layers=3, num_kv_heads=time.num_kv_heads, head_dim=2, seq_len=time.seq_len, batch=1, bytes_per_number=4
        )
        assert time.cache_bytes == counted
        assert time.weight_bytes == 3 * 4 * 2 * 12 * 2 * (6 + time.num_kv_heads)


def test_the_bound_by_hand() -> None:
    assert DecodingTime(1, 2, weight_bytes=30, cache_bytes=12, seconds=9.0, seconds_without=None).bound(7.0) == 6.0


def test_measured_times_are_sorted_by_length_heads_and_bound() -> None:
    quick = DecodingTime(1, 2, weight_bytes=30, cache_bytes=12, seconds=5.0, seconds_without=15.0)
    slow = DecodingTime(3, 2, weight_bytes=30, cache_bytes=12, seconds=7.0, seconds_without=None)
    longer = DecodingTime(3, 5, weight_bytes=30, cache_bytes=26, seconds=8.0, seconds_without=None)
    found = DecodingTimes(7.0, (quick, slow, longer))
    assert found.of_length(2) == (quick, slow)
    assert found.of_heads(3) == (slow, longer)
    assert [found.bound(time) for time in found.times] == [6.0, 6.0, 8.0]
    assert found.below_bound() == (quick,)  # what takes as long as the bound is not below it
    assert (quick.times_without, slow.times_without) == (3.0, None)


def test_what_would_need_too_much_memory_is_left_out() -> None:
    weights = 3 * 4 * 2 * 12 * 2 * 12  # MHA's, the most
    found = measured(most_bytes=weights + again_bytes(SMALL, 16), lengths=(2, 16, 32, 300))
    mha = [time for time in found.times if time.num_kv_heads == 6]
    assert [time.seq_len for time in mha] == [2, 16, 32]  # the cache of 300 tokens is too large
    assert [time.seconds_without is None for time in mha] == [False, False, True]


def test_the_defaults_stay_within_their_memory() -> None:
    size = DecoderSize()
    weights = size.num_layers * 4 * 4 * size.d_model**2
    head_dim = size.d_model // size.num_heads
    sizes = {"num_layers": size.num_layers, "num_kv_heads": size.num_heads, "head_dim": head_dim}
    assert weights + kv_cache_bytes(**sizes, seq_len=LENGTHS[-1], batch=1, bytes_per_number=4) <= MOST_BYTES


def test_what_would_take_too_long_is_left_out() -> None:
    ticks = itertools.count(0, 0.25)  # every look at this clock costs a quarter of a second
    found = measured(lengths=(2, 4, 8, 16), most_seconds=6.0, clock=lambda: next(ticks))
    assert 1 <= len(found.times) < 16
    assert next(ticks) < 12


def test_measuring_can_be_stopped() -> None:
    assert measured(cancelled=True).times == ()


def test_the_bandwidth_is_bytes_by_seconds() -> None:
    ticks = itertools.count(0, 0.5)
    bandwidth = read_bandwidth(generator=torch.Generator(), numbers=3 * 4096, clock=lambda: next(ticks))
    assert bandwidth == 3 * 4096 * 4 / 0.5


def test_the_bandwidth_needs_numbers() -> None:
    with pytest.raises(ValueError, match=r"numbers \(4095\) must be at least 4096"):
        read_bandwidth(generator=torch.Generator(), numbers=4095, clock=lambda: 0.0)


def test_sizes_are_checked() -> None:
    with pytest.raises(ValueError, match=r"d_model \(10\) must be divisible by num_heads \(4\)"):
        measured(DecoderSize(d_model=10, num_heads=4, num_layers=1))
