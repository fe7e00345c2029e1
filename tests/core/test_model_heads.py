"""The heads of the bundled model are read as the model itself uses them."""

from types import SimpleNamespace

import pytest
import torch

from core.model_heads import encoder_head, encoder_inputs, measure_entropies
from core.models import TranslationModel, load
from core.projections import run_head

SENTENCE = "Le chat dort dans le jardin."


@pytest.fixture(scope="module")
def model() -> TranslationModel:
    return load("atlas-fr-en")


def test_every_head_gives_the_weights_of_the_model(model: TranslationModel) -> None:
    ids = model.tokenizer(SENTENCE, return_tensors="pt").input_ids
    with torch.inference_mode():
        attentions = model.network.get_encoder()(input_ids=ids, output_attentions=True).attentions
    read = encoder_inputs(model, SENTENCE, most_tokens=64)
    for layer, x in enumerate(read.states):
        for head in range(model.facts.num_heads):
            weights = run_head(x, encoder_head(model, layer, head)).weights
            torch.testing.assert_close(weights.float(), attentions[layer][0, head], atol=1e-5, rtol=0)


def test_all_heads_together_give_what_the_layer_adds(model: TranslationModel) -> None:
    read = encoder_inputs(model, SENTENCE, most_tokens=64)
    x, attention = read.states[1], model.network.get_encoder().layers[1].self_attn
    parts = [run_head(x, encoder_head(model, 1, head)).result for head in range(model.facts.num_heads)]
    with torch.inference_mode():
        expected = attention(x[None].float())[0][0]
    torch.testing.assert_close(torch.stack(parts).sum(0).float() + attention.out_proj.bias, expected, atol=1e-4, rtol=0)


def test_tokens_and_states_belong_together(model: TranslationModel) -> None:
    read = encoder_inputs(model, SENTENCE, most_tokens=64)
    facts = model.facts
    assert read.states.shape == (facts.encoder_layers, len(read.tokens), facts.d_model)
    assert read.tokens[-1] == "</s>"


def test_a_long_sentence_is_cut(model: TranslationModel) -> None:
    read = encoder_inputs(model, "le chat " * 30, most_tokens=7)
    assert len(read.tokens) == 7
    assert read.was_cut


def test_a_sentence_that_just_fits_is_not_cut(model: TranslationModel) -> None:
    tokens = encoder_inputs(model, SENTENCE, most_tokens=64).tokens
    read = encoder_inputs(model, SENTENCE, most_tokens=len(tokens))
    assert read.tokens == tokens
    assert not read.was_cut
    assert encoder_inputs(model, SENTENCE, most_tokens=len(tokens) - 1).was_cut


def test_without_the_scaling_real_heads_look_at_fewer_tokens(model: TranslationModel) -> None:
    found = measure_entropies(model, SENTENCE, most_tokens=64)
    assert found.heads == model.facts.encoder_layers * model.facts.num_heads
    assert 0 < found.unscaled < found.scaled


@pytest.mark.parametrize(("layer", "head", "message"), [(3, 0, r"layer \(3\)"), (0, -1, r"head \(-1\)")])
def test_there_must_be_such_a_head(model: TranslationModel, layer: int, head: int, message: str) -> None:
    with pytest.raises(ValueError, match=f"{message} must be between 0 and"):
        encoder_head(model, layer, head)


def test_other_families_are_refused() -> None:
    t5 = SimpleNamespace(facts=SimpleNamespace(family="t5"))
    for read in (lambda: encoder_head(t5, 0, 0), lambda: encoder_inputs(t5, "x", most_tokens=3)):
        with pytest.raises(ValueError, match=r"family \('t5'\) must be 'marian'"):
            read()
