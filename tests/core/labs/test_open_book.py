"""The training of the twins: settings, fairness, what is told, and that the answers in the book are used."""

import json
from collections.abc import Iterator
from dataclasses import asdict

import pytest
import torch

from core.labs import open_book, open_book_writing
from core.labs.catalogue import EXPERIMENTS
from core.labs.character_model import new_model
from core.labs.events import Found, Step, to_line
from core.labs.open_book import (
    ALL,
    BATCH,
    COMPARED,
    LEAKS,
    LEARNING_RATE,
    SEEDS,
    WARM_UP,
    Settings,
    comparison,
    learning_rate,
    model_config,
    train,
    train_step,
)
from core.labs.open_book_exam import CLOSED, OPEN, SEQ_LEN, book_mask
from core.labs.record import Record

TINY = {"num_layers": 1, "d_model": 16, "steps": 3}


def recorded(settings: Settings) -> Record:
    record = Record()
    for event in train(settings):
        record.add(event)
    return record


@pytest.fixture(scope="module", autouse=True)
def short() -> Iterator[None]:
    """Few stories, and short texts: they cost more than so few steps do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_book, "TRAIN_STORIES", 60)
        patch.setattr(open_book, "UNSEEN_STORIES", 20)
        patch.setattr(open_book_writing, "LENGTH", 12)
        yield


@pytest.fixture(scope="module")
def record() -> Record:
    return recorded(Settings(**TINY))


def test_settings_travel_as_json() -> None:
    settings = Settings(num_layers=3, d_model=32, steps=150, leak=2, seed=7)
    assert Settings(**json.loads(json.dumps(asdict(settings)))) == settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_layers", 0), ("num_layers", 4), ("d_model", 8), ("d_model", 104), ("d_model", 36), ("steps", 0),
        ("steps", 601), ("leak", 0), ("leak", ALL + 1), ("seed", -1), ("seed", 10000),
    ],
)  # fmt: skip
def test_settings_out_of_bounds(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=rf"{name} \({value}\)"):
        Settings(**{name: value})


@pytest.mark.parametrize("d_model", [32, 48, 64, 80, 96])
@pytest.mark.parametrize("leak", LEAKS)
def test_settings_of_the_page_make_a_model(d_model: int, leak: int) -> None:
    model_config(Settings(d_model=d_model, leak=leak))


def test_the_comparison_holds_the_defaults_and_every_leak_with_every_seed() -> None:
    every = comparison()
    assert Settings() in every
    assert len(every) == len(set(every)) == len(COMPARED) * len(SEEDS)
    assert len(SEEDS) >= 5
    assert EXPERIMENTS["open_book"] == open_book.__name__


def test_the_twins_take_turns(record: Record) -> None:
    steps = [event for event in train(Settings(**TINY)) if isinstance(event, Step)]
    assert [(step.curve, step.step) for step in steps] == [(name, n) for n in (1, 2, 3) for name in (CLOSED, OPEN)]
    assert [step.done for step in steps] == [1, 2, 3, 4, 5, 6]
    assert {step.total for step in steps} == {6}
    assert {step.tokens for step in steps} == {BATCH * SEQ_LEN}


def test_the_twins_begin_with_the_same_weights(record: Record) -> None:
    closed, opened = (record.found[curve]["honest_curve"]["losses"] for curve in (CLOSED, OPEN))
    assert closed[0] == opened[0]  # before training, seen through the same mask
    assert record.curves[CLOSED].losses[1:] != record.curves[OPEN].losses[1:]


def test_the_closed_book_does_not_know_what_its_twin_sees() -> None:
    one, other = (recorded(Settings(**TINY, leak=leak)) for leak in (1, ALL))
    assert one.curves[CLOSED].losses == other.curves[CLOSED].losses
    assert one.found[CLOSED] == other.found[CLOSED]
    assert one.curves[OPEN].losses != other.curves[OPEN].losses


def test_the_same_settings_give_the_same_events() -> None:
    settings = Settings(**TINY, seed=3)
    assert list(train(settings)) == list(train(settings))
    assert recorded(settings).curves[CLOSED].losses != recorded(Settings(**TINY, seed=4)).curves[CLOSED].losses


def test_what_is_found(record: Record) -> None:
    for curve in (CLOSED, OPEN):
        found = record.found[curve]
        assert set(found) == {"honest_curve", "attention", "exam", "texts"}
        assert found["honest_curve"]["steps"] == [0, 3]
        assert len(found["attention"]) == 1
        assert [len(head) for head in found["attention"][0]] == [17] * 4
    for event in train(Settings(**TINY)):
        assert not isinstance(event, Found) or len(to_line(event)) < 8000


def test_quizzes_come_every_so_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_book, "EVERY", 2)
    found = recorded(Settings(**TINY)).found[OPEN]["honest_curve"]
    assert found["steps"] == [0, 2, 3]
    assert len(found["losses"]) == 3


def test_the_learning_rate_rises_and_falls() -> None:
    assert learning_rate(1, 400) == pytest.approx(LEARNING_RATE / WARM_UP)
    assert learning_rate(WARM_UP, 400) == learning_rate(200, 400) == pytest.approx(LEARNING_RATE)
    assert learning_rate(300, 400) == pytest.approx(LEARNING_RATE * 0.525)
    assert learning_rate(400, 400) == pytest.approx(LEARNING_RATE * 0.05)


def test_a_step_asks_for_every_character_but_the_first() -> None:
    settings = Settings(**TINY)
    generator = torch.Generator().manual_seed(0)
    model = new_model(model_config(settings), generator=generator)
    piece = torch.randint(30, (5, 8), generator=generator)
    logits = model(piece, book_mask(8, 2)).log_softmax(dim=-1)
    expected = -torch.stack([logits[b, t, piece[b, t + 1]] for b in range(5) for t in range(7)]).mean()
    optimiser = torch.optim.AdamW(model.parameters())
    assert train_step(model, optimiser, piece, 2, 1e-3) == pytest.approx(expected.item(), abs=1e-6)
    assert optimiser.param_groups[0]["lr"] == 1e-3
    assert train_step(model, optimiser, piece, 2, 1e-3) < expected.item()


def test_answers_in_the_book_are_found() -> None:
    """A short training on nothing but noise: what cannot be learnt can still be looked up."""
    settings = Settings(num_layers=1, d_model=32, steps=150)
    generator = torch.Generator().manual_seed(0)
    losses = {}
    for leak in (0, ALL):
        model = new_model(model_config(settings), generator=torch.Generator().manual_seed(0))
        optimiser = torch.optim.AdamW(model.parameters())
        for _ in range(150):
            piece = torch.randint(30, (16, 12), generator=generator)
            losses[leak] = train_step(model, optimiser, piece, leak, 1e-2)
    assert losses[0] > 3
    assert losses[ALL] < 0.5
