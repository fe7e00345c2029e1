"""Which query heads share which KV head, and the bytes of the cache."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.kv_heads import kv_cache_bytes, kv_head_of, legal_kv_heads

PROPERTY = settings(deadline=None, max_examples=40, derandomize=True)


@pytest.mark.parametrize(
    ("num_heads", "legal"), [(1, (1,)), (7, (1, 7)), (12, (1, 2, 3, 4, 6, 12)), (71, (1, 71)), (25, (1, 5, 25))]
)
def test_legal_numbers_divide_the_query_heads(num_heads: int, legal: tuple[int, ...]) -> None:
    assert legal_kv_heads(num_heads) == legal


@given(st.integers(1, 40), st.data())
@PROPERTY
def test_every_kv_head_has_as_many_queries(num_heads: int, data: st.DataObject) -> None:
    num_kv_heads = data.draw(st.sampled_from(legal_kv_heads(num_heads)))
    used = kv_head_of(num_heads, num_kv_heads)
    assert list(used) == sorted(used)  # neighbours share
    assert {used.count(head) for head in range(num_kv_heads)} == {num_heads // num_kv_heads}
    assert max(used) == num_kv_heads - 1


def test_mha_shares_nothing_and_mqa_everything() -> None:
    assert kv_head_of(5, 5) == (0, 1, 2, 3, 4)
    assert kv_head_of(5, 1) == (0, 0, 0, 0, 0)


def test_the_bytes_are_those_of_the_tensors() -> None:
    k = torch.zeros(2, 3, 5, 7, dtype=torch.float32)  # (batch, num_kv_heads, seq_len, head_dim)
    counted = kv_cache_bytes(num_layers=11, num_kv_heads=3, head_dim=7, seq_len=5, batch=2, bytes_per_number=4)
    assert counted == 11 * 2 * k.nbytes


def test_an_empty_cache_takes_nothing() -> None:
    assert kv_cache_bytes(num_layers=2, num_kv_heads=3, head_dim=5, seq_len=0, batch=7, bytes_per_number=2) == 0


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ((6, 4), r"num_heads \(6\) must be divisible by num_kv_heads \(4\)"),
        ((2, 4), r"num_heads \(2\) must be divisible by num_kv_heads \(4\)"),
        ((0, 1), r"num_heads \(0\) must be at least 1"),
        ((3, 0), r"num_kv_heads \(0\) must be at least 1"),
    ],
)
def test_other_numbers_of_heads_are_refused(heads: tuple[int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kv_head_of(*heads)


def test_there_must_be_a_query_head() -> None:
    with pytest.raises(ValueError, match=r"num_heads \(0\) must be at least 1"):
        legal_kv_heads(0)


@pytest.mark.parametrize("name", ["num_layers", "num_kv_heads", "head_dim", "batch", "bytes_per_number", "seq_len"])
def test_sizes_of_a_cache_are_checked(name: str) -> None:
    sizes = {"num_layers": 2, "num_kv_heads": 3, "head_dim": 5, "seq_len": 7, "batch": 1, "bytes_per_number": 4}
    sizes[name] = -1
    rule = "must not be negative" if name == "seq_len" else "must be at least 1"
    with pytest.raises(ValueError, match=rf"{name} \(-1\) {rule}"):
        kv_cache_bytes(**sizes)
