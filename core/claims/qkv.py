"""The claims about queries, keys and values: one verdict for each."""

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from core.claims import Verdict

# -------------------------------------------------------------- relevances 0.2, 1.0 and 0.7 are the attention weights

RELEVANCES = (0.2, 1.0, 0.7)  # of "The", "cat" and "sat" to "cat", as told
ROUNDING = 1e-6


def weights_verdict(weights: Sequence[float], *, rounding: float = ROUNDING) -> Verdict:
    """Whether these numbers can be attention weights: none negative, and a sum of 1."""
    fit = all(weight >= 0 for weight in weights) and abs(math.fsum(weights) - 1) <= rounding
    return Verdict.HOLDS if fit else Verdict.DOES_NOT_HOLD


# ------------------------------------ without 1/√head_dim the scores' variance grows, and softmax saturates

GROWTH = 0.8  # exponent of head_dim: the proof says 1, and samples of this size are within a tenth of it
STEADY = 0.2  # largest exponent of what is said not to grow
SATURATED = 0.5  # softmax has saturated if it has lost half of the entropy that it had at the smallest head_dim


class Sharpness(Protocol):
    """`core.scaling.Saturation` has it."""

    @property
    def head_dim(self) -> int: ...
    @property
    def variance(self) -> float: ...
    @property
    def entropy(self) -> float: ...


def growth(measured: Sequence[Sharpness]) -> float:
    """The exponent with which the variance grows from the first to the last head_dim: 1 = in proportion, 0 = not."""
    first, last = measured[0], measured[-1]
    return math.log(last.variance / first.variance) / math.log(last.head_dim / first.head_dim)


def scaling_verdict(
    unscaled: Sequence[Sharpness],
    scaled: Sequence[Sharpness],
    *,
    least_growth: float = GROWTH,
    steady: float = STEADY,
    saturated: float = SATURATED,
) -> Verdict:
    """Judge both halves: without the scaling the variance grows and the entropy falls; with it the variance stays.

    ONLY_IF if the variance does as told, but softmax keeps more than `saturated` of its entropy.
    """
    if growth(unscaled) < least_growth or abs(growth(scaled)) > steady:
        return Verdict.DOES_NOT_HOLD
    return Verdict.HOLDS if unscaled[-1].entropy <= saturated * unscaled[0].entropy else Verdict.ONLY_IF


# ----------------------------------------------------------- the printed 5 × 5 weights come from the printed module


def printed_verdict(printed: float, measured: Sequence[float]) -> Verdict:
    """Whether the spread of the printed weights lies among those that the printed module really has.

    ONLY_IF would need a reason why it should lie outside; there is none: outside all measured ones it is refuted.
    """
    if not measured:
        return Verdict.UNDECIDED
    return Verdict.HOLDS if min(measured) <= printed <= max(measured) else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------------------- the four printed variants

RUNS = "runs"


def variants_verdict(outcomes: Mapping[str, str], *, good: str = RUNS) -> Verdict:
    """Whether the printed variants run: all of them, some, or none."""
    running = sum(outcome == good for outcome in outcomes.values())
    if running == len(outcomes):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if running else Verdict.DOES_NOT_HOLD


# --------------------------------------------------------------------------- 512 dimensions in, 512 dimensions out


def width_verdict(d_model: int, *, without: int, with_projection: int) -> Verdict:
    """Whether as many features come out as go in: also without W_O (HOLDS), or only with it (ONLY_IF)."""
    if without == d_model:
        return Verdict.HOLDS
    return Verdict.ONLY_IF if with_projection == d_model else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------------ three matrices give up to 192 dimensions


def rank_verdict(ranks: Mapping[int, int], *, told: int) -> Verdict:
    """Judge "up to `told` dimensions" by the measured rank for each d_model: reached always, sometimes, or never."""
    reached = sum(rank >= told for rank in ranks.values())
    if reached == len(ranks):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if reached else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------------- Q = K: symmetric, and each looks at itself

SYMMETRIC = 1e-12  # relative; float64
USUALLY = 0.9  # of the tokens


def symmetry_verdict(scores: float, weights: float, *, symmetric: float = SYMMETRIC) -> Verdict:
    """Judge "attention is symmetric" by the asymmetry of the scores and of the weights.

    ONLY_IF if that is true of the scores and not of the weights: softmax divides each row by its own sum.
    """
    if scores > symmetric:
        return Verdict.DOES_NOT_HOLD
    return Verdict.HOLDS if weights <= symmetric else Verdict.ONLY_IF


def self_verdict(share: float, *, usually: float = USUALLY) -> Verdict:
    """Judge "a token's largest score is with itself" by the share of tokens for which it is."""
    if share == 1:
        return Verdict.HOLDS
    return Verdict.ONLY_IF if share >= usually else Verdict.DOES_NOT_HOLD
