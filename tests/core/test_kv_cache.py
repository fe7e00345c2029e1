"""A KV cache: what goes in comes out, in order; room and shapes are checked."""

import pytest
import torch
from torch import Tensor

from core.kv_cache import KVCache

SHAPE = (2, 3, 5, 7)  # batch, num_kv_heads, max_len, head_dim


def tokens(count: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    k, v = torch.randn(2, 2, 3, count, 7, generator=generator, dtype=torch.float64)
    return k, v


def empty() -> KVCache:
    return KVCache.empty(batch=2, num_kv_heads=3, max_len=5, head_dim=7)


def test_tokens_come_out_in_order() -> None:
    cache, (k1, v1), (k2, v2) = empty(), tokens(2, seed=0), tokens(3, seed=1)
    assert torch.equal(cache.append(k1, v1)[1], v1)
    k, v = cache.append(k2, v2)
    assert torch.equal(k, torch.cat((k1, k2), dim=2))
    assert torch.equal(v, torch.cat((v1, v2), dim=2))
    assert cache.length == cache.max_len == 5


def test_a_cache_takes_its_room_from_the_start() -> None:
    assert empty().nbytes == 2 * 2 * 3 * 5 * 7 * 8


def test_forgotten_tokens_make_room() -> None:
    cache, (k1, v1), (k2, v2) = empty(), tokens(3, seed=0), tokens(4, seed=1)
    cache.append(k1, v1)
    cache.forget(2)
    k, _ = cache.append(k2, v2)
    assert torch.equal(k, torch.cat((k1[:, :, :1], k2), dim=2))


def test_it_can_begin_with_tokens() -> None:
    (k, v), (new_k, new_v) = tokens(5, seed=0), tokens(1, seed=1)
    before = k.clone()
    all_k, _ = KVCache(k, v, length=4).append(new_k, new_v)
    assert torch.equal(all_k, torch.cat((before[:, :, :4], new_k), dim=2))


def test_it_passes_no_gradient_on() -> None:
    k, v = (tensor.requires_grad_() for tensor in tokens(2, seed=0))
    assert not any(tensor.requires_grad for tensor in empty().append(k, v))


@pytest.mark.parametrize(
    ("k_shape", "v_shape", "message"),
    [
        ((2, 3, 6, 7), (2, 3, 6, 7), r"length \(0\) \+ seq_new \(6\) must be at most max_len \(5\)"),
        (
            (2, 1, 1, 7),
            (2, 3, 1, 7),
            r"k \(shape \(2, 1, 1, 7\)\) must have the shape \(2, 3, seq_new, 7\) of the cache",
        ),
        ((2, 3, 1, 7), (2, 3, 1, 8), r"v \(shape \(2, 3, 1, 8\)\) must have the shape"),
        ((2, 3, 1, 7), (2, 3, 2, 7), r"seq_new of v \(2\) must equal seq_new of k \(1\)"),
        ((3, 1, 7), (3, 1, 7), r"k \(shape \(3, 1, 7\)\) must have the shape"),
    ],
)
def test_what_does_not_fit_is_refused(k_shape: tuple[int, ...], v_shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        empty().append(torch.zeros(k_shape).double(), torch.zeros(v_shape).double())


def test_another_type_is_refused() -> None:
    k, v = tokens(1, seed=0)
    with pytest.raises(ValueError, match=r"v \(torch.float32\) must have the type of the cache \(torch.float64\)"):
        empty().append(k, v.float())


@pytest.mark.parametrize("count", [-1, 1])
def test_no_more_can_be_forgotten_than_there_is(count: int) -> None:
    with pytest.raises(ValueError, match=rf"count \({count}\) must be between 0 and length \(0\)"):
        empty().forget(count)


@pytest.mark.parametrize(
    ("k", "v", "length", "message"),
    [
        (torch.zeros(3, 5, 7), torch.zeros(3, 5, 7), 0, r"k \(shape \(3, 5, 7\)\) must have the shape"),
        (torch.zeros(SHAPE), torch.zeros(2, 3, 5, 8), 0, r"v \(shape \(2, 3, 5, 8\), .*\) must be like k"),
        (torch.zeros(SHAPE), torch.zeros(SHAPE).double(), 0, r"v \(.*torch.float64\) must be like k"),
        (torch.zeros(SHAPE), torch.zeros(SHAPE), 6, r"length \(6\) must be between 0 and max_len \(5\)"),
        (torch.zeros(SHAPE), torch.zeros(SHAPE), -1, r"length \(-1\) must be between 0 and max_len \(5\)"),
    ],
)
def test_keys_and_values_are_alike(k: Tensor, v: Tensor, length: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KVCache(k, v, length=length)
