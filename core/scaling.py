"""Why scores are divided by √head_dim: what becomes of softmax without it, measured.

Vaswani et al. 2017, section 3.2.1, footnote 4: a dot product of two independent vectors of unit variance has the
variance head_dim.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention import scaled_dot_product_attention


@dataclass(frozen=True, slots=True)
class Saturation:
    """How sharp softmax gets at one head_dim."""

    head_dim: int
    variance: float  # of the scores
    entropy: float  # bits, mean over the queries; 0 = all weight on one key
    gradient: float  # mean size of softmax's Jacobian; 0 = nothing is learned through the scores


def measure_scaling(
    head_dims: Sequence[int], *, scaled: bool, generator: torch.Generator, heads: int = 16, seq_len: int = 48
) -> tuple[Saturation, ...]:
    """Measure attention between independent q and k of zero mean and unit variance, for each head_dim."""
    measured = []
    for head_dim in head_dims:
        q = torch.randn(heads, seq_len, head_dim, generator=generator)
        k = torch.randn(heads, seq_len, head_dim, generator=generator)
        trace = scaled_dot_product_attention(q, k, k, scale=None if scaled else 1.0)  # scores (heads, seq_len, seq_len)
        measured.append(
            Saturation(
                head_dim,
                float(trace.scores.var()),
                float(entropies(trace.weights).mean()),
                float(softmax_gradients(trace.weights).mean()),
            )
        )
    return tuple(measured)


def entropies(weights: Tensor) -> Tensor:
    """The entropy of every row, in bits; weights (…, seq_k) → (…)."""
    nats: Tensor = torch.special.xlogy(weights, weights).sum(dim=-1)  # 0 · log 0 counts as 0; never above 0
    return nats.abs() / math.log(2)


def softmax_gradients(weights: Tensor) -> Tensor:
    """The size (Frobenius norm) of softmax's Jacobian ∂w/∂s = diag(w) − w wᵀ, row by row; (…, seq_k) → (…).

    The sum of its squared entries is Σ w² − 2 Σ w³ + (Σ w²)², so the matrix itself need not be built.
    """
    squares = weights.square().sum(dim=-1)
    cubes = weights.pow(3).sum(dim=-1)
    return (squares - 2 * cubes + squares.square()).clamp_min(0.0).sqrt()
