"""What runs of several seeds say together: how well layers answer, where their heads look, and what rank they have."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.labs.events import JSON
from core.labs.learning_heads import HEADS, MOST_STEPS, WIDTHS, Settings
from core.labs.shipped import Run
from core.labs.spread import Spread

SOLVED = 0.8
"""A look-up with at least this accuracy is solved: halfway from what a fair guess between two tags reaches to 1."""
OWN = 0.5
"""A head that puts at least this share of its weight on one look-up's answers works for this look-up."""


@dataclass(frozen=True, slots=True)
class Layer:
    """What the runs of several seeds have in common."""

    look_ups: int = Settings().look_ups
    d_model: int = Settings().d_model
    mlp: bool = Settings().mlp
    steps: int = Settings().steps


NARROW = Layer(d_model=WIDTHS[0])
NARROW_FOR_LONGER = Layer(d_model=WIDTHS[0], steps=MOST_STEPS)
WITH_MLP = Layer(mlp=True)


@dataclass(frozen=True, slots=True)
class Result:
    """What a layer of one seed has become."""

    seed: int
    num_heads: int
    accuracy: float  # of all answers
    by_look_up: tuple[float, ...]
    focus: tuple[tuple[float, ...], ...]  # head → look-up → mean weight on its answers
    before: Mapping[str, Mapping[str, float]]  # matrix → measure of rank, before the first step
    after: Mapping[str, Mapping[str, float]]

    @property
    def solved(self) -> int:
        """How many look-ups it answers."""
        return sum(share >= SOLVED for share in self.by_look_up)

    @property
    def owners(self) -> tuple[int | None, ...]:
        """For every head the look-up that it works for, None if it works for none."""
        return tuple(row.index(max(row)) if max(row) >= OWN else None for row in self.focus)

    @property
    def working(self) -> int:
        """How many heads work for a look-up."""
        return sum(owner is not None for owner in self.owners)


def results(runs: Sequence[Run], layer: Layer) -> dict[int, tuple[Result, ...]]:
    """The finished layers of this kind, by their number of heads, in the order of the runs; only numbers that occur."""
    found: dict[int, list[Result]] = {}
    for run in runs:
        settings = Settings(**run.settings)
        if Layer(settings.look_ups, settings.d_model, settings.mlp, settings.steps) != layer:
            continue
        for num_heads in settings.heads:
            found.setdefault(num_heads, []).append(_result(settings.seed, num_heads, run.record.found[str(num_heads)]))
    return {num_heads: tuple(found[num_heads]) for num_heads in HEADS if num_heads in found}


def _result(seed: int, num_heads: int, found: Mapping[str, JSON]) -> Result:
    history = found["history"]
    ranks = {matrix: values for matrix, values in history.items() if isinstance(values, dict)}
    before, after = (
        {matrix: {name: values[at] for name, values in measures.items()} for matrix, measures in ranks.items()}
        for at in (0, -1)
    )
    return Result(
        seed,
        num_heads,
        history["accuracy"][-1],
        tuple(found["by_look_up"]),
        tuple(tuple(row) for row in found["focus"]),
        before,
        after,
    )


def accuracy(of: Mapping[int, Sequence[Result]]) -> dict[int, Spread]:
    """By number of heads."""
    return {num_heads: Spread.of(result.accuracy for result in every) for num_heads, every in of.items()}


def solved(of: Mapping[int, Sequence[Result]]) -> dict[int, Spread]:
    """How many look-ups are answered, by number of heads."""
    return {num_heads: Spread.of(result.solved for result in every) for num_heads, every in of.items()}


def working(of: Mapping[int, Sequence[Result]]) -> dict[int, Spread]:
    """How many heads work for a look-up, by number of heads."""
    return {num_heads: Spread.of(result.working for result in every) for num_heads, every in of.items()}


def ranks(of: Mapping[int, Sequence[Result]], matrix: str, measure: str) -> tuple[dict[int, Spread], dict[int, Spread]]:
    """A measure of the rank of a matrix before and after training, by number of heads."""
    before, after = (
        {
            num_heads: Spread.of(getattr(result, when)[matrix][measure] for result in every)
            for num_heads, every in of.items()
        }
        for when in ("before", "after")
    )
    return before, after


def change(of: Mapping[int, Sequence[Result]], matrix: str, measure: str) -> float:
    """By how much training has changed a measure of rank: the mean over numbers of heads and seeds; NaN of nothing."""
    before, after = ranks(of, matrix, measure)
    changes = [after[num_heads].mean - before[num_heads].mean for num_heads in of]
    return statistics.fmean(changes) if changes else math.nan


def beyond_heads(of: Mapping[int, Sequence[Result]]) -> tuple[Result, ...]:
    """The layers that answer more look-ups than they have heads."""
    return tuple(result for every in of.values() for result in every if result.solved > result.num_heads)


def shares_of_one_head(every: Sequence[Result]) -> tuple[float, ...]:
    """What the first head puts on the answers of its look-ups, the larger share first; means over the seeds."""
    ordered = [sorted(result.focus[0], reverse=True) for result in every]
    return tuple(statistics.fmean(shares) for shares in zip(*ordered, strict=True))
