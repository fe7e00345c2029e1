"""Multi-head attention: d_model features are split among the heads, attended to apart, and merged again.

Vaswani et al. 2017, "Attention Is All You Need", section 3.2.2.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention import scaled_dot_product_attention
from core.checks import check_divisible, check_sizes
from core.projections import Head, Projection


@dataclass(frozen=True, slots=True, eq=False)
class MultiHead:
    """The four matrices of a layer, (d_model, d_model) each. Into how many heads they are cut is not their business."""

    q: Projection
    k: Projection
    v: Projection
    o: Projection


@dataclass(frozen=True, slots=True, eq=False)
class MultiHeadTrace:
    """What a layer computed, in order; head_dim = d_model / num_heads."""

    x: Tensor  # (seq_len, d_model)
    q: Tensor  # (seq_len, d_model)
    k: Tensor  # (seq_len, d_model)
    v: Tensor  # (seq_len, d_model)
    q_heads: Tensor  # (num_heads, seq_len, head_dim)
    k_heads: Tensor  # (num_heads, seq_len, head_dim)
    v_heads: Tensor  # (num_heads, seq_len, head_dim)
    scores: Tensor  # (num_heads, seq_len, seq_len), divided by √head_dim
    weights: Tensor  # (num_heads, seq_len, seq_len), each row sums to 1
    output: Tensor  # (num_heads, seq_len, head_dim)
    merged: Tensor  # (seq_len, d_model), the heads' outputs side by side
    result: Tensor  # (seq_len, d_model), after W_O


STEPS = tuple(MultiHeadTrace.__dataclass_fields__)
"""The tensors of a MultiHeadTrace by name, in the order in which they are computed."""


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Cut the features of every token into num_heads equal pieces; head h gets piece h.

    >>> split_heads(torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]]), 2).tolist()
    [[[1, 2], [5, 6]], [[3, 4], [7, 8]]]

    Shapes: x (…, seq_len, d_model) → (…, num_heads, seq_len, head_dim).
    Raises: ValueError if num_heads is less than 1 or d_model is not a multiple of it.
    """
    d_model = x.shape[-1]
    check_sizes(num_heads=num_heads)
    check_divisible("d_model", d_model, "num_heads", num_heads)
    pieces = x.reshape(*x.shape[:-1], num_heads, d_model // num_heads)  # (…, seq_len, num_heads, head_dim)
    return pieces.transpose(-3, -2)  # (…, num_heads, seq_len, head_dim)


def merge_heads(x: Tensor) -> Tensor:
    """Put the pieces of all heads side by side again: the inverse of `split_heads`.

    Shapes: x (…, num_heads, seq_len, head_dim) → (…, seq_len, d_model).
    """
    return x.transpose(-3, -2).flatten(-2)  # (…, seq_len, num_heads · head_dim)


def random_multi_head(d_model: int, *, generator: torch.Generator) -> MultiHead:
    """Normally distributed weights that keep the variance: rows of unit variance give such q, k and v.

    Raises: ValueError if d_model is less than 1.
    """
    check_sizes(d_model=d_model)
    drawn = torch.randn(4, d_model, d_model, generator=generator, dtype=torch.float64) / math.sqrt(d_model)
    return MultiHead(*map(Projection, drawn))


def run_multi_head(x: Tensor, layer: MultiHead, num_heads: int, *, attend_mask: Tensor | None = None) -> MultiHeadTrace:
    """Let every row of x attend to every row of x, once in each head.

    Shapes: x (seq_len, d_model); attend_mask bool, broadcasts to (num_heads, seq_len, seq_len), True = may attend.
    Raises: ValueError if num_heads does not divide d_model, or the mask does not fit.
    Source: Vaswani et al. 2017, section 3.2.2.
    """
    q, k, v = layer.q(x), layer.k(x), layer.v(x)  # (seq_len, d_model) each
    q_heads, k_heads, v_heads = (split_heads(each, num_heads) for each in (q, k, v))  # (num_heads, seq_len, head_dim)
    trace = scaled_dot_product_attention(q_heads, k_heads, v_heads, attend_mask=attend_mask)
    merged = merge_heads(trace.output)  # (seq_len, d_model)
    return MultiHeadTrace(
        x, q, k, v, q_heads, k_heads, v_heads, trace.scores, trace.weights, trace.output, merged, layer.o(merged)
    )  # fmt: skip


def cut_into_heads(layer: MultiHead, num_heads: int) -> tuple[Head, ...]:
    """The part of each matrix that belongs to each head: columns of W_Q, W_K and W_V, rows of W_O.

    W_O's bias belongs to all heads together, so no head has it.
    Raises: ValueError if num_heads does not divide d_model.
    """
    inward = [_columns(projection, num_heads) for projection in (layer.q, layer.k, layer.v)]
    outward = [Projection(weight.T) for weight in split_heads(layer.o.weight.T, num_heads)]  # (head_dim, d_model)
    return tuple(Head(*parts) for parts in zip(*inward, outward, strict=True))


def _columns(projection: Projection, num_heads: int) -> list[Projection]:
    weights = split_heads(projection.weight, num_heads)  # (num_heads, d_model, head_dim)
    if projection.bias is None:
        return [Projection(weight) for weight in weights]
    biases = split_heads(projection.bias[None], num_heads)[:, 0]  # (num_heads, head_dim)
    return [Projection(weight, bias) for weight, bias in zip(weights, biases, strict=True)]


def count_parameters(heads: tuple[Head, ...]) -> int:
    """How many numbers the matrices of these heads hold, biases among them."""
    projections = [getattr(head, name) for head in heads for name in ("q", "k", "v", "o")]
    tensors = [tensor for each in projections for tensor in (each.weight, each.bias) if tensor is not None]
    return sum(tensor.numel() for tensor in tensors)
