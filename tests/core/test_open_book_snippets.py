"""The program that the open-book page offers runs without this app, and gives the numbers of the screen."""

from typing import Any

import pytest

from core.labs.open_book import Settings, train
from core.labs.open_book_exam import CLOSED, OPEN
from core.labs.record import Record
from core.open_book_snippets import open_book


@pytest.mark.parametrize("leak", [2, 64])
def test_the_program_gives_the_same_numbers(leak: int, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(num_layers=1, d_model=16, steps=3, leak=leak, seed=5)
    names: dict[str, Any] = {}
    exec(compile(open_book(settings), "snippet", "exec"), names)  # exactly what a student would run
    record = Record()
    for event in train(settings):
        record.add(event)
    for curve, name in ((CLOSED, "closed book"), (OPEN, "open book")):
        assert names["losses"][name] == pytest.approx(record.curves[curve].losses, abs=1e-4)
        assert names["honest"][name] == pytest.approx(record.found[curve]["exam"]["honest"]["loss"], abs=1e-3)
    assert "core" not in open_book(settings)
    assert "open book: with only the past in sight" in capsys.readouterr().out
