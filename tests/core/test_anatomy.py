"""The blocks of networks: their counts beside the real tensors and beside torch's own counter."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from transformers import (
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    GPT2Config,
    GPT2LMHeadModel,
    MarianMTModel,
    PreTrainedModel,
    T5Config,
    T5ForConditionalGeneration,
)

from core import models
from core.anatomy import (
    COUNTS,
    RULES,
    Block,
    Kind,
    Side,
    UnknownNetworkError,
    block_of,
    family_of,
    hooked,
    private_copy,
    read_anatomy,
)
from core.kv_heads import kv_cache_bytes
from core.model_pass import (
    REAL_PARAMETERS,
    Pass,
    Sizes,
    _run_library,
    _run_own,
    config_parameters,
    pass_of_network,
    pass_through,
    reads,
    writes,
)
from core.transformer import NormPlace, PositionKind, Stacks, TransformerConfig, random_transformer, without_numbers
from tests.tiny import tiny_marian, tiny_t5

SIZES = Sizes(batch=3, seq_source=11, seq_target=7)
SMALL = TransformerConfig(num_layers=2, d_model=20, num_heads=5, d_ff=33, vocab_size=47, max_len=29)
CONFIGS = (
    SMALL,
    replace(SMALL, norm=NormPlace.PRE, num_layers=3),
    replace(SMALL, positions=PositionKind.LEARNT, tied=False),
    replace(SMALL, stacks=Stacks.ENCODER, tied=False),
    replace(SMALL, stacks=Stacks.DECODER, positions=PositionKind.LEARNT, norm=NormPlace.PRE),
)
LARGE = TransformerConfig(num_layers=6, d_model=512, num_heads=8, d_ff=2048, vocab_size=37_000)
configs = pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.stacks}-{c.norm}-{c.positions}-{c.tied}")


def bert() -> PreTrainedModel:
    sizes = {"hidden_size": 20, "num_attention_heads": 5, "intermediate_size": 33, "max_position_embeddings": 29}
    return BertModel(BertConfig(vocab_size=47, num_hidden_layers=2, attn_implementation="eager", **sizes)).eval()


def distilbert() -> PreTrainedModel:
    sizes = {"dim": 20, "n_heads": 5, "hidden_dim": 33, "max_position_embeddings": 29}
    return DistilBertModel(DistilBertConfig(vocab_size=47, n_layers=2, attn_implementation="eager", **sizes)).eval()


def gpt2() -> PreTrainedModel:
    sizes = {"n_embd": 20, "n_head": 5, "n_inner": 33, "n_positions": 29, "bos_token_id": 0, "eos_token_id": 1}
    return GPT2LMHeadModel(GPT2Config(vocab_size=47, n_layer=2, attn_implementation="eager", **sizes)).eval()


def gated_t5() -> PreTrainedModel:
    sizes = {"d_model": 20, "d_kv": 7, "d_ff": 33, "num_layers": 2, "num_heads": 5, "tie_word_embeddings": False}
    config = T5Config(vocab_size=47, feed_forward_proj="gated-gelu", attn_implementation="eager", **sizes)
    return T5ForConditionalGeneration(config).eval()


def bundled() -> PreTrainedModel:
    return models.load("atlas-fr-en").network


NETWORKS: dict[str, Callable[[], Any]] = {
    "marian": lambda: tiny_marian(),
    "t5": lambda: tiny_t5(),
    "t5-gated": gated_t5,
    "bert": bert,
    "distilbert": distilbert,
    "gpt2": gpt2,
    "atlas-fr-en": bundled,
}
networks = pytest.mark.parametrize("name", NETWORKS)


def real_parameters(network: nn.Module) -> int:
    """All tensors that were learnt, each once; Marian keeps a computed table among them."""
    left_out = network.get_encoder().embed_positions if isinstance(network, MarianMTModel) else None
    tables = {id(p) for name, p in network.named_parameters() if left_out is not None and "embed_positions" in name}
    return sum(p.numel() for p in network.parameters() if id(p) not in tables)


def multiply_adds(network: nn.Module, run: Callable[[], object]) -> int:
    """By torch, which counts a multiplication and an addition as two."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        run()
    assert counter.get_total_flops() % 2 == 0
    return counter.get_total_flops() // 2


# ----------------------------------------------------------------------------------------------- beside other counts


@configs
def test_the_counts_of_a_configuration_are_those_of_its_tensors_and_of_torch(config: TransformerConfig) -> None:
    network = random_transformer(config, generator=torch.Generator().manual_seed(0))
    found = pass_through(config, SIZES)
    assert found.real
    assert found.anatomy.parameters == config_parameters(config) == sum(p.numel() for p in network.parameters())
    assert found.anatomy.multiply_adds == multiply_adds(network, lambda: _run_own(network, SIZES))
    assert found.anatomy.tied is config.tied


