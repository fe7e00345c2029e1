"""One number of several seeds: what a comparison says is their mean, and how far they lie apart."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Spread:
    """The values, one for each seed, in the order of the seeds. Raises: ValueError if there are none."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("values must hold at least one number")

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """Raises: ValueError if there are no values."""
        return cls(tuple(values))

    @property
    def mean(self) -> float:
        return statistics.fmean(self.values)

    @property
    def deviation(self) -> float:
        """The standard deviation of a sample (n − 1); 0 of a single value."""
        return statistics.stdev(self.values) if self.count > 1 else 0.0

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    @property
    def count(self) -> int:
        return len(self.values)
