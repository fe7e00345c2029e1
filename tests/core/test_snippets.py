"""What a page offers to take along runs, and gives the numbers that the page shows."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from core import snippets
from core.attention_maps import pick
from core.decoding import DecodingTrace, translate
from core.quality import Metric, score, sentence_counts
from tests.tiny import save_model, tiny_marian, tiny_tokenizer

SENTENCE = "le chat dort dans le jardin"


@pytest.fixture
def trace() -> DecodingTrace:
    model = SimpleNamespace(network=tiny_marian().eval(), tokenizer=tiny_tokenizer())
    return translate(model, SENTENCE, num_beams=3, length_penalty=0.7)


@pytest.mark.parametrize(("layer", "head"), [(None, None), (1, None), (None, 0), (0, 1)])
def test_translation_reproduces_the_trace(
    trace: DecodingTrace, tmp_path: Path, capsys: pytest.CaptureFixture[str], layer: int | None, head: int | None
) -> None:
    save_model(tiny_marian(), tiny_tokenizer(), tmp_path)
    step = len(trace.steps) - 1
    program = snippets.translation(
        folder=str(tmp_path),
        revision=None,
        text=SENTENCE,
        said=trace.token_ids,
        step=step,
        layer=layer,
        head=head,
        length_penalty=0.7,
    )
    names: dict[str, Any] = {}
    exec(compile(program, "snippet", "exec"), names)  # exactly what a student would run
    assert names["score"] == pytest.approx(trace.score, abs=1e-5)
    found = names["cross_attention"].mean(dim=(0, 1))
    torch.testing.assert_close(found, pick(trace.cross_attention, layer=layer, head=head), atol=1e-5, rtol=0)
    for candidate in trace.steps[step].candidates:
        measured = float(names["log_probabilities"][step, candidate.token_id])
        assert measured == pytest.approx(candidate.log_probability, abs=1e-4)
    assert trace.text in capsys.readouterr().out


def test_translation_survives_any_text(trace: DecodingTrace) -> None:
    program = snippets.translation(
        folder="C:\\models\\'x'",
        revision=None,
        text='"""\n\\ {braces} 猫',
        said=trace.token_ids,
        step=0,
        layer=None,
        head=None,
        length_penalty=1.0,
    )
    compile(program, "snippet", "exec")


def test_quality_gives_the_page_s_figures(capsys: pytest.CaptureFixture[str]) -> None:
    translations, references = ("the cat sleeps", "i eat bread"), ("the cat is sleeping", "i eat bread")
    names: dict[str, Any] = {}
    exec(snippets.quality(translations=translations, references=references), names)
    for metric, found in ((Metric.BLEU, names["bleu"]), (Metric.CHRF, names["chrf"])):
        counts = sentence_counts(metric, translations, references)
        assert found == pytest.approx(score(metric, counts.sum(dim=0)))
    assert "chrF" in capsys.readouterr().out