@networks
def test_the_counts_of_a_network_are_those_of_its_tensors_and_of_torch(name: str) -> None:
    network = NETWORKS[name]()
    found = pass_of_network(network, SIZES)
    assert found.real
    assert found.anatomy.parameters == real_parameters(network)
    assert found.anatomy.multiply_adds == multiply_adds(network, lambda: _run_library(network, SIZES))


def test_the_bundled_model_has_the_parameters_of_its_facts() -> None:
    model = models.load("atlas-fr-en")
    anatomy = pass_of_network(model.network, SIZES).anatomy
    assert anatomy.parameters == model.facts.parameters
    assert anatomy.tied is model.facts.tied_embeddings
    assert anatomy.num_heads == model.facts.num_heads
    assert (anatomy.num_layers(Side.ENCODER), anatomy.num_layers(Side.DECODER)) == (3, 3)


# --------------------------------------------------------------------------------------- a pass of shapes beside one


def same(one: Pass, other: Pass) -> None:
    assert list(one.anatomy.in_general()) == list(other.anatomy.in_general())
    assert dict(one.anatomy.blocks) == dict(other.anatomy.blocks)


@configs
def test_shapes_alone_tell_the_same(config: TransformerConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    real = pass_through(config, SIZES)
    monkeypatch.setattr("core.model_pass.REAL_PARAMETERS", 0)
    shapes = pass_through(config, SIZES)
    assert (real.real, shapes.real) == (True, False)
    same(real, shapes)


@networks
def test_shapes_of_a_network_alone_tell_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network = NETWORKS[name]()
    real = pass_of_network(network, SIZES)
    monkeypatch.setattr("core.model_pass.REAL_PRODUCTS", 0)
    shapes = pass_of_network(network, SIZES)
    assert (real.real, shapes.real) == (True, False)
    same(real, shapes)


def test_a_large_configuration_is_not_computed() -> None:
    found = pass_through(LARGE, SIZES)
    assert not found.real
    assert found.anatomy.parameters == config_parameters(LARGE) > REAL_PARAMETERS
    whole = without_numbers(LARGE)
    with torch.device("meta"):
        assert found.anatomy.multiply_adds == multiply_adds(whole, lambda: _run_own(whole, SIZES))


# --------------------------------------------------------------------------------------------------- cases by hand


def test_an_attention_block_by_hand() -> None:
    blocks = pass_through(SMALL, SIZES).anatomy.blocks
    cross = blocks[Block(Side.DECODER, Kind.CROSS_ATTENTION, layer=1)]
    assert cross.entering == cross.leaving == (3, 7, 20)
    assert cross.parameters == 4 * (20 * 20 + 20)
    assert cross.matrices == 3 * (2 * 7 + 2 * 11) * 20 * 20  # queries and output, keys and values
    assert cross.products == 2 * 3 * 7 * 11 * 20
    assert cross.numbers == 3 * (3 * 7 + 2 * 11) * 20 + 3 * 5 * 7 * 11  # q, w·v, o; k, v; weights
    assert cross.inside == (3, 5, 7, 11)
    assert cross.weights == 3 * 5 * 7 * 11
    assert cross.cached == 2 * 3 * 11 * 20


def test_other_blocks_by_hand() -> None:
    blocks = pass_through(replace(SMALL, positions=PositionKind.LEARNT), SIZES).anatomy.blocks
    feed = blocks[Block(Side.ENCODER, Kind.FEED_FORWARD, layer=0)]
    assert (feed.parameters, feed.multiply_adds) == (20 * 33 + 33 + 33 * 20 + 20, 3 * 11 * 2 * 20 * 33)
    assert feed.inside == (3, 11, 33)
    assert feed.numbers == 3 * 11 * (33 + 33 + 20)  # also what the ReLU puts out
    norm = blocks[Block(Side.ENCODER, Kind.NORM, Kind.FEED_FORWARD, 0)]
    assert (norm.parameters, norm.multiply_adds, norm.cached) == (40, 0, 0)
    embedding, said, output = (
        blocks[block]
        for block in (
            Block(Side.ENCODER, Kind.EMBEDDING),
            Block(Side.DECODER, Kind.EMBEDDING),
            Block(Side.DECODER, Kind.OUTPUT),
        )
    )
    assert (embedding.entering, embedding.leaving, embedding.parameters) == ((3, 11), (3, 11, 20), 47 * 20)
    assert (said.parameters, said.shared) == (output.parameters, output.shared) == (0, 47 * 20)
    assert (output.leaving, output.multiply_adds) == ((3, 7, 47), 3 * 7 * 20 * 47)
    assert blocks[Block(Side.DECODER, Kind.POSITIONS)].parameters == 29 * 20


def test_the_cache_is_that_of_its_formula() -> None:
    blocks = pass_through(replace(SMALL, num_layers=3), SIZES).anatomy.in_general()
    for kind, seq_len in ((Kind.SELF_ATTENTION, 7), (Kind.CROSS_ATTENTION, 11)):
        expected = kv_cache_bytes(
            num_layers=3, num_kv_heads=5, head_dim=4, seq_len=seq_len, batch=3, bytes_per_number=1
        )
        assert blocks[Block(Side.DECODER, kind)].cached == expected
    assert not any(trace.cached for block, trace in blocks.items() if block.side is Side.ENCODER)


def order(network: Any) -> list[str]:
    blocks = pass_of_network(network, SIZES) if not hasattr(network, "num_layers") else pass_through(network, SIZES)
    return [
        f"{block.side} {block.kind}{f' of {block.of}' if block.of else ''}" for block in blocks.anatomy.in_general()
    ]


@pytest.mark.parametrize("norm", list(NormPlace))
def test_blocks_stand_in_the_order_in_which_they_run(norm: NormPlace) -> None:
    found = order(replace(SMALL, norm=norm, stacks=Stacks.ENCODER))
    assert sorted(found[:2]) == ["encoder embedding", "encoder positions"]
    pairs = [
        ("encoder self_attention", "encoder norm of self_attention"),
        ("encoder feed_forward", "encoder norm of feed_forward"),
    ]
    middle = [each for pair in pairs for each in (pair if norm is NormPlace.POST else pair[::-1])]
    assert found[2:] == [*middle, *(["encoder norm"] if norm is NormPlace.PRE else []), "decoder output"]


def test_a_bert_normalises_its_embeddings_and_has_a_pooler() -> None:
    found = order(bert())
    assert found[2] == "encoder norm of embedding"
    assert found[-1] == "encoder pooler"


# ------------------------------------------------------------------------------------------------------- properties


def test_layers_add_up() -> None:
    anatomy = pass_through(replace(SMALL, num_layers=3), SIZES).anatomy
    summed = anatomy.in_general()
    for name in COUNTS:
        assert sum(getattr(t, name) for t in summed.values()) == sum(getattr(t, name) for t in anatomy.blocks.values())
    assert all(block.layer is None for block in summed)


def test_hooks_on_a_private_copy_see_no_other_pass() -> None:
    network = random_transformer(replace(SMALL, stacks=Stacks.ENCODER), generator=torch.Generator().manual_seed(0))
    mine, seen = private_copy(network), []
    with hooked(mine, lambda name, *_: seen.append(name)):
        _run_own(network, SIZES)
        assert seen == []
        _run_own(mine, SIZES)
    assert "encoder.layers.1.feed_forward.block.up" in seen
    count = len(seen)
    _run_own(mine, SIZES)
    assert len(seen) == count  # the hooks are gone
    assert all(a is b for a, b in zip(network.parameters(), mine.parameters(), strict=True))
    assert network.encoder is not mine.encoder


@networks
def test_every_module_with_parameters_is_in_a_block(name: str) -> None:
    network = NETWORKS[name]()
    family = family_of(network)
    assert all(block_of(family, parameter) is not None for parameter, _tensor in network.named_parameters())


def test_who_reads_and_who_writes() -> None:
    found = {name: (reads(NETWORKS[name]()), writes(NETWORKS[name]())) for name in ("marian", "bert", "gpt2")}
    assert found == {"marian": (True, True), "bert": (True, False), "gpt2": (False, True)}
    own = {s: without_numbers(replace(SMALL, stacks=s)) for s in Stacks}
    assert [(reads(n), writes(n)) for n in own.values()] == [(True, True), (True, False), (False, True)]


# --------------------------------------------------------------------------------------------------------- refusals


def test_an_unknown_family_is_refused() -> None:
    network = bert()
    network.config.model_type = "mamba"
    with pytest.raises(UnknownNetworkError, match=r"model_type \('mamba'\) must be one of atlas, bert, "):
        pass_of_network(network, SIZES)
    assert "mamba" not in RULES


def test_a_parameter_in_no_block_is_refused() -> None:
    network = bert()
    network.extra = nn.Linear(2, 2)
    with pytest.raises(UnknownNetworkError, match=r"extra\.weight belongs to no block of a bert network"):
        read_anatomy(network, lambda mine: _run_library(mine, SIZES))


@pytest.mark.parametrize("name", ["batch", "seq_source", "seq_target"])
def test_sizes_must_be_positive(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} \(0\) must be at least 1"):
        replace(SIZES, **{name: 0})


def test_a_sequence_must_fit_the_table_of_positions() -> None:
    with pytest.raises(ValueError, match=r"seq_source \(30\) must be at most max_len \(29\)"):
        pass_through(SMALL, replace(SIZES, seq_source=30))
