"""Rotary positions (RoPE): queries and keys are turned, pair by pair, by angles that grow with their position.

A score then depends on the distance between query and key alone.
Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding".
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.positions.frequencies import pair_frequencies
from core.positions.pairing import Pairing, join_pairs, read_pairing, split_pairs, to_pairing

__all__ = [
    "Pairing",
    "RotationTables",
    "angles",
    "inverse_frequencies",
    "rotate",
    "rotate_complex",
    "rotation_tables",
    "to_pairing",
]


@dataclass(frozen=True, slots=True, eq=False)
class RotationTables:
    """Cosines and sines of the angles by which each position turns each pair."""

    cos: Tensor  # (…, seq, width)
    sin: Tensor  # (…, seq, width)


def inverse_frequencies(head_dim: int, *, base: float = 10000.0) -> Tensor:
    """θ_i = base^(−2i / head_dim) for each pair, in radians per position, float64. width is head_dim / 2.

    Shape: (width,).
    Raises: ValueError if head_dim is odd or less than 2, or base is not above 1 and finite.
    Source: Su et al. 2021, section 3.2.2, equation 15.
    """
    return pair_frequencies(head_dim, base=base, name="head_dim")


def angles(positions: Tensor, frequencies: Tensor, *, dtype: torch.dtype = torch.float64) -> Tensor:
    """By how much each position turns each pair, in radians, computed in `dtype`. Positions may be fractional.

    Angles want float64: float32 keeps 24 binary digits, and a large angle spends them on full turns.

    Shapes: positions (…, seq), frequencies (width,) → (…, seq, width).
    Raises: ValueError if positions are bool or complex, or frequencies are not floating-point of one dimension.
    """
    if positions.dtype == torch.bool or positions.is_complex():
        raise ValueError(f"positions ({positions.dtype}) must be real numbers")
    if frequencies.ndim != 1 or not frequencies.is_floating_point():
        raise ValueError(
            f"frequencies ({frequencies.dtype}, shape {tuple(frequencies.shape)}) must be floating-point, (width,)"
        )
    return positions.to(dtype)[..., None] * frequencies.to(dtype)  # (…, seq, width)


def rotation_tables(positions: Tensor, frequencies: Tensor) -> RotationTables:
    """Cosines and sines of position · frequency, in the type of the frequencies; the angles themselves are float64.

    Shapes: positions (…, seq), frequencies (width,) → (…, seq, width).
    Raises: ValueError as `angles` does.
    """
    turned = angles(positions, frequencies)
    return RotationTables(turned.cos().to(frequencies.dtype), turned.sin().to(frequencies.dtype))


def rotate(x: Tensor, cos: Tensor, sin: Tensor, *, pairing: str) -> Tensor:
    """Turn each pair (a, b) of x into (a cos − b sin, b cos + a sin).

    pairing: `Pairing`, which dimensions make a pair. Those beyond 2 · width pass unturned (partial rotation).
    Shapes: x (…, seq, head_dim); cos and sin (…, seq, width) broadcast against (…, seq) of x. Tables of (batch, seq,
        width) for x of (batch, num_heads, seq, head_dim) need an axis for the heads: `cos[:, None]`.
    Returns: (…, seq, head_dim), in the type of x.
    Raises: ValueError if there is no such pairing, x is not floating-point, cos and sin differ in shape, 2 · width
        exceeds head_dim, or the tables do not broadcast.
    Source: Su et al. 2021, section 3.4.2, equation 34.
    """
    kind = read_pairing("pairing", pairing)
    _check_rotation(x, cos, sin)
    width = cos.shape[-1]
    a, b = split_pairs(x, width, kind)
    turned = join_pairs(a * cos - b * sin, b * cos + a * sin, kind).to(x.dtype)  # (…, seq, 2 · width)
    rest = x[..., 2 * width :].expand(*turned.shape[:-1], -1)  # (…, seq, head_dim − 2 · width)
    return torch.cat((turned, rest), dim=-1)


def rotate_complex(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn each interleaved pair as one complex number: (a + ib) · (cos + i sin).

    Shapes, Returns and Raises: those of `rotate`. No half-precision: torch has no complex numbers for it.
    Source: Su et al. 2021, section 3.2.1, equation 12.
    """
    _check_rotation(x, cos, sin)
    width = cos.shape[-1]
    dtype = torch.promote_types(x.dtype, cos.dtype)
    a, b = split_pairs(x.to(dtype), width, Pairing.INTERLEAVED)
    turned = torch.complex(a, b) * torch.complex(cos.to(dtype), sin.to(dtype))  # (…, seq, width)
    flat = torch.view_as_real(turned).flatten(-2).to(x.dtype)  # (…, seq, 2 · width)
    return torch.cat((flat, x[..., 2 * width :].expand(*flat.shape[:-1], -1)), dim=-1)


def _check_rotation(x: Tensor, cos: Tensor, sin: Tensor) -> None:
    if not x.is_floating_point():
        raise ValueError(f"x ({x.dtype}) must be floating-point")
    if cos.shape != sin.shape:
        raise ValueError(f"sin (shape {tuple(sin.shape)}) must have the shape of cos {tuple(cos.shape)}")
    if cos.ndim < 1 or x.ndim < 1 or 2 * cos.shape[-1] > x.shape[-1]:
        raise ValueError(f"cos (shape {tuple(cos.shape)}) must be at most half as wide as x (shape {tuple(x.shape)})")
    try:
        np.broadcast_shapes(tuple(cos.shape[:-1]), tuple(x.shape[:-1]))
    except ValueError:
        raise ValueError(
            f"cos (shape {tuple(cos.shape)}) must broadcast against (…, seq) of x (shape {tuple(x.shape)})"
        ) from None
