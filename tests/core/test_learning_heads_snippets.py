"""What the learning heads page offers to take along runs, and gives the numbers of the screen."""

from typing import Any

import pytest

from core import learning_heads_snippets
from core.labs.learning_heads import Settings, train
from core.labs.record import Record


@pytest.mark.parametrize("mlp", [False, True])
def test_the_program_trains_the_same_layers(mlp: bool, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(look_ups=3, heads=(1, 4), d_model=16, mlp=mlp, steps=100, seed=7)
    names: dict[str, Any] = {}
    exec(compile(learning_heads_snippets.training(settings), "snippet", "exec"), names)  # what a student would run
    record = Record()
    for event in train(settings):
        record.add(event)
    for num_heads in settings.heads:
        assert names["losses"][num_heads] == pytest.approx(record.curves[str(num_heads)].losses, abs=2e-3)
        history = record.found[str(num_heads)]["history"]
        assert names["accuracies"][num_heads] == pytest.approx(history["accuracy"][-1], abs=2e-3)
    assert "4 heads: loss" in capsys.readouterr().out
