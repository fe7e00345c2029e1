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
ROUNDS = 3
REPEATS = 20
ENOUGH = 0.05  # seconds spent on one time in one round: no more runs after that


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds for one forward pass over one sequence, by layer; a layer may lack the longest lengths."""

    lengths: tuple[int, ...]
    rounds: tuple[Mapping[Layer, tuple[float, ...]], ...]  # equally long ones: all was measured several times over

    @property
    def seconds(self) -> Mapping[Layer, tuple[float, ...]]:
        """The shortest of the rounds, which the machine disturbed least."""
        return {
            layer: tuple(min(times) for times in zip(*(one[layer] for one in self.rounds), strict=True))
            for layer in self.rounds[0]
        }


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
    """Time a forward pass of every layer at every length, in several rounds, within bounds of time and memory.

    Each time of a round is the shortest of several runs, which the machine disturbed least. A length is left out for a
    layer where its scores would need more than most_bytes, and where the time at the length before, grown fourfold for
    every doubling, says that it would take more than what is left of most_seconds. There are ROUNDS rounds, less if
    another one would take too long.
    """
    begin = clock()
    layers = {layer: new_layer(layer, dim, generator=generator) for layer in Layer}
    points = [(length, layer) for length in lengths for layer in Layer]
    rounds: list[Mapping[Layer, tuple[float, ...]]] = []
    took = 0.0
    while not rounds or (len(rounds) < ROUNDS and not cancelled() and clock() - begin + took < most_seconds):
        started = clock()
        found: dict[Layer, list[float]] = {layer: [] for layer in Layer}
        for done, (length, layer) in enumerate(points):
            on_progress(len(points) * len(rounds) + done, len(points) * ROUNDS)
            if cancelled():
                break
            if rounds and len(found[layer]) == len(rounds[0][layer]):
                continue  # it was left out in the first round
            if not _affordable(found[layer], length, lengths, most_seconds - (clock() - begin)):
                continue
            if layer is Layer.ATTENTION and attention_bytes(length) > most_bytes:
                continue
            x = torch.randn(1, length, dim, generator=generator)  # (1, length, dim)
            found[layer].append(_shortest(layers[layer], x, clock))
        rounds.append({layer: tuple(seconds) for layer, seconds in found.items()})
        took = clock() - started
    on_progress(len(points) * ROUNDS, len(points) * ROUNDS)
    as_long = [one for one in rounds if all(len(one[layer]) == len(rounds[0][layer]) for layer in Layer)]
    return Times(tuple(lengths), tuple(as_long))


def _affordable(found: Sequence[float], length: int, lengths: Sequence[int], left: float) -> bool:
    """Whether this length is the next one, and will probably take less than the seconds that are left."""
    number = lengths.index(length)
    if len(found) < number:
        return False
    before = found[-1] * (length / lengths[number - 1]) ** 2 if number else 0.0
    return before <= left


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


def growth(lengths: Sequence[int], seconds: Sequence[float]) -> float | None:
    """The power of the length with which the time grows at the long end, over the last factor of 4; None if too short.

    2 is quadratic, 1 is linear.
    """
    if len(seconds) < 3:
        return None
    first, last = len(seconds) - 3, len(seconds) - 1
    return math.log(seconds[last] / seconds[first]) / math.log(lengths[last] / lengths[first])


@dataclass(frozen=True, slots=True)
class Growth:
    """A power of the length: of the shortest times, and the lowest and highest that a single round says."""

    power: float
    low: float
    high: float
    rounds: int


def growth_over_rounds(times: Times, layer: Layer) -> Growth | None:
    """How surely the growth is known; None if too few lengths were measured."""
    power = growth(times.lengths, times.seconds[layer])
    if power is None:
        return None
    powers = [growth(times.lengths, one[layer]) or 0.0 for one in times.rounds]
    return Growth(power, min(power, *powers), max(power, *powers), len(powers))
