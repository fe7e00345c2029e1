"""What the page "Three matrices" offers to take along trains the very same layers."""

from typing import Any

import pytest

from core.labs.record import Record
from core.labs.three_matrices import Settings, train
from core.three_matrices_snippets import training


@pytest.mark.parametrize(
    "settings",
    [
        Settings(task="three", look_at_self=False, d_model=16, head_dim=5, steps=100, seed=3),
        Settings(task="copy", skip=True, variants=("separate", "none"), d_model=8, steps=100),
    ],
)
def test_the_program_trains_the_same_layers(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(compile(training(settings), "snippet", "exec"), names)  # exactly what a student would run
    record = Record()
    for event in train(settings):
        record.add(event)
    assert list(names["losses"]) == list(settings.variants)
    for variant in settings.variants:
        assert names["losses"][variant][:30] == pytest.approx(record.curves[variant].losses[:30], abs=2e-3)
        accuracy = record.found[variant]["measured"]["accuracy"]
        assert names["accuracies"][variant] == pytest.approx(accuracy, abs=0.02)
    assert capsys.readouterr().out.count("accuracy") == len(settings.variants)
