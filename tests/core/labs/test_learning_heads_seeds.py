"""What several seeds say together, on runs made by hand."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest

from core.labs.learning_heads import Settings
from core.labs.learning_heads_seeds import (
    NARROW,
    OWN,
    SOLVED,
    WITH_MLP,
    Layer,
    Result,
    accuracy,
    beyond_heads,
    change,
    ranks,
    results,
    shares_of_one_head,
    solved,
    working,
)
from core.labs.record import Record
from core.labs.shipped import Run
from core.labs.spread import Spread


def found(accuracies: Sequence[float], effective: Sequence[float]) -> dict[str, Any]:
    measures = {"effective": list(effective)}
    return {
        "history": {
            "steps": [0, 9],
            "accuracy": [0.1, sum(accuracies) / len(accuracies)],
            "loss": [2.0, 1.0],
            "logits": measures,
            "weights": {"effective": [value + 1 for value in effective]},
        },
        "by_look_up": list(accuracies),
        "focus": [[0.6, 0.1], [0.2, 0.3]],
    }


def run_of(seed: int, accuracies: Sequence[float], effective: Sequence[float] = (4.0, 3.0), **changed: Any) -> Run:
    settings = Settings(heads=(1, 2), seed=seed, **changed)
    plain = {**asdict(settings), "heads": [1, 2]}
    return Run(plain, Record(found={"1": found(accuracies, effective), "2": found((1.0, 1.0), effective)}))


RUNS = (
    run_of(0, (1.0, 0.2)),
    run_of(1, (0.4, SOLVED), (5.0, 2.0)),
    run_of(0, (0.0, 0.0), d_model=16),
    run_of(0, (1.0, 1.0), mlp=True),
    run_of(0, (0.5, 0.5), look_ups=3),
)


def test_runs_of_one_kind_come_together() -> None:
    of = results(RUNS, Layer())
    assert list(of) == [1, 2]
    assert [result.seed for result in of[1]] == [0, 1]
    assert [result.by_look_up for result in of[1]] == [(1.0, 0.2), (0.4, SOLVED)]
    assert [result.seed for result in results(RUNS, NARROW)[1]] == [0]
    assert results(RUNS, NARROW)[1][0].accuracy == 0
    assert results(RUNS, WITH_MLP)[1][0].accuracy == 1
    assert results(RUNS, Layer(look_ups=4)) == {}
    assert results((*RUNS, run_of(7, (1.0,), steps=3000)), Layer(steps=3000))[1][0].seed == 7


def test_accuracy_and_what_is_solved() -> None:
    of = results(RUNS, Layer())
    assert accuracy(of)[1].mean == pytest.approx(0.6)
    assert accuracy(of)[2].mean == 1
    assert [result.solved for result in of[1]] == [1, 1]  # at the threshold it is
    assert solved(of)[2] == Spread((2, 2))


def test_ranks_before_and_after() -> None:
    of = results(RUNS, Layer())
    before, after = ranks(of, "logits", "effective")
    assert (before[1].mean, after[1].mean) == (4.5, 2.5)
    assert ranks(of, "weights", "effective")[1][2].mean == 3.5
    assert change(of, "logits", "effective") == pytest.approx(-2)
    assert math.isnan(change({}, "logits", "effective"))


def test_heads_that_work_for_a_look_up() -> None:
    def result(*focus: tuple[float, ...]) -> Result:
        return Result(0, len(focus), 1.0, (), focus, {}, {})

    assert result((0.1, OWN), (OWN - 0.01, 0.4), (0.7, 0.3)).owners == (1, None, 0)
    assert result((0.1, OWN), (OWN - 0.01, 0.4), (0.7, 0.3)).working == 2
    assert working(results(RUNS, Layer()))[2] == Spread((1, 1))


def test_layers_that_answer_more_than_they_have_heads() -> None:
    assert beyond_heads(results(RUNS, Layer())) == ()  # one head, one look-up; two heads, two
    assert [result.num_heads for result in beyond_heads(results(RUNS, WITH_MLP))] == [1]
    assert beyond_heads({}) == ()


def test_the_shares_of_one_head() -> None:
    of = results(RUNS, Layer())
    assert shares_of_one_head(of[1]) == pytest.approx((0.6, 0.1))
    swapped = Result(0, 1, 1.0, (), ((0.2, 0.8),), {}, {})
    assert shares_of_one_head([of[1][0], swapped]) == pytest.approx((0.7, 0.15))
    assert shares_of_one_head([]) == ()
