"""Scaled dot-product attention, with every intermediate result kept.

Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.checks import check_divisible, check_positive, check_sizes

SUPPORTED_TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@dataclass(frozen=True, slots=True, eq=False)
class AttentionTrace:
    """What one call of attention computed, in order. All tensors have the type of q."""

    scores: Tensor  # (…, num_heads, seq_q, seq_k), scaled and soft-capped, before bias and mask
    masked_scores: Tensor  # (…, num_heads, seq_q, seq_k), after both, −inf where forbidden
    weights: Tensor  # (…, num_heads, seq_q, seq_k), each row sums to 1, or is all 0
    output: Tensor  # (…, num_heads, seq_q, v_dim)


def scaled_dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    attend_mask: Tensor | None = None,
    bias: Tensor | None = None,
    scale: float | None = None,
    softcap: float | None = None,
) -> AttentionTrace:
    """Let every query attend to every permitted key.

    Heads may share keys and values (grouped-query attention): head h uses KV head h // (num_heads / num_kv_heads).

    Shapes: q (…, num_heads, seq_q, head_dim); k (…, num_kv_heads, seq_k, head_dim); v (…, num_kv_heads, seq_k, v_dim);
        the leading dimensions broadcast. attend_mask (bool, True = may attend) and bias (floating-point, added to the
        scores, −inf = may not attend) broadcast to (…, num_heads, seq_q, seq_k).
    scale: factor of the scores, 1/√head_dim by default.
    softcap: bound of the scores, applied after scale: softcap · tanh(scores / softcap).
    Returns: the trace; each row of weights sums to 1, or is all 0 where a query may attend to nothing. float16 and
        bfloat16 are computed in float32 and rounded at the end. An inf or NaN in a key or value reaches only the
        queries that may look at it, and enters no gradient.
    Raises: ValueError if shapes or types do not fit together, num_heads is not a multiple of num_kv_heads, scale is not
        finite, or softcap is not positive and finite.
    Source: Vaswani et al. 2017, section 3.2.1, equation 1. Grouped-query: Ainslie et al. 2023, section 2.2.
        softcap: Gemma Team 2024, "Gemma 2", section 2.
    """
    _check_tensors(q, k, v)
    _check_options(q, k, v, attend_mask, bias, scale, softcap)
    if scale is None:
        scale = 1 / math.sqrt(q.shape[-1])
    dtype = torch.promote_types(q.dtype, torch.float32)  # half precision is too coarse for a softmax

    scores = _scores(q.to(dtype) * scale, k.to(dtype))  # (…, num_heads, seq_q, seq_k)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)

    masked_scores, allowed = scores, torch.ones((), dtype=torch.bool, device=q.device)
    if bias is not None:
        masked_scores, allowed = scores + bias.to(dtype), bias.to(dtype) != -math.inf
    if attend_mask is not None:
        allowed = allowed & attend_mask
    if bias is not None or attend_mask is not None:
        masked_scores = masked_scores.masked_fill(~allowed, -math.inf)

    weights = _softmax(masked_scores, allowed)  # (…, num_heads, seq_q, seq_k)
    output = _weighted_sum(weights, v.to(dtype), allowed)  # (…, num_heads, seq_q, v_dim)
    return AttentionTrace(
        scores=scores.to(q.dtype),
        masked_scores=masked_scores.to(q.dtype),
        weights=weights.to(q.dtype),
        output=output.to(q.dtype),
    )


# The three steps below are q @ kᵀ, softmax and weights @ v. What they add is for inf and NaN, and costs next to nothing
# without them. 0·NaN is NaN: plain products would carry a NaN from a forbidden key or value into the result and,
# on the way back, into the gradients of queries that never looked at it.


def _scores(q: Tensor, k: Tensor) -> Tensor:
    """q @ kᵀ; a score that is not finite passes no gradient on."""
    scores = _matmul(q, k.mT)
    if _is_finite(scores):
        return scores
    return torch.where(scores.isfinite(), _matmul(_finite_part(q), _finite_part(k).mT), scores.detach())


def _softmax(masked_scores: Tensor, allowed: Tensor) -> Tensor:
    """Softmax over the keys, exactly 0 for a forbidden one; a row that is NaN passes no gradient on."""
    weights = torch.softmax(masked_scores, dim=-1)
    if _is_finite(weights):
        return weights
    undefined = weights.isnan().any(dim=-1, keepdim=True)  # nothing to attend to, or a permitted score is inf or NaN
    weights = torch.softmax(masked_scores.masked_fill(undefined, 0.0), dim=-1)
    return weights.masked_fill(undefined, math.nan).masked_fill(~allowed, 0.0)


def _weighted_sum(weights: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
    """weights @ v, where a value counts only for the queries that may look at it."""
    if _is_finite(weights) and _is_finite(v):
        return _matmul(weights, v)
    output = _matmul(_finite_part(weights), _finite_part(v))  # (…, num_heads, seq_q, v_dim)
    may_look = allowed.to(v.dtype).expand_as(weights)
    for found, value in ((v.isnan(), math.nan), (v == math.inf, math.inf), (v == -math.inf, -math.inf)):
        seen = _matmul(may_look, found.to(v.dtype)) > 0  # (…, num_heads, seq_q, v_dim)
        output = output + torch.where(seen, value, 0.0)
    return output.masked_fill(weights.isnan().any(dim=-1, keepdim=True), math.nan)


def _matmul(x: Tensor, y: Tensor) -> Tensor:
    """x (…, num_heads, n, m) @ y (…, num_kv_heads, m, p) → (…, num_heads, n, p).

    The rows of all heads that share a KV head are stacked, so that y is used as it is and never repeated.
    """
    *leading, num_heads, n, m = x.shape
    num_kv_heads, p = y.shape[-3], y.shape[-1]
    stacked = x.reshape(*leading, num_kv_heads, num_heads // num_kv_heads * n, m)  # (…, num_kv_heads, rows, m)
    product = stacked @ y  # (…, num_kv_heads, rows, p)
    return product.reshape(*product.shape[:-3], num_heads, n, p)  # (…, num_heads, n, p)


def _is_finite(x: Tensor) -> bool:
    """Whether all numbers are finite: one look at their sum tells (if it overflows, the answer is a careful no)."""
    if x.is_meta:  # it has a shape, but no numbers
        return True
    return math.isfinite(x.detach().sum().item())


def _finite_part(x: Tensor) -> Tensor:
    return torch.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0)


def _check_tensors(q: Tensor, k: Tensor, v: Tensor) -> None:
    layouts = {
        "q": (q, "num_heads, seq_q, head_dim"),
        "k": (k, "num_kv_heads, seq_k, head_dim"),
        "v": (v, "num_kv_heads, seq_k, v_dim"),
    }
    for name, (tensor, layout) in layouts.items():
        if tensor.ndim < 3:
            raise ValueError(f"{name} (shape {tuple(tensor.shape)}) must have the shape (…, {layout})")
        if tensor.dtype not in SUPPORTED_TYPES:
            raise ValueError(f"{name} ({tensor.dtype}) must be one of {', '.join(map(str, SUPPORTED_TYPES))}")
        if tensor.dtype != q.dtype:
            raise ValueError(f"{name} ({tensor.dtype}) must have the type of q ({q.dtype})")
    num_heads, _, head_dim = q.shape[-3:]
    num_kv_heads, seq_k, _ = k.shape[-3:]
    check_sizes(head_dim=head_dim)
    if k.shape[-1] != head_dim:
        raise ValueError(f"head_dim of k ({k.shape[-1]}) must equal head_dim of q ({head_dim})")
    if v.shape[-3] != num_kv_heads:
        raise ValueError(f"num_kv_heads of v ({v.shape[-3]}) must equal num_kv_heads of k ({num_kv_heads})")
    if v.shape[-2] != seq_k:
        raise ValueError(f"seq_k of v ({v.shape[-2]}) must equal seq_k of k ({seq_k})")
    check_sizes(num_kv_heads=num_kv_heads)
    check_divisible("num_heads", num_heads, "num_kv_heads", num_kv_heads)


def _check_options(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attend_mask: Tensor | None,
    bias: Tensor | None,
    scale: float | None,
    softcap: float | None,
) -> None:
    leading = [tuple(tensor.shape[:-3]) for tensor in (q, k, v)]
    try:
        shape = (*np.broadcast_shapes(*leading), *q.shape[-3:-1], k.shape[-2])
    except ValueError:
        raise ValueError("leading dimensions of q {}, k {} and v {} must broadcast".format(*leading)) from None
    if attend_mask is not None:
        if attend_mask.dtype != torch.bool:
            raise ValueError(f"attend_mask ({attend_mask.dtype}) must be bool, True = may attend")
        _check_broadcast("attend_mask", attend_mask, shape)
    if bias is not None:
        if not bias.is_floating_point():
            raise ValueError(f"bias ({bias.dtype}) must be floating-point")
        _check_broadcast("bias", bias, shape)
    if scale is not None and not math.isfinite(scale):
        raise ValueError(f"scale ({scale}) must be finite")
    if softcap is not None:
        check_positive("softcap", softcap)


def _check_broadcast(name: str, tensor: Tensor, shape: tuple[int, ...]) -> None:
    try:
        tensor.expand(shape)
    except RuntimeError:
        raise ValueError(
            f"{name} (shape {tuple(tensor.shape)}) must broadcast to (…, num_heads, seq_q, seq_k) = {shape}"
        ) from None
