"""The comparison over all seeds: every value of each case and variant, their mean, and variants beside each other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.labs.settings import plain
from core.labs.shipped import Run
from core.labs.spread import Spread
from core.labs.three_matrices import Settings
from core.labs.three_matrices_task import RINGS, most_looking_right
from core.projections import Sharing

SHARING_A_QUERY = (Sharing.QUERY_IS_KEY, Sharing.ONE, Sharing.NONE)


@dataclass(frozen=True, slots=True)
class Compared:
    """A variant beside the one with three matrices, in one case."""

    case: Settings
    separate: Spread
    shared: Spread


def over_seeds(runs: Sequence[Run], case: Settings, variant: str, measure: str = "accuracy") -> Spread:
    """Every shipped value of one measure of one variant; the seed of the case does not matter.

    measure: a field of `three_matrices_measures.Measured`.
    Raises: ValueError if there is no such run.
    """
    alike = [run for run in runs if run.settings == plain(replace(case, seed=run.settings["seed"]))]
    found = [run.record.found[variant]["measured"][measure] for run in alike if variant in run.record.found]
    if not found:
        raise ValueError(f"case ({case}) with variant ({variant!r}) must be among the runs")
    return Spread.of(found)


def compare(runs: Sequence[Run], cases: Sequence[Settings], variant: str) -> tuple[Compared, ...]:
    """The accuracy of a variant beside that of three matrices, case by case.

    Raises: ValueError if a case is not among the runs.
    """
    return tuple(
        Compared(case, over_seeds(runs, case, Sharing.SEPARATE.value), over_seeds(runs, case, variant))
        for case in cases
    )


def asymmetries(runs: Sequence[Run], variant: str) -> tuple[float, float]:
    """The largest asymmetry of scores, and of weights, that a trained variant has in any run.

    Raises: ValueError if no run has this variant.
    """
    every = [run.record.found[variant]["example"] for run in runs if variant in run.record.found]
    if not every:
        raise ValueError(f"variant ({variant!r}) must be among the runs")
    return max(each["score_asymmetry"] for each in every), max(each["weight_asymmetry"] for each in every)


def bound_of(case: Settings, variant: str) -> float:
    """The largest share of tokens that can look most at the right one, by `most_looking_right`."""
    return most_looking_right(
        RINGS[case.task], look_at_self=case.look_at_self, query_is_key=Sharing(variant) in SHARING_A_QUERY
    )
