"""What it changes if a head's queries, keys and values share their matrices: measured on random heads and inputs."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.projections import Head, Sharing, random_head, run_head

MATRICES_OF: dict[Sharing, int] = {
    Sharing.SEPARATE: 3,
    Sharing.VALUE_IS_KEY: 2,
    Sharing.QUERY_IS_KEY: 2,
    Sharing.ONE: 1,
    Sharing.NONE: 0,
}
"""How many matrices of d_model × head_dim a variant learns for its queries, keys and values."""


@dataclass(frozen=True, slots=True)
class Structure:
    """What was measured of one variant."""

    sharing: Sharing
    parameters: int  # of W_Q, W_K and W_V; W_O is the same for all
    score_asymmetry: float  # largest |S − Sᵀ| in units of the largest |S|; 0 = symmetric
    weight_asymmetry: float  # the same of the weights
    self_share: float  # share of tokens whose largest score is with themselves
    rank: int  # of the stacked projection [W_Q W_K W_V]


def measure_structure(
    sharing: Sharing, *, d_model: int, head_dim: int, seq_len: int, trials: int, generator: torch.Generator
) -> Structure:
    """Measure a random head on `trials` random inputs of unit variance, of shape (seq_len, d_model) each."""
    head = random_head(d_model, head_dim, sharing=sharing, generator=generator)
    x = torch.randn(trials, seq_len, d_model, generator=generator, dtype=torch.float64)
    trace = run_head(x, head)  # scores (trials, seq_len, seq_len)
    return Structure(
        sharing,
        MATRICES_OF[sharing] * d_model * head_dim,
        asymmetry(trace.scores),
        asymmetry(trace.weights),
        self_share(trace.scores),
        stacked_rank(head),
    )


def asymmetry(square: Tensor) -> float:
    """Largest |M − Mᵀ| in units of the largest |M|; shape (…, n, n).

    >>> asymmetry(torch.tensor([[1.0, 2.0], [4.0, 1.0]]))
    0.5
    """
    return float((square - square.mT).abs().max() / square.abs().max())


def self_share(scores: Tensor) -> float:
    """The share of rows whose largest score lies on the diagonal; scores (…, seq_len, seq_len)."""
    places = torch.arange(scores.shape[-1], device=scores.device)
    return float((scores.argmax(dim=-1) == places).double().mean())


def stacked_rank(head: Head) -> int:
    """The rank of [W_Q W_K W_V], (d_model, 3 · head_dim): in how many dimensions the three together keep the input.

    Raises: ValueError if the weights are not float64: in single precision, noise would count as rank.
    """
    if head.q.weight.dtype != torch.float64:
        raise ValueError(f"weights ({head.q.weight.dtype}) must be float64")
    stacked = torch.cat([head.q.weight, head.k.weight, head.v.weight], dim=1)  # (d_model, 3 · head_dim)
    return int(torch.linalg.matrix_rank(stacked))


def measure_ranks(
    sharing: Sharing, d_models: Sequence[int], head_dim: int, *, generator: torch.Generator
) -> tuple[int, ...]:
    """The rank of the stacked projection of a random head for each d_model."""
    return tuple(
        stacked_rank(random_head(d_model, head_dim, sharing=sharing, generator=generator)) for d_model in d_models
    )
