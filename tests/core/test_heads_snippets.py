"""What the heads page offers to take along runs, and gives the numbers of the screen."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core import heads_snippets
from core.attention_snippets import Library
from core.decoding import translate
from core.heads import MultiHead, random_multi_head, run_multi_head
from core.heads_gallery import HeadName, Kind, Measure, attention_maps, measure_heads
from core.heads_loss import loss_batches, mean_loss
from core.heads_off import switch_off
from core.models import TranslationModel, load
from core.projections import Projection
from core.quality import Pair
from tests.tiny import SENTENCES, save_model, tiny_marian, tiny_t5, tiny_tokenizer

TEXT = "Le chat noir dort sur la table."
PAIRS = [Pair(source, reference) for source, reference in zip(SENTENCES[:8:2], SENTENCES[1:8:2], strict=True)]
both = pytest.mark.parametrize("library", list(Library))


def ran(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(program, "snippet", "exec"), names)  # exactly what a student would run
    return names


@pytest.fixture(autouse=True)
def _single_precision_again():  # type: ignore[no-untyped-def]
    yield
    torch.set_default_dtype(torch.float32)  # the program in PyTorch sets it for itself


def case() -> tuple[torch.Tensor, MultiHead]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(7, 6, generator=generator, dtype=torch.float64), random_multi_head(6, generator=generator)


@both
@pytest.mark.parametrize("num_heads", [1, 2, 3])
def test_multi_head(library: Library, num_heads: int, capsys: pytest.CaptureFixture[str]) -> None:
    x, layer = case()
    trace = run_multi_head(x, layer, num_heads)
    names = ran(heads_snippets.multi_head(library, trace, layer, num_heads))
    for name in ("scores", "weights", "output", "merged", "result"):
        np.testing.assert_allclose(np.asarray(names[name]), getattr(trace, name).numpy(), atol=1e-12)
    assert capsys.readouterr().out


@both
@pytest.mark.parametrize("reason", ["biased", "large"])
def test_multi_head_from_its_queries_on(library: Library, reason: str) -> None:
    x, layer = case()
    if reason == "biased":
        layer = MultiHead(Projection(layer.q.weight, torch.ones(6, dtype=torch.float64)), layer.k, layer.v, layer.o)
    trace = run_multi_head(x, layer, 3)
    names = ran(heads_snippets.multi_head(library, trace, layer, 3, most_numbers=20_000 if reason == "biased" else 185))
    np.testing.assert_allclose(np.asarray(names["merged"]), trace.merged.numpy(), atol=1e-12)
    assert "W_Q" not in names


@pytest.fixture(scope="module", params=[tiny_marian, tiny_t5])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TranslationModel:
    folder = tmp_path_factory.mktemp("model")
    save_model(request.param(), tiny_tokenizer(), folder)
    return load(str(folder))


def test_gallery(model: TranslationModel, capsys: pytest.CaptureFixture[str]) -> None:
    trace = translate(model, TEXT, max_new_tokens=9)
    names = ran(heads_snippets.gallery(folder=model.name, revision=None, text=TEXT, said=trace.token_ids))
    expected = [each for maps in attention_maps(trace) for each in measure_heads(maps)]
    assert list(names["heads"]) == [(e.name.kind, e.name.layer, e.name.head) for e in expected]
    for each in expected:
        found = names["heads"][each.name.kind, each.name.layer, each.name.head]
        assert found == pytest.approx({str(m): getattr(each, m) for m in Measure}, abs=1e-4)
    assert "entropy" in capsys.readouterr().out


def test_heads_off(model: TranslationModel, capsys: pytest.CaptureFixture[str]) -> None:
    off = [HeadName(Kind.CROSS, layer, head) for layer in range(2) for head in range(2)]
    off += [HeadName(Kind.ENCODER, 0, 2), HeadName(Kind.DECODER, 1, 0)]
    names = ran(heads_snippets.heads_off(folder=model.name, revision=None, text=TEXT, off=off, pairs=PAIRS))
    without = switch_off(model, off)
    assert names["loss"] == pytest.approx(mean_loss(without, loss_batches(model, PAIRS)), rel=1e-5)
    assert names["loss"] != pytest.approx(mean_loss(model, loss_batches(model, PAIRS)), rel=1e-3)
    assert names["translation"] == translate(without, TEXT).text
    assert "loss" in capsys.readouterr().out


def test_programs_survive_any_text(tmp_path: Path) -> None:
    odd = '"""\n\\ {braces} 猫'
    for program in (
        heads_snippets.gallery(folder="C:\\models\\'x'", revision=None, text=odd, said=[1]),
        heads_snippets.heads_off(folder=str(tmp_path), revision="main", text=odd, off=[], pairs=[Pair(odd, odd)]),
    ):
        compile(program, "snippet", "exec")
