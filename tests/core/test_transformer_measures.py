"""What is measured of a whole Transformer: costs, gradients before training, the residual stream, hidden tokens."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from core import models
from core.anatomy import Block, Kind, Side, UnknownNetworkError
from core.batch_reading import PaddedRows, read_batch
from core.batches import Batch
from core.decoding import translate
from core.hidden_tokens import Influence, measure_influence
from core.initial_gradients import START, measure_start
from core.masks import causal_mask, combine, padding_mask
from core.model_pass import Sizes, config_parameters, pass_of_network, pass_through
from core.position_likeness import learnt_positions, likeness_by_distance, random_table
from core.positions.sinusoidal import sinusoidal_encoding
from core.residual_stream import Stream, read_stream, trace_stream
from core.transformer import NormPlace, Stacks, random_transformer
from core.transformer_costs import BYTES, PART_OF, Cost, Part, cost_parts, growth
from core.transformer_presets import PUBLISHED
from tests.core.test_anatomy import NETWORKS, SMALL, networks

SIZES = Sizes(batch=3, seq_source=11, seq_target=7)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# ------------------------------------------------------------------------------------------------------------- costs


def test_every_cost_is_split_without_a_rest() -> None:
    anatomy = pass_through(SMALL, SIZES).anatomy
    table = cost_parts(anatomy)
    assert sum(table[Cost.PARAMETERS].values()) == anatomy.parameters
    assert sum(table[Cost.MULTIPLY_ADDS].values()) == anatomy.multiply_adds
    assert sum(table[Cost.ACTIVATIONS].values()) == BYTES * sum(t.numbers for t in anatomy.blocks.values())
    assert set(PART_OF) == set(Kind)
    assert all(set(parts) == set(Part) for parts in table.values())


def test_costs_by_hand() -> None:
    table = cost_parts(pass_through(SMALL, SIZES).anatomy)
    assert table[Cost.PARAMETERS][Part.REST] == (2 * 2 + 2 * 3) * 2 * 20  # normalisations of 2 + 2 layers
    assert table[Cost.PARAMETERS][Part.OUTPUT] == 0  # it is the embedding
    assert table[Cost.CACHE][Part.SELF_ATTENTION] == 4 * 2 * 2 * 3 * 7 * 20
    assert table[Cost.CACHE][Part.CROSS_ATTENTION] == 4 * 2 * 2 * 3 * 11 * 20
    assert table[Cost.CACHE][Part.FEED_FORWARD] == 0


@networks
def test_growth_foretells_a_longer_pass(name: str) -> None:
    network = NETWORKS[name]()
    foretold = growth(pass_of_network(network, Sizes(1, 4, 4)).anatomy, 4)
    blocks = pass_of_network(network, Sizes(1, 13, 13)).anatomy.blocks
    real = [trace for block, trace in blocks.items() if block.kind is not Kind.POOLER]
    assert foretold.multiply_adds(13) == pytest.approx(
        (sum(t.matrices for t in real), sum(t.products for t in real)), rel=1e-12
    )
    weights = sum(t.weights for t in real)
    expected = BYTES * (sum(t.numbers for t in real) - weights), BYTES * weights, BYTES * sum(t.cached for t in real)
    if not name.startswith("t5"):  # whose relative positions are a table of pairs of tokens
        assert foretold.bytes(13) == pytest.approx(expected, rel=1e-12)


def test_where_the_square_overtakes() -> None:
    config = replace(SMALL, stacks=Stacks.ENCODER, vocab_size=1, d_model=20, d_ff=80, tied=False)
    found = growth(pass_through(config, Sizes(1, 5, 5)).anatomy, 5)
    assert found.crossing == pytest.approx((2 * 12 * 20**2 + 20) / (2 * 2 * 20))  # 4 d² + 8 d² against 2 d, and a word
    matrices, products = found.multiply_adds(found.crossing)
    assert matrices == pytest.approx(products)


def test_growth_needs_one_sequence() -> None:
    with pytest.raises(ValueError, match=r"must be of one sequence of 7"):
        growth(pass_through(SMALL, SIZES).anatomy, 7)


# --------------------------------------------------------------------------------------------- before training


def test_every_layer_of_both_stacks_is_measured() -> None:
    found = measure_start(2, NormPlace.POST, seeds=1, config=replace(START, d_model=8, num_heads=2, d_ff=12))
    assert found.gradients[Side.DECODER].shape == (1, 2)
    assert found.stream[Side.ENCODER].shape == (1, 3)
    assert (found.gradients[Side.ENCODER] > 0).all()


def test_after_each_block_vectors_have_one_size_and_before_it_they_grow() -> None:
    post, pre = (measure_start(6, norm) for norm in (NormPlace.POST, NormPlace.PRE))
    for side in Side:
        torch.testing.assert_close(post.stream[side][:, 1:], torch.ones(3, 6), rtol=0, atol=1e-4)
        assert (pre.stream[side].diff(dim=-1) > 0).all()
        assert pre.growth(side) > 1.5 > post.growth(side)


def test_gradients_vanish_in_the_decoder_alone_and_only_after_each_block() -> None:
    post, pre = (measure_start(8, norm) for norm in (NormPlace.POST, NormPlace.PRE))
    assert post.unevenness(Side.DECODER) > 5
    assert 1 / 3 < post.unevenness(Side.ENCODER) < 3
    assert all(1 / 3 < pre.unevenness(side) < 3 for side in Side)


def test_the_start_leaves_torchs_generator_alone() -> None:
    state = torch.random.get_rng_state()
    one, same = (measure_start(1, NormPlace.PRE, seeds=1) for _ in range(2))
    assert torch.equal(one.gradients[Side.ENCODER], same.gradients[Side.ENCODER])
    assert torch.equal(torch.random.get_rng_state(), state)


def test_a_start_needs_layers_and_seeds() -> None:
    with pytest.raises(ValueError, match=r"num_layers \(0\) must be at least 1"):
        measure_start(0, NormPlace.PRE)
    with pytest.raises(ValueError, match=r"seeds \(0\) must be at least 1"):
        measure_start(1, NormPlace.PRE, seeds=0)


# --------------------------------------------------------------------------------------------------- residual stream


def run(network: Any) -> None:
    source, target = torch.arange(3, 9)[None], torch.arange(4, 8)[None]
    if isinstance(network, nn.Module) and hasattr(network, "stacks"):
        network(source, target)
    elif network.config.is_encoder_decoder:
        network(input_ids=source, decoder_input_ids=target, use_cache=False)
    else:
        network(input_ids=source)


@networks
def test_a_stream_goes_on_where_it_ended(name: str) -> None:
    stream = trace_stream(NETWORKS[name](), run)
    for side in Side:
        for one, other in zip(stream.of(side), stream.of(side)[1:], strict=False):
            torch.testing.assert_close(one.after, other.before, rtol=1e-4, atol=1e-5)


def hidden_states(name: str) -> tuple[Any, Stream]:
    network = NETWORKS[name]()
    source, target = torch.arange(3, 9)[None], torch.arange(4, 8)[None]
    inputs = {"input_ids": source, "output_hidden_states": True}
    if network.config.is_encoder_decoder:
        inputs |= {"decoder_input_ids": target, "use_cache": False}
    with torch.no_grad():
        return network(**inputs), trace_stream(network, run)


@pytest.mark.parametrize("name", ["marian", "atlas-fr-en", "t5"])
def test_the_stream_is_what_the_library_calls_hidden_states(name: str) -> None:
    out, stream = hidden_states(name)
    for side, states in ((Side.ENCODER, out.encoder_hidden_states), (Side.DECODER, out.decoder_hidden_states)):
        first = [step for step in stream.of(side) if step.block.kind is Kind.SELF_ATTENTION]
        for step, state in zip(first, states, strict=False):
            torch.testing.assert_close(step.before, state[0].double(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["bert", "distilbert", "gpt2"])
def test_the_stream_of_one_stack_is_what_the_library_calls_hidden_states(name: str) -> None:
    out, stream = hidden_states(name)
    first = [step for step in stream.steps if step.block.kind is Kind.SELF_ATTENTION]
    assert len(first) == 2
    for step, state in zip(first, out.hidden_states, strict=False):
        torch.testing.assert_close(step.before, state[0].double(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("norm", list(NormPlace))
def test_the_stream_of_ours_by_hand(norm: NormPlace) -> None:
    network = random_transformer(replace(SMALL, norm=norm), generator=generator(), dtype=torch.float64)
    stream = trace_stream(network, run)
    step = stream.steps[0]
    x = network.encoder.embedding(torch.arange(3, 9)[None])
    attention = network.encoder.layers[0].self_attention
    pre = norm is NormPlace.PRE
    added = attention.block(attention.norm(x) if pre else x, None)
    assert step.block == Block(Side.ENCODER, Kind.SELF_ATTENTION, layer=0)
    assert step.normed_after is not pre
    for found, expected in ((step.before, x), (step.added, added), (step.after, attention(x, None))):
        torch.testing.assert_close(found, expected[0].detach(), rtol=0, atol=1e-12)
    torch.testing.assert_close(step.ratio, (added.norm(dim=-1) / x.norm(dim=-1))[0].detach(), rtol=0, atol=1e-12)
    torch.testing.assert_close(
        step.cosine, torch.nn.functional.cosine_similarity(added, x, dim=-1)[0].detach(), rtol=0, atol=1e-12
    )


def test_a_stream_of_an_unknown_network_is_refused() -> None:
    network = NETWORKS["bert"]()
    network.config.model_type = "mamba"
    with pytest.raises(UnknownNetworkError, match="mamba"):
        trace_stream(network, run)


# ---------------------------------------------------------------------------------------------------------- positions


def test_likeness_by_hand() -> None:
    table = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    assert likeness_by_distance(table, 2).tolist() == pytest.approx([1, 0, 1])


def test_sinusoidal_neighbours_are_alike_and_random_ones_are_not() -> None:
    sinusoidal = likeness_by_distance(sinusoidal_encoding(97, 64), 40)
    assert sinusoidal[0] == pytest.approx(1)
    assert (sinusoidal[:6].diff() < 0).all()
    assert likeness_by_distance(random_table(97, 64, generator=generator()), 40)[1:].abs().max() < 0.1


@pytest.mark.parametrize("most", [-1, 3])
def test_a_distance_must_lie_in_the_table(most: int) -> None:
    with pytest.raises(ValueError, match=rf"most \({most}\) must be between 0 and 2"):
        likeness_by_distance(torch.ones(3, 2), most)


# ------------------------------------------------------------------------------------------------------ hidden tokens


def test_what_is_hidden_moves_the_output_and_attention_sums_to_one() -> None:
    model = models.load("atlas-fr-en")
    trace = translate(model, "Le chat noir dort.")
    found = measure_influence(model, trace.source_ids, trace.token_ids)
    assert found.tokens == tuple(trace.source_tokens)
    assert float(found.attention.sum()) == pytest.approx(1, abs=1e-5)
    torch.testing.assert_close(
        found.attention, trace.cross_attention.double().mean(dim=(0, 1, 2)).reshape(-1), rtol=0, atol=1e-5
    )
    assert ((found.moved > 0) & (found.moved <= 1)).all()
    assert -1 <= found.correlation <= 1


def test_one_hidden_token_by_hand() -> None:
    model = models.load("atlas-fr-en")
    trace = translate(model, "Il pleut.")
    found = measure_influence(model, trace.source_ids, trace.token_ids)
    read = torch.tensor([[model.facts.start_id, *trace.token_ids[:-1]]])
    source, seen = torch.tensor([trace.source_ids]), torch.ones(1, len(trace.source_ids), dtype=torch.int64)
    hidden = seen.clone()
    hidden[0, 1] = 0
    with torch.no_grad():
        one, other = (
            model.network(input_ids=source, attention_mask=mask, decoder_input_ids=read).logits.softmax(dim=-1)
            for mask in (seen, hidden)
        )
    expected = float((one - other).abs().sum(dim=-1).mean() / 2)
    assert float(found.moved[1]) == pytest.approx(expected, abs=1e-5)


def test_too_little_to_hide_is_refused() -> None:
    model = models.load("atlas-fr-en")
    with pytest.raises(ValueError, match=r"source_ids \(1\) must hold at least 2 tokens"):
        measure_influence(model, [1], [5])
    with pytest.raises(ValueError, match=r"target_ids \(0\) must hold at least 1 token"):
        measure_influence(model, [5, 1], [])


def test_influence_is_compared_by_ranks() -> None:
    found = Influence(("a", "b", "c"), torch.tensor([0.1, 0.2, 0.7]), torch.tensor([0.5, 0.4, 0.1]))
    assert found.correlation == pytest.approx(-1)
    assert Influence(("a", "b"), torch.tensor([0.5, 0.5]), torch.tensor([0.1, 0.2])).correlation == 0


# ----------------------------------------------------------------------------------------------------- loaded models


def test_a_text_is_read_by_a_translation_model_with_what_it_says() -> None:
    model = models.load("atlas-fr-en")
    ids, said = model.tokenizer("Il pleut.").input_ids, model.tokenizer("It rains.").input_ids
    stream = read_stream(model, ids, said)
    assert {len(step.before) for step in stream.of(Side.ENCODER)} == {len(ids)}
    assert {len(step.before) for step in stream.of(Side.DECODER)} == {len(said)}
    assert len(stream.steps) == 3 * 2 + 3 * 3
    with pytest.raises(ValueError, match=r"said \(0\) must hold at least 1 token"):
        read_stream(model, ids)
    with pytest.raises(ValueError, match=r"ids \(0\) must hold at least 1 token"):
        read_stream(model, [], said)


def test_learnt_positions_are_found_where_there_are_some() -> None:
    found = {name: learnt_positions(NETWORKS[name]()) for name in ("bert", "distilbert", "gpt2", "marian", "t5")}
    assert {name for name, table in found.items() if table is not None} == {"bert", "distilbert", "gpt2"}
    assert all(table is None or table.shape == (29, 20) for table in found.values())


# ------------------------------------------------------------------------------------------------- who reads whom

SOURCE = Batch((("le", "chat", "dort"), ("il", "pleut"), ("oui",)), cut=False)
TARGET = Batch((("the", "cat", "sleeps"), ("it", "rains", "so", "hard"), ("yes",)), cut=False)


def test_what_is_seen_is_what_the_masks_permit() -> None:
    found = read_batch(SOURCE, TARGET, seed=0)
    source, target = padding_mask(SOURCE.lengths, 3), padding_mask(TARGET.lengths, 4)
    for sentence in range(3):
        assert torch.equal(found.sees("encoder", sentence), source[sentence, 0].expand(3, 3))
        assert torch.equal(found.sees("decoder", sentence), combine(causal_mask(4), target[sentence, 0]))
        assert torch.equal(found.sees("cross", sentence), source[sentence, 0].expand(4, 3))
    assert {name: tuple(w.shape) for name, w in found.weights.items()} == {
        "encoder": (3, 2, 3, 3),
        "decoder": (3, 2, 4, 4),
        "cross": (3, 2, 4, 3),
    }


def test_without_masks_padding_is_seen_and_the_future_is_not() -> None:
    found = read_batch(SOURCE, TARGET, seed=0, masked=False)
    assert found.sees("cross", 2).all()
    assert torch.equal(found.sees("decoder", 0), causal_mask(4))


def test_padded_rows_are_counted() -> None:
    assert read_batch(SOURCE, TARGET, seed=0).padded_rows() == PaddedRows(3, 0, 3, 3)
    assert read_batch(SOURCE, None, seed=0, masked=False).padded_rows() == PaddedRows(3, 3, 3, 3)
    assert read_batch(None, TARGET, seed=0).padded_rows() == PaddedRows(4, 0, 4, 4)
    assert read_batch(Batch((("oui",),), cut=False), None, seed=0).padded_rows() == PaddedRows(0, 0, 0, 0)


def test_batches_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="source and target must not both be None"):
        read_batch(None, None, seed=0)
    with pytest.raises(ValueError, match=r"source \(0 sentences\) must hold at least one"):
        read_batch(Batch((), cut=False), None, seed=0)
    with pytest.raises(ValueError, match=r"source \(3\) and target \(1\) must have equally many sentences"):
        read_batch(SOURCE, Batch((("yes",),), cut=False), seed=0)


# ------------------------------------------------------------------------------------------------- published sizes


@pytest.mark.parametrize(("name", "millions"), [("Transformer base", 65), ("BERT base", 110), ("GPT-2", 124)])
def test_published_sizes_have_about_the_published_parameters(name: str, millions: int) -> None:
    """Vaswani et al. say 65, Devlin et al. 110, and the published GPT-2 has 124 million."""
    assert config_parameters(PUBLISHED[name]) / 1e6 == pytest.approx(millions, rel=0.04)
