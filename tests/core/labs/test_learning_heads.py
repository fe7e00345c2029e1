"""The training: what it tells, that it is the same again, and that it learns."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from core.labs.events import Event, Found, Step, to_line
from core.labs.learning_heads import (
    LAST,
    LEARNING_RATE,
    MOMENTS,
    SEEDS,
    WARM_UP,
    Settings,
    comparison,
    learning_rate,
    moments_of,
    train,
)
from core.labs.learning_heads_task import NAMES, TAGS
from core.labs.record import Record

TINY = Settings(heads=(1, 2), d_model=16, steps=100)


@pytest.fixture(scope="module")
def told() -> list[Event]:
    return list(train(TINY))


def recorded(events: list[Event]) -> Record:
    record = Record()
    for event in events:
        record.add(event)
    return record


def test_a_step_for_every_step(told: list[Event]) -> None:
    steps = [event for event in told if isinstance(event, Step)]
    assert [step.curve for step in steps] == ["1"] * 100 + ["2"] * 100
    assert [step.step for step in steps] == [*range(1, 101)] * 2
    assert [step.done for step in steps] == [*range(1, 201)]
    assert {step.total for step in steps} == {200}
    assert {step.tokens for step in steps} == {32 * NAMES * 2}


def test_the_curves_of_a_seed_differ_by_their_heads_alone(told: list[Event]) -> None:
    found = recorded(told).found
    assert found["1"]["example"] == found["2"]["example"]
    assert found["1"]["parameters"] == found["2"]["parameters"]
    assert found["1"]["attention"] != found["2"]["attention"]


def test_a_layer_is_the_same_whichever_others_are_trained(told: list[Event]) -> None:
    alone = list(train(Settings(heads=(2,), d_model=16, steps=100)))
    assert recorded(alone).curves["2"].losses == recorded(told).curves["2"].losses


def test_the_same_settings_tell_the_same(told: list[Event]) -> None:
    assert list(train(TINY)) == told


@pytest.mark.parametrize("changed", [{"seed": 1}, {"mlp": True}, {"look_ups": 3}, {"d_model": 32}])
def test_every_setting_counts(changed: dict[str, Any], told: list[Event]) -> None:
    first = next(event for event in train(Settings(**{**asdict(TINY), **changed})) if isinstance(event, Step))
    assert first.loss != next(event for event in told if isinstance(event, Step)).loss


def test_what_is_found(told: list[Event]) -> None:
    for num_heads, found in recorded(told).found.items():
        history = found["history"]
        assert history["steps"] == [0, *moments_of(100)]
        assert all(len(history[name]) == MOMENTS + 1 for name in ("accuracy", "loss"))
        assert history["loss"][-1] < history["loss"][0]
        assert len(found["focus"]) == len(found["attention"]) == int(num_heads)
        assert len(found["by_look_up"]) == len(found["focus"][0]) == 2
        example = found["example"]
        assert sorted(example["names"]) == list(range(NAMES))
        assert len(example["tags"]) == len(example["places"]) == NAMES
    assert all(isinstance(event, Found) for event in told[:6])  # measured before the first step


def test_every_event_is_a_line(told: list[Event]) -> None:
    assert all(to_line(event) for event in told)


def test_two_heads_learn_two_look_ups_and_one_head_learns_one() -> None:
    """The comparison in little: a third of its steps."""
    found = recorded(list(train(Settings(heads=(1, 2), steps=300)))).found
    assert found["2"]["history"]["accuracy"][-1] > 0.95
    assert found["1"]["history"]["accuracy"][-1] < (1 + 3 / TAGS) / 2 + 0.1  # one right; of the other a fair guess


# -------------------------------------------------------------------------------------------------------- settings


def test_settings_survive_json() -> None:
    for settings in (Settings(), TINY):
        assert Settings(**json.loads(json.dumps(asdict(settings)))) == settings


def test_the_comparison_holds_the_defaults_and_every_seed() -> None:
    every = comparison()
    assert Settings() in every
    assert len(set(every)) == len(every)
    seeds: dict[tuple[object, ...], set[int]] = {}
    for one in every:
        seeds.setdefault((one.look_ups, one.heads, one.d_model, one.mlp, one.steps), set()).add(one.seed)
    assert all(found == set(range(SEEDS)) for found in seeds.values())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"look_ups": 0}, r"look_ups \(0\) must be between 1 and 4"),
        ({"look_ups": 5}, r"look_ups \(5\) must be between 1 and 4"),
        ({"heads": ()}, r"heads \(\(\)\) must be some of \(1, 2, 4, 8\), in this order"),
        ({"heads": (2, 1)}, r"heads \(\(2, 1\)\) must be some of"),
        ({"heads": (3,)}, r"heads \(\(3,\)\) must be some of"),
        ({"d_model": 24}, r"d_model \(24\) must be one of \(16, 32, 48, 64\)"),
        ({"steps": 99}, r"steps \(99\) must be between 100 and 3000"),
        ({"steps": 3001}, r"steps \(3001\) must be between 100 and 3000"),
        ({"seed": -1}, r"seed \(-1\) must be between 0 and 99"),
        ({"seed": 100}, r"seed \(100\) must be between 0 and 99"),
    ],
)
def test_impossible_settings(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Settings(**wrong)


@pytest.mark.parametrize("steps", [100, 173, 1000, 3000])
def test_moments_come_apart_and_end_with_the_last_step(steps: int) -> None:
    moments = moments_of(steps)
    assert len(set(moments)) == MOMENTS
    assert list(moments) == sorted(moments)
    assert (moments[0], moments[-1]) == (-(-steps // 100), steps)


def test_the_learning_rate_rises_and_falls() -> None:
    rates = [learning_rate(step, 1000) for step in range(1, 1001)]
    assert max(rates) == rates[WARM_UP - 1] == pytest.approx(LEARNING_RATE, rel=0.01)
    assert rates[-1] == pytest.approx(LAST * LEARNING_RATE)
    assert all(later <= earlier for earlier, later in zip(rates[WARM_UP - 1 :], rates[WARM_UP:], strict=False))
