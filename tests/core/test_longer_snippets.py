"""What the page of longer texts offers to take along runs without the app, and gives the numbers of the training."""

from typing import Any

import pytest

from core import longer_snippets
from core.labs import longer
from core.labs.longer import Kind, Settings, train
from core.labs.longer_summary import mean_beyond
from core.labs.record import Record


@pytest.mark.parametrize("kind", list(Kind))
def test_it_trains_the_same_model(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, number in {"TRAIN": 60, "UNSEEN": 20, "JUDGED": 6, "GLANCED": 2}.items():
        monkeypatch.setattr(longer, name, number)
    only = {other.value: other is kind for other in Kind}
    settings = Settings(**only, trained_len=8, steps=4, factor=2, tune_steps=2, seed=3)
    record = Record()
    for event in train(settings):
        record.add(event)
    program = longer_snippets.training(settings, kind)
    assert "core." not in program
    names: dict[str, Any] = {}
    exec(compile(program, "snippet", "exec", dont_inherit=True), names)  # exactly what a student would run
    assert names["loss"] == pytest.approx(record.found[kind]["loss"], abs=2e-4)
    assert names["window"] == pytest.approx(mean_beyond(record.found[kind]["window"]), abs=2e-4)
    for name in ("before", "after"):
        expected = {f"rope.{method}": values for method, values in names[name].items()}
        for curve, values in expected.items():
            if kind is Kind.ROPE:
                assert values == pytest.approx(record.found[curve][name], abs=2e-4)
    if kind is Kind.ROPE:
        assert len(names["before"]) == len(names["after"]) == 4
    assert "in windows of 8" in capsys.readouterr().out
