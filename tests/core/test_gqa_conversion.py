"""A real layer with fewer KV heads: as it is with all of them, and by hand for small ones."""

from types import SimpleNamespace

import pytest
import torch

from core.gqa import GroupedQueryAttention, random_layer
from core.gqa_conversion import (
    ConversionError,
    Pooling,
    convert,
    encoder_attention,
    first_kv_heads,
    measure_conversion,
    measure_encoder,
)
from core.model_heads import encoder_inputs
from core.models import TranslationModel, load

SENTENCE = "Le chat dort dans le jardin."
both = pytest.mark.parametrize("pooling", list(Pooling))


@pytest.fixture(scope="module")
def model() -> TranslationModel:
    return load("atlas-fr-en")


def layer_and_tokens() -> tuple[GroupedQueryAttention, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    layer = random_layer(13, 6, 6, generator=generator, head_dim=5)
    return layer, torch.randn(2, 7, 13, generator=generator, dtype=torch.float64)


def test_a_layer_gives_what_the_model_gives(model: TranslationModel) -> None:
    read = encoder_inputs(model, SENTENCE, most_tokens=64)
    for number, x in enumerate(read.states):
        theirs = model.network.get_encoder().layers[number].self_attn
        with torch.inference_mode():
            expected = theirs(x[None].float())[0]
        torch.testing.assert_close(encoder_attention(model, number)(x[None]).float(), expected, rtol=0, atol=1e-4)


def test_the_first_by_hand() -> None:
    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 8.0], [0.0, 1.0]])
    kept = first_kv_heads(weight, num_kv_heads_from=4, num_kv_heads_to=2, head_dim=1)
    assert kept.tolist() == [[1.0, 2.0], [5.0, 8.0]]
    with pytest.raises(ValueError, match=r"num_kv_heads_from \(4\) must be divisible by num_kv_heads_to \(3\)"):
        first_kv_heads(weight, num_kv_heads_from=4, num_kv_heads_to=3, head_dim=1)


@both
def test_with_all_kv_heads_nothing_changes(pooling: Pooling) -> None:
    layer, x = layer_and_tokens()
    assert torch.equal(convert(layer, 6, pooling)(x), layer(x))


@both
@pytest.mark.parametrize("num_kv_heads", [3, 2, 1])
def test_heads_that_are_equal_already_merge_without_loss(num_kv_heads: int, pooling: Pooling) -> None:
    layer, x = layer_and_tokens()
    with torch.no_grad():
        for linear in (layer.k_proj, layer.v_proj):
            linear.weight.copy_(torch.cat([linear.weight[:5]] * 6))
    converted = convert(layer, num_kv_heads, pooling)
    assert converted.num_kv_heads == num_kv_heads
    torch.testing.assert_close(converted(x), layer(x), rtol=0, atol=1e-13)


def test_queries_and_the_output_projection_stay(model: TranslationModel) -> None:
    layer = encoder_attention(model, 0)
    converted = convert(layer, 2, Pooling.MEAN)
    for name in ("q_proj.weight", "q_proj.bias", "o_proj.weight", "o_proj.bias"):
        assert torch.equal(converted.state_dict()[name], layer.state_dict()[name])
    halves = layer.k_proj.bias.unflatten(0, (4, -1))
    torch.testing.assert_close(converted.k_proj.bias[: len(halves[0])], (halves[0] + halves[1]) / 2)


def test_a_layer_that_shares_already_can_share_more() -> None:
    layer, x = layer_and_tokens()
    twice = convert(convert(layer, 3, Pooling.MEAN), 1, Pooling.MEAN)
    torch.testing.assert_close(twice(x), convert(layer, 1, Pooling.MEAN)(x), rtol=0, atol=1e-13)
    assert {error.num_kv_heads for error in measure_conversion(convert(layer, 3, Pooling.MEAN), x)} == {1, 3}


def test_errors_are_relative_to_the_layers_own_output() -> None:
    layer, x = layer_and_tokens()
    found = {(each.num_kv_heads, each.pooling): each.error for each in measure_conversion(layer, x)}
    assert set(found) == {(count, pooling) for count in (1, 2, 3, 6) for pooling in Pooling}
    own, first = layer(x), convert(layer, 2, Pooling.FIRST)(x)
    expected = ((first - own).square().sum() / own.square().sum()).sqrt().item()
    assert found[2, Pooling.FIRST] == pytest.approx(expected, rel=1e-12)
    assert found[6, Pooling.MEAN] == 0


def test_every_encoder_layer_is_measured_on_what_it_reads(model: TranslationModel) -> None:
    found = measure_encoder(model, SENTENCE, most_tokens=64)
    assert len(found) == model.facts.encoder_layers
    read = encoder_inputs(model, SENTENCE, most_tokens=64)
    assert found[1] == measure_conversion(encoder_attention(model, 1), read.states[1][None])
    for errors in found:
        assert {error.num_kv_heads for error in errors} == {1, 2, 4}
        assert ConversionError(4, Pooling.MEAN, 0.0) in errors
        assert all(error.error > 0.1 for error in errors if error.num_kv_heads < 4)  # nothing here is for free


def test_more_kv_heads_than_there_are_is_refused() -> None:
    layer, _ = layer_and_tokens()
    with pytest.raises(ValueError, match=r"num_kv_heads_from \(6\) must be divisible by num_kv_heads_to \(12\)"):
        convert(layer, 12, Pooling.MEAN)


@pytest.mark.parametrize("layer", [-1, 3])
def test_there_must_be_such_a_layer(model: TranslationModel, layer: int) -> None:
    with pytest.raises(ValueError, match=rf"layer \({layer}\) must be between 0 and 2"):
        encoder_attention(model, layer)


def test_other_families_are_refused() -> None:
    t5 = SimpleNamespace(facts=SimpleNamespace(family="t5"))
    for read in (lambda: encoder_attention(t5, 0), lambda: measure_encoder(t5, "x", most_tokens=3)):
        with pytest.raises(ValueError, match=r"family \('t5'\) must be 'marian'"):
            read()
