"""How fast each pair of dimensions turns: the same for sinusoidal and for rotary positions."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.checks import check_even
from core.positions.checks import check_base, check_length


def pair_frequencies(size: int, *, base: float, name: str) -> Tensor:
    """θ_j = base^(−2j / size) for the pairs j = 0 … size/2 − 1, in radians per position, float64.

    name: what the size is called where it comes from, for the error.
    Shape: (size / 2,).
    Raises: ValueError if size is odd or less than 2, or base is not above 1 and finite.
    """
    check_even(name, size)
    check_base(base)
    return base ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)  # (size / 2,)


def wavelengths(frequencies: Tensor) -> Tensor:
    """After how many positions each pair has turned once: 2π / θ.

    Shape: that of frequencies.
    """
    return 2 * math.pi / frequencies


@dataclass(frozen=True, slots=True, eq=False)
class Waves:
    """The pairs beside the length of the texts that a model was trained on. All tensors are (width,)."""

    frequencies: Tensor  # radians from one token to the next
    wavelengths: Tensor  # tokens
    turns: Tensor  # in training: trained_len / wavelength

    @property
    def complete(self) -> Tensor:
        """Which pairs made at least one full turn in training, bool; of the others it saw a part of the circle only."""
        return self.turns >= 1

    @property
    def incomplete_count(self) -> int:
        return int((~self.complete).sum())

    @property
    def boundary(self) -> float:
        """Between the numbers of the last pair that made a full turn and of the next: each turns slower than before."""
        return len(self.turns) - self.incomplete_count - 0.5


def waves(frequencies: Tensor, trained_len: int) -> Waves:
    """How often each pair turned in training.

    Shape: frequencies (width,), radians from one token to the next.
    Raises: ValueError if trained_len is below 1.
    """
    check_length("trained_len", trained_len, least=1)
    lengths = wavelengths(frequencies)
    return Waves(frequencies, lengths, trained_len / lengths)
