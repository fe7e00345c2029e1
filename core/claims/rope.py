"""The claims about rotary positions: one measurement and one verdict for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.checks import check_between
from core.claims import Verdict
from core.positions.checks import check_length
from core.positions.distance import Profile, Vectors
from core.positions.pairing import Pairing, to_pairing
from core.positions.rope import inverse_frequencies, rotate, rotate_complex, rotation_tables
from core.positions.scalings import Linear, ntk_base
from core.rope_as_printed import Outcome, position_interpolation

# ------------------------------------------------------------------------------------ θ₃₁ for head_dim 64 is 0.000100

THETA_HEAD_DIM, THETA_INDEX, THETA_AS_TOLD = 64, 31, 0.000100
HALF_A_DIGIT = 0.5e-6  # a number printed with six decimals is off by at most this


def theta(head_dim: int = THETA_HEAD_DIM, index: int = THETA_INDEX, *, base: float = 10000.0) -> float:
    """The frequency of one pair.

    Raises: ValueError if there is no such pair, or as `core.positions.rope.inverse_frequencies` does.
    """
    frequencies = inverse_frequencies(head_dim, base=base)
    check_between("index", index, 0, len(frequencies) - 1)
    return float(frequencies[index])


def theta_verdict(measured: float, *, told: float = THETA_AS_TOLD, rounding: float = HALF_A_DIGIT) -> Verdict:
    """A printed number may differ from the computed one by the rounding of its last digit."""
    return Verdict.HOLDS if abs(measured - told) <= rounding else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------- The NTK-aware base for a factor of 2 is about 40 000

NTK_HEAD_DIM, NTK_FACTOR, NTK_BASE_AS_TOLD = 128, 2.0, 40_000.0
ABOUT = 0.05  # relative: "about 40 000" is between 38 000 and 42 000


@dataclass(frozen=True, slots=True)
class NtkBases:
    """What is told beside what the formula gives."""

    told: float
    measured: float  # for the factor that is told
    doubled: float  # for twice that factor
    factor_of_told: float  # which factor would have the base that is told


def ntk_bases(
    head_dim: int = NTK_HEAD_DIM,
    factor: float = NTK_FACTOR,
    *,
    told: float = NTK_BASE_AS_TOLD,
    base: float = 10000.0,
) -> NtkBases:
    """Compute them.

    Raises: ValueError as `core.positions.scalings.ntk_base` does.
    """
    return NtkBases(
        told,
        ntk_base(head_dim, factor, base=base),
        ntk_base(head_dim, 2 * factor, base=base),
        (told / base) ** ((head_dim - 2) / head_dim),
    )


def ntk_verdict(measured: float, *, told: float = NTK_BASE_AS_TOLD, about: float = ABOUT) -> Verdict:
    """Judge "about": within a small part of what is told."""
    return Verdict.HOLDS if abs(measured / told - 1) <= about else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------ Positions are interpolated by (position · scale).long()


@dataclass(frozen=True, slots=True, eq=False)
class Interpolation:
    """Where tokens are said to stand, (seq_len,) each."""

    fractional: Tensor
    truncated: Tensor  # as printed

    @property
    def shared(self) -> int:
        """How many tokens share their truncated position with the token before them."""
        return int((self.truncated.diff() == 0).sum())

    @property
    def shared_fractional(self) -> int:
        return int((self.fractional.diff() == 0).sum())


def interpolate(seq_len: int, *, trained_len: int, target_len: int) -> Interpolation:
    """Interpolate the positions 0 … seq_len − 1 both ways.

    Raises: ValueError if seq_len is negative, trained_len is below 1, or target_len is below trained_len.
    """
    check_length("seq_len", seq_len)
    check_length("trained_len", trained_len, least=1)
    check_length("target_len", target_len, least=trained_len)
    positions = torch.arange(seq_len)
    scaled = Linear(target_len / trained_len).apply(2)
    return Interpolation(scaled.positions(positions), position_interpolation(positions, trained_len, target_len))


def interpolation_verdict(found: Interpolation) -> Verdict:
    """DOES_NOT_HOLD if tokens that stood apart share a position only because of the cast; else HOLDS."""
    return Verdict.DOES_NOT_HOLD if found.shared > found.shared_fractional else Verdict.HOLDS


# -------------------------------------------------------------- The rotate-half form and the complex form are the same

SAME = 1e-5  # float32 rounds numbers of about 1 to about 10^−7


@dataclass(frozen=True, slots=True, eq=False)
class PairingComparison:
    """The same vectors turned in both ways. All tensors are (…, seq, head_dim)."""

    half_split: Tensor
    interleaved: Tensor
    complex_form: Tensor
    permuted: Tensor  # reordered, turned as interleaved pairs, and put back in order
    order: tuple[int, ...]  # place i of the reordered vector holds this dimension of the original

    @property
    def as_given(self) -> float:
        """The largest difference between rotate-half and complex form of one and the same vector."""
        return float((self.half_split - self.complex_form).abs().max())

    @property
    def after_permutation(self) -> float:
        """The same after the permutation."""
        return float((self.half_split - self.permuted).abs().max())


def compare_pairings(x: Tensor, positions: Tensor, *, base: float = 10000.0) -> PairingComparison:
    """Turn x (…, seq, head_dim) by positions (…, seq), as half-split and as interleaved pairs.

    Raises: ValueError as `core.positions.rope.inverse_frequencies` and `rotate` do.
    """
    head_dim = x.shape[-1]
    tables = rotation_tables(positions, inverse_frequencies(head_dim, base=base))
    half, inter = Pairing.HALF_SPLIT, Pairing.INTERLEAVED
    reordered = to_pairing(x, source=half, target=inter)
    turned = rotate_complex(reordered, tables.cos, tables.sin)
    return PairingComparison(
        rotate(x, tables.cos, tables.sin, pairing=half),
        rotate(x, tables.cos, tables.sin, pairing=inter),
        rotate_complex(x, tables.cos, tables.sin),
        to_pairing(turned, source=inter, target=half),
        tuple(to_pairing(torch.arange(head_dim), source=half, target=inter).tolist()),
    )


def pairing_verdict(as_given: float, after_permutation: float, *, same: float = SAME) -> Verdict:
    """HOLDS if the two forms agree as they are, ONLY_IF the dimensions are reordered in between."""
    if as_given <= same:
        return Verdict.HOLDS
    return Verdict.ONLY_IF if after_permutation <= same else Verdict.DOES_NOT_HOLD


def printed_complex_verdict(outcomes: Sequence[Outcome]) -> Verdict:
    """Judge the printed complex form by what came of it: right always, sometimes, or never."""
    if not outcomes:
        return Verdict.UNDECIDED
    right = sum(outcome is Outcome.RIGHT for outcome in outcomes)
    if right == len(outcomes):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if right else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------------------- RoPE makes scores decay with distance

DECAYED = 0.5  # decay means at most half of the size that scores have at the nearest distance


@dataclass(frozen=True, slots=True)
class Decay:
    """What becomes of scores with the distance."""

    near: float  # size (root mean square) at the nearest distance
    far: float  # the same over the farthest tenth of the distances
    lowest: float  # of the mean score, at any distance
    first_negative: float | None  # the nearest distance at which the mean score is below 0; None: nowhere
    rising: float  # share of the steps outward at which the mean score grows
    far_negative: float  # share of the scores below 0 over the farthest tenth

    @property
    def kept(self) -> float:
        return self.far / self.near


def measure_decay(found: Profile) -> Decay:
    """Sum up a profile whose distances increase.

    Raises: ValueError if it has fewer than ten distances.
    """
    count = len(found.distances)
    if count < 10:
        raise ValueError(f"distances ({count}) must be at least 10")
    far = slice(count - count // 10, count)
    below = (found.mean < 0).nonzero().flatten()
    return Decay(
        near=float(found.size[0]),
        far=float(found.size[far].square().mean().sqrt()),
        lowest=float(found.mean.min()),
        first_negative=float(found.distances[below[0]]) if len(below) else None,
        rising=float((found.mean.diff() > 0).double().mean()),
        far_negative=float(found.negative[far].mean()),
    )


def decay_verdict(measured: Mapping[Vectors, Decay], *, decayed: float = DECAYED) -> Verdict:
    """HOLDS if scores of all kinds of vectors decay and never grow on the way; DOES_NOT_HOLD if those of no kind decay.

    ONLY_IF some kinds decay and others do not, or all do and go up and down on the way.
    """
    if not measured:
        return Verdict.UNDECIDED
    decaying = [decay for decay in measured.values() if decay.kept <= decayed]
    if not decaying:
        return Verdict.DOES_NOT_HOLD
    steadily = len(decaying) == len(measured) and not any(decay.rising for decay in decaying)
    return Verdict.HOLDS if steadily else Verdict.ONLY_IF
