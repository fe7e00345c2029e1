"""Heads that are switched off give nothing, and nobody who shares the model notices."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor

from core.decoding import translate
from core.heads_gallery import HeadName, Kind
from core.heads_off import all_heads, compare_next, next_probabilities, switch_off
from core.models import TranslationModel
from core.models.facts import read_facts
from tests.tiny import SENTENCES, tiny_marian, tiny_t5, tiny_tokenizer

TEXT = "Le chat noir dort sur la table."


def new_model(make: Any) -> TranslationModel:
    network, tokenizer = make(), tiny_tokenizer()
    network.requires_grad_(False)
    return TranslationModel("tiny", network, tokenizer, read_facts(network, tokenizer), ())


@pytest.fixture(params=[tiny_marian, tiny_t5])
def model(request: pytest.FixtureRequest) -> TranslationModel:
    return new_model(request.param)


def projection(model: TranslationModel, name: HeadName) -> Any:
    """The output projection of a head's layer, found by another way than by its name."""
    stack = model.network.get_encoder() if name.kind is Kind.ENCODER else model.network.get_decoder()
    if model.facts.family == "t5":
        parts = stack.block[name.layer].layer
        return parts[1].EncDecAttention.o if name.kind is Kind.CROSS else parts[0].SelfAttention.o
    layer = stack.layers[name.layer]
    return (layer.encoder_attn if name.kind is Kind.CROSS else layer.self_attn).out_proj


def logits(model: TranslationModel) -> Tensor:
    source = model.tokenizer(TEXT, return_tensors="pt").input_ids
    with torch.inference_mode():
        return model.network(input_ids=source, decoder_input_ids=torch.tensor([[0, 5, 17, 31]]), use_cache=False).logits


def silence(model: TranslationModel, off: Sequence[HeadName]) -> list[Any]:
    """Zero the outputs of heads with hooks: right for one thread, and what must not be done to a shared model."""

    def hook(name: HeadName) -> Any:
        def zero(_module: Any, inputs: tuple[Tensor]) -> tuple[Tensor]:
            outputs = inputs[0].unflatten(-1, (model.facts.num_heads, -1)).clone()  # (batch, seq, num_heads, head_dim)
            outputs[..., name.head, :] = 0.0
            return (outputs.flatten(-2),)

        return zero

    return [projection(model, name).register_forward_pre_hook(hook(name)) for name in off]


def test_all_heads_are_counted(model: TranslationModel) -> None:
    facts = model.facts
    found = all_heads(model)
    assert len(set(found)) == len(found) == (facts.encoder_layers + 2 * facts.decoder_layers) * facts.num_heads
    assert found[0] == HeadName(Kind.ENCODER, 0, 0)
    assert found[-1] == HeadName(Kind.CROSS, facts.decoder_layers - 1, facts.num_heads - 1)


def test_each_head_alone_gives_nothing_when_it_is_off(model: TranslationModel) -> None:
    whole = logits(model)
    for name in all_heads(model):
        found = logits(switch_off(model, [name]))
        hooks = silence(model, [name])
        expected = logits(model)
        for hook in hooks:
            hook.remove()
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
        assert not torch.allclose(found, whole, atol=1e-3), name


def test_several_heads_are_off_together(model: TranslationModel) -> None:
    off = [HeadName(Kind.ENCODER, 0, 0), HeadName(Kind.ENCODER, 0, 2), HeadName(Kind.DECODER, 1, 1)]
    off += [HeadName(Kind.CROSS, 1, head) for head in range(model.facts.num_heads)]
    found = logits(switch_off(model, off))
    hooks = silence(model, off)
    torch.testing.assert_close(found, logits(model), atol=1e-5, rtol=1e-5)
    for hook in hooks:
        hook.remove()


def test_without_cross_attention_the_source_does_not_matter(model: TranslationModel) -> None:
    blind = switch_off(model, [name for name in all_heads(model) if name.kind is Kind.CROSS])
    one, other = (next_probabilities(blind, text, [5, 17]) for text in (TEXT, "Fermez la fenêtre !"))
    torch.testing.assert_close(one, other)
    one, other = (next_probabilities(model, text, [5, 17]) for text in (TEXT, "Fermez la fenêtre !"))
    assert not torch.allclose(one, other, atol=1e-3)


def test_nothing_off_is_the_model_itself(model: TranslationModel) -> None:
    assert switch_off(model, []) is model


def test_all_tensors_but_the_changed_one_are_shared(model: TranslationModel) -> None:
    changed = switch_off(model, [HeadName(Kind.ENCODER, 1, 1)])
    before, after = model.network.state_dict(), changed.network.state_dict()
    assert before.keys() == after.keys()
    own = [name for name in before if before[name].data_ptr() != after[name].data_ptr()]
    assert own == [name for name in before if before[name] is projection_tensor(before, model)]
    assert (changed.name, changed.tokenizer, changed.facts) == (model.name, model.tokenizer, model.facts)
    assert not changed.network.training
    assert not any(parameter.requires_grad for parameter in changed.network.parameters())


