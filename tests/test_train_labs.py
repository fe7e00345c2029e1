"""The program that makes the results that ship: it goes on where it was, and it finds what differs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.labs.catalogue import EXPERIMENTS
from core.labs.process import ROOT
from core.labs.shipped import shipped
from tests.core.labs.fakes import CATALOGUE
from tests.core.labs.tiny_lab import Settings, comparison
from tools import train_labs

Program = Callable[..., int]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """program("tiny", "--check"): what it returns; what is kept and what ships stands in folders of its own."""

    def run(*arguments: str) -> int:
        return train_labs.main([*arguments, "--keep", str(tmp_path / "kept"), "--jobs", "2"], CATALOGUE, tmp_path)

    return run


def test_results_are_made_and_made_again(program: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert program("tiny") == 0
    made = shipped("tiny", tmp_path)
    assert made.program == "python tools/train_labs.py tiny"
    assert made.torch == "2.13.0"
    assert len(made.runs) == len(comparison()) == 4
    assert all(made.of(settings) is not None for settings in comparison())
    assert "4 of 4" in capsys.readouterr().out

    kept = sorted((tmp_path / "kept").iterdir())
    assert len(kept) == 4
    whole = json.loads(kept[0].read_text())
    kept[0].write_text(json.dumps({**whole, "seconds": 1000}))
    kept[1].unlink()
    assert program() == 0, "all experiments, if none is named"
    assert shipped("tiny", tmp_path).seconds >= 1000, "what is kept is not run again"
    assert sorted((tmp_path / "kept").iterdir()) == kept

    assert program("tiny", "--check") == 0
    assert "3 of 3 numbers are the same" in capsys.readouterr().out

    path = tmp_path / "tiny.json"
    other = json.loads(path.read_text())
    other["runs"][0]["record"]["found"]["fit"]["weight"] += 0.01
    path.write_text(json.dumps(other))
    assert program("tiny", "--check") == 0, "two seeds lie farther apart"
    assert "within" in capsys.readouterr().out
    other["runs"][0]["record"]["found"]["fit"]["threads"] = 2
    for run in other["runs"]:
        run["record"]["found"]["fit"]["weight"] = 50
    path.write_text(json.dumps(other))
    assert program("tiny", "--check") == 1
    said = capsys.readouterr().out
    assert "fit: weight  shipped 50.0, now " in said
    assert "spread 0: OUTSIDE" in said


def test_a_training_that_fails_ends_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trainer = train_labs.Trainer(1, tmp_path, CATALOGUE)
    with pytest.raises(RuntimeError, match=r"tiny with \{'steps': 0\} has failed: error"):
        list(trainer.run("tiny", [{"steps": 0}]))
    assert "steps (0) must be at least 1" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["other"], ["tiny", "--jobs", "0"], ["tiny", "--check", "some"]])
def test_bad_arguments(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        train_labs.main(arguments, CATALOGUE, tmp_path)
    assert "error" in capsys.readouterr().err


def test_the_digest_knows_what_a_module_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Directly or not; not what is of others."""
    monkeypatch.setattr(train_labs, "ROOT", tmp_path)
    files = {
        "a.py": "import torch\nfrom b import c\n",
        "b/__init__.py": "",
        "b/c.py": "def f():\n    import d\n",
        "d.py": "",
        "e.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = train_labs.digest("a")
    for name in files:
        (tmp_path / name).write_text(files[name] + "\n")
        assert (train_labs.digest("a") == before) == (name == "e.py"), name
        (tmp_path / name).write_text(files[name])
    assert train_labs.digest("a") == before


def test_the_default_settings_are_part_of_every_comparison() -> None:
    assert Settings() in comparison()
    trainer = train_labs.Trainer(1, Path(train_labs.KEPT))
    for experiment, module in EXPERIMENTS.items():
        if (ROOT / f"{module.replace('.', '/')}.py").exists():
            assert trainer.module(experiment).Settings() in trainer.module(experiment).comparison()
