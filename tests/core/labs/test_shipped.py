"""Results that ship: found by their settings, and written as they are read."""

import datetime
import importlib
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.labs.catalogue import EXPERIMENTS
from core.labs.events import Found, Step
from core.labs.record import POINTS, Record
from core.labs.settings import plain
from core.labs.shipped import Run, Shipped, shipped, write


@dataclass(frozen=True, slots=True)
class Settings:
    steps: int = 4
    variants: tuple[str, ...] = ("a", "b")
    seed: int = 0


def run(seed: int, steps: int = 4) -> Run:
    record = Record()
    for step in range(1, steps + 1):
        record.add(Step("a", step, seed + 1 / step, 10, step, steps))
    record.add(Found("a", "text", "猫"))
    return Run(plain(Settings(steps=steps, seed=seed)), record)


MADE = Shipped("2026-11-30", "python tools/train_labs.py longer", "2.13.0", 12.5, (run(0), run(1), run(1, 300)))


def test_settings_as_json_gives_them_back() -> None:
    assert plain(Settings()) == {"steps": 4, "variants": ["a", "b"], "seed": 0}


def test_there_and_back(tmp_path: Path) -> None:
    path = write(MADE, "longer", tmp_path / "new")
    assert path == tmp_path / "new" / "longer.json"
    read = shipped("longer", tmp_path / "new")
    assert (read.made, read.program, read.torch, read.seconds) == (MADE.made, MADE.program, MADE.torch, MADE.seconds)
    assert [one.settings for one in read.runs] == [one.settings for one in MADE.runs]
    assert [one.record.plain() for one in read.runs] == [one.record.plain() for one in MADE.runs]
    assert len(read.runs[2].record.curves["a"].steps) <= POINTS
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 + len(MADE.runs), "a line for each, so that a change can be seen"
    json.loads("".join(lines))


def test_a_run_is_found_by_exactly_its_settings(tmp_path: Path) -> None:
    write(MADE, "longer", tmp_path)
    read = shipped("longer", tmp_path)
    assert read.of(Settings(seed=1)) is read.runs[1]
    assert read.of(Settings(steps=300, seed=1)) is read.runs[2]
    assert read.of(Settings(seed=2)) is None
    assert read.of(Settings(variants=("a",))) is None


def test_what_has_not_been_trained_has_no_runs(tmp_path: Path) -> None:
    assert shipped("longer", tmp_path).runs == ()


def test_an_unknown_experiment(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"experiment \('other'\) must be one of \['learning_heads', "):
        shipped("other", tmp_path)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_whole_comparison_ships(experiment: str) -> None:
    ships = shipped(experiment)
    comparison = importlib.import_module(EXPERIMENTS[experiment]).comparison()
    assert [one.settings for one in ships.runs] == [plain(settings) for settings in comparison]
    assert ships.program == f"python tools/train_labs.py {experiment}"
    assert datetime.date.fromisoformat(ships.made)
    for one in ships.runs:
        assert one.record.done == one.record.total > 0
        for curve in one.record.curves.values():
            assert len(curve.steps) == len(curve.losses) <= POINTS


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_what_ships_was_made_by_this_code(experiment: str) -> None:
    """The first step tells: other texts, first weights or batches would give another loss."""
    module = importlib.import_module(EXPERIMENTS[experiment])
    default = module.Settings()
    run = shipped(experiment).of(default)
    first = next(event for event in module.train(default) if isinstance(event, Step))
    assert run is not None
    assert run.record.curves[first.curve].steps[0] == first.step == 1
    assert run.record.curves[first.curve].losses[0] == pytest.approx(first.loss, abs=2e-3)
