"""The claims about the rank of attention. Each says which matrix has which rank: that is what the story gets wrong.

All ranks here are numerical: singular values above a tolerance times the largest, in float64.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention import AttentionTrace
from core.claims import Verdict
from core.heads import merge_heads
from core.rank import Ranks, default_tolerance, numerical_rank, ranks_of, singular_values
from core.rank_heads import HeadSpectra, LayerSpectra

# ------------------------------------- one head's attention matrix has rank about 54 of 128: softmax is a bottleneck

TOLD_RANK = 54  # of one 128 × 128 matrix, with head_dim 64
PRINTED_THRESHOLD = 1e-5  # what the texts count singular values from, whatever the largest is


@dataclass(frozen=True, slots=True)
class HeadRanks:
    """One head's two square matrices."""

    seq_len: int
    head_dim: int
    logits: Ranks
    weights: Ranks


def measure_head(spectra: HeadSpectra, head_dim: int, *, tolerance: float | None = None) -> HeadRanks:
    """Measure both matrices of a head; tolerance is torch's by default. No decomposition is needed.

    A mask raises the rank of the weights by itself (a causal one makes them triangular): measure heads without one.
    """
    seq_len = len(spectra.logits)
    values = torch.stack([spectra.logits, spectra.weights.values])  # (2, seq_len)
    limit = default_tolerance(seq_len, seq_len) if tolerance is None else tolerance
    return HeadRanks(seq_len, head_dim, *ranks_of(values, tolerance=limit))


def bottleneck_verdict(measured: HeadRanks) -> Verdict:
    """Judge "softmax lowers the rank" by the rank before and after it: one more refutes it, one less confirms it.

    UNDECIDED if both are equal: logits of full rank leave softmax nothing to raise.
    """
    before, after = measured.logits.numerical, measured.weights.numerical
    if after > before:
        return Verdict.DOES_NOT_HOLD
    return Verdict.HOLDS if after < before else Verdict.UNDECIDED


def printed_rank(matrix: Tensor, *, threshold: float = PRINTED_THRESHOLD) -> int:
    """Count as the texts' program does: in float32, all singular values above a fixed threshold.

    Rounding errors of a large matrix lie above it, so that even a product of two vectors seems to have rank 12.

    Shape: matrix (rows, columns).
    """
    return int((torch.linalg.svdvals(matrix.float()) > threshold).sum())


# ----------------------------------------------------------------- eight heads together reach rank about 115 of 128

TOLD_TOGETHER = 115


@dataclass(frozen=True, slots=True)
class Together:
    """Three matrices that "all heads together" may mean, and the sum of ranks that the texts print instead."""

    seq_len: int
    per_head: tuple[int, ...]  # rank of each head's weights
    summed: int  # these added up: the rank of no matrix here
    joined: int  # rank of all outputs side by side, seq_len × num_heads · head_dim
    paths: int  # rank of Σ weights · V · W_O over all heads, seq_len × d_model: what the layer gives


def measure_together(
    trace: AttentionTrace, spectra: LayerSpectra, w_o: Tensor, *, tolerance: float | None = None
) -> Together:
    """Measure a layer; one decomposition, of the summed value paths. tolerance is torch's for each shape by default.

    Shapes: w_o (num_heads · head_dim, d_model).
    Raises: ValueError if the weights are not float64.
    """
    joined = merge_heads(trace.output)  # (seq_len, num_heads · head_dim)
    paths = joined @ w_o  # (seq_len, d_model): a product of joined blocks is the sum over the heads
    seq_len = len(joined)
    per_head = tuple(_rank(spectra.weights, (seq_len, seq_len), tolerance).tolist())
    return Together(
        seq_len=seq_len,
        per_head=per_head,
        summed=sum(per_head),
        joined=int(_rank(spectra.joined, joined.shape, tolerance)),
        paths=int(_rank(singular_values(paths), paths.shape, tolerance)),
    )


def _rank(values: Tensor, shape: Sequence[int], tolerance: float | None) -> Tensor:
    return numerical_rank(values, tolerance=default_tolerance(*shape) if tolerance is None else tolerance)


def together_verdict(measured: Together) -> Verdict:
    """Judge the sum of ranks as "a rank of seq_len": it must be that of one of the matrices that it may stand for.

    UNDECIDED with fewer than two heads: there is nothing to add up.
    """
    if len(measured.per_head) < 2:
        return Verdict.UNDECIDED
    fits = measured.summed in (measured.joined, measured.paths)
    return Verdict.HOLDS if fits else Verdict.DOES_NOT_HOLD


# -------------------------------------------------------------------- the bound for one head is min(n − 1, head_dim)


def told_bound(measured: HeadRanks) -> int:
    """The bound as told; the true one, of the logits, is min(n, head_dim)."""
    return min(measured.seq_len - 1, measured.head_dim)


def bound_verdict(measured: HeadRanks) -> Verdict:
    """ONLY_IF ("of the logits") if these keep to the bound and the weights do not."""
    bound = told_bound(measured)
    if measured.logits.numerical > bound:
        return Verdict.DOES_NOT_HOLD
    return Verdict.HOLDS if measured.weights.numerical <= bound else Verdict.ONLY_IF


# --------------------------------------------------------------------------- the 4 × 4 example matrix has rank 2 to 3

EXAMPLE = ((0.7, 0.2, 0.05, 0.05), (0.1, 0.8, 0.05, 0.05), (0.1, 0.1, 0.7, 0.1), (0.1, 0.1, 0.1, 0.7))
TOLD_EXAMPLE = (2, 3)


@dataclass(frozen=True, slots=True)
class Example:
    """The printed matrix."""

    values: tuple[float, ...]  # singular values
    rank: int


def measure_example() -> Example:
    """Decompose the matrix that the texts print."""
    values = singular_values(torch.tensor(EXAMPLE, dtype=torch.float64))
    return Example(tuple(values.tolist()), int(_rank(values, (len(EXAMPLE), len(EXAMPLE[0])), None)))


def example_verdict(rank: int, *, told: tuple[int, int] = TOLD_EXAMPLE) -> Verdict:
    """Whether the rank lies between the two that are told."""
    return Verdict.HOLDS if told[0] <= rank <= told[1] else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------------------- attention alone loses rank with depth

LOST = 1e-3  # of a relative residual of about 1: a thousandth of the difference between tokens is left


def depth_verdict(small: Sequence[float], large: Sequence[float], *, lost: float = LOST) -> Verdict:
    """Judge by the residuals, layer by layer, of pure attention with small weights and with large ones.

    HOLDS if both end at `lost` or below, ONLY_IF ("weights that are not large") if only the small weights do.
    UNDECIDED if there are no layers.
    """
    if len(small) < 2 or len(large) < 2:
        return Verdict.UNDECIDED
    if small[-1] > lost:
        return Verdict.DOES_NOT_HOLD
    return Verdict.HOLDS if large[-1] <= lost else Verdict.ONLY_IF
