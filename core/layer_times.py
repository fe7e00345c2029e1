"""How long torch's layers need for a sequence, against its length, measured on this machine."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from core.long_range import new_layer, run
from core.recurrence import Layer

LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
MOST_SECONDS = 9.0
MOST_BYTES = 500_000_000
REPEATS = 20
ENOUGH = 0.15  # seconds spent on one time: no more runs after that


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds for one forward pass over one sequence, by layer; a layer may lack the longest lengths."""

    lengths: tuple[int, ...]
    seconds: Mapping[Layer, tuple[float, ...]]


def attention_bytes(length: int) -> int:
    """An upper bound of the memory for the scores: raw, after softmax, and one copy in between, float32."""
    return 3 * 4 * length * length


def measure_times(
    dim: int,
    *,
    generator: torch.Generator,
    on_progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
    lengths: Sequence[int] = LENGTHS,
    most_seconds: float = MOST_SECONDS,
    most_bytes: int = MOST_BYTES,
    clock: Callable[[], float] = time.perf_counter,
) -> Times:
    """Time a forward pass of every layer at every length, shorter lengths first, within bounds of time and memory.

    Each time is the shortest of several runs, which the machine disturbed least. A length is left out for a layer where
    its scores would need more than most_bytes, and where the time at the length before, grown fourfold for every
    doubling, says that it would take more than what is left of most_seconds.
    """
    begin = clock()
    layers = {layer: new_layer(layer, dim, generator=generator) for layer in Layer}
    found: dict[Layer, list[float]] = {layer: [] for layer in Layer}
    points = [(number, length, layer) for number, length in enumerate(lengths) for layer in Layer]
    for done, (number, length, layer) in enumerate(points):
        on_progress(done, len(points))
        if cancelled():
            break
        if len(found[layer]) < number or (layer is Layer.ATTENTION and attention_bytes(length) > most_bytes):
            continue
        before = found[layer][-1] * (length / lengths[number - 1]) ** 2 if number else 0.0
        if clock() - begin + before > most_seconds:
            continue
        x = torch.randn(1, length, dim, generator=generator)  # (1, length, dim)
        found[layer].append(_shortest(layers[layer], x, clock))
    on_progress(len(points), len(points))
    return Times(tuple(lengths), {layer: tuple(seconds) for layer, seconds in found.items()})


def _shortest(layer: torch.nn.Module, x: Tensor, clock: Callable[[], float]) -> float:
    shortest, spent = math.inf, 0.0
    with torch.inference_mode():
        for _ in range(REPEATS):
            begin = clock()
            run(layer, x)
            seconds = clock() - begin
            shortest, spent = min(shortest, seconds), spent + seconds
            if spent > ENOUGH:
                break
    return shortest


def crossing(times: Times, one: Layer, other: Layer) -> float | None:
    """The length from which on `other` is the faster one, between two measured lengths; None if there is none.

    The last crossing counts, at which `one` stops being faster and stays slower up to the longest common length.
    Between two lengths both times are taken as powers of the length, which are straight lines on logarithmic axes.
    """
    both = list(zip(times.lengths, times.seconds[one], times.seconds[other], strict=False))
    gaps = [(math.log(length), math.log(first / second)) for length, first, second in both]  # above 0: other is faster
    for (x, gap), (next_x, next_gap) in reversed(list(pairwise(gaps))):
        if next_gap <= 0:
            return None
        if gap <= 0:
            return math.exp(x + (next_x - x) * gap / (gap - next_gap))
    return None


def growth(times: Times, layer: Layer) -> float | None:
    """The power of the length with which the time grows at the long end, over the last factor of 4; None if too short.

    2 is quadratic, 1 is linear.
    """
    seconds = times.seconds[layer]
    if len(seconds) < 3:
        return None
    first, last = len(seconds) - 3, len(seconds) - 1
    return math.log(seconds[last] / seconds[first]) / math.log(times.lengths[last] / times.lengths[first])
