"""The same sentences with several beam widths."""

from types import SimpleNamespace

import pytest
import torch

from core.quality import MeasurementCancelledError, Metric, Pair
from core.width_study import WidthStudy, study_widths
from tests.tiny import tiny_marian, tiny_tokenizer

MODEL = SimpleNamespace(network=tiny_marian().eval(), tokenizer=tiny_tokenizer())
PAIRS = (
    Pair("le chat dort", "the cat sleeps"),
    Pair("je mange du pain", "i eat bread"),
    Pair("il fait beau", "the weather is nice"),
)


def study(**changes: object) -> WidthStudy:
    settings = {"length_penalty": 1.0, "generator": torch.Generator().manual_seed(0), "widths": (1, 2, 4)} | changes
    return study_widths(MODEL, PAIRS, **settings)


def test_measures_every_width_and_counts_every_sentence() -> None:
    seen: list[tuple[int, int]] = []
    found = study(on_progress=lambda done, total: seen.append((done, total)))
    assert list(found.runs) == [1, 2, 4]
    assert seen == [(done, 9) for done in range(1, 10)]
    assert found.by_log_probability.sentences == found.by_score.sentences == len(PAIRS)
    for metric in Metric:
        assert len(found.intervals[metric]) == 3
        assert found.gain[metric].low <= found.gain[metric].high


def test_the_same_seed_gives_the_same_study() -> None:
    first, second = study(), study()
    assert first.intervals == second.intervals
    assert first.gain == second.gain


def test_stops_when_asked() -> None:
    with pytest.raises(MeasurementCancelledError):
        study(cancelled=lambda: True)


def test_needs_what_it_compares() -> None:
    with pytest.raises(ValueError, match=r"widths \(\(1, 2\)\) must hold 1 and 4"):
        study(widths=(1, 2))
