"""The readable Transformer: beside torch's own layers, by hand, and what must hold whatever its weights are."""

import copy
import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from core.attention import scaled_dot_product_attention
from core.masks import causal_mask, padding_mask
from core.positions.sinusoidal import sinusoidal_encoding
from core.transformer import (
    DecoderLayer,
    Embedding,
    EncoderLayer,
    MultiHeadAttention,
    NormPlace,
    PositionKind,
    Stack,
    Stacks,
    TransformerConfig,
    random_transformer,
    without_numbers,
)

SMALL = TransformerConfig(num_layers=2, d_model=12, num_heads=3, d_ff=19, vocab_size=23, max_len=17)
BATCH, SOURCE, TARGET = 2, 7, 5
places = pytest.mark.parametrize("norm", list(NormPlace))


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def ids(seq_len: int, seed: int = 1) -> Tensor:
    return torch.randint(23, (BATCH, seq_len), generator=generator(seed))


def randomized(module: nn.Module) -> nn.Module:
    """With biases and normalisations that are not 0 and 1, in float64, so that a part that is left out shows."""
    module = module.double()
    source = generator(3)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=source, dtype=torch.float64) * 0.3)
    return module


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.q.weight, ours.k.weight, ours.v.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.q.bias, ours.k.bias, ours.v.bias]))
        theirs.out_proj.load_state_dict(ours.o.state_dict())


