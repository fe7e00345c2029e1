"""The rank of a matrix, counted and weighed: five answers to "how many dimensions does it have?", from singular values.

Only the numerical rank is a rank in the sense of algebra. The others say how unevenly the singular values are spread,
and can be small for a matrix of full rank. All need float64: in float32, rounding alone looks like rank.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.checks import check_between

ENERGY_SHARE = 0.9
"""The share of the energy Σσ² that counts as most of it."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """What was measured of one matrix; all are 0 if it is all zeros."""

    numerical: int  # singular values above a tolerance times the largest
    effective: float  # exp of the entropy of the singular values, each divided by their sum
    stable: float  # Σσ² / σ₁²
    energy: int  # how many of the largest hold a share of Σσ²


def singular_values(matrix: Tensor) -> Tensor:
    """The singular values of every matrix, largest first: one decomposition each, without vectors.

    Shapes: matrix (…, rows, columns) → (…, min(rows, columns)).
    Raises: ValueError if the matrix is not float64.
    """
    _check_precision("matrix", matrix)
    values: Tensor = torch.linalg.svdvals(matrix)
    return values


def default_tolerance(rows: int, columns: int) -> float:
    """What torch.linalg.matrix_rank takes as its relative tolerance for float64: the larger side times epsilon."""
    return max(rows, columns) * torch.finfo(torch.float64).eps


def numerical_rank(values: Tensor, *, tolerance: float) -> Tensor:
    """How many singular values are larger than `tolerance` times the largest one.

    Shapes: values (…, count), largest first → int64 (…).
    Raises: ValueError if the values are not float64 or there are none, or tolerance is not from 0 to below 1.
    Source: torch.linalg.matrix_rank with rtol = tolerance.
    """
    _check_values(values)
    if not 0 <= tolerance < 1:
        raise ValueError(f"tolerance ({tolerance}) must be at least 0 and below 1")
    return (values > tolerance * values[..., :1]).sum(dim=-1)


def effective_rank(values: Tensor) -> Tensor:
    """The entropy effective rank: exp(−Σ p log p), where p are the singular values divided by their sum.

    It is a real number from 1 to the rank, and equals the rank only if all singular values are equal.

    Shapes: values (…, count) → (…).
    Raises: ValueError if the values are not float64 or there are none.
    Source: Roy & Vetterli 2007, "The effective rank: a measure of effective dimensionality".
    """
    _check_values(values)
    total = values.sum(dim=-1, keepdim=True)  # (…, 1)
    shares = values / torch.where(total > 0, total, 1.0)  # (…, count)
    entropy: Tensor = torch.special.entr(shares).sum(dim=-1)  # (…)
    return torch.where(total[..., 0] > 0, entropy.exp(), 0.0)


def stable_rank(values: Tensor) -> Tensor:
    """The squared Frobenius norm divided by the squared spectral norm: Σσ² / σ₁², from 1 to the rank.

    Shapes: values (…, count), largest first → (…).
    Raises: ValueError if the values are not float64 or there are none.
    Source: Rudelson & Vershynin 2007, "Sampling from large matrices" (there called numerical rank); its properties in
        Ipsen & Saibaba 2024, "Stable rank and intrinsic dimension of real and complex matrices".
    """
    _check_values(values)
    largest = values[..., 0].square()
    return values.square().sum(dim=-1) / torch.where(largest > 0, largest, 1.0)


def energy_rank(values: Tensor, *, share: float) -> Tensor:
    """How many of the largest singular values hold `share` of the energy Σσ².

    So many terms of the decomposition rebuild the matrix with a relative error of at most √(1 − share).

    Shapes: values (…, count), largest first → int64 (…).
    Raises: ValueError if the values are not float64 or there are none, or share is not above 0 and below 1: all of
        the energy is a question of rounding, which `numerical_rank` answers.
    Source: Eckart & Young 1936; in statistics, the number of principal components for a share of the variance.
    """
    _check_values(values)
    if not 0 < share < 1:
        raise ValueError(f"share ({share}) must be above 0 and below 1")
    energy = values.square()
    before = energy.cumsum(dim=-1) - energy  # (…, count), what the larger values hold
    return (before < share * energy.sum(dim=-1, keepdim=True)).sum(dim=-1)


def terms_needed(values: Tensor, *, error: float) -> Tensor:
    """How many terms of the decomposition rebuild the matrix with at most this relative error, in Frobenius norms.

    Shapes: values (…, count), largest first → int64 (…).
    Raises: ValueError if the values are not float64 or there are none, or error is not above 0 and below 1.
    Source: Eckart & Young 1936.
    """
    if not 0 < error < 1:
        raise ValueError(f"error ({error}) must be above 0 and below 1")
    return energy_rank(values, share=1 - error**2)


def ranks_of(values: Tensor, *, tolerance: float, share: float = ENERGY_SHARE) -> tuple[Ranks, ...]:
    """All measures of several matrices from their singular values, (matrices, count): no decomposition is needed.

    Raises: ValueError as the single measures do.
    """
    measured = zip(
        numerical_rank(values, tolerance=tolerance).tolist(),
        effective_rank(values).tolist(),
        stable_rank(values).tolist(),
        energy_rank(values, share=share).tolist(),
        strict=True,
    )
    return tuple(Ranks(*each) for each in measured)


# ------------------------------------------------------------------------------------- a matrix of less rank, instead


@dataclass(frozen=True, slots=True, eq=False)
class Decomposition:
    """A matrix as u · diag(values) · vh."""

    u: Tensor  # (rows, count)
    values: Tensor  # (count,), largest first
    vh: Tensor  # (count, columns)


def decompose(matrix: Tensor) -> Decomposition:
    """The full singular value decomposition of one matrix, about twice the price of the values alone.

    Shape: matrix (rows, columns).
    Raises: ValueError if the matrix is not float64.
    """
    _check_precision("matrix", matrix)
    return Decomposition(*torch.linalg.svd(matrix, full_matrices=False))


def reconstruct(decomposition: Decomposition, k: int) -> Tensor:
    """The matrix of rank k (at most) that is nearest to the one that was decomposed: its k largest terms.

    Shape: (rows, columns).
    Raises: ValueError if k is not from 0 to the number of singular values.
    Source: Eckart & Young 1936, "The approximation of one matrix by another of lower rank".
    """
    check_between("k", k, 0, len(decomposition.values))
    return (decomposition.u[:, :k] * decomposition.values[:k]) @ decomposition.vh[:k]  # (rows, columns)


def reconstruction_errors(values: Tensor) -> Tensor:
    """How far the nearest matrix of each rank k = 0 … count is off: ‖A − A_k‖ / ‖A‖, Frobenius norms; 0 if A is 0.

    The error is what the singular values left out hold, √(Σ_{i>k} σᵢ² / Σσ²): no matrix need be rebuilt.

    Shapes: values (count,), largest first → (count + 1,).
    Raises: ValueError if the values are not float64 or there are none.
    Source: Eckart & Young 1936.
    """
    _check_values(values)
    energy = values.square()
    left_out = torch.cat([energy.flip(0).cumsum(0).flip(0), energy.new_zeros(1)])  # (count + 1,), small ones first
    return (left_out / (left_out[0] if left_out[0] > 0 else 1.0)).sqrt()


def _check_precision(name: str, tensor: Tensor) -> None:
    if tensor.dtype != torch.float64:
        raise ValueError(f"{name} ({tensor.dtype}) must be float64: in less precision, rounding looks like rank")


def _check_values(values: Tensor) -> None:
    _check_precision("values", values)
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ValueError(f"values (shape {tuple(values.shape)}) must hold at least one singular value")
