"""How long a new token takes, against num_kv_heads: measured on this machine, beside the bound set by its memory."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from core.cached_decoding import read_again
from core.gqa import GroupedQueryAttention, legal_kv_heads, random_layer
from core.kv_cache import KVCache

LENGTHS = (128, 512, 2048, 8192)
MOST_SECONDS = 13.0
MOST_BYTES = 400_000_000
REPEATS = 20
ENOUGH = 0.12  # seconds spent on one time: no more runs after that
BYTES = 4  # per number, float32


@dataclass(frozen=True, slots=True)
class DecoderSize:
    """The attention of a decoder without feed-forward blocks: a token passes num_layers layers, each with its cache."""

    d_model: int = 1024
    num_heads: int = 16
    num_layers: int = 3


@dataclass(frozen=True, slots=True)
class DecodingTime:
    """One new token after seq_len − 1 others, batch 1, float32."""

    num_kv_heads: int
    seq_len: int
    weight_bytes: int
    cache_bytes: int
    seconds: float  # with a KV cache
    seconds_without: float | None  # everything is computed again; None: not measured, too long or too large

    @property
    def times_without(self) -> float | None:
        """How many times as long the token takes without a cache; None if that was not measured."""
        return None if self.seconds_without is None else self.seconds_without / self.seconds

    def bound(self, bytes_per_second: float) -> float:
        """Seconds for reading all weights and the whole cache once from memory.

        What the processor still holds from the step before, in caches of its own, can come quicker.
        """
        return (self.weight_bytes + self.cache_bytes) / bytes_per_second


@dataclass(frozen=True, slots=True)
class DecodingTimes:
    """What was measured; the longest lengths may be missing."""

    bytes_per_second: float  # that this machine reads from its memory
    times: tuple[DecodingTime, ...]

    def of_length(self, seq_len: int) -> tuple[DecodingTime, ...]:
        return tuple(time for time in self.times if time.seq_len == seq_len)

    def of_heads(self, num_kv_heads: int) -> tuple[DecodingTime, ...]:
        return tuple(time for time in self.times if time.num_kv_heads == num_kv_heads)

    def bound(self, time: DecodingTime) -> float:
        """Seconds, at the speed of this machine's memory: see `DecodingTime.bound`."""
        return time.bound(self.bytes_per_second)

    def below_bound(self) -> tuple[DecodingTime, ...]:
        """The times that are shorter than the bound."""
        return tuple(time for time in self.times if time.seconds < self.bound(time))


def again_bytes(size: DecoderSize, seq_len: int) -> int:
    """An upper bound of the memory for one pass without a cache: five tables of scores, from raw to weights."""
    return 5 * BYTES * size.num_heads * seq_len * seq_len


def measure_decoding(
    size: DecoderSize,
    *,
    generator: torch.Generator,
    on_progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
    lengths: Sequence[int] = LENGTHS,
    most_seconds: float = MOST_SECONDS,
    most_bytes: int = MOST_BYTES,
    clock: Callable[[], float] = time.perf_counter,
    bandwidth_numbers: int = 2**25,
) -> DecodingTimes:
    """Time one new token for every legal num_kv_heads at every length, within bounds of time and memory.

    Each time is the shortest of several runs, which the machine disturbed least. A time is left out where it would need
    more than most_bytes, or where the one at the length before, grown with the square of the length (without a cache)
    or the length (with one), says that it would take more than what is left of most_seconds.
    Raises: ValueError as GroupedQueryAttention does.
    """
    begin, heads = clock(), legal_kv_heads(size.num_heads)
    total = 1 + len(heads) * len(lengths)
    on_progress(0, total)
    bytes_per_second = read_bandwidth(generator=generator, numbers=bandwidth_numbers, clock=clock)
    found: list[DecodingTime] = []
    for row, num_kv_heads in enumerate(heads):
        layers = _new_layers(size, num_kv_heads, generator)
        weight_bytes = sum(parameter.nbytes for layer in layers for parameter in layer.parameters())
        previous: DecodingTime | None = None
        for column, seq_len in enumerate(lengths):
            on_progress(1 + row * len(lengths) + column, total)
            if cancelled():
                return DecodingTimes(bytes_per_second, tuple(found))
            cache_bytes = 2 * BYTES * size.num_layers * num_kv_heads * layers[0].head_dim * seq_len
            ratio = seq_len / previous.seq_len if previous else 0.0
            predicted = previous.seconds * ratio if previous else 0.0
            if weight_bytes + cache_bytes > most_bytes or predicted > most_seconds - (clock() - begin):
                break
            seconds = _with_cache(layers, seq_len, generator, clock)

            without = None
            before = previous.seconds_without if previous else 0.0
            fits = weight_bytes + again_bytes(size, seq_len) <= most_bytes
            if fits and before is not None and before * ratio**2 <= most_seconds - (clock() - begin):
                without = _without_cache(layers, seq_len, generator, clock)
            previous = DecodingTime(num_kv_heads, seq_len, weight_bytes, cache_bytes, seconds, without)
            found.append(previous)
    on_progress(total, total)
    return DecodingTimes(bytes_per_second, tuple(found))


def read_bandwidth(*, generator: torch.Generator, numbers: int, clock: Callable[[], float]) -> float:
    """Bytes per second of a product of a matrix and a vector: each number is read once, and used once.

    Raises: ValueError if there are less than 4096 numbers.
    """
    columns = 4096
    if numbers < columns:
        raise ValueError(f"numbers ({numbers}) must be at least {columns}")
    matrix = torch.rand(numbers // columns, columns, generator=generator)
    vector = torch.rand(columns, generator=generator)
    return matrix.nbytes / _shortest(lambda: matrix @ vector, clock)


def _new_layers(size: DecoderSize, num_kv_heads: int, generator: torch.Generator) -> list[GroupedQueryAttention]:
    return [
        random_layer(size.d_model, size.num_heads, num_kv_heads, generator=generator, dtype=torch.float32)
        for _ in range(size.num_layers)
    ]


def _with_cache(
    layers: Sequence[GroupedQueryAttention], seq_len: int, generator: torch.Generator, clock: Callable[[], float]
) -> float:
    shape = (1, layers[0].num_kv_heads, seq_len, layers[0].head_dim)
    caches = [
        KVCache(torch.rand(shape, generator=generator), torch.rand(shape, generator=generator), length=seq_len - 1)
        for _ in layers
    ]
    token = torch.randn(1, 1, layers[0].d_model, generator=generator)

    def step() -> None:
        x = token  # (1, 1, d_model)
        for layer, cache in zip(layers, caches, strict=True):
            x = layer(x, cache=cache)
            cache.forget(1)  # the next run finds it as this one did

    return _shortest(step, clock)


def _without_cache(
    layers: Sequence[GroupedQueryAttention], seq_len: int, generator: torch.Generator, clock: Callable[[], float]
) -> float:
    tokens = torch.randn(1, seq_len, layers[0].d_model, generator=generator)

    def step() -> None:
        x = tokens  # (1, seq_len, d_model)
        for layer in layers:
            x = read_again(layer, x)

    return _shortest(step, clock)


def _shortest(call: Callable[[], object], clock: Callable[[], float]) -> float:
    shortest, spent = math.inf, 0.0
    with torch.inference_mode():
        for _ in range(REPEATS):
            begin = clock()
            call()
            seconds = clock() - begin
            shortest, spent = min(shortest, seconds), spent + seconds
            if spent > ENOUGH:
                break
    return shortest
