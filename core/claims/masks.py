"""The claims of the masks page: one measurement and one verdict for each."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.checks import check_sizes
from core.claims import Verdict
from core.fill_values import Fill, FillOverflowError, masked_softmax
from core.masks import causal_mask, permutation_mask
from core.token_attention import share_on, visible_context

# ------------------------------------------------- XLNet's mask for the order [2, 0, 3, 1] has 0 0 1 1 as its row 3

XLNET_ORDER = (2, 0, 3, 1)  # positions counted from 0
XLNET_ROW = 3
XLNET_ROW_AS_TOLD = (0, 0, 1, 1)


def xlnet_row(order: Sequence[int] = XLNET_ORDER, row: int = XLNET_ROW) -> tuple[int, ...]:
    """What a position sees of each position, in the query stream: 1 if it may look."""
    return tuple(permutation_mask(order)[row].int().tolist())


def row_verdict(measured: Sequence[int], *, told: Sequence[int] = XLNET_ROW_AS_TOLD) -> Verdict:
    """Judge a printed row of a mask: it is right if it is the computed one, cell by cell."""
    return Verdict.HOLDS if tuple(measured) == tuple(told) else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------- A masked softmax gives the row 0.4234 0.0781 0.2985 0 0

PRINTED_SCORES = (1.2, -0.5, 0.8, 1.1, -0.3)
PRINTED_WEIGHTS = (0.4234, 0.0781, 0.2985, 0.0, 0.0)
PRINTED_PERMITTED = 3  # of the five keys; the last two are padding
HALF_A_DIGIT = 0.5e-4  # a number printed with four decimals is off by at most this


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """A row of weights as printed, beside what softmax makes of the scores printed with it."""

    printed: tuple[float, ...]
    computed: tuple[float, ...]

    @property
    def printed_sum(self) -> float:
        return math.fsum(self.printed)

    @property
    def computed_sum(self) -> float:
        return math.fsum(self.computed)


def printed_row() -> PrintedRow:
    """Compute the row that is printed."""
    permitted = torch.arange(len(PRINTED_SCORES)) < PRINTED_PERMITTED
    weights = masked_softmax(torch.tensor(PRINTED_SCORES, dtype=torch.float64), permitted, Fill.MINUS_INFINITY)
    return PrintedRow(PRINTED_WEIGHTS, tuple(weights.tolist()))


def printed_row_verdict(row: PrintedRow, *, rounding: float = HALF_A_DIGIT) -> Verdict:
    """A printed row of weights may differ from the computed one by the rounding of each number, and by no more."""
    worst = max(abs(told - found) for told, found in zip(row.printed, row.computed, strict=True))
    return Verdict.HOLDS if worst <= rounding else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------- Filling with −1e9 is as good as filling with −∞


@dataclass(frozen=True, slots=True)
class FillComparison:
    """How −1e9 fares beside −∞."""

    difference: float  # between the weights, in rows that permit something; float32
    refusal: str | None  # what torch says to it in float16; None if it complies
    forbidden_weight: float  # of each key in a row in which all are forbidden; float32
    forbidden_weight_at_infinity: float  # the same with −∞: NaN


def compare_fills(scores: Tensor, attend_mask: Tensor) -> FillComparison:
    """Fill one and the same picture with both.

    Shapes: scores and attend_mask (seq_q, seq_k).
    """
    exact = scores.to(torch.float32)
    permits = attend_mask.any(dim=-1)
    large, infinite = (
        masked_softmax(exact[permits], attend_mask[permits], fill) for fill in (Fill.MINUS_1E9, Fill.MINUS_INFINITY)
    )
    nothing = torch.zeros(exact.shape[-1], dtype=torch.bool)
    try:
        masked_softmax(scores.to(torch.float16), attend_mask, Fill.MINUS_1E9)
        refusal = None
    except FillOverflowError as error:
        refusal = str(error)
    return FillComparison(
        difference=float((large - infinite).abs().max()) if bool(permits.any()) else 0.0,
        refusal=refusal,
        forbidden_weight=float(masked_softmax(exact[0], nothing, Fill.MINUS_1E9)[0]),
        forbidden_weight_at_infinity=float(masked_softmax(exact[0], nothing, Fill.MINUS_INFINITY)[0]),
    )


def fill_verdict(comparison: FillComparison, *, same: float = 0.0) -> Verdict:
    """HOLDS if nothing tells the two apart. ONLY_IF the weights are the same wherever a row permits something, and only
    a smaller type of number or a row that permits nothing makes a difference: both must be excluded for the claim.
    DOES_NOT_HOLD if even ordinary rows differ by more than `same`: −1e9 lies so far below any score that its
    exponential is exactly 0 in every type, so nothing but 0 will do.
    """
    if comparison.difference > same:
        return Verdict.DOES_NOT_HOLD
    limited = comparison.refusal is not None or comparison.forbidden_weight != 0
    return Verdict.ONLY_IF if limited else Verdict.HOLDS


# ----------------------------------------------- Under a causal mask of length n, n/2 positions are visible on average


def mean_context(seq_len: int) -> float:
    """How many positions the positions of a causal mask see on average.

    Raises: ValueError if seq_len is below 1.
    """
    check_sizes(seq_len=seq_len)
    return float(visible_context(causal_mask(seq_len)).double().mean())


def mean_context_verdict(measured: float, seq_len: int) -> Verdict:
    """The mean is a multiple of ½, which a float holds exactly: told and measured agree exactly or not at all."""
    return Verdict.HOLDS if measured == seq_len / 2 else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------ The printed function makes a padding mask


def printed_padding_mask(seq_len: int, valid_len: int) -> Tensor:
    """The function as it is printed, line by line."""
    positions = torch.arange(seq_len).unsqueeze(0)
    mask = positions < valid_len
    mask = mask.unsqueeze(0).expand(seq_len, -1)
    return mask.float()


def run_printed_padding_mask(seq_len: int = 5, valid_len: int = 3) -> str | None:
    """What torch says to the printed function; None if it runs."""
    try:
        printed_padding_mask(seq_len, valid_len)
    except RuntimeError as error:
        return str(error)
    return None


def runs_verdict(refusal: str | None) -> Verdict:
    """Code that raises cannot have printed anything."""
    return Verdict.HOLDS if refusal is None else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------------- Cross-attention needs no mask


@dataclass(frozen=True, slots=True)
class PaddingShare:
    """What goes astray in a batch without a mask."""

    sentences: int
    padding: int  # padded keys in the whole batch
    share: float  # of the attention that falls on padding, on average over all queries of the batch


def padding_share(weights: Sequence[Tensor], lengths: Sequence[int]) -> PaddingShare:
    """Measure it on the weights of every sentence, (seq_q, seq_k) each, and the sentences' lengths.

    Raises: ValueError if the two differ in number, or there is none.
    """
    if not weights or len(weights) != len(lengths):
        raise ValueError(f"weights ({len(weights)}) and lengths ({len(lengths)}) must be of the same sentences")
    shares = [share_on(w, torch.arange(w.shape[-1]) >= n) for w, n in zip(weights, lengths, strict=True)]
    padding = sum(w.shape[-1] - n for w, n in zip(weights, lengths, strict=True))
    return PaddingShare(len(lengths), padding, float(torch.cat(shares).mean()))


def no_mask_verdict(measured: PaddingShare) -> Verdict:
    """ONLY_IF ("sentences of one length") if any attention falls on padding. UNDECIDED if there is no padding."""
    if not measured.padding:
        return Verdict.UNDECIDED
    return Verdict.ONLY_IF if measured.share > 0 else Verdict.HOLDS


# -------------------------------------------------------- Where a mask forbids to look, the gradient is zero


@dataclass(frozen=True, slots=True)
class GradientLeak:
    """What reaches an output from inputs that it may not look at."""

    forbidden: int  # pairs of two different positions
    reached: int  # of these, how many have a gradient other than 0
    own_forbidden: int  # positions that may not look at themselves
    own_reached: int  # of these, how many depend on themselves all the same, through their query


def gradient_leak(reach: Tensor, attend_mask: Tensor, *, same_tokens: bool) -> GradientLeak:
    """Count where the gradient is 0.

    same_tokens: queries and keys are of one sequence, so that the diagonal is each position's look at itself.
    Shapes: reach and attend_mask (seq_q, seq_k), as from `core.token_attention.gradient_reach`.
    """
    own = torch.eye(*reach.shape, dtype=torch.bool) if same_tokens else torch.zeros_like(attend_mask)
    reached = reach != 0
    return GradientLeak(
        forbidden=int((~attend_mask & ~own).sum()),
        reached=int((~attend_mask & ~own & reached).sum()),
        own_forbidden=int((~attend_mask & own).sum()),
        own_reached=int((~attend_mask & own & reached).sum()),
    )


def gradient_verdict(leak: GradientLeak) -> Verdict:
    """Exactly zero is what is claimed, so one forbidden pair with a gradient refutes it. ONLY_IF ("except for itself")
    when the only ones are positions that depend on themselves. UNDECIDED if the mask forbids nothing.
    """
    if leak.forbidden + leak.own_forbidden == 0:
        return Verdict.UNDECIDED
    if leak.reached:
        return Verdict.DOES_NOT_HOLD
    return Verdict.ONLY_IF if leak.own_reached else Verdict.HOLDS
