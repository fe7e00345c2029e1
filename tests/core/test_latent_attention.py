"""Multi-head latent attention: its sizes against transformers' own layer, its cache against the paper."""

import pytest
import torch
from transformers import DeepseekV2Config
from transformers.models.deepseek_v2.modeling_deepseek_v2 import DeepseekV2Attention

from core.gqa_presets import DEEPSEEK_V2
from core.latent_attention import LatentSizes, latent_cache_bytes, latent_cost, proportioned

SMALL = LatentSizes(
    d_model=33,
    num_heads=3,
    q_lora_rank=17,
    kv_lora_rank=13,
    qk_nope_head_dim=5,
    qk_rope_head_dim=2,
    v_head_dim=7,
)


def test_parameters_are_those_of_transformers() -> None:
    config = DeepseekV2Config(
        hidden_size=33,
        num_attention_heads=3,
        num_key_value_heads=3,
        q_lora_rank=17,
        kv_lora_rank=13,
        qk_nope_head_dim=5,
        qk_rope_head_dim=2,
        v_head_dim=7,
    )
    theirs = DeepseekV2Attention(config, layer_idx=0)
    matrices = [parameter.numel() for parameter in theirs.parameters() if parameter.ndim == 2]
    assert SMALL.parameters == sum(matrices)


def test_the_papers_cache_is_that_of_two_and_a_quarter_kv_heads() -> None:
    sizes = DEEPSEEK_V2.sizes
    assert sizes.cached_numbers == 576
    assert sizes.equal_kv_heads(128) == 2.25  # DeepSeek-V2, section 2.1.4
    per_token = latent_cache_bytes(
        num_layers=60, kv_lora_rank=512, qk_rope_head_dim=64, seq_len=1, batch=1, bytes_per_number=1
    )
    assert per_token == 9 / 2 * 128 * 60  # the same section, table 1: about 9/2 · head_dim · layers


def test_the_cost_by_hand() -> None:
    cost = latent_cost(SMALL, num_layers=2, seq_len=11, batch=5, bytes_per_number=4)
    assert cost.cache_bytes == (13 + 2) * 2 * 11 * 5 * 4
    assert cost.cache_bytes_moved == (13 + 2) * 2 * 11 * 4
    assert cost.parameters == 2 * SMALL.parameters
    assert cost.weight_bytes_moved == cost.parameters * 4 / 5
    assert cost.multiply_adds == cost.parameters + 2 * 11 * 3 * ((13 + 2) + 13)


def test_products_with_the_short_vectors_give_the_scores_of_unpacked_keys() -> None:
    generator = torch.Generator().manual_seed(0)
    unpack = torch.randn(5, 13, generator=generator, dtype=torch.float64)  # (qk_nope_head_dim, kv_lora_rank)
    query = torch.randn(5, generator=generator, dtype=torch.float64)
    kept = torch.randn(11, 13, generator=generator, dtype=torch.float64)  # (seq_len, kv_lora_rank)
    torch.testing.assert_close(kept @ (query @ unpack), (kept @ unpack.T) @ query, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["num_layers", "kv_lora_rank", "qk_rope_head_dim", "batch", "bytes_per_number", "seq_len"]
)
def test_sizes_of_the_cache_are_checked(name: str) -> None:
    sizes = {"num_layers": 2, "kv_lora_rank": 3, "qk_rope_head_dim": 5, "seq_len": 7, "batch": 1, "bytes_per_number": 4}
    sizes[name] = -1
    rule = "must not be negative" if name == "seq_len" else "must be at least 1"
    with pytest.raises(ValueError, match=rf"{name} \(-1\) {rule}"):
        latent_cache_bytes(**sizes)


def test_head_dim_is_checked() -> None:
    with pytest.raises(ValueError, match=r"head_dim \(0\) must be at least 1"):
        SMALL.equal_kv_heads(0)


def test_in_proportion_the_papers_model_is_the_papers() -> None:
    assert proportioned(5120, 128, 128) == DEEPSEEK_V2.sizes
    assert proportioned(7, 3, 10).equal_kv_heads(10) == 2.25


def test_queries_are_never_compressed_to_more_than_they_were() -> None:
    assert [proportioned(d_model, 3, 10).q_lora_rank for d_model in (119, 120, 121)] == [119, 120, 120]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((0, 3, 10), r"d_model \(0\) must be at least 1"),
        ((7, 0, 10), r"num_heads \(0\) must be at least 1"),
        ((7, 3, 0), r"head_dim \(0\) must be at least 1"),
        ((7, 3, 11), r"head_dim \(11\) must be even"),
    ],
)
def test_impossible_proportions_are_refused(sizes: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        proportioned(*sizes)
