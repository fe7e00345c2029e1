"""What losses by position say: means over spans of the text, beside those of windows; of one run or of many seeds."""

import statistics
from collections.abc import Iterable, Mapping, Sequence

from core.checks import check_sizes
from core.labs.longer_reading import LONGEST, PER_LENGTH
from core.labs.record import Record
from core.labs.shipped import Run
from core.labs.spread import Spread

Losses = Sequence[float | None]
"""By buckets of positions, see `core.labs.longer_reading`; None where nothing was measured."""

SPANS: Mapping[int, range] = {
    1: range(PER_LENGTH),
    2: range(PER_LENGTH, 2 * PER_LENGTH),
    4: range(2 * PER_LENGTH, 4 * PER_LENGTH),
    8: range(4 * PER_LENGTH, LONGEST * PER_LENGTH),
}
"""Where a span ends, in trained lengths → its buckets. 1 is what was trained; 4 is beyond two lengths, up to four."""


def centres(trained_len: int) -> list[float]:
    """The middle of every bucket, as a position counted from 1.

    >>> centres(8)[:3]
    [1.5, 3.5, 5.5]

    Raises: ValueError if trained_len is less than 1.
    """
    check_sizes(trained_len=trained_len)
    bucket = trained_len / PER_LENGTH
    return [(place + 0.5) * bucket + 0.5 for place in range(LONGEST * PER_LENGTH)]


def span_ends(span: int, trained_len: int) -> tuple[int, int]:
    """The first and the last position within a span, counted from 1.

    >>> [span_ends(span, 32) for span in SPANS]
    [(1, 32), (33, 64), (65, 128), (129, 256)]
    """
    buckets = SPANS[span]
    return buckets.start * trained_len // PER_LENGTH + 1, buckets.stop * trained_len // PER_LENGTH


def span_mean(losses: Losses, span: int) -> float | None:
    """The mean loss within a span; None if part of it was not measured.

    Raises: ValueError if there is no such span.
    """
    if span not in SPANS:
        raise ValueError(f"span ({span}) must be one of {', '.join(map(str, SPANS))}")
    buckets = SPANS[span]
    inside = [loss for loss in losses[buckets.start : buckets.stop] if loss is not None]
    return statistics.fmean(inside) if len(inside) == len(buckets) else None


def found(record: Record, curve: str, name: str) -> Losses:
    """What was measured; empty if it was not (yet)."""
    values: Losses = record.found.get(curve, {}).get(name, [])
    return values


def reference(record: Record, kind: str) -> Losses:
    """What a kind reaches without strange positions: inside the trained length its loss, beyond it that of windows."""
    loss, window = found(record, kind, "loss"), found(record, kind, "window")
    return [*loss[:PER_LENGTH], *window[PER_LENGTH:]] if loss and window else []


def cost(record: Record, curve: str, name: str, span: int) -> float | None:
    """By how much a loss within a span lies above the reference of the same model; None if either is missing.

    Both predict the same characters. Beyond the trained length this is what strange positions cost, less what the
    longer context is worth; inside it is what another reading or a short training has changed.
    curve: a kind ("rope"), or a reading of its positions ("rope.linear").
    Raises: ValueError as `span_mean` does.
    """
    loss = span_mean(found(record, curve, name), span)
    plain = span_mean(reference(record, curve.partition(".")[0]), span)
    return None if loss is None or plain is None else loss - plain


def costs(runs: Iterable[Run], curve: str, name: str, span: int) -> tuple[float, ...]:
    """The cost in each of the runs that measured it. Raises: ValueError as `span_mean` does."""
    every = [cost(run.record, curve, name, span) for run in runs]
    return tuple(value for value in every if value is not None)


def collect(runs: Iterable[Run], curve: str, name: str) -> list[Losses]:
    """What the runs have measured, one for each; those that have not are left out."""
    return [losses for run in runs if (losses := found(run.record, curve, name))]


def spread_by_bucket(every: Sequence[Losses]) -> list[Spread | None]:
    """For every bucket the spread over the seeds; None where one of them has nothing.

    Raises: ValueError if the seeds have different numbers of buckets.
    """
    if len({len(losses) for losses in every}) > 1:
        raise ValueError(f"losses ({', '.join(str(len(losses)) for losses in every)}) must have as many buckets")
    return [spread(values) for values in zip(*every, strict=True)]


def spread(values: Sequence[float | None]) -> Spread | None:
    """The spread of one number over the seeds; None if there are none, or one is missing."""
    numbers = [value for value in values if value is not None]
    if not numbers or len(numbers) < len(values):
        return None
    return Spread.of(numbers)


def curve_values(losses: Losses) -> list[float]:
    """For charts: NaN, which is not drawn, where nothing was measured; as long as the longest text.

    >>> len(curve_values([0.5, None]))
    32
    """
    missing = float("nan")
    filled = [missing if loss is None else loss for loss in losses]
    return filled + [missing] * (LONGEST * PER_LENGTH - len(filled))


def mean_beyond(losses: Losses) -> float | None:
    """The mean loss beyond the trained length; None if part of it was not measured."""
    beyond = [loss for loss in losses[PER_LENGTH:] if loss is not None]
    return statistics.fmean(beyond) if len(beyond) == (LONGEST - 1) * PER_LENGTH else None


def worst_cost(record: Record, curve: str, name: str, up_to: int) -> float | None:
    """The largest cost of the spans up to so many trained lengths; None if one of them was not measured."""
    every = [cost(record, curve, name, span) for span in SPANS if span <= up_to]
    measured = [value for value in every if value is not None]
    return max(measured) if measured and len(measured) == len(every) else None


def cheapest(record: Record, curves: Iterable[str], name: str, up_to: int) -> tuple[str, float] | None:
    """The curve whose worst cost is the least, and that cost; None unless all were measured."""
    every = [(curve, worst_cost(record, curve, name, up_to)) for curve in curves]
    measured = [(curve, value) for curve, value in every if value is not None]
    return min(measured, key=lambda pair: pair[1]) if measured and len(measured) == len(every) else None
