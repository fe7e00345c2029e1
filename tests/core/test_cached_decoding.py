"""Token by token, with a cache and without: what one pass over the whole sequence gives."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from core.cached_decoding import decode_with_cache, decode_without_cache, measure_cache, read_again
from core.gqa import GroupedQueryAttention, random_layer
from core.kv_cache import KVCache


def layer_and_tokens(num_kv_heads: int, dtype: torch.dtype = torch.float64) -> tuple[GroupedQueryAttention, Tensor]:
    generator = torch.Generator().manual_seed(0)
    layer = random_layer(13, 6, num_kv_heads, generator=generator, head_dim=5, dtype=dtype)
    return layer, torch.randn(2, 11, 13, generator=generator, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-13), (torch.float32, 1e-5)])
@pytest.mark.parametrize("num_kv_heads", [6, 3, 2, 1])
def test_all_three_ways_give_the_same(num_kv_heads: int, dtype: torch.dtype, tolerance: float) -> None:
    layer, x = layer_and_tokens(num_kv_heads, dtype)
    at_once = read_again(layer, x)
    for decode in (decode_with_cache, decode_without_cache):
        torch.testing.assert_close(decode(layer, x), at_once, rtol=0, atol=tolerance)


def test_a_later_token_changes_no_earlier_output() -> None:
    layer, x = layer_and_tokens(2)
    other = x.clone()
    other[:, 7] += 1
    before, after = decode_with_cache(layer, x), decode_with_cache(layer, other)
    assert torch.equal(before[:, :7], after[:, :7])
    assert (before[:, 7:] != after[:, 7:]).any(dim=-1).all()


def test_the_difference_is_measured_in_both_types() -> None:
    single, double = measure_cache(
        d_model=24, num_heads=6, num_kv_heads=2, seq_len=17, generator=torch.Generator().manual_seed(0)
    )
    assert (single.dtype, double.dtype) == (torch.float32, torch.float64)
    assert 0 < single.difference < 1e-5
    assert 0 < double.difference < 1e-14
    assert double.rounding == torch.finfo(torch.float64).eps < single.rounding


def test_a_cache_that_errs_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    append = KVCache.append

    def wrong(self: KVCache, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        all_k, all_v = append(self, k, v)
        return all_k, all_v.roll(1, dims=2)

    monkeypatch.setattr(KVCache, "append", wrong)
    sizes = {"d_model": 24, "num_heads": 6, "num_kv_heads": 2, "seq_len": 17}
    found = measure_cache(**sizes, generator=torch.Generator().manual_seed(0))
    assert min(each.difference for each in found) > 0.01


def test_there_must_be_a_token() -> None:
    with pytest.raises(ValueError, match=r"seq_len \(0\) must be at least 1"):
        measure_cache(d_model=24, num_heads=6, num_kv_heads=2, seq_len=0, generator=torch.Generator())


@pytest.mark.parametrize("decode", [decode_with_cache, decode_without_cache])
def test_nothing_cannot_be_decoded(decode: Callable[[GroupedQueryAttention, Tensor], Tensor]) -> None:
    layer = random_layer(24, 6, 2, generator=torch.Generator())
    with pytest.raises(ValueError, match=r"seq_len \(0\) must be at least 1"):
        decode(layer, torch.empty(1, 0, 24, dtype=torch.float64))
