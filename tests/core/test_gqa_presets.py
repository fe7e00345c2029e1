"""Published models: against the networks that transformers builds of the same sizes, and against what papers say."""

from typing import Any

import pytest
import torch
from transformers import (
    DeepseekV2Config,
    DeepseekV2ForCausalLM,
    FalconConfig,
    FalconForCausalLM,
    GemmaConfig,
    GemmaForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    PreTrainedModel,
)

from core.gqa_presets import DEEPSEEK_V2, MODELS, HeadSharing, PublishedLatentModel, PublishedModel, saving
from core.kv_heads import legal_kv_heads
from core.latent_attention import LatentSizes

NAMED = {model.name: model for model in MODELS}
by_name = pytest.mark.parametrize("name", list(NAMED))


def built(model: PublishedModel) -> PreTrainedModel:
    """The same network by transformers, on a device that keeps no numbers."""
    common = {"num_hidden_layers": model.num_layers, "num_attention_heads": model.num_heads}
    common |= {"hidden_size": model.d_model, "vocab_size": model.vocab_size}
    gated = {"num_key_value_heads": model.num_kv_heads, "intermediate_size": model.d_ff, "head_dim": model.head_dim}
    with torch.device("meta"):
        match model.name.split()[0]:
            case "GPT-2":
                return GPT2LMHeadModel(GPT2Config(**common))
            case "Falcon":
                new = model.num_kv_heads > 1
                config = FalconConfig(**common, num_kv_heads=model.num_kv_heads, new_decoder_architecture=new)
                return FalconForCausalLM(config)
            case "Gemma":
                return GemmaForCausalLM(GemmaConfig(**common, **gated))
            case "Mixtral":
                return MixtralForCausalLM(MixtralConfig(**common, **gated, num_local_experts=model.experts))
            case _:
                return LlamaForCausalLM(LlamaConfig(**common, **gated))


def count(network: PreTrainedModel) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


@by_name
def test_parameters_are_those_of_transformers(name: str) -> None:
    model = NAMED[name]
    counted = count(built(model))
    assert 0.998 * counted < model.parameters < counted


def test_deepseek_is_built_as_transformers_builds_it() -> None:
    small = PublishedLatentModel(
        name="small",
        num_layers=3,
        sizes=LatentSizes(33, 3, 17, 13, qk_nope_head_dim=5, qk_rope_head_dim=2, v_head_dim=7),
        feed_forward_parameters=3 * 33 * (41 + 2 * (4 + 2) * 19),  # the formula of DEEPSEEK_V2
        vocab_size=101,
        max_context=64,
        source="",
    )
    config: dict[str, Any] = {"hidden_size": 33, "num_attention_heads": 3, "num_key_value_heads": 3}
    config |= {"q_lora_rank": 17, "kv_lora_rank": 13, "qk_nope_head_dim": 5, "qk_rope_head_dim": 2, "v_head_dim": 7}
    config |= {"intermediate_size": 41, "moe_intermediate_size": 19, "n_routed_experts": 4, "n_shared_experts": 2}
    config |= {"first_k_dense_replace": 1, "num_hidden_layers": 3, "vocab_size": 101, "num_experts_per_tok": 2}
    network = DeepseekV2ForCausalLM(DeepseekV2Config(**config))
    small_ones = [
        parameter.numel()
        for name, parameter in network.named_parameters()
        if "norm" in name or name.endswith("mlp.gate.weight")  # a router
    ]
    assert small.parameters == count(network) - sum(small_ones)


def test_deepseek_has_as_many_parameters_as_its_paper_says() -> None:
    assert round(DEEPSEEK_V2.parameters / 1e9) == 236  # DeepSeek-V2, section 3.1.2
    assert DEEPSEEK_V2.sharing is HeadSharing.MLA


@by_name
def test_sizes_fit_together(name: str) -> None:
    model = NAMED[name]
    assert model.num_kv_heads in legal_kv_heads(model.num_heads)
    assert model.source.startswith("https://")
    kv_heads = {HeadSharing.MHA: model.num_heads, HeadSharing.MQA: 1}
    assert model.num_kv_heads == kv_heads.get(model.sharing, model.num_kv_heads)


def test_all_ways_of_sharing_are_there_in_order() -> None:
    found = [model.sharing for model in MODELS]
    assert len(found) >= 8
    assert found == sorted(found, key=[HeadSharing.MHA, HeadSharing.GQA, HeadSharing.MQA].index)
    assert set(found) == {HeadSharing.MHA, HeadSharing.GQA, HeadSharing.MQA}
    assert len(NAMED) == len(MODELS)


def test_the_cache_of_a_token_as_told() -> None:
    """Llama 2 7B in 16 bits: half a mebibyte per token; Mistral keeps a quarter of the KV heads."""
    assert NAMED["Llama 2 7B"].cache_bytes(seq_len=1, batch=1, bytes_per_number=2) == 2**19
    assert NAMED["Mistral 7B v0.3"].cache_bytes(seq_len=3, batch=5, bytes_per_number=2) == 15 * 2**17
    assert DEEPSEEK_V2.cache_bytes(seq_len=3, batch=5, bytes_per_number=2) == 15 * 2 * 60 * 576


def test_what_sharing_saves() -> None:
    model = NAMED["Llama 2 70B"]
    own = count(built(model.with_kv_heads(64)))
    found = saving(model)
    assert found.cache == 0.875
    assert found.weights == pytest.approx(1 - count(built(model)) / own, rel=1e-3)
    assert saving(NAMED["Llama 2 7B"]) == type(found)("Llama 2 7B", 0.0, 0.0)