def projection_tensor(tensors: dict[str, Tensor], model: TranslationModel) -> Tensor:
    where = projection(model, HeadName(Kind.ENCODER, 1, 1)).weight.data_ptr()
    (found,) = (tensor for tensor in tensors.values() if tensor.data_ptr() == where)
    return found


@pytest.mark.parametrize(
    "name", [HeadName(Kind.ENCODER, 9, 0), HeadName(Kind.CROSS, 0, 9), HeadName(Kind.DECODER, -1, 0)]
)
def test_there_must_be_such_a_head(model: TranslationModel, name: HeadName) -> None:
    message = rf"off \({name.kind}, layer {name.layer}, head {name.head}\) must be a head of the model"
    with pytest.raises(ValueError, match=message):
        switch_off(model, [name])


# ------------------------------------------------------------------------------------------------- many threads


def test_whoever_shares_the_model_sees_nothing_of_it(model: TranslationModel) -> None:
    """Some threads translate with all heads while others, at the same time, translate without some.

    The model is fresh: transformers puts its own recording hooks on it at the first translation, in the midst of this.
    """
    texts = SENTENCES[::8]
    heads = all_heads(model)
    alone = new_model(tiny_t5 if model.facts.family == "t5" else tiny_marian)  # the same, and nobody shares it
    whole = {text: translate(alone, text, max_new_tokens=12) for text in texts}
    without = {head: translate(switch_off(alone, [head]), TEXT, max_new_tokens=12) for head in (heads[0], heads[-1])}
    weights = {name: tensor.clone() for name, tensor in model.network.state_dict().items()}
    begin = threading.Barrier(4)

    def with_all_heads(_number: int) -> None:
        begin.wait()
        for text in texts * 3:
            found = translate(model, text, max_new_tokens=12)
            assert (found.token_ids, found.score) == (whole[text].token_ids, whole[text].score)
            assert torch.equal(found.encoder_attention, whole[text].encoder_attention)

    def without_a_head(number: int) -> None:
        begin.wait()
        for turn in range(8):
            head = (heads[0], heads[-1])[(number + turn) % 2]
            found = translate(switch_off(model, [head]), TEXT, max_new_tokens=12)
            assert (found.token_ids, found.score) == (without[head].token_ids, without[head].score)
            assert torch.equal(found.cross_attention, without[head].cross_attention)

    with ThreadPoolExecutor(4) as threads:
        runs = [threads.submit(act, n) for n, act in enumerate([with_all_heads, without_a_head] * 2)]
        for run in runs:
            run.result()
    assert all(torch.equal(tensor, weights[name]) for name, tensor in model.network.state_dict().items())
    assert {trace.score for trace in without.values()}.isdisjoint({whole_score(alone)})


def whole_score(model: TranslationModel) -> float:
    return translate(model, TEXT, max_new_tokens=12).score


def test_switching_off_leaves_no_hooks(model: TranslationModel) -> None:
    def hooks() -> int:
        return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.network.modules())

    before = hooks()
    translate(switch_off(model, all_heads(model)[:3]), TEXT, max_new_tokens=5)
    assert hooks() == before


# --------------------------------------------------------------------------------------------- what comes next


def test_next_probabilities_are_those_of_the_translation(model: TranslationModel) -> None:
    trace = translate(model, TEXT, max_new_tokens=6)
    for place, step in enumerate(trace.steps):
        found = next_probabilities(model, TEXT, trace.token_ids[:place])
        assert float(found.sum()) == pytest.approx(1, abs=1e-5)
        for candidate in step.candidates:
            assert float(found[candidate.token_id]) == pytest.approx(candidate.probability, abs=1e-6)


def test_both_models_best_are_compared(model: TranslationModel) -> None:
    without = switch_off(model, [name for name in all_heads(model) if name.kind is Kind.CROSS])
    before, after = (next_probabilities(each, TEXT, [5]) for each in (model, without))
    found = compare_next(model, without, TEXT, [5], most=3)
    expected = {*before.topk(3).indices.tolist(), *after.topk(3).indices.tolist()}
    assert {shift.token_id for shift in found} == expected
    assert [shift.before for shift in found] == sorted((shift.before for shift in found), reverse=True)
    for shift in found:
        assert (shift.before, shift.after) == (float(before[shift.token_id]), float(after[shift.token_id]))
        assert shift.token == model.tokenizer.convert_ids_to_tokens(shift.token_id)


@pytest.mark.parametrize("most", [0, 212])
def test_most_is_a_number_of_tokens(model: TranslationModel, most: int) -> None:
    with pytest.raises(ValueError, match=rf"most \({most}\) must be between 1 and 211"):
        compare_next(model, model, TEXT, [], most=most)


def test_nothing_comes_after_no_text(model: TranslationModel) -> None:
    with pytest.raises(ValueError, match=r"text \(' '\) must hold at least one token"):
        next_probabilities(model, " ", [])
