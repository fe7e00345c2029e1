"""The claims about sinusoidal positions: one measurement and one verdict for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from core.claims import Verdict
from core.positions.order import OrderTrial, Setting
from core.positions.sinusoidal import (
    dimension_frequencies,
    measured_frequencies,
    printed_frequencies,
    sinusoidal_encoding,
)

# ------------------------------------------------------------- The frequency of dimension i is 1 / 10000^(i / d)

SAME_FREQUENCY = 1e-9  # relative; float64


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyComparison:
    """The frequency of every dimension, (d_model,) each."""

    printed: Tensor
    right: Tensor
    measured: Tensor  # read off the encoding itself

    @property
    def even_error(self) -> float:
        """The largest relative error of what is printed, over the even dimensions."""
        return float(self._errors()[0::2].max())

    @property
    def odd_error(self) -> float:
        return float(self._errors()[1::2].max())

    def _errors(self) -> Tensor:
        return (self.printed / self.measured - 1).abs()


def compare_frequencies(d_model: int, *, base: float = 10000.0) -> FrequencyComparison:
    """Put what is printed beside what the encoding has.

    Raises: ValueError as `core.positions.sinusoidal.sinusoidal_encoding` does.
    """
    encoding = sinusoidal_encoding(2, d_model, base=base)
    return FrequencyComparison(
        printed_frequencies(d_model, base=base),
        dimension_frequencies(d_model, base=base),
        measured_frequencies(encoding),
    )


def frequency_verdict(even_error: float, odd_error: float, *, same: float = SAME_FREQUENCY) -> Verdict:
    """ONLY_IF the formula is right for even i and wrong for odd i; HOLDS if right for all, else DOES_NOT_HOLD."""
    if even_error > same:
        return Verdict.DOES_NOT_HOLD
    return Verdict.HOLDS if odd_error <= same else Verdict.ONLY_IF


# ------------------------------------------------------------------------- PE(pos + k) is a linear function of PE(pos)

LINEAR = 1e-9  # float64: angles of up to 10^5 radians are right to about 10^−11


def shift_verdict(residual: float, *, rounding: float = LINEAR) -> Verdict:
    """Judge by `core.positions.sinusoidal.PositionShift.residual`, of one matrix and all positions: rounding only."""
    return Verdict.HOLDS if residual <= rounding else Verdict.DOES_NOT_HOLD


# ---------------------------------------------------------------------- Without positions attention does not see order

UNNOTICED = 1e-10  # relative, float64: sums in another order are rounded differently
NOTICED = 1e-6  # relative: what is larger comes from the order of the words


def order_changes(trials: Sequence[OrderTrial]) -> Mapping[Setting, float]:
    """How far the outputs change in each setting."""
    return {trial.setting: trial.change for trial in trials}


def order_verdict(
    changes: Mapping[Setting, float], *, unnoticed: float = UNNOTICED, noticed: float = NOTICED
) -> Verdict:
    """Judge by the change in each setting, relative to the largest output.

    UNDECIDED if even with positions nothing is noticed, as when words change places with their equals: then the trial
    could not have shown it. DOES_NOT_HOLD if order is noticed without a mask, or with one layer under a causal mask.
    HOLDS if it is noticed nowhere without positions. ONLY_IF what notices it is a second layer under a causal mask.
    """
    if changes[Setting.WITH_POSITIONS] <= noticed:
        return Verdict.UNDECIDED
    if max(changes[Setting.NO_MASK], changes[Setting.CAUSAL_ONE_LAYER]) > unnoticed:
        return Verdict.DOES_NOT_HOLD
    return Verdict.ONLY_IF if changes[Setting.CAUSAL_TWO_LAYERS] > noticed else Verdict.HOLDS
