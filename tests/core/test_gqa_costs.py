"""Costs per decoded token: counted again from real layers and tensors."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.gqa import GroupedQueryAttention
from core.gqa_costs import BYTES, NumberType, attention_cost, attention_parameters, cost_table, fit
from core.kv_cache import KVCache
from core.kv_heads import legal_kv_heads

SIZES = {"d_model": 11, "head_dim": 5, "num_layers": 3, "seq_len": 13, "batch": 2, "bytes_per_number": 4}


@pytest.mark.parametrize("num_kv_heads", [6, 3, 2, 1])
def test_parameters_are_those_of_a_layer(num_kv_heads: int) -> None:
    layer = GroupedQueryAttention(11, 6, num_kv_heads, head_dim=5)
    counted = sum(parameter.numel() for parameter in layer.parameters())
    assert attention_parameters(11, 6, num_kv_heads, 5) == counted
    assert attention_cost(**SIZES, num_heads=6, num_kv_heads=num_kv_heads).parameters == 3 * counted


def test_multiply_adds_are_what_torch_counts() -> None:
    layer = GroupedQueryAttention(11, 6, 2, head_dim=5)
    cache = KVCache(torch.zeros(1, 2, 13, 5), torch.zeros(1, 2, 13, 5), length=12)
    with FlopCounterMode(display=False) as counter:
        layer(torch.zeros(1, 1, 11), cache=cache)
    cost = attention_cost(**SIZES | {"num_layers": 1}, num_heads=6, num_kv_heads=2)
    assert 2 * cost.multiply_adds == counter.get_total_flops()  # torch counts an addition and a multiplication as two


def test_bytes_by_hand() -> None:
    cost = attention_cost(**SIZES, num_heads=6, num_kv_heads=2)
    assert cost.parameters == 3 * (2 * 6 * 5 * 11 + 2 * 2 * 5 * 11)
    assert cost.cache_bytes == 2 * 3 * 2 * 5 * 13 * 2 * 4
    assert cost.weight_bytes_moved == cost.parameters * 4 / 2  # shared by two sequences
    assert cost.cache_bytes_moved == 2 * 3 * 2 * 5 * 13 * 4  # each reads its own
    assert cost.bytes_moved == cost.weight_bytes_moved + cost.cache_bytes_moved


def test_the_table_has_every_legal_number_of_kv_heads() -> None:
    table = cost_table(**SIZES, num_heads=12)
    assert tuple(table) == legal_kv_heads(12)
    assert table[3] == attention_cost(**SIZES, num_heads=12, num_kv_heads=3)


def test_sharing_divides_the_cache_but_not_the_products_with_it() -> None:
    table = cost_table(**SIZES, num_heads=12)
    assert table[12].cache_bytes == 12 * table[1].cache_bytes
    products = {heads: cost.multiply_adds - cost.parameters for heads, cost in table.items()}
    assert set(products.values()) == {3 * 2 * 12 * 5 * 13}


def test_bytes_are_those_of_torchs_types() -> None:
    assert {kind: torch.zeros(1, dtype=getattr(torch, kind)).nbytes for kind in NumberType} == dict(BYTES)


@pytest.mark.parametrize(
    ("memory_bytes", "users", "weights_fit"),
    [(19, 0, False), (20, 0, True), (26, 0, True), (27, 1, True), (41, 3, True), (40, 2, True)],
)
def test_users_fit_beside_the_weights(memory_bytes: int, users: int, weights_fit: bool) -> None:
    found = fit(parameters=10, bytes_per_user=7, bytes_per_number=2, memory_bytes=memory_bytes)
    assert (found.users, found.weights_fit, found.weight_bytes) == (users, weights_fit, 20)


def test_the_default_memory_is_80_gb() -> None:
    assert fit(parameters=1, bytes_per_user=10**9, bytes_per_number=10**9).users == 79


@pytest.mark.parametrize("name", ["parameters", "bytes_per_user", "bytes_per_number", "memory_bytes"])
def test_a_fit_is_checked(name: str) -> None:
    sizes = {"parameters": 1, "bytes_per_user": 1, "bytes_per_number": 1, "memory_bytes": 1} | {name: 0}
    with pytest.raises(ValueError, match=rf"{name} \(0\) must be at least 1"):
        fit(**sizes)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((11, 6, 4, 5), r"num_heads \(6\) must be divisible by num_kv_heads \(4\)"),
        ((0, 6, 2, 5), r"d_model \(0\) must be at least 1"),
        ((11, 6, 2, 0), r"head_dim \(0\) must be at least 1"),
    ],
)
def test_sizes_are_checked(sizes: tuple[int, int, int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        attention_parameters(*sizes)
