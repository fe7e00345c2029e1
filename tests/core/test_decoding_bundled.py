"""The bundled model against `generate` in transformers: token for token and score for score, in float64."""

import pytest

from core.decoding import translate
from core.models import load
from tests.french import french_sentences
from tests.reference import generated
from tests.tiny import Model

SENTENCES = french_sentences(200)
MAX_NEW_TOKENS = 16


@pytest.fixture(scope="module")
def model() -> Model:
    bundled = load("atlas-fr-en")
    return Model(bundled.network.double(), bundled.tokenizer)


def assert_equal(model: Model, sentences: list[str], **settings: object) -> None:
    """Ours, a sentence at a time, is theirs."""
    settings = {"max_new_tokens": MAX_NEW_TOKENS, **settings}
    theirs = generated(model.network, model.tokenizer, sentences, **settings)
    for sentence, expected in zip(sentences, theirs, strict=True):
        trace = translate(model, sentence, **settings)
        assert trace.token_ids == expected.token_ids, sentence
        if expected.score is not None:
            assert trace.score == pytest.approx(expected.score, rel=1e-6), sentence


@pytest.mark.parametrize("num_beams", [1, 2, 4, 8])
def test_200_sentences(model: Model, num_beams: int) -> None:
    assert_equal(model, SENTENCES, num_beams=num_beams)


@pytest.mark.parametrize("num_beams", [2, 4, 8])
@pytest.mark.parametrize(("length_penalty", "early_stopping"), [(0.6, True), (2.0, "never")])
def test_40_sentences_with_other_length_penalties_and_ends(
    model: Model, num_beams: int, length_penalty: float, early_stopping: bool | str
) -> None:
    assert_equal(
        model, SENTENCES[::5], num_beams=num_beams, length_penalty=length_penalty, early_stopping=early_stopping
    )


def test_the_first_sentence() -> None:
    assert translate(load("atlas-fr-en"), "Je t'aime").text == "I love you."
