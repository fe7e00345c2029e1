"""What runs have found, read back, and what all seeds say together."""

from dataclasses import asdict

import pytest

from core.labs import open_book_writing
from core.labs.open_book import Settings, train
from core.labs.open_book_exam import CLOSED, OPEN, Score
from core.labs.open_book_results import (
    Look,
    Paper,
    Winner,
    Writing,
    attention,
    bands,
    exam_losses,
    final_loss,
    honest_curve,
    rows,
    strongest,
    winner,
    wins,
)
from core.labs.record import Curve, Record
from core.labs.shipped import Run
from core.labs.spread import Spread


def made(seed: int, leak: int, closed: float, opened: float, real: float | None = 0.5) -> Run:
    """A run as if it had been trained: its exam's losses are given."""

    def found(loss: float, own: float) -> dict[str, object]:
        scores = {
            name: {"loss": value, "accuracy": value / 20}
            for name, value in (("honest", loss), ("so_far", loss + 1), ("open", own))
        }
        text = {"text": "aa", "repeated": 0.25, "again": 0.5, "real": real}
        return {
            "exam": {**scores, "by_place": [loss] * 64},
            "texts": {"greedy": [text], "sampled": [text, {**text, "repeated": 0.75}]},
            "honest_curve": {"steps": [0, 10], "losses": [3.4, loss]},
        }

    record = Record(
        {CLOSED: Curve([1, 10], [3.4, closed]), OPEN: Curve([1, 10], [3.4, 0.01])},
        {CLOSED: found(closed, closed), OPEN: found(opened, 0.01)},
    )
    return Run(asdict(Settings(leak=leak, seed=seed)), record)


RUNS = [made(seed, leak, 0.4 + seed / 10, 5.0 + seed + leak / 64) for seed in (0, 1, 2) for leak in (1, 64)]


def test_a_training_can_be_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_book_writing, "LENGTH", 12)
    record = Record()
    for event in train(Settings(num_layers=1, d_model=16, steps=2)):
        if not record.found:
            assert Paper.of(record, OPEN) is None
            assert Writing.of(record, OPEN, "greedy") == ()
            assert honest_curve(record, OPEN).steps == []
            assert attention(record, OPEN) == []
        record.add(event)
    paper = Paper.of(record, OPEN)
    assert paper is not None
    assert paper.honest.loss == record.found[OPEN]["exam"]["honest"]["loss"]
    assert paper.so_far != paper.open
    assert len(paper.by_place) == 64
    assert [text.text for text in Writing.of(record, OPEN, "sampled")] == [
        text["text"] for text in record.found[OPEN]["texts"]["sampled"]
    ]
    assert honest_curve(record, CLOSED).steps == [0, 2]
    assert len(attention(record, CLOSED)[0]) == 4


@pytest.mark.parametrize(
    ("closed", "opened", "found"),
    [
        (1.0, 1.0625, Winner.CLOSED),
        (1.0625, 1.0, Winner.OPEN),
        (1.0, 1.03125, Winner.NEITHER),
        (1.03125, 1.0, Winner.NEITHER),
    ],
)
def test_who_wins(closed: float, opened: float, found: Winner) -> None:
    assert winner(Score(closed, 0), Score(opened, 0)) is found


def test_a_difference_of_the_margin_is_none() -> None:
    assert winner(Score(1.0, 0), Score(1.5, 0), margin=0.5) is Winner.NEITHER
    assert winner(Score(1.0, 0), Score(1.5, 0), margin=0.25) is Winner.CLOSED


def test_the_loss_at_the_end_of_a_training() -> None:
    curve = Curve([1, 50, 90, 95, 100], [9.0, 5.0, 3.0, 2.0, 1.0])
    assert final_loss(curve) == 2.0
    assert final_loss(curve, last=0) == 1.0
    with pytest.raises(ValueError, match="curve must have at least one step"):
        final_loss(Curve())


def test_the_strongest_head() -> None:
    quiet = [0.05] * 17
    loud = [*quiet[:9], 0.9, *quiet[10:]]
    assert strongest([[quiet, quiet], [quiet, loud]]) == Look(1, 1, 1, 0.9)
    with pytest.raises(ValueError, match="weights must hold at least one head"):
        strongest([])


def test_rows() -> None:
    closed, one, every = rows(RUNS)
    assert (closed.leak, one.leak, every.leak) == (0, 1, 64)
    assert closed.honest.count == one.honest.count == every.honest.count == 3  # a closed book counts once for each seed
    assert closed.honest == Spread.of(0.4 + seed / 10 for seed in (0, 1, 2))
    assert closed.training.mean == pytest.approx(0.5)
    assert every.honest.mean == 7.0
    assert every.so_far.mean == 8.0
    assert every.training.mean == 0.01
    assert every.accuracy.mean == pytest.approx(0.35)
    assert every.repeated.mean == 0.5
    assert every.real.mean == 0.5


def test_a_text_without_words_has_no_real_ones() -> None:
    assert rows([made(0, 64, 0.4, 5.0, real=None)])[1].real.mean == 0


def test_exam_losses() -> None:
    assert exam_losses(RUNS) == {
        0: pytest.approx([0.4, 0.5, 0.6]),
        1: pytest.approx([5 + 1 / 64, 6 + 1 / 64, 7 + 1 / 64]),
        64: pytest.approx([6, 7, 8]),
    }


def test_wins() -> None:
    even, other = made(3, 64, 5.0, 5.0), made(4, 64, 6.0, 5.0)
    unsat = Run(asdict(Settings()), Record())
    assert wins([*RUNS, even, other, unsat]) == {Winner.CLOSED: 6, Winner.OPEN: 1, Winner.NEITHER: 1}


def test_bands() -> None:
    found = bands(RUNS)
    assert list(found) == [0, 1, 64]
    assert found[64].steps == (0, 10)
    assert [sorted(spread.values) for spread in found[64].losses] == [[3.4, 3.4, 3.4], [6.0, 7.0, 8.0]]


def test_bands_need_the_same_steps() -> None:
    other = made(1, 64, 0.4, 5.0)
    other.record.found[OPEN]["honest_curve"] = {"steps": [0, 20], "losses": [3.4, 5.0]}
    with pytest.raises(ValueError, match="must have the same steps"):
        bands([made(0, 64, 0.4, 5.0), other])


def test_without_runs_there_is_nothing() -> None:
    assert rows([]) == ()
    assert bands([]) == exam_losses([]) == {}
    assert rows([Run(asdict(Settings()), Record())]) == ()
