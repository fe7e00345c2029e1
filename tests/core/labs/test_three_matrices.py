"""The experiment on sharing matrices: what it tells, and that variants differ in nothing else."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from core.labs.events import Event, Found, Step
from core.labs.settings import plain
from core.labs.three_matrices import (
    BATCH,
    LAST,
    LEARNING_RATE,
    SEEDS,
    VARIANTS,
    Settings,
    cases,
    comparison,
    learning_rate,
    train,
)
from core.labs.three_matrices_task import NAMES, RINGS, TAGS
from core.projections import Sharing

SHORT = Settings(task="three", d_model=8, head_dim=3, steps=100)


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return list(train(SHORT))


def found(events: list[Event], variant: str, name: str) -> list[Any]:
    return [
        event.value for event in events if isinstance(event, Found) and (event.curve, event.name) == (variant, name)
    ]


def test_settings_survive_json() -> None:
    chosen = Settings(task="copy", look_at_self=False, skip=True, variants=("value_is_key", "none"), head_dim=2, seed=7)
    assert Settings(**plain(chosen)) == chosen


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"task": "sort"}, r"task \('sort'\) must be one of copy, partner, three, successor"),
        ({"variants": ()}, r"variants \(\(\)\) must be some of"),
        ({"variants": ("none", "separate")}, "in this order"),
        ({"variants": ("one",)}, "must be some of"),
        ({"d_model": 7}, r"d_model \(7\) must be between 8 and 64"),
        ({"head_dim": 33}, r"head_dim \(33\) must be between 1 and 32"),
        ({"steps": 99}, r"steps \(99\) must be between 100 and 3000"),
        ({"seed": 100}, r"seed \(100\) must be between 0 and 99"),
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(**wrong)  # type: ignore[arg-type]


def test_the_comparison_has_every_case_with_every_seed() -> None:
    every = comparison()
    assert len(every) == len(set(every)) == SEEDS * len(cases())
    assert Settings() in every
    assert {(one.task, one.look_at_self) for one in every} == {(task, may) for task in RINGS for may in (True, False)}
    assert all(replace(case, seed=SEEDS - 1) in every for case in cases())


def test_every_step_is_told_in_order(events: list[Event]) -> None:
    steps = [event for event in events if isinstance(event, Step)]
    assert [event.curve for event in steps] == [variant for variant in VARIANTS for _ in range(SHORT.steps)]
    assert [event.done for event in steps] == list(range(1, 4 * SHORT.steps + 1))
    assert {event.total for event in steps} == {4 * SHORT.steps}
    assert {event.tokens for event in steps} == {BATCH * NAMES}


def test_what_is_found(events: list[Event]) -> None:
    assert [found(events, variant, "projections") for variant in VARIANTS] == [[3 * 24], [2 * 24], [2 * 24], [0]]
    tables = (NAMES + TAGS + TAGS) * 8  # names and tags in, tags out
    of_head, of_none = tables + 3 * 8, tables + 8 * 8  # with W_O
    assert [found(events, variant, "parameters")[0] for variant in VARIANTS] == [
        of_head + 72, of_head + 48, of_head + 48, of_none
    ]  # fmt: skip
    for variant in VARIANTS:
        (tags,) = found(events, variant, "tags")
        assert tags == found(events, "separate", "tags")[0]  # the same example for all
        accuracies = found(events, variant, "accuracies")[-1]
        assert [step for step, _share in accuracies] == list(range(0, 101, 10))
        assert len(found(events, variant, "measured")) == 11
        example = found(events, variant, "example")[-1]
        rows = torch.tensor(example["weights"])
        assert rows.shape == (NAMES, NAMES)
        assert ((rows.sum(dim=-1) - 100).abs() <= NAMES / 2).all()  # each rounded to a whole per cent


def test_equal_settings_give_equal_events(events: list[Event]) -> None:
    torch.manual_seed(5)  # the global generator plays no part
    assert list(train(SHORT)) == events


def test_another_seed_gives_others(events: list[Event]) -> None:
    assert next(iter(step for step in train(replace(SHORT, seed=1)) if isinstance(step, Step))) not in events


def test_a_variant_trained_alone_is_trained_the_same(events: list[Event]) -> None:
    alone = [event for event in train(replace(SHORT, variants=("query_is_key",))) if isinstance(event, Step)]
    beside = [event for event in events if isinstance(event, Step) and event.curve == "query_is_key"]
    assert [(event.step, event.loss) for event in alone] == [(event.step, event.loss) for event in beside]


def test_the_scores_of_shared_queries_stay_symmetric(events: list[Event]) -> None:
    symmetric = {variant: found(events, variant, "example")[-1]["score_asymmetry"] for variant in VARIANTS}
    assert symmetric[Sharing.QUERY_IS_KEY] == pytest.approx(0, abs=1e-3)
    assert symmetric[Sharing.NONE] == pytest.approx(0, abs=1e-3)
    assert symmetric[Sharing.SEPARATE] > 0.1 < symmetric[Sharing.VALUE_IS_KEY]


def test_it_learns() -> None:
    settings = Settings(task="copy", variants=("none",), steps=100, d_model=16)
    measured = found(list(train(settings)), "none", "measured")
    assert measured[0]["loss"] > 0.5 * math.log(TAGS)
    assert measured[-1]["accuracy"] > 0.99


def test_the_learning_rate_falls() -> None:
    assert learning_rate(1, 100) == LEARNING_RATE
    assert learning_rate(101, 100) == pytest.approx(LAST * LEARNING_RATE)
