"""What a run has found, read back; and what all runs of the comparison say together."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from core.labs.events import JSON
from core.labs.open_book_exam import CLOSED, OPEN, REACH, Score
from core.labs.record import Curve, Record
from core.labs.shipped import Run
from core.labs.spread import Spread

MARGIN = 0.05  # nats: as much as one seed differs from another
LAST = 0.1  # share of the steps over which the loss at the end of a training is averaged


@dataclass(frozen=True, slots=True)
class Paper:
    """One model's exam: see `open_book_exam.sit`."""

    honest: Score
    so_far: Score
    open: Score
    by_place: tuple[float, ...]

    @classmethod
    def of(cls, record: Record, curve: str) -> Self | None:
        """None if the exam has not been sat yet."""
        found = record.found.get(curve, {}).get("exam")
        if found is None:
            return None
        scores = {name: Score(found[name]["loss"], found[name]["accuracy"]) for name in ("honest", "so_far", "open")}
        return cls(**scores, by_place=tuple(found["by_place"]))


@dataclass(frozen=True, slots=True)
class Writing:
    """A text that a model wrote, with its measures: see `open_book_writing.measures`."""

    text: str
    repeated: float
    again: float
    real: float | None

    @classmethod
    def of(cls, record: Record, curve: str, way: str) -> tuple[Self, ...]:
        """Those after every prompt, "greedy" or "sampled"; none if nothing has been written yet."""
        found: dict[str, list[JSON]] = record.found.get(curve, {}).get("texts", {})
        return tuple(cls(**one) for one in found.get(way, []))


class Winner(StrEnum):
    """Who wins the exam: a guess, or what was found."""

    CLOSED = "closed"
    OPEN = "open"
    NEITHER = "neither"


def winner(closed: Score, opened: Score, *, margin: float = MARGIN) -> Winner:
    """Who has the lower loss; NEITHER if they differ by no more than the margin."""
    if abs(closed.loss - opened.loss) <= margin:
        return Winner.NEITHER
    return Winner.CLOSED if closed.loss < opened.loss else Winner.OPEN


def honest_curve(record: Record, curve: str) -> Curve:
    """The losses of the quizzes, with only the past in sight; empty before the first one."""
    found = record.found.get(curve, {}).get("honest_curve", {"steps": [], "losses": []})
    return Curve(list(found["steps"]), list(found["losses"]))


def final_loss(curve: Curve, *, last: float = LAST) -> float:
    """The mean training loss over the last part of the steps: a single one depends on its batch.

    Raises: ValueError if the curve is empty.
    """
    if not curve.steps:
        raise ValueError("curve must have at least one step")
    begin = curve.steps[-1] * (1 - last)
    return statistics.fmean(loss for step, loss in zip(curve.steps, curve.losses, strict=True) if step >= begin)


# ------------------------------------------------------------------------------------------------ where the heads look


@dataclass(frozen=True, slots=True)
class Look:
    """One head's largest mean weight; layer and head count from 0, distance is negative for the past."""

    layer: int
    head: int
    distance: int
    weight: float


def attention(record: Record, curve: str) -> list[list[list[float]]]:
    """Of every layer and head the mean weights by distance, −REACH … REACH; empty before the first quiz."""
    found: list[list[list[float]]] = record.found.get(curve, {}).get("attention", [])
    return found


def strongest(weights: Sequence[Sequence[Sequence[float]]]) -> Look:
    """Which head looks most at one distance. Raises: ValueError if there are no heads."""
    every = [
        Look(number, head, place - REACH, weight)
        for number, layer in enumerate(weights)
        for head, row in enumerate(layer)
        for place, weight in enumerate(row)
    ]
    if not every:
        raise ValueError("weights must hold at least one head")
    return max(every, key=lambda look: look.weight)


# ----------------------------------------------------------------------------------------------------------- all seeds


@dataclass(frozen=True, slots=True)
class Row:
    """All seeds of one leak; 0 is the closed book."""

    leak: int
    training: Spread  # loss at the end of the training
    honest: Spread  # loss of the exam
    so_far: Spread  # loss with its own mask on what has been written so far
    accuracy: Spread  # of the exam
    repeated: Spread  # share of repeated characters in drawn texts
    real: Spread  # share of words in drawn texts that are words; without any word 0


@dataclass(frozen=True, slots=True)
class Band:
    """A curve of several seeds."""

    steps: tuple[int, ...]
    losses: tuple[Spread, ...]  # one for every step


def rows(runs: Sequence[Run]) -> tuple[Row, ...]:
    """The closed book first, and then every leak; none without runs that have sat their exam."""
    return tuple(_row(leak, records) for leak, records in _by_leak(runs).items())


def exam_losses(runs: Sequence[Run]) -> dict[int, list[float]]:
    """The loss of every seed's exam, by leak; 0 is the closed book."""
    papers = {leak: [Paper.of(record, _curve(leak)) for record in records] for leak, records in _by_leak(runs).items()}
    return {leak: [paper.honest.loss for paper in every if paper is not None] for leak, every in papers.items()}


def wins(runs: Sequence[Run]) -> dict[Winner, int]:
    """How many exams each has won; a run without one does not count."""
    found = dict.fromkeys(Winner, 0)
    for run in runs:
        closed, opened = (Paper.of(run.record, curve) for curve in (CLOSED, OPEN))
        if closed is not None and opened is not None:
            found[winner(closed.honest, opened.honest)] += 1
    return found


def bands(runs: Sequence[Run]) -> dict[int, Band]:
    """The losses of the quizzes over the training, by leak; 0 is the closed book.

    Raises: ValueError if the quizzes of one leak were not held at the same steps.
    """
    return {
        leak: _band([honest_curve(record, _curve(leak)) for record in every]) for leak, every in _by_leak(runs).items()
    }


def _by_leak(runs: Sequence[Run]) -> dict[int, list[Record]]:
    """Closed books are the same whatever their twin sees: one for each seed."""
    sat = [run for run in runs if Paper.of(run.record, OPEN) is not None]
    closed = {run.settings["seed"]: run.record for run in reversed(sat)}  # the first one of a seed
    found: dict[int, list[Record]] = {0: [closed[seed] for seed in sorted(closed)]} if sat else {}
    for leak in sorted({run.settings["leak"] for run in sat}):
        found[leak] = [run.record for run in sat if run.settings["leak"] == leak]
    return found


def _curve(leak: int) -> str:
    return OPEN if leak else CLOSED


def _row(leak: int, records: Sequence[Record]) -> Row:
    curve = _curve(leak)
    papers = [paper for record in records if (paper := Paper.of(record, curve)) is not None]
    texts = [Writing.of(record, curve, "sampled") for record in records]
    return Row(
        leak,
        training=Spread.of(final_loss(record.curves[curve]) for record in records),
        honest=Spread.of(paper.honest.loss for paper in papers),
        so_far=Spread.of(paper.so_far.loss for paper in papers),
        accuracy=Spread.of(paper.honest.accuracy for paper in papers),
        repeated=Spread.of(statistics.fmean(text.repeated for text in every) for every in texts),
        real=Spread.of(statistics.fmean(text.real or 0.0 for text in every) for every in texts),
    )


def _band(curves: Sequence[Curve]) -> Band:
    steps = {tuple(curve.steps) for curve in curves}
    if len(steps) != 1:
        raise ValueError(f"curves ({len(steps)} kinds of steps) must have the same steps")
    return Band(steps.pop(), tuple(Spread.of(place) for place in zip(*(curve.losses for curve in curves), strict=True)))
