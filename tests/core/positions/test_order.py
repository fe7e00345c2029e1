"""Does attention notice the order of words? On random layers, and on those of the bundled model."""

from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from core.masks import causal_mask
from core.model_embeddings import cosines, embed, encoder_layers
from core.model_heads import encoder_inputs
from core.models import TranslationModel, load
from core.positions.order import (
    Layer,
    Setting,
    layer_of,
    order_trials,
    put_back,
    random_layers,
    read,
    reversed_but_last,
    shuffled_but_last,
)
from core.positions.pairing import to_pairing
from core.positions.sinusoidal import sinusoidal_encoding
from core.projections import random_head, run_head

SENTENCE = "Le chat noir dort dans le jardin."
SEQ, D_MODEL = 7, 10


@pytest.fixture(scope="module")
def model() -> TranslationModel:
    return load("atlas-fr-en")


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def words() -> Tensor:
    return torch.randn(SEQ, D_MODEL, generator=generator(), dtype=torch.float64)


def layers(count: int) -> tuple[Layer, ...]:
    return random_layers(count, num_heads=2, d_model=D_MODEL, head_dim=5, generator=generator())


def check(trials) -> None:  # type: ignore[no-untyped-def]
    changes = {trial.setting: trial.change for trial in trials}
    assert list(changes) == list(Setting)
    assert changes[Setting.NO_MASK] < 1e-13
    assert changes[Setting.CAUSAL_ONE_LAYER] < 1e-13
    assert changes[Setting.CAUSAL_TWO_LAYERS] > 1e-3
    assert changes[Setting.WITH_POSITIONS] > 1e-3


def test_random_layers_notice_what_theory_says() -> None:
    order = shuffled_but_last(SEQ, generator())
    trials = order_trials(words(), sinusoidal_encoding(SEQ, D_MODEL), order, layers(2))
    check(trials)
    unmasked = trials[0]
    torch.testing.assert_close(unmasked.permuted.output, unmasked.original.output[list(order)], atol=1e-13, rtol=0)
    for before, after in zip(unmasked.original.weights, unmasked.permuted.weights, strict=True):
        torch.testing.assert_close(after, before[:, list(order)][:, :, list(order)], atol=1e-13, rtol=0)
    assert [len(trial.original.weights) for trial in trials] == [2, 1, 2, 2]


def test_real_layers_notice_the_same(model: TranslationModel) -> None:
    sentence = embed(model, SENTENCE, most_tokens=20)
    order = reversed_but_last(len(sentence.tokens))
    check(order_trials(sentence.words, sentence.positions, order, encoder_layers(model)))


def test_one_layer_is_its_heads_with_a_skip_connection() -> None:
    heads = [random_head(D_MODEL, 3, generator=generator()), random_head(D_MODEL, 3, generator=generator())]
    found = read(words(), [layer_of(heads)], None)
    traces = [run_head(words(), head) for head in heads]
    expected = words() + traces[0].result + traces[1].result
    torch.testing.assert_close(found.output, expected, atol=1e-13, rtol=0)
    torch.testing.assert_close(found.weights[0], torch.stack([trace.weights for trace in traces]), atol=1e-14, rtol=0)
    causal = read(words(), [layer_of(heads)], causal_mask(SEQ))
    assert (causal.weights[0].triu(1) == 0).all()


def test_without_a_change_of_order_nothing_changes() -> None:
    trials = order_trials(words(), sinusoidal_encoding(SEQ, D_MODEL), range(SEQ), layers(2))
    assert [trial.change for trial in trials] == [0, 0, 0, 0]


def test_orders_leave_the_last_place_alone() -> None:
    assert reversed_but_last(4) == (2, 1, 0, 3)
    assert reversed_but_last(1) == shuffled_but_last(1, generator()) == (0,)
    shuffled = shuffled_but_last(11, generator())
    assert sorted(shuffled) == list(range(11))
    assert shuffled[-1] == 10
    assert shuffled != tuple(range(11))


def test_what_was_moved_is_put_back() -> None:
    order = (2, 0, 1)  # the word that stood in place 2 now stands in place 0
    moved = torch.tensor([[22, 20, 21], [2, 0, 1], [12, 10, 11]])  # ten times who looks, and who is looked at
    assert put_back(moved, order).tolist() == [[0, 1, 2], [10, 11, 12], [20, 21, 22]]


