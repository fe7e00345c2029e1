"""What the embeddings page offers to take along runs, and gives the numbers of the screen."""

from typing import Any

import numpy as np
import pytest
import torch

from core import embedding_snippets as snippets
from core.claims.embeddings import study_maps
from core.embedding_maps import Start, fit_pca, run_tsne
from core.embeddings import add_up, nearest, read_sum, toy_vectors
from core.model_embeddings import cosines
from core.model_words import model_words
from core.models import load_any

TOY = toy_vectors()
QUEEN = read_sum("king - man + woman = queen")


def ran(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(program, "snippet", "exec"), names)  # exactly what a student would run
    return names


@pytest.mark.parametrize(("components", "start"), [(2, Start.RANDOM), (3, Start.PCA)])
def test_word_map(components: int, start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    names = ran(snippets.word_map(TOY, components=components, perplexity=4, seed=7, start=start))
    fitted = fit_pca(TOY.vectors, components)
    torch.testing.assert_close(names["pca_map"], fitted.project(TOY.vectors))
    assert names["shares"].tolist() == pytest.approx(fitted.shares)
    expected = run_tsne(TOY.vectors, components=components, perplexity=4, seed=7, start=start)
    torch.testing.assert_close(names["tsne_map"].double(), expected)
    assert "bicycle" in capsys.readouterr().out


def test_study(capsys: pytest.CaptureFixture[str]) -> None:
    names = ran(snippets.study(TOY.words, TOY.groups, TOY.vectors.tolist(), perplexities=[3, 7], seeds=[1]))
    found = study_maps(
        TOY.vectors, TOY.groups, perplexities=[3, 7], seeds=[1], on_progress=lambda *_: None, cancelled=lambda: False
    )
    assert found is not None
    for setting, quality in found.qualities.items():
        assert names["qualities"][setting] == pytest.approx((quality.own, quality.distances))
        torch.testing.assert_close(names["maps"][setting], found.maps[setting])
    assert "own group" in capsys.readouterr().out


def test_sum_of_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    names = ran(snippets.sum_of_table(TOY, QUEEN))
    target = add_up(QUEEN.terms, dict(zip(TOY.words, TOY.vectors, strict=True)))
    torch.testing.assert_close(names["target"], target)
    assert names["WORDS"][names["ranking"][0]] == "queen"
    assert not {"king", "man", "woman"} & {names["WORDS"][index] for index in names["ranking"]}
    near = nearest(TOY.vectors, target, count=14)
    assert [float(names["cosines"][each.index]) for each in near] == pytest.approx([each.cosine for each in near])
    assert "all words" in capsys.readouterr().out


def test_sum_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    asked = read_sum("king - man + queen")
    names = ran(snippets.sum_of_model(asked, folder="core/assets/atlas-fr-en", revision=None, translates=True))
    model = load_any("atlas-fr-en")
    words = model_words(model.tokenizer, model.network.get_input_embeddings().get_parameter("weight"))
    vectors = {term.word: words.look_up(term.word).vector for term in asked.terms}
    target = add_up(asked.terms, vectors)  # type: ignore[arg-type]
    torch.testing.assert_close(names["target"], target)
    assert len(names["WORDS"]) == words.num_words
    expected = words.nearest(target, count=5, without=list(vectors))
    assert [names["WORDS"][index] for index in names["ranking"][:5]] == [word for word, _cosine in expected]
    assert "without the inputs" in capsys.readouterr().out


def test_cosines(capsys: pytest.CaptureFixture[str]) -> None:
    names = ran(snippets.cosines(TOY.words[:3], TOY.groups[:3], TOY.vectors[:3].tolist()))
    np.testing.assert_allclose(names["cosines"].numpy(), cosines(TOY.vectors[:3]).numpy(), atol=1e-12)
    assert "king" in capsys.readouterr().out


def test_programs_survive_any_word() -> None:
    odd = ['"""\n\\', "{braces}", "猫'"]
    for program in (
        snippets.cosines(odd, [0, 0, 0], [[1.0, 2.0]] * 3),
        snippets.study(odd, [0, 0, 0], [[1.0, 2.0]] * 3, perplexities=[2], seeds=[0]),
        snippets.sum_of_model(read_sum("{a} + \"'b"), folder="C:\\models", revision="main", translates=False),
    ):
        compile(program, "snippet", "exec")
