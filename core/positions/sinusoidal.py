"""Sinusoidal positions: each position is a vector of sines and cosines, added to the embedding of its token.

Vaswani et al. 2017, "Attention Is All You Need", section 3.5.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.checks import check_even
from core.positions.checks import check_base, check_length
from core.positions.frequencies import pair_frequencies


def sinusoidal_encoding(seq_len: int, d_model: int, *, base: float = 10000.0) -> Tensor:
    """PE(pos)[2j] = sin(pos · θ_j) and PE(pos)[2j + 1] = cos(pos · θ_j), with θ_j = base^(−2j / d_model); float64.

    Shape: (seq_len, d_model), for the positions 0 … seq_len − 1.
    Raises: ValueError if seq_len is negative, d_model is odd or less than 2, or base is not above 1 and finite.
    Source: Vaswani et al. 2017, section 3.5.
    """
    check_length("seq_len", seq_len)
    return encode(torch.arange(seq_len), d_model, base=base)


def encode(positions: Tensor, d_model: int, *, base: float = 10000.0) -> Tensor:
    """PE of any positions, which may be fractional or negative; float64.

    Shapes: positions (…) → (…, d_model).
    Raises: ValueError as `sinusoidal_encoding` does.
    """
    angles = positions.double()[..., None] * pair_frequencies(d_model, base=base, name="d_model")  # (…, d_model / 2)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)  # (…, d_model)


def shift_matrix(d_model: int, offset: float, *, base: float = 10000.0) -> Tensor:
    """M with PE(pos + offset) = M · PE(pos) for every pos, PE as a column: one rotation for each pair; float64.

    Shape: (d_model, d_model).
    Raises: ValueError if d_model is odd or less than 2, offset is not finite, or base is not above 1 and finite.
    Source: Vaswani et al. 2017, section 3.5, claims it; it is sin(a + b) = sin a cos b + cos a sin b.
    """
    if not math.isfinite(offset):
        raise ValueError(f"offset ({offset}) must be finite")
    angles = offset * pair_frequencies(d_model, base=base, name="d_model")  # (d_model / 2,)
    cos, sin = angles.cos(), angles.sin()
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    even = torch.arange(0, d_model, 2)
    matrix[even, even], matrix[even, even + 1] = cos, sin  # the row of the sine
    matrix[even + 1, even], matrix[even + 1, even + 1] = -sin, cos  # the row of the cosine
    return matrix


@dataclass(frozen=True, slots=True, eq=False)
class PositionShift:
    """Positions moved on by the shift matrix, beside the positions that lie there."""

    matrix: Tensor  # (d_model, d_model)
    positions: Tensor  # (seq_len,), where each vector comes from
    shifted: Tensor  # (seq_len, d_model), M · PE(pos)
    encoded: Tensor  # (seq_len, d_model), PE(pos + offset)

    @property
    def residuals(self) -> Tensor:
        """The largest difference for each position, (seq_len,)."""
        return (self.shifted - self.encoded).abs().amax(dim=-1)

    @property
    def residual(self) -> float:
        """The largest of all; 0 for no positions."""
        return float(self.residuals.max()) if self.positions.numel() else 0.0


def shift(positions: Tensor, d_model: int, offset: float, *, base: float = 10000.0) -> PositionShift:
    """Move positions by the matrix: with position 2 and offset 3, "position 5 seen from position 2".

    Shape: positions (seq_len,).
    Raises: ValueError as `shift_matrix` does.
    """
    matrix = shift_matrix(d_model, offset, base=base)
    shifted = encode(positions, d_model, base=base) @ matrix.T  # (seq_len, d_model)
    return PositionShift(matrix, positions, shifted, encode(positions.double() + offset, d_model, base=base))


def similarities(encoding: Tensor) -> Tensor:
    """PE(m) · PE(n) for all pairs of positions.

    Shapes: encoding (seq_len, d_model) → (seq_len, seq_len).
    """
    return encoding @ encoding.T


def similarity_by_distance(distances: Tensor, d_model: int, *, base: float = 10000.0) -> Tensor:
    """PE(m) · PE(n) = Σ_j cos((m − n) · θ_j): it depends on the distance alone. At distance 0 it is d_model / 2.

    Shapes: distances (…) → (…).
    Raises: ValueError as `sinusoidal_encoding` does.
    """
    frequencies = pair_frequencies(d_model, base=base, name="d_model")
    return (distances.double()[..., None] * frequencies).cos().sum(dim=-1)


# ----------------------------------------------------------------------------------- one frequency for each dimension


def dimension_frequencies(d_model: int, *, base: float = 10000.0) -> Tensor:
    """The frequency of every dimension: base^(−2⌊i/2⌋ / d_model), so that dimensions 2j and 2j + 1 share one.

    Shape: (d_model,).
    Raises: ValueError as `sinusoidal_encoding` does.
    """
    return pair_frequencies(d_model, base=base, name="d_model").repeat_interleave(2)


def printed_frequencies(d_model: int, *, base: float = 10000.0) -> Tensor:
    """The frequency of every dimension as it is often printed: base^(−i / d_model), also for odd i.

    Shape: (d_model,).
    Raises: ValueError as `sinusoidal_encoding` does.
    """
    check_even("d_model", d_model)
    check_base(base)
    return base ** (-torch.arange(d_model, dtype=torch.float64) / d_model)


def measured_frequencies(encoding: Tensor) -> Tensor:
    """The frequency of every dimension, read off an encoding: the angle by which its pair turns from position 0 to 1.

    Shapes: encoding (seq_len, d_model) with at least two positions → (d_model,).
    Raises: ValueError if there are fewer.
    """
    if encoding.shape[0] < 2:
        raise ValueError(f"seq_len ({encoding.shape[0]}) must be at least 2")
    turned = torch.atan2(encoding[1, 0::2], encoding[1, 1::2])  # (d_model / 2,), at most 1: far from a full turn
    return turned.repeat_interleave(2)
