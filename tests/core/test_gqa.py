"""Grouped-query attention: against torch's own, its two ends MHA and MQA, and heads merged into their mean."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import linear
from torch.nn.functional import scaled_dot_product_attention as by_torch

from core.gqa import GroupedQueryAttention, kv_cache_bytes, mean_pool_kv_heads, random_layer
from core.kv_cache import KVCache
from core.kv_heads import kv_head_of, legal_kv_heads
from core.masks import causal_mask

BATCH, SEQ_LEN, HEAD_DIM = 2, 7, 5
HEADS = [(6, 6), (6, 3), (6, 2), (6, 1), (1, 1)]
PROPERTY = settings(deadline=None, max_examples=25, derandomize=True)


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def layer_of(num_heads: int, num_kv_heads: int, *, seed: int = 0, **options: Any) -> GroupedQueryAttention:
    generator = torch.Generator().manual_seed(seed)
    return random_layer(11, num_heads, num_kv_heads, generator=generator, head_dim=HEAD_DIM, **options)


def assert_close(actual: Tensor, expected: Tensor, tolerance: float = 1e-13) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


def heads(joined: Tensor) -> Tensor:
    return torch.stack(joined.split(HEAD_DIM, dim=-1), dim=1)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-13), (torch.float32, 1e-5)])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("num_heads", "num_kv_heads"), HEADS)
def test_equals_torch(num_heads: int, num_kv_heads: int, causal: bool, dtype: torch.dtype, tolerance: float) -> None:
    layer, x = layer_of(num_heads, num_kv_heads, dtype=dtype), normal(BATCH, SEQ_LEN, 11, seed=1, dtype=dtype)
    q, k, v = (heads(linear(x, each.weight)) for each in (layer.q_proj, layer.k_proj, layer.v_proj))
    expected = by_torch(q, k, v, is_causal=causal, enable_gqa=True)
    mask = causal_mask(SEQ_LEN) if causal else None
    assert_close(layer.attend(x, attend_mask=mask).output, expected, tolerance)
    joined = torch.cat(list(expected.unbind(1)), dim=-1)
    assert_close(layer(x, attend_mask=mask), linear(joined, layer.o_proj.weight), tolerance)


def test_with_as_many_kv_heads_it_is_torchs_multi_head_attention() -> None:
    ours = GroupedQueryAttention(15, 3, 3, bias=True).double()
    theirs = torch.nn.MultiheadAttention(15, 3, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        for number, parameter in enumerate(ours.parameters()):
            parameter.copy_(normal(*parameter.shape, seed=number))
        theirs.in_proj_weight.copy_(torch.cat([ours.q_proj.weight, ours.k_proj.weight, ours.v_proj.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.q_proj.bias, ours.k_proj.bias, ours.v_proj.bias]))
        theirs.out_proj.weight.copy_(ours.o_proj.weight)
        theirs.out_proj.bias.copy_(ours.o_proj.bias)
    x = normal(BATCH, SEQ_LEN, 15, seed=9)
    assert_close(ours(x), theirs(x, x, x, need_weights=False)[0], 1e-11)


def test_with_one_kv_head_every_query_head_reads_the_same_keys_and_values() -> None:
    layer, x = layer_of(3, 1), normal(BATCH, SEQ_LEN, 11, seed=1)
    k, v = x @ layer.k_proj.weight.T, x @ layer.v_proj.weight.T
    for head in range(3):
        q = x @ layer.q_proj.weight[head * HEAD_DIM : (head + 1) * HEAD_DIM].T
        weights = torch.softmax(q @ k.mT / HEAD_DIM**0.5, dim=-1)
        assert_close(layer.attend(x).output[:, head], weights @ v)


@given(st.integers(1, 8), st.data())
@PROPERTY
def test_copying_each_kv_head_for_its_queries_changes_nothing(num_heads: int, data: st.DataObject) -> None:
    shared = layer_of(num_heads, data.draw(st.sampled_from(legal_kv_heads(num_heads))))
    own = layer_of(num_heads, num_heads)
    places = torch.tensor(kv_head_of(num_heads, shared.num_kv_heads))
    with torch.no_grad():
        own.q_proj.weight.copy_(shared.q_proj.weight)
        own.o_proj.weight.copy_(shared.o_proj.weight)
        for mine, their in ((own.k_proj, shared.k_proj), (own.v_proj, shared.v_proj)):
            mine.weight.copy_(torch.cat([their.weight.split(HEAD_DIM)[place] for place in places]))
    x = normal(BATCH, SEQ_LEN, 11, seed=1)
    assert_close(shared(x), own(x))


@pytest.mark.parametrize(("num_kv_heads", "parameters"), [(8, 1_048_576), (2, 655_360), (1, 589_824)])
def test_parameters_as_told(num_kv_heads: int, parameters: int) -> None:
    layer = GroupedQueryAttention(512, 8, num_kv_heads)
    assert sum(parameter.numel() for parameter in layer.parameters()) == parameters


def test_head_dim_need_not_divide_d_model() -> None:
    layer = GroupedQueryAttention(11, 6, 2, head_dim=5, bias=True)
    shapes = {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()}
    assert shapes == {
        "q_proj.weight": (30, 11),
        "q_proj.bias": (30,),
        "k_proj.weight": (10, 11),
        "k_proj.bias": (10,),
        "v_proj.weight": (10, 11),
        "v_proj.bias": (10,),
        "o_proj.weight": (11, 30),
        "o_proj.bias": (11,),
    }


def test_a_cache_holds_what_was_read_before() -> None:
    layer, x = layer_of(6, 2), normal(BATCH, SEQ_LEN, 11, seed=1)
    cache = KVCache.empty(batch=BATCH, num_kv_heads=2, max_len=SEQ_LEN, head_dim=HEAD_DIM)
    first = layer(x[:, :4], attend_mask=causal_mask(4), cache=cache)
    rest = layer(x[:, 4:], attend_mask=causal_mask(3, offset=4), cache=cache)
    assert_close(torch.cat((first, rest), dim=1), layer(x, attend_mask=causal_mask(SEQ_LEN)))


def test_random_layers_are_the_same_for_the_same_seed_in_every_type() -> None:
    double, single = layer_of(6, 2), layer_of(6, 2, dtype=torch.float32)
    assert torch.equal(double.k_proj.weight.float(), single.k_proj.weight)
    assert not torch.equal(double.k_proj.weight, layer_of(6, 2, seed=1).k_proj.weight)


def test_random_layers_leave_the_global_generator_alone() -> None:
    before = torch.get_rng_state()
    layer_of(6, 2)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("sizes", "options", "message"),
    [
        ((512, 6, 4), {}, r"num_heads \(6\) must be divisible by num_kv_heads \(4\)"),
        ((512, 6, 0), {}, r"num_kv_heads \(0\) must be at least 1"),
        ((512, 0, 1), {}, r"num_heads \(0\) must be at least 1"),
        ((0, 2, 1), {}, r"d_model \(0\) must be at least 1"),
        ((10, 4, 2), {}, r"d_model \(10\) must be divisible by num_heads \(4\)"),
        ((10, 4, 2), {"head_dim": 0}, r"head_dim \(0\) must be at least 1"),
    ],
)
def test_sizes_are_checked(sizes: tuple[int, int, int], options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GroupedQueryAttention(*sizes, **options)


@pytest.mark.parametrize("shape", [(7, 11), (2, 7, 12), (1, 2, 7, 11)])
def test_the_input_has_a_batch_and_d_model_features(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"x \(shape .*\) must have the shape \(batch, seq_len, d_model = 11\)"):
        layer_of(6, 2)(normal(*shape))


# ---- merging KV heads


def test_the_mean_by_hand() -> None:
    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 8.0], [0.0, 1.0]])  # 4 KV heads of head_dim 1
    pooled = mean_pool_kv_heads(weight, num_kv_heads_from=4, num_kv_heads_to=2, head_dim=1)
    assert pooled.tolist() == [[2.0, 3.0], [2.5, 4.5]]
    pooled = mean_pool_kv_heads(weight, num_kv_heads_from=2, num_kv_heads_to=1, head_dim=2)
    assert pooled.tolist() == [[3.0, 5.0], [1.5, 2.5]]


@pytest.mark.parametrize("num_kv_heads", [6, 3, 2, 1])
def test_merging_projections_merges_keys(num_kv_heads: int) -> None:
    weight, x = normal(6 * HEAD_DIM, 11), normal(SEQ_LEN, 11, seed=1)
    pooled = mean_pool_kv_heads(weight, num_kv_heads_from=6, num_kv_heads_to=num_kv_heads, head_dim=HEAD_DIM)
    keys = torch.stack((x @ weight.T).split(HEAD_DIM, dim=1))  # (6, seq_len, head_dim)
    merged = torch.stack([part.mean(dim=0) for part in keys.split(6 // num_kv_heads)])
    assert_close(torch.stack((x @ pooled.T).split(HEAD_DIM, dim=1)), merged)


def test_a_bias_is_merged_too() -> None:
    pooled = mean_pool_kv_heads(torch.arange(6.0), num_kv_heads_from=2, num_kv_heads_to=1, head_dim=3)
    assert pooled.tolist() == [1.5, 2.5, 3.5]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((6, 4, 2), r"num_kv_heads_from \(6\) must be divisible by num_kv_heads_to \(4\)"),
        ((2, 4, 6), r"num_kv_heads_from \(2\) must be divisible by num_kv_heads_to \(4\)"),
        ((6, 0, 2), r"num_kv_heads_to \(0\) must be at least 1"),
        ((0, 1, 2), r"num_kv_heads_from \(0\) must be at least 1"),
        ((6, 2, 0), r"head_dim \(0\) must be at least 1"),
        ((6, 2, 3), r"weight \(shape \(12, 5\)\) must have num_kv_heads_from · head_dim = 18 rows"),
    ],
)
def test_merging_is_checked(sizes: tuple[int, int, int], message: str) -> None:
    before, after, head_dim = sizes
    with pytest.raises(ValueError, match=message):
        mean_pool_kv_heads(normal(12, 5), num_kv_heads_from=before, num_kv_heads_to=after, head_dim=head_dim)


def test_core_gqa_counts_the_cache() -> None:
    assert kv_cache_bytes(num_layers=2, num_kv_heads=3, head_dim=5, seq_len=7, batch=11, bytes_per_number=4) == 18480
