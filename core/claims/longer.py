"""The claims about texts that are longer than those of the training. Each is judged by trainings with several seeds.

A cost is in nats: by how much a loss lies above that of the same model with the same characters and familiar positions
only (`core.labs.longer_summary.cost`). Where one seed says something else than another, nothing is decided.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.claims import Verdict
from core.labs.longer import Kind, reading_curve
from core.labs.longer_summary import SPANS, costs
from core.labs.shipped import Run
from core.positions.scalings import Method

DEAR = 0.2
"""Nats: the perplexity rises by a fifth. Where they read what they were trained for, sinusoidal, learnt and rotary
positions lie closer to each other than that."""

TOLD_TRAINED, TOLD_TESTED = 512, 2048
TOLD_SPAN = TOLD_TESTED // TOLD_TRAINED  # trained lengths

# -------------------------------------------------------------------- trained at 512, tested at 2048: quality drops


def drop_verdict(found: Sequence[float], *, dear: float = DEAR) -> Verdict:
    """Judge by the costs with several seeds: HOLDS if all are above `dear`, DOES_NOT_HOLD if none is.

    UNDECIDED if there are none, or the seeds disagree.
    """
    above = [cost > dear for cost in found]
    if not above or any(above) != all(above):
        return Verdict.UNDECIDED
    return Verdict.HOLDS if all(above) else Verdict.DOES_NOT_HOLD


# --------------------------------------------------------------------- without positions nothing is strange far out


def unnoticed_verdict(found: Sequence[float], *, dear: float = DEAR) -> Verdict:
    """The opposite of a drop, with the same threshold."""
    opposite = {Verdict.HOLDS: Verdict.DOES_NOT_HOLD, Verdict.DOES_NOT_HOLD: Verdict.HOLDS}
    verdict = drop_verdict(found, dear=dear)
    return opposite.get(verdict, verdict)


# ------------------------------------------------------- NTK needs no retraining; interpolation and YaRN a short one


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reading of RoPE's positions costs: span → one cost for each seed; only spans up to the factor."""

    before: Mapping[int, tuple[float, ...]]  # the short training
    after: Mapping[int, tuple[float, ...]]

    @property
    def measured(self) -> bool:
        return all(len(found) > 0 for every in (self.before, self.after) for found in every.values())


def measure_reading(runs: Sequence[Run], method: Method, factor: int) -> Reading:
    """The costs of a reading within `factor` trained lengths."""
    curve = reading_curve(method)
    spans = [span for span in SPANS if span <= factor]
    before, after = ({span: costs(runs, curve, name, span) for span in spans} for name in ("before", "after"))
    return Reading(before, after)


def reach(found: Mapping[int, tuple[float, ...]], *, dear: float = DEAR) -> int:
    """Up to how many trained lengths no seed's cost is above `dear`; 0 if it is even inside."""
    reached = 0
    for span in sorted(found):
        if any(cost > dear for cost in found[span]):
            break
        reached = span
    return reached


def no_training_verdict(reading: Reading, *, dear: float = DEAR) -> Verdict:
    """HOLDS if nothing is dear without training; ONLY_IF if that is so up to some length beyond the trained one."""
    if not reading.measured:
        return Verdict.UNDECIDED
    reached = reach(reading.before, dear=dear)
    if reached == max(reading.before):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if reached > 1 else Verdict.DOES_NOT_HOLD


def short_training_verdict(reading: Reading, *, dear: float = DEAR, part: float = 0.5) -> Verdict:
    """Judge "it needs a short training, and a short one will do".

    HOLDS if something is dear before and nothing after it; ONLY_IF ("better, not yet good") if the largest mean cost
    falls below `part` of what it was, but something stays dear; DOES_NOT_HOLD if nothing was dear, or too much is left.
    """
    if not reading.measured:
        return Verdict.UNDECIDED
    if reach(reading.before, dear=dear) == max(reading.before):
        return Verdict.DOES_NOT_HOLD
    if reach(reading.after, dear=dear) == max(reading.after):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if worst(reading.after) < part * worst(reading.before) else Verdict.DOES_NOT_HOLD


def worst(found: Mapping[int, tuple[float, ...]]) -> float:
    """The largest mean over the seeds of all spans."""
    return max(statistics.fmean(every) for every in found.values())


# ------------------------------------------------------ it is the scaling that helps, not the training after it


def scaling_verdict(plain: Reading, scaled: Iterable[Reading]) -> Verdict:
    """Judge "with the same short training, scaled positions do better than RoPE's own", by the worst span of each seed.

    HOLDS if every scaling does with every seed, ONLY_IF ("some scalings") if one of them does, else DOES_NOT_HOLD.
    """
    readings = list(scaled)
    if not readings or not all(reading.measured for reading in (plain, *readings)):
        return Verdict.UNDECIDED
    better = [is_better(reading, plain) for reading in readings]
    if all(better):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if any(better) else Verdict.DOES_NOT_HOLD


def is_better(one: Reading, other: Reading) -> bool:
    """Whether after the short training one costs less than the other in its worst span, with every seed."""
    pairs = zip(_worst_of_seeds(one), _worst_of_seeds(other), strict=True)
    return all(mine < others for mine, others in pairs)


def _worst_of_seeds(reading: Reading) -> list[float]:
    return [max(found) for found in zip(*reading.after.values(), strict=True)]


def kind_costs(runs: Sequence[Run], kind: Kind, *, span: int = TOLD_SPAN) -> tuple[float, ...]:
    """The costs of a kind as it was trained, one for each seed."""
    return costs(runs, kind, "loss", span)
