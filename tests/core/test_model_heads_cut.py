"""How a long sentence is cut for the heads of an encoder, and what that must leave alone."""

import pytest

from core.model_heads import encoder_inputs
from core.models import TranslationModel
from core.models.facts import read_facts
from tests.tiny import tiny_marian, tiny_tokenizer

TEXT = "Le chat noir dort sur la table."


@pytest.fixture(scope="module")
def model() -> TranslationModel:
    network, tokenizer = tiny_marian(), tiny_tokenizer()
    return TranslationModel("tiny", network, tokenizer, read_facts(network, tokenizer), ())


def test_long_sentences_are_cut_before_the_end_token(model: TranslationModel) -> None:
    whole = model.tokenizer.convert_ids_to_tokens(model.tokenizer(TEXT).input_ids)
    for most, tokens in [
        (1, ["</s>"]),
        (4, [*whole[:3], "</s>"]),
        (len(whole) - 1, [*whole[:-2], "</s>"]),
        (len(whole), whole),
        (99, whole),
    ]:
        read = encoder_inputs(model, TEXT, most_tokens=most)
        assert list(read.tokens) == tokens
        assert read.states.shape == (2, len(tokens), 33)


def test_the_shared_tokenizer_is_left_as_it_was(model: TranslationModel) -> None:
    before = model.tokenizer.backend_tokenizer.to_str()
    encoder_inputs(model, TEXT, most_tokens=4)
    assert model.tokenizer.backend_tokenizer.to_str() == before
