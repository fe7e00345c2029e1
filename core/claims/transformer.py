"""The claims of the page on the whole Transformer: verdicts on what was measured of a model or a configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.claims import Verdict

if TYPE_CHECKING:  # it imports torch; claims can be judged without it
    from core.batch_reading import PaddedRows

# ------------------------------------------------------------------------------- A Transformer is mostly attention


def mostly_attention_verdict(shares: Sequence[float]) -> Verdict:
    """Judge attention's shares of the parameters, or multiply-adds, of several models: "mostly" is more than half.

    ONLY_IF it is so of some of them.
    """
    above = [share > 0.5 for share in shares]
    if all(above):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if any(above) else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------- Attention makes the cost grow with the square


def quadratic_verdict(seq_len: float, crossing: float) -> Verdict:
    """HOLDS where attention among the tokens costs more than all matrices: from the crossing on. Else ONLY_IF ("the
    text is long"): the cost is then mostly a multiple of the length itself.
    """
    return Verdict.HOLDS if seq_len >= crossing else Verdict.ONLY_IF


# ------------------------------------------------------------------- A model needs the memory that its parameters need


def memory_verdict(parameters: int, activations: int) -> Verdict:
    """Judge bytes of both in one pass: HOLDS while what a pass puts out takes less than the parameters, else
    ONLY_IF ("for few tokens").
    """
    return Verdict.HOLDS if activations < parameters else Verdict.ONLY_IF


# ------------------------------------------------------------- After each block: gradients vanish towards the input

UNEVEN = 3.0


def vanishing_verdict(unevenness: Mapping[str, float], *, uneven: float = UNEVEN) -> Verdict:
    """Judge how many times as large the last layer's gradient is as the first layer's, in each stack.

    uneven: seeds differ by less than a factor of 2; this is beyond it. ONLY_IF it is so in one stack and not in the
    other.
    """
    found = [ratio >= uneven for ratio in unevenness.values()]
    if all(found):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if any(found) else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------ Normalisation keeps the vectors between the layers in bounds

KEPT = 1.5


def bounds_verdict(growth: Mapping[str, float], *, kept: float = KEPT) -> Verdict:
    """Judge how many times as large the vectors are after the last layer as before the first, by where the
    normalisation stands. kept: half as much again is no growth with depth; ONLY_IF it is kept in one place and
    not in the other.
    """
    found = [1 / kept <= ratio <= kept for ratio in growth.values()]
    if all(found):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if any(found) else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------------------- Tied embeddings make a model smaller

MUCH = 0.1


def tying_verdict(saved: float, *, much: float = MUCH) -> Verdict:
    """Judge the share of an untied model's parameters that tying saves: a tenth is "much". Else ONLY_IF ("small, or
    with many words"): tying always saves something.
    """
    return Verdict.HOLDS if saved >= much else Verdict.ONLY_IF


# ------------------------------------------------------- Learnt positions have to find out what sinusoidal ones know


@dataclass(frozen=True, slots=True)
class Likeness:
    """Mean cosines of the vectors of two positions that are neighbours, and of two that are far apart."""

    near: float
    far: float

    @property
    def knows_distance(self) -> float:
        return self.near - self.far


CLEAR = 0.1


def positions_verdict(
    sinusoidal: Likeness, untrained: Likeness, trained: Likeness | None, *, clear: float = CLEAR
) -> Verdict:
    """HOLDS if neighbours are more alike than distant positions for sinusoidal and for trained tables, by `clear`, and
    not for untrained ones. UNDECIDED without a trained table.
    """
    if trained is None:
        return Verdict.UNDECIDED
    knowing = sinusoidal.knows_distance >= clear and trained.knows_distance >= clear
    return Verdict.HOLDS if knowing and untrained.knows_distance < clear else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------------- Every block changes the stream a little


@dataclass(frozen=True, slots=True)
class Additions:
    """What the blocks of a model add, as multiples of what they add it to: means over the tokens."""

    ratios: tuple[float, ...]

    @property
    def smallest(self) -> float:
        return min(self.ratios)

    @property
    def largest(self) -> float:
        return max(self.ratios)

    @property
    def little(self) -> int:
        """How many add at most half of it."""
        return sum(ratio <= 0.5 for ratio in self.ratios)


def little_verdict(additions: Additions) -> Verdict:
    """HOLDS if all blocks add at most half of what is there, ONLY_IF some do, DOES_NOT_HOLD if none does."""
    if additions.little == len(additions.ratios):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if additions.little else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------ A token that gets much attention is an important token (40)

STRONG, WEAK = 0.7, 0.3


def important_verdict(correlations: Sequence[float], *, strong: float = STRONG, weak: float = WEAK) -> Verdict:
    """Judge rank correlations, one for each sentence, by their median.

    strong, weak: usual bounds of a strong and a weak correlation (Cohen 1988 calls 0.3 medium and 0.5 large; for "is",
    half of the ranks' variance, 0.7, is asked). UNDECIDED without a sentence.
    """
    if not correlations:
        return Verdict.UNDECIDED
    middle = sorted(correlations)[len(correlations) // 2]
    if middle >= strong:
        return Verdict.HOLDS
    return Verdict.ONLY_IF if middle >= weak else Verdict.DOES_NOT_HOLD


# --------------------------------------------------------------------- A padding mask takes padding out of the batch


def padded_rows_verdict(rows: "PaddedRows") -> Verdict:
    """ONLY_IF ("as keys") if no padded key is looked at and padded queries still look; UNDECIDED without padding."""
    if not rows.keys:
        return Verdict.UNDECIDED
    if rows.looked_at:
        return Verdict.DOES_NOT_HOLD
    return Verdict.ONLY_IF if rows.looking else Verdict.HOLDS
