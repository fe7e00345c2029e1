"""What becomes of large angles in smaller types of numbers, measured against float64."""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.positions.rope import angles


@dataclass(frozen=True, slots=True, eq=False)
class AngleErrors:
    """How wrong angles are, and the cosines and sines made of them; all (…, seq, width), absolute, float64."""

    dtype: torch.dtype
    angle: Tensor  # radians
    cos: Tensor  # at most 2
    sin: Tensor  # at most 2

    @property
    def by_position(self) -> Tensor:
        """The largest error of a cosine or sine over the pairs, (…, seq)."""
        return torch.maximum(self.cos, self.sin).amax(dim=-1)


def angle_errors(positions: Tensor, frequencies: Tensor, dtype: torch.dtype) -> AngleErrors:
    """Compute position · frequency, its cosine and its sine in `dtype`, and compare.

    Positions and frequencies are rounded to `dtype` first: bfloat16 has no 257, and float32 has no 10000^(−1/3). Where
    an angle is beyond the largest number, as in float16, its cosine is NaN, and so is the error.

    Shapes: positions (…, seq), frequencies (width,) in float64 → (…, seq, width).
    Raises: ValueError if dtype is not floating-point, frequencies are not float64, or as `core.positions.rope.angles`.
    """
    if not dtype.is_floating_point:
        raise ValueError(f"dtype ({dtype}) must be floating-point")
    if frequencies.dtype != torch.float64:
        raise ValueError(f"frequencies ({frequencies.dtype}) must be float64")
    rounded, exact = angles(positions, frequencies, dtype=dtype), angles(positions, frequencies)  # (…, seq, width)
    return AngleErrors(
        dtype,
        (rounded.double() - exact).abs(),
        (rounded.cos().double() - exact.cos()).abs(),
        (rounded.sin().double() - exact.sin()).abs(),
    )
