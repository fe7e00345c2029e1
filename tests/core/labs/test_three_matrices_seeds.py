"""Over the seeds: by hand on runs made for it, and on those that ship."""

from dataclasses import replace

import pytest

from core.labs.record import Record
from core.labs.settings import plain
from core.labs.shipped import Run, shipped
from core.labs.spread import Spread
from core.labs.three_matrices import SEEDS, VARIANTS, Settings, cases
from core.labs.three_matrices_seeds import asymmetries, bound_of, compare, over_seeds

CASE = Settings(task="three")


def run(case: Settings, seed: int, accuracy: dict[str, float]) -> Run:
    found = {
        variant: {
            "measured": {"accuracy": value, "loss": 1 - value},
            "example": {"score_asymmetry": value / 10, "weight_asymmetry": value / 2},
        }
        for variant, value in accuracy.items()
    }
    return Run(plain(replace(case, seed=seed)), Record(found=found))


RUNS = [
    run(CASE, 0, {"separate": 1.0, "none": 0.25}),
    run(replace(CASE, look_at_self=False), 0, {"separate": 0.5, "none": 0.5}),
    run(CASE, 3, {"separate": 0.5, "none": 0.75}),
]


def test_a_spread() -> None:
    spread = over_seeds(RUNS, replace(CASE, seed=42), "none")
    assert spread == Spread((0.25, 0.75))
    assert (spread.low, spread.mean, spread.high) == (0.25, 0.5, 0.75)
    assert over_seeds(RUNS, CASE, "separate", "loss").values == (0.0, 0.5)


def test_variants_beside_each_other() -> None:
    (one,) = compare(RUNS, [CASE], "none")
    assert (one.case, one.separate.values, one.shared.values) == (CASE, (1.0, 0.5), (0.25, 0.75))


def test_the_largest_asymmetries() -> None:
    assert asymmetries(RUNS, "separate") == (0.1, 0.5)
    assert asymmetries(RUNS, "none") == (0.075, 0.375)


def test_what_is_missing_is_said() -> None:
    with pytest.raises(ValueError, match=r"variant \('query_is_key'\) must be among the runs"):
        over_seeds(RUNS, CASE, "query_is_key")
    with pytest.raises(ValueError, match="must be among the runs"):
        over_seeds(RUNS, replace(CASE, head_dim=2), "none")
    with pytest.raises(ValueError, match=r"variant \('one'\) must be among the runs"):
        asymmetries(RUNS, "one")


@pytest.mark.parametrize(("variant", "bound"), [*zip(VARIANTS, (1, 1, 2 / 3, 2 / 3), strict=True)])
def test_only_shared_queries_are_bounded(variant: str, bound: float) -> None:
    assert bound_of(CASE, variant) == pytest.approx(bound)


def test_every_case_ships_with_every_seed_within_its_bound() -> None:
    ships = shipped("three_matrices")
    for case in cases():
        for variant in VARIANTS:
            looking = over_seeds(ships.runs, case, variant, "looking_right")
            assert len(looking.values) == SEEDS
            assert looking.high <= bound_of(case, variant) + 1e-4  # four digits ship
