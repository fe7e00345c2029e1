"""Grouped-query attention: several query heads share one KV head, a pair of keys and values.

With as many KV heads as query heads it is multi-head attention (MHA), with one KV head multi-query attention (MQA).

Ainslie et al. 2023, "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints";
MQA: Shazeer 2019, "Fast Transformer Decoding: One Write-Head is All You Need".
"""

import math

import torch
from torch import Tensor, nn

from core.attention import AttentionTrace, scaled_dot_product_attention
from core.checks import check_divisible, check_sizes
from core.heads import merge_heads, split_heads
from core.kv_cache import KVCache
from core.kv_heads import check_heads, kv_cache_bytes, kv_head_of, legal_kv_heads

__all__ = [
    "GroupedQueryAttention",
    "kv_cache_bytes",
    "kv_head_of",
    "legal_kv_heads",
    "mean_pool_kv_heads",
    "random_layer",
    "split_kv_heads",
]


class GroupedQueryAttention(nn.Module):
    """Attention of a sequence to itself: x → q, k, v → heads → W_O.

    Shapes: q_proj.weight (num_heads · head_dim, d_model); k_proj.weight and v_proj.weight (num_kv_heads · head_dim,
        d_model); o_proj.weight (d_model, num_heads · head_dim). The rows of a head lie together.
    head_dim: d_model / num_heads by default.
    bias: whether all four projections have one.
    device: as in torch.nn.Linear; on "meta" there are shapes only, and no weights are drawn.
    Raises: ValueError if a size is less than 1, num_heads is not divisible by num_kv_heads, or head_dim is not given
        and d_model is not divisible by num_heads.
    Source: Ainslie et al. 2023, section 2.2.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        num_kv_heads: int,
        *,
        head_dim: int | None = None,
        bias: bool = False,
        device: str | None = None,
    ) -> None:
        super().__init__()
        check_sizes(d_model=d_model)
        check_heads(num_heads, num_kv_heads)
        if head_dim is None:
            check_divisible("d_model", d_model, "num_heads", num_heads)
            head_dim = d_model // num_heads
        check_sizes(head_dim=head_dim)
        self.d_model, self.num_heads, self.num_kv_heads, self.head_dim = d_model, num_heads, num_kv_heads, head_dim
        self.q_proj = nn.Linear(d_model, num_heads * head_dim, bias=bias, device=device)
        self.k_proj = nn.Linear(d_model, num_kv_heads * head_dim, bias=bias, device=device)
        self.v_proj = nn.Linear(d_model, num_kv_heads * head_dim, bias=bias, device=device)
        self.o_proj = nn.Linear(num_heads * head_dim, d_model, bias=bias, device=device)

    def forward(self, x: Tensor, *, attend_mask: Tensor | None = None, cache: KVCache | None = None) -> Tensor:
        """The outputs of the tokens of x.

        Shapes: x (batch, seq_len, d_model) → (batch, seq_len, d_model); attend_mask as in `attend`.
        """
        output = self.attend(x, attend_mask=attend_mask, cache=cache).output  # (batch, num_heads, seq_len, head_dim)
        result: Tensor = self.o_proj(merge_heads(output))  # (batch, seq_len, d_model)
        return result

    def attend(self, x: Tensor, *, attend_mask: Tensor | None = None, cache: KVCache | None = None) -> AttentionTrace:
        """Everything before W_O.

        cache: keys and values of the tokens before x. Those of x are added to it, and x may look at all of them.
        Shapes: x (batch, seq_len, d_model); attend_mask bool, broadcastable to (batch, num_heads, seq_len, seq_k), True
            = may attend, everything by default; seq_k counts the tokens of the cache and those of x.
        Returns: the trace; scores (batch, num_heads, seq_len, seq_k), output (batch, num_heads, seq_len, head_dim).
        Raises: ValueError if x has another shape, or does not fit the cache.
        """
        if x.ndim != 3 or x.shape[-1] != self.d_model:
            shape = tuple(x.shape)
            raise ValueError(f"x (shape {shape}) must have the shape (batch, seq_len, d_model = {self.d_model})")
        q = self._heads(self.q_proj(x))  # (batch, num_heads, seq_len, head_dim)
        k, v = self._heads(self.k_proj(x)), self._heads(self.v_proj(x))  # (batch, num_kv_heads, seq_len, head_dim)
        if cache is not None:
            k, v = cache.append(k, v)  # (batch, num_kv_heads, seq_k, head_dim)
        return scaled_dot_product_attention(q, k, v, attend_mask=attend_mask)

    def _heads(self, joined: Tensor) -> Tensor:
        """(batch, seq_len, heads · head_dim) → (batch, heads, seq_len, head_dim)."""
        return split_heads(joined, joined.shape[-1] // self.head_dim)


def random_layer(
    d_model: int,
    num_heads: int,
    num_kv_heads: int,
    *,
    generator: torch.Generator,
    head_dim: int | None = None,
    dtype: torch.dtype = torch.float64,
) -> GroupedQueryAttention:
    """A layer without biases whose normally distributed weights keep the variance; drawn in the order q, k, v, o.

    Equal seeds give equal numbers in every type: they are drawn as float64 and rounded.
    Raises: ValueError as GroupedQueryAttention does.
    """
    layer = GroupedQueryAttention(d_model, num_heads, num_kv_heads, head_dim=head_dim, device="meta")
    layer = layer.to(dtype).to_empty(device="cpu")
    with torch.no_grad():
        for linear in (layer.q_proj, layer.k_proj, layer.v_proj, layer.o_proj):
            drawn = torch.randn(linear.weight.shape, generator=generator, dtype=torch.float64)
            linear.weight.copy_(drawn / math.sqrt(linear.in_features))
    return layer.eval()


def mean_pool_kv_heads(weight: Tensor, *, num_kv_heads_from: int, num_kv_heads_to: int, head_dim: int) -> Tensor:
    """Merge neighbouring KV heads into their mean: the first step from MHA to GQA.

    Shapes: weight (num_kv_heads_from · head_dim, …), of a key or value projection as torch.nn.Linear keeps it, or its
        bias → (num_kv_heads_to · head_dim, …).
    Raises: ValueError if a number is less than 1, num_kv_heads_from is not divisible by num_kv_heads_to, or the weight
        has another number of rows.
    Source: Ainslie et al. 2023, section 2.1, figure 1.
    """
    return split_kv_heads(weight, num_kv_heads_from, num_kv_heads_to, head_dim).mean(dim=1).flatten(0, 1)


def split_kv_heads(weight: Tensor, num_kv_heads_from: int, num_kv_heads_to: int, head_dim: int) -> Tensor:
    """Sort the rows of a key or value projection by the KV head they will belong to.

    Shapes: weight (num_kv_heads_from · head_dim, …) → (num_kv_heads_to, heads to merge, head_dim, …).
    Raises: ValueError as mean_pool_kv_heads does.
    """
    check_sizes(num_kv_heads_from=num_kv_heads_from, num_kv_heads_to=num_kv_heads_to, head_dim=head_dim)
    check_divisible("num_kv_heads_from", num_kv_heads_from, "num_kv_heads_to", num_kv_heads_to)
    rows = num_kv_heads_from * head_dim
    if weight.ndim == 0 or len(weight) != rows:
        raise ValueError(f"weight (shape {tuple(weight.shape)}) must have num_kv_heads_from · head_dim = {rows} rows")
    return weight.reshape(num_kv_heads_to, num_kv_heads_from // num_kv_heads_to, head_dim, *weight.shape[1:])
