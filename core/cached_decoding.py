"""One layer read token by token, with a KV cache and without: the same result, reached in two ways."""

import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from core.checks import check_sizes
from core.gqa import GroupedQueryAttention, random_layer
from core.kv_cache import KVCache
from core.masks import causal_mask


@dataclass(frozen=True, slots=True)
class CacheDifference:
    """The largest difference that a KV cache makes, in units of the largest output, and the type's own rounding."""

    dtype: torch.dtype
    difference: float
    rounding: float  # the gap between 1 and the next larger number of this type


def decode_with_cache(layer: GroupedQueryAttention, x: Tensor) -> Tensor:
    """Read the tokens one at a time; the keys and values of those before come from a cache.

    Shapes: x (batch, seq_len, d_model) → (batch, seq_len, d_model).
    Raises: ValueError if seq_len is less than 1.
    """
    batch, seq_len, _ = x.shape
    check_sizes(seq_len=seq_len)
    cache = KVCache.empty(
        batch=batch, num_kv_heads=layer.num_kv_heads, max_len=seq_len, head_dim=layer.head_dim, dtype=x.dtype
    )
    outputs = [layer(x[:, place : place + 1], cache=cache) for place in range(seq_len)]  # (batch, 1, d_model) each
    return torch.cat(outputs, dim=1)  # (batch, seq_len, d_model)


def decode_without_cache(layer: GroupedQueryAttention, x: Tensor) -> Tensor:
    """Read the tokens one at a time; for each, everything before it is computed again.

    Shapes: x (batch, seq_len, d_model) → (batch, seq_len, d_model).
    Raises: ValueError if seq_len is less than 1.
    """
    check_sizes(seq_len=x.shape[1])
    outputs = [read_again(layer, x[:, : place + 1])[:, -1:] for place in range(x.shape[1])]  # (batch, 1, d_model) each
    return torch.cat(outputs, dim=1)  # (batch, seq_len, d_model)


def read_again(layer: GroupedQueryAttention, x: Tensor) -> Tensor:
    """One pass over all tokens, none of which sees a later one: what each new token costs without a cache.

    The earlier outputs are needed too, by the layer above.
    Shapes: x (batch, seq_len, d_model) → (batch, seq_len, d_model).
    """
    result: Tensor = layer(x, attend_mask=causal_mask(x.shape[1]))
    return result


def measure_cache(
    *,
    d_model: int,
    num_heads: int,
    num_kv_heads: int,
    seq_len: int,
    generator: torch.Generator,
    dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.float64),
) -> tuple[CacheDifference, ...]:
    """Decode random tokens of unit variance with and without a cache, in each type with the same random layer.

    Raises: ValueError if seq_len is less than 1, or as GroupedQueryAttention does.
    """
    check_sizes(seq_len=seq_len)
    layer = random_layer(d_model, num_heads, num_kv_heads, generator=generator)
    x = torch.randn(1, seq_len, d_model, generator=generator, dtype=torch.float64)  # (1, seq_len, d_model)
    found = []
    with torch.inference_mode():
        for dtype in dtypes:
            rounded_layer, rounded_x = copy.deepcopy(layer).to(dtype), x.to(dtype)
            without = decode_without_cache(rounded_layer, rounded_x)
            difference = (decode_with_cache(rounded_layer, rounded_x) - without).abs().max() / without.abs().max()
            found.append(CacheDifference(dtype, float(difference), torch.finfo(dtype).eps))
    return tuple(found)