def copy_layer(ours: EncoderLayer | DecoderLayer, theirs: nn.Module) -> None:
    copy_attention(ours.self_attention.block, theirs.self_attn)
    norms = [ours.self_attention.norm]
    if isinstance(ours, DecoderLayer):
        copy_attention(ours.cross_attention.block, theirs.multihead_attn)
        norms.append(ours.cross_attention.norm)
    norms.append(ours.feed_forward.norm)
    for number, norm in enumerate(norms, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(norm.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.block.up.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.block.down.state_dict())


def last_norm(stack: Stack) -> nn.LayerNorm | None:
    return copy.deepcopy(stack.norm)


@places
def test_an_encoder_layer_is_that_of_torch(norm: NormPlace) -> None:
    ours = randomized(EncoderLayer(replace(SMALL, norm=norm)))
    theirs = nn.TransformerEncoderLayer(
        12, 3, 19, dropout=0.0, batch_first=True, norm_first=norm is NormPlace.PRE, dtype=torch.float64
    )
    copy_layer(ours, theirs)
    x = torch.randn(BATCH, SOURCE, 12, generator=generator(), dtype=torch.float64)
    mask = padding_mask([SOURCE, 4], SOURCE)
    expected = theirs(x, src_key_padding_mask=~mask[:, 0, 0])
    torch.testing.assert_close(ours(x, mask), expected, rtol=0, atol=1e-12)


@places
def test_a_decoder_layer_is_that_of_torch(norm: NormPlace) -> None:
    ours = randomized(DecoderLayer(replace(SMALL, norm=norm)))
    theirs = nn.TransformerDecoderLayer(
        12, 3, 19, dropout=0.0, batch_first=True, norm_first=norm is NormPlace.PRE, dtype=torch.float64
    )
    copy_layer(ours, theirs)
    x = torch.randn(BATCH, TARGET, 12, generator=generator(), dtype=torch.float64)
    memory = torch.randn(BATCH, SOURCE, 12, generator=generator(5), dtype=torch.float64)
    mask = padding_mask([SOURCE, 4], SOURCE)
    expected = theirs(x, memory, tgt_mask=~causal_mask(TARGET), memory_key_padding_mask=~mask[:, 0, 0])
    torch.testing.assert_close(ours(x, causal_mask(TARGET), memory, mask), expected, rtol=0, atol=1e-12)


@places
def test_both_stacks_are_those_of_torch(norm: NormPlace) -> None:
    """Layer after layer, and with the normalisation at the end where each block's stands before it."""
    network = randomized(random_transformer(replace(SMALL, norm=norm), generator=generator(), dtype=torch.float64))
    sizes = {"d_model": 12, "nhead": 3, "dim_feedforward": 19}
    options = {"dropout": 0.0, "batch_first": True, "norm_first": norm is NormPlace.PRE, "dtype": torch.float64}
    theirs = nn.Transformer(
        12,
        custom_encoder=nn.TransformerEncoder(
            nn.TransformerEncoderLayer(**sizes, **options), 2, last_norm(network.encoder), enable_nested_tensor=False
        ),
        custom_decoder=nn.TransformerDecoder(
            nn.TransformerDecoderLayer(**sizes, **options), 2, last_norm(network.decoder)
        ),
        batch_first=True,
    )
    for ours, stack in ((network.encoder, theirs.encoder), (network.decoder, theirs.decoder)):
        for layer, other in zip(ours.layers, stack.layers, strict=True):
            copy_layer(layer, other)
    source, target, mask = ids(SOURCE), ids(TARGET), padding_mask([SOURCE, 4], SOURCE)
    states = theirs(
        network.encoder.embedding(source),
        network.decoder.embedding(target),
        tgt_mask=~causal_mask(TARGET),
        src_key_padding_mask=~mask[:, 0, 0],
        memory_key_padding_mask=~mask[:, 0, 0],
    )
    expected = states @ network.output.weight.T
    torch.testing.assert_close(network(source, target, source_mask=mask), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", list(PositionKind))
def test_a_token_enters_as_its_scaled_vector_and_its_position(kind: PositionKind) -> None:
    network = random_transformer(replace(SMALL, positions=kind), generator=generator(), dtype=torch.float64)
    embedding: Embedding = network.encoder.embedding
    learnt = isinstance(embedding.positions, nn.Embedding)
    table = embedding.positions.weight if learnt else sinusoidal_encoding(17, 12)
    expected = math.sqrt(12) * embedding.tokens.weight[ids(SOURCE)] + table[:SOURCE]
    torch.testing.assert_close(embedding(ids(SOURCE)), expected, rtol=0, atol=1e-15)
    assert learnt is (kind is PositionKind.LEARNT)


def test_tied_matrices_are_one() -> None:
    tied, untied = (random_transformer(replace(SMALL, tied=tied), generator=generator()) for tied in (True, False))
    assert tied.output.weight is tied.encoder.embedding.tokens.weight is tied.decoder.embedding.tokens.weight
    counts = [sum(p.numel() for p in network.parameters()) for network in (tied, untied)]
    assert counts[1] - counts[0] == 2 * 23 * 12


@places
def test_the_future_changes_nothing_before_it(norm: NormPlace) -> None:
    network = random_transformer(replace(SMALL, norm=norm), generator=generator(), dtype=torch.float64)
    target = ids(TARGET)
    changed = target.clone()
    changed[:, 3] = (changed[:, 3] + 1) % 23
    first, second = network(ids(SOURCE), target), network(ids(SOURCE), changed)
    torch.testing.assert_close(first[:, :3], second[:, :3], rtol=0, atol=1e-12)
    assert (first[:, 3:] - second[:, 3:]).abs().amax(dim=-1).min() > 1e-6


def test_padding_changes_nothing() -> None:
    network = random_transformer(SMALL, generator=generator(), dtype=torch.float64)
    source, target = ids(SOURCE), ids(TARGET)
    changed = source.clone()
    changed[1, 4:] = (changed[1, 4:] + 1) % 23
    mask = padding_mask([SOURCE, 4], SOURCE)
    hidden = [network(each, target, source_mask=mask) for each in (source, changed)]
    torch.testing.assert_close(*hidden, rtol=0, atol=1e-12)
    seen = [network(each, target) for each in (source, changed)]
    assert (seen[0][1] - seen[1][1]).abs().max() > 1e-6


def test_each_family_takes_its_own_inputs() -> None:
    encoder = random_transformer(replace(SMALL, stacks=Stacks.ENCODER), generator=generator())
    decoder = random_transformer(replace(SMALL, stacks=Stacks.DECODER), generator=generator())
    assert encoder(ids(SOURCE)).shape == (BATCH, SOURCE, 23)
    assert decoder(target=ids(TARGET)).shape == (BATCH, TARGET, 23)
    assert not any("cross" in name for name, _module in decoder.named_modules())
    with pytest.raises(ValueError, match=r"source must be None with stacks \(decoder\)"):
        decoder(ids(SOURCE), ids(TARGET))
    with pytest.raises(ValueError, match=r"target must be given with stacks \(both\)"):
        random_transformer(SMALL, generator=generator())(ids(SOURCE))


def test_an_encoder_sees_both_ways() -> None:
    network = random_transformer(replace(SMALL, stacks=Stacks.ENCODER), generator=generator(), dtype=torch.float64)
    changed = ids(SOURCE).clone()
    changed[:, -1] = (changed[:, -1] + 1) % 23
    assert (network(ids(SOURCE)) - network(changed)).abs().amax(dim=-1).min() > 1e-6


def test_the_same_seed_gives_the_same_network_and_leaves_torchs_generator_alone() -> None:
    state = torch.random.get_rng_state()
    one, same, other = (
        random_transformer(SMALL, generator=generator(seed))(ids(SOURCE), ids(TARGET)) for seed in (7, 7, 8)
    )
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize("stacks", list(Stacks))
@pytest.mark.parametrize("tied", [True, False])
def test_without_numbers_it_has_the_same_shapes(stacks: Stacks, tied: bool) -> None:
    config = replace(SMALL, stacks=stacks, tied=tied, norm=NormPlace.PRE)
    real, shapes = random_transformer(config, generator=generator()), without_numbers(config)
    assert {n: p.shape for n, p in real.named_parameters()} == {n: p.shape for n, p in shapes.named_parameters()}
    inputs = [
        ids(SOURCE) if stacks is not Stacks.DECODER else None,
        ids(TARGET) if stacks is not Stacks.ENCODER else None,
    ]
    with torch.device("meta"):
        found = shapes(*(each if each is None else each.to("meta") for each in inputs))
    assert found.is_meta
    assert found.shape == real(*inputs).shape


def test_attention_computes_shapes_without_numbers() -> None:
    q = torch.empty(2, 3, 5, 4, device="meta")
    k, v = torch.empty(2, 3, 7, 4, device="meta"), torch.empty(2, 3, 7, 11, device="meta")
    trace = scaled_dot_product_attention(q, k, v)
    assert trace.weights.shape == (2, 3, 5, 7)
    assert trace.output.shape == (2, 3, 5, 11)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_heads": 5}, r"d_model \(12\) must be divisible by num_heads \(5\)"),
        ({"d_model": 9}, r"d_model \(9\) must be even for sinusoidal positions"),
        *(({name: 0}, rf"{name} \(0\) must be at least 1") for name in ("num_layers", "d_ff", "vocab_size", "max_len")),
        ({"d_model": 0}, r"d_model \(0\) must be at least 1"),
        ({"num_heads": -1}, r"num_heads \(-1\) must be at least 1"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **change)
