"""The experiment with longer texts: what it tells, and that its variants differ by nothing but themselves."""

import json
import math
from dataclasses import asdict, replace

import pytest
import torch

from core.labs import longer
from core.labs.character_model import ModelConfig, Positions, new_model
from core.labs.events import Found, Step, to_line
from core.labs.longer import Kind, Settings, comparison, fit, rate, reading_curve, train
from core.labs.record import Record
from core.positions.scalings import Method

TINY = Settings(trained_len=8, steps=4, factor=2, tune_steps=2, seed=3)
ALL = {kind.value: True for kind in Kind}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, number in {"TRAIN": 60, "UNSEEN": 20, "JUDGED": 6, "GLANCED": 2}.items():
        monkeypatch.setattr(longer, name, number)


def record_of(settings: Settings) -> Record:
    record = Record()
    for event in train(settings):
        record.add(event)
    return record


def test_settings_survive_the_journey() -> None:
    settings = Settings(none=True, seed=4)
    assert Settings(**json.loads(json.dumps(asdict(settings)))) == settings


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sinusoidal": False, "rope": False}, "kinds"),
        ({"trained_len": 4}, r"trained_len \(4\)"),
        ({"trained_len": 20}, r"trained_len \(20\) must be divisible"),
        ({"trained_len": 72}, r"trained_len \(72\)"),
        ({"steps": 0}, r"steps \(0\)"),
        ({"factor": 0}, r"factor \(0\)"),
        ({"factor": 9}, r"factor \(9\)"),
        ({"tune_steps": -1}, r"tune_steps \(-1\)"),
        ({"seed": -1}, r"seed \(-1\)"),
    ],
)
def test_settings_out_of_bounds(wrong: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(**wrong)  # type: ignore[arg-type]


def test_the_comparison_holds_every_kind_with_every_seed_and_the_defaults() -> None:
    runs = comparison()
    assert Settings() in runs
    for kind in Kind:
        assert {run.seed for run in runs if kind in run.kinds} == set(longer.SEEDS)
    assert len({replace(run, seed=0) for run in runs}) == 2


def test_it_tells_every_step_and_every_finding() -> None:
    events = list(train(replace(TINY, **ALL)))
    steps = [event for event in events if isinstance(event, Step)]
    assert [step.done for step in steps] == list(range(1, 5 * 4 + 4 * 2 + 1))
    assert {step.total for step in steps} == {5 * 4 + 4 * 2}
    assert {step.tokens for step in steps} == {32 * 8}
    assert [step.step for step in steps if step.curve == "rope.yarn"] == [1, 2]
    record = record_of(replace(TINY, **ALL))
    assert list(record.curves) == ["none", "sinusoidal", "learnt", "rope"] + [
        f"rope.{method}" for method in longer.METHODS
    ] + ["rope_long"]
    for kind in Kind:
        assert len(record.found[kind]["loss"]) == (4 if kind is Kind.LEARNT else 32)
        assert [loss is None for loss in record.found[kind]["window"]] == [True] * 4 + [False] * 28
    for method in longer.METHODS:
        assert [len(record.found[reading_curve(method)][name]) for name in ("before", "after")] == [32, 32]
    assert all(to_line(event) for event in events)


def test_a_kind_is_judged_while_it_is_trained() -> None:
    events = list(train(replace(TINY, rope=False)))
    kinds = [event.name if isinstance(event, Found) else event.step for event in events]
    assert kinds == [1, "loss", 2, "loss", 3, "loss", 4, "loss", "window"]


def test_the_same_settings_tell_the_same() -> None:
    assert list(train(TINY)) == list(train(TINY))
    assert list(train(TINY)) != list(train(replace(TINY, seed=4)))


def test_a_kind_learns_the_same_whatever_else_is_trained() -> None:
    alone, together = record_of(replace(TINY, sinusoidal=False)), record_of(replace(TINY, **ALL))
    for curve in alone.curves:
        assert alone.curves[curve].losses == together.curves[curve].losses
        assert alone.found[curve] == together.found[curve]


def test_reading_positions_as_they_are_changes_nothing() -> None:
    record = record_of(TINY)
    assert record.found["rope.none"]["before"] == record.found["rope"]["loss"]
    assert record.found["rope.linear"]["before"] != record.found["rope"]["loss"]


def test_without_a_short_training_there_is_nothing_after_it() -> None:
    record = record_of(replace(TINY, tune_steps=0))
    assert list(record.curves) == ["sinusoidal", "rope"]
    assert record.total == 2 * TINY.steps
    assert set(record.found["rope.ntk"]) == {"before"}


def test_a_factor_of_one_is_no_scaling_before_the_short_training() -> None:
    record = record_of(replace(TINY, factor=1))
    before = [record.found[reading_curve(method)]["before"] for method in (Method.NONE, Method.LINEAR, Method.NTK)]
    assert before[0] == before[1] == before[2]


def test_fit_lowers_the_loss_of_what_it_sees() -> None:
    config = ModelConfig(5, num_layers=1, d_model=8, num_heads=2, positions=Positions.ROPE)
    model = new_model(config, generator=torch.Generator().manual_seed(0))
    batch = torch.tensor([[0, 1, 2, 3, 4, 0, 1, 2, 3, 4]])
    losses = list(fit(model, iter([batch] * 60), steps=60, peak=3e-2))
    assert losses[0] == pytest.approx(math.log(5), abs=0.05)
    assert losses[-1] < 0.1


def test_the_learning_rate_rises_and_falls_to_a_tenth() -> None:
    rates = [rate(step, 50) for step in range(50)]
    assert rates[0] < 0.3
    assert max(rates) == max(rates[3:7])
    assert rates[6:] == sorted(rates[6:], reverse=True)
    assert rates[-1] == pytest.approx(0.1, abs=0.01)