def test_without_positions_the_same_words_are_looked_at() -> None:
    no_mask, *_ = order_trials(words(), words(), shuffled_but_last(SEQ, generator()), layers(2))
    assert no_mask.setting is Setting.NO_MASK
    for before, after in zip(no_mask.original.weights, no_mask.permuted.weights, strict=True):
        torch.testing.assert_close(put_back(after, no_mask.order), before, atol=1e-12, rtol=0)


def test_how_alike_vectors_are() -> None:
    vectors = torch.tensor([[2.0, 0.0], [3.0, 3.0], [0.0, -5.0]], dtype=torch.float64)
    half = 0.5**0.5
    expected = torch.tensor([[1, half, 0], [half, 1, -half], [0, -half, 1]], dtype=torch.float64)
    torch.testing.assert_close(cosines(vectors), expected, atol=1e-15, rtol=0)


def test_the_model_starts_from_words_and_positions(model: TranslationModel) -> None:
    sentence = embed(model, SENTENCE, most_tokens=20)
    read_by_model = encoder_inputs(model, SENTENCE, most_tokens=20)
    assert sentence.tokens == read_by_model.tokens
    torch.testing.assert_close(sentence.words + sentence.positions, read_by_model.states[0], atol=1e-5, rtol=0)
    ours = sinusoidal_encoding(len(sentence.tokens), model.facts.d_model)
    laid_out = to_pairing(ours, source="interleaved", target="half_split")  # all sines first
    torch.testing.assert_close(sentence.positions, laid_out, atol=1e-3, rtol=0)  # the weights are float16
    assert len(embed(model, "le chat " * 30, most_tokens=5).tokens) == 5
    assert embed(model, "le chat " * 30, most_tokens=5).tokens[-1] == "</s>"


def test_layers_of_the_model_give_its_weights(model: TranslationModel) -> None:
    ids = model.tokenizer(SENTENCE, return_tensors="pt").input_ids
    with torch.inference_mode():
        expected = model.network.get_encoder()(input_ids=ids, output_attentions=True).attentions
    found = encoder_layers(model)
    assert len(found) == model.facts.encoder_layers
    for layer, states, weights in zip(
        found, encoder_inputs(model, SENTENCE, most_tokens=20).states, expected, strict=True
    ):
        torch.testing.assert_close(layer(states, None)[1].float(), weights[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: order_trials(words(), words()[:3], range(SEQ), layers(2)), r"positions \(shape \(3, 10\)\) must have"),
        (lambda: order_trials(words(), words(), [0, 1, 2, 3, 4, 5], layers(2)), r"order \(\[0, 1, 2, 3, 4, 5\]\) must"),
        (lambda: order_trials(words(), words(), [6, 1, 2, 3, 4, 5, 0], layers(2)), r"order .* the last one last"),
        (lambda: order_trials(words(), words(), [0, 0, 2, 3, 4, 5, 6], layers(2)), r"order .* once"),
        (lambda: order_trials(words()[:0], words()[:0], [], layers(2)), r"order \(\[\]\) must"),
        (lambda: order_trials(words(), words(), range(SEQ), layers(1)), r"layers \(1\) must be at least 2"),
        (lambda: put_back(torch.ones(3, 3), [0, 1, 1]), r"order \(\[0, 1, 1\]\) must hold each place from 0 to 2 once"),
        (lambda: reversed_but_last(0), r"seq_len \(0\) must be at least 1"),
        (lambda: shuffled_but_last(0, generator()), r"seq_len \(0\) must be at least 1"),
        (lambda: random_layers(1, num_heads=1, d_model=0, head_dim=1, generator=generator()), r"d_model \(0\)"),
        (lambda: embed(SimpleNamespace(facts=SimpleNamespace(family="t5")), "x", most_tokens=3), r"family \('t5'\)"),
        (lambda: embed(load("atlas-fr-en"), "x", most_tokens=0), r"most_tokens \(0\) must be at least 1"),
    ],
)
def test_what_is_refused(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        call()
