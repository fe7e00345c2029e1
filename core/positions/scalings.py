"""Ways to make RoPE turn more slowly, so that texts longer than those of the training fit.

Each is a value: `apply` says what it does to the frequencies, the positions and the attention factor. What
transformers calls inv_freq is `Scaled.per_token`.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import torch
from torch import Tensor

from core.positions.checks import check_factor, check_length
from core.positions.frequencies import wavelengths
from core.positions.rope import RotationTables, inverse_frequencies, rotation_tables


class Method(StrEnum):
    NONE = "none"
    LINEAR = "linear"  # position interpolation
    NTK = "ntk"
    DYNAMIC_NTK = "dynamic_ntk"
    YARN = "yarn"
    LLAMA3 = "llama3"


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """What a scaling makes of the pairs of one head."""

    frequencies: Tensor  # (width,), radians per unit of position, float64
    position_factor: float  # positions are multiplied by it; they become fractional
    attention_factor: float  # what turns of q and of k is multiplied by it, so its part of the scores by the square
    base: float  # that the frequencies start from

    @property
    def per_token(self) -> Tensor:
        """Radians from one token to the next, (width,)."""
        return self.frequencies * self.position_factor

    def positions(self, positions: Tensor) -> Tensor:
        """Where tokens are said to stand, float64; the shape stays."""
        return positions.double() * self.position_factor

    def tables(self, positions: Tensor) -> RotationTables:
        """Pure cosines and sines, without the attention factor; positions (…, seq) → (…, seq, width)."""
        return rotation_tables(self.positions(positions), self.frequencies)


@dataclass(frozen=True, slots=True)
class Unscaled:
    """RoPE as it is."""

    method: ClassVar[Method] = Method.NONE

    def apply(self, head_dim: int, *, base: float = 10000.0, seq_len: int | None = None) -> Scaled:
        """Shape: width is head_dim / 2. Raises: ValueError as `inverse_frequencies` does."""
        return Scaled(inverse_frequencies(head_dim, base=base), 1.0, 1.0, base)


@dataclass(frozen=True, slots=True)
class Linear:
    """Position interpolation: all positions are divided by the factor.

    Source: Chen et al. 2023, "Extending Context Window of Large Language Models via Positional Interpolation", eq. 4.
    """

    factor: float
    method: ClassVar[Method] = Method.LINEAR

    def __post_init__(self) -> None:
        """Raises: ValueError if the factor is below 1 or not finite."""
        check_factor("factor", self.factor)

    def apply(self, head_dim: int, *, base: float = 10000.0, seq_len: int | None = None) -> Scaled:
        """Raises: ValueError as `inverse_frequencies` does."""
        return Scaled(inverse_frequencies(head_dim, base=base), 1 / self.factor, 1.0, base)


@dataclass(frozen=True, slots=True)
class Ntk:
    """NTK-aware: a larger base. The slowest pair turns more slowly by the factor, the fastest as before.

    Source: bloc97 2023; Peng et al. 2023, "YaRN", section 3.1, definition 1.
    """

    factor: float
    method: ClassVar[Method] = Method.NTK

    def __post_init__(self) -> None:
        """Raises: ValueError if the factor is below 1 or not finite."""
        check_factor("factor", self.factor)

    def apply(self, head_dim: int, *, base: float = 10000.0, seq_len: int | None = None) -> Scaled:
        """Raises: ValueError as `ntk_base` does."""
        new_base = ntk_base(head_dim, self.factor, base=base)
        return Scaled(inverse_frequencies(head_dim, base=new_base), 1.0, 1.0, new_base)


@dataclass(frozen=True, slots=True)
class DynamicNtk:
    """NTK-aware, with a factor that grows with the text: factor · seq_len / trained_len − (factor − 1).

    Up to trained_len nothing changes. With a factor of 1, as in the paper, it is NTK with seq_len / trained_len.

    Source: emozilla 2023; Peng et al. 2023, section 3.3; transformers' `_compute_dynamic_ntk_parameters`.
    """

    trained_len: int
    factor: float = 1.0
    method: ClassVar[Method] = Method.DYNAMIC_NTK

    def __post_init__(self) -> None:
        """Raises: ValueError if trained_len is below 1, or the factor is below 1 or not finite."""
        check_length("trained_len", self.trained_len, least=1)
        check_factor("factor", self.factor)

    def apply(self, head_dim: int, *, base: float = 10000.0, seq_len: int | None = None) -> Scaled:
        """seq_len: how long the text is; None: no longer than in training.

        Raises: ValueError as `ntk_base` does, or if seq_len is negative.
        """
        if seq_len is not None:
            check_length("seq_len", seq_len)
        length = max(seq_len or 0, self.trained_len)
        growth = self.factor * length / self.trained_len - (self.factor - 1)
        new_base = ntk_base(head_dim, growth, base=base)
        return Scaled(inverse_frequencies(head_dim, base=new_base), 1.0, 1.0, new_base)


@dataclass(frozen=True, slots=True)
class Yarn:
    """NTK by parts: pairs that turn often in training stay, those that hardly turn are interpolated; sharper scores.

    Between beta_fast and beta_slow turns in training, the share of interpolation rises in a line over the pairs' index
    (transformers and YaRN's own code; the paper's equation 18 has a line over the number of turns).

    attention_factor: 0.1 · ln(factor) + 1 by default. truncate: the ends of the line lie at whole indices.
    Source: Peng et al. 2023, "YaRN", sections 3.2 and 3.4; transformers' `_compute_yarn_parameters`.
    """

    factor: float
    trained_len: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    attention_factor: float | None = None
    truncate: bool = True
    method: ClassVar[Method] = Method.YARN

    def __post_init__(self) -> None:
        """Raises: ValueError if the factor is below 1, trained_len is below 1, or not beta_fast > beta_slow > 0."""
        check_factor("factor", self.factor)
        check_length("trained_len", self.trained_len, least=1)
        if not 0 < self.beta_slow < self.beta_fast:
            raise ValueError(f"beta_slow ({self.beta_slow}) must be above 0 and below beta_fast ({self.beta_fast})")

    def apply(self, head_dim: int, *, base: float = 10000.0, seq_len: int | None = None) -> Scaled:
        """Raises: ValueError as `inverse_frequencies` does."""
        frequencies = inverse_frequencies(head_dim, base=base)
        low, high = (self._index(turns, head_dim, base) for turns in (self.beta_fast, self.beta_slow))
        if self.truncate:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, head_dim - 1)
        if low == high:
            high += 0.001  # transformers' own guard
        interpolated = ((torch.arange(head_dim // 2, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)  # (width,)
        scaled = frequencies * (1 - interpolated) + frequencies / self.factor * interpolated  # (width,)
        temperature = 0.1 * math.log(self.factor) + 1
        return Scaled(scaled, 1.0, temperature if self.attention_factor is None else self.attention_factor, base)

    def _index(self, turns: float, head_dim: int, base: float) -> float:
        """Which pair makes so many turns in training; fractional."""
        return head_dim * math.log(self.trained_len / (turns * 2 * math.pi)) / (2 * math.log(base))


@dataclass(frozen=True, slots=True)
class Llama3:
    """Wavelengths below trained_len / high_freq_factor stay, those above trained_len / low_freq_factor are stretched by
    the factor, and between the two the frequency changes smoothly.

    Source: Llama 3.1's published code; transformers' `_compute_llama3_parameters`.
    """

    factor: float
    trained_len: int = 8192
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    method: ClassVar[Method] = Method.LLAMA3

    def __post_init__(self) -> None:
        """Raises: ValueError if the factor or trained_len is below 1, or not high_freq_factor > low_freq_factor > 0."""
        check_factor("factor", self.factor)
        check_length("trained_len", self.trained_len, least=1)
        low, high = self.low_freq_factor, self.high_freq_factor
        if not 0 < low < high:
            raise ValueError(f"low_freq_factor ({low}) must be above 0 and below high_freq_factor ({high})")

    def apply(self, head_dim: int, *, base: float = 10000.0, seq_len: int | None = None) -> Scaled:
        """Raises: ValueError as `inverse_frequencies` does."""
        frequencies = inverse_frequencies(head_dim, base=base)
        low, high = self.low_freq_factor, self.high_freq_factor
        kept = ((self.trained_len / wavelengths(frequencies) - low) / (high - low)).clamp(0, 1)  # (width,), 1: as it is
        return Scaled((1 - kept) * frequencies / self.factor + kept * frequencies, 1.0, 1.0, base)


Scaling = Unscaled | Linear | Ntk | DynamicNtk | Yarn | Llama3


def ntk_base(head_dim: int, factor: float, *, base: float = 10000.0) -> float:
    """The base with which the slowest pair turns more slowly by the factor: base · factor^(head_dim / (head_dim − 2)).

    Raises: ValueError as `inverse_frequencies` does; if head_dim is 2, where the exponent has no value; if the factor
        is below 1, or so large that the new base overflows.
    Source: Peng et al. 2023, "YaRN", definition 1.
    """
    inverse_frequencies(head_dim, base=base)
    check_factor("factor", factor)
    if head_dim == 2:
        raise ValueError("head_dim (2) must be at least 4 for NTK: its exponent is head_dim / (head_dim - 2)")
    try:
        scaled = float(base * factor ** (head_dim / (head_dim - 2)))
    except OverflowError:  # the power does; a product that is too large is infinite instead
        scaled = math.inf
    if scaled == math.inf:
        raise ValueError(f"factor ({factor}) must be smaller for head_dim ({head_dim}): the new base overflows")
    return scaled


def scaling_for(method: str, *, factor: float, trained_len: int) -> Scaling:
    """The scaling by its name, with everything else as in the papers; dynamic NTK takes its factor from the length.

    Raises: ValueError if there is no such method, the factor is below 1, or trained_len is below 1.
    """
    check_factor("factor", factor)
    check_length("trained_len", trained_len, least=1)
    match method:
        case Method.NONE:
            return Unscaled()
        case Method.LINEAR:
            return Linear(factor)
        case Method.NTK:
            return Ntk(factor)
        case Method.DYNAMIC_NTK:
            return DynamicNtk(trained_len)
        case Method.YARN:
            return Yarn(factor, trained_len)
        case Method.LLAMA3:
            return Llama3(factor, trained_len)
    raise ValueError(f"method ({method!r}) must be one of {', '.join(Method)}")
