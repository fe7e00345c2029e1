"""Has a training that was run again given what ships? Exactly, or within what the seed alone changes?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.labs.events import JSON
from core.labs.record import DIGITS, Record
from core.labs.shipped import Run

SEED = "seed"


@dataclass(frozen=True, slots=True)
class Compared:
    """One number of a run: as it ships, as it is now, and how far it lies apart over the seeds that ship."""

    name: str  # "causal: honest_loss"
    shipped: float | None
    now: float | None
    spread: float  # largest − smallest

    @property
    def exact(self) -> bool:
        return self.shipped == self.now

    @property
    def within(self) -> bool:
        """Exact, or no farther from the shipped one than two seeds are from each other."""
        if self.exact:
            return True
        return self.shipped is not None and self.now is not None and abs(self.now - self.shipped) <= self.spread


def numbers(record: Record) -> dict[str, float]:
    """The last loss of every curve, and every number that was found, by a name; texts and what is None are left out."""
    found: dict[str, float] = {}
    for curve, drawn in record.curves.items():
        if drawn.losses:
            found[f"{curve}: last loss"] = round(drawn.losses[-1], DIGITS)
    for curve, values in record.found.items():
        for name, value in values.items():
            found.update(_inside(f"{curve}: {name}", value))
    return found


def compare(settings: Mapping[str, JSON], now: Record, runs: Sequence[Run]) -> list[Compared]:
    """Every number of a new run beside the shipped one with these settings, in the order of the new one.

    runs: that ship; those that differ from it in nothing but the seed tell the spread.
    Raises: ValueError if none of them has these settings.
    """
    family = [numbers(run.record) for run in runs if _without_seed(run.settings) == _without_seed(settings)]
    own = next((numbers(run.record) for run in runs if run.settings == dict(settings)), None)
    if own is None:
        raise ValueError(f"settings ({dict(settings)}) must be those of a shipped run")
    new = numbers(now)
    compared = []
    for name in new | own:
        over_seeds = [one[name] for one in family if name in one]
        spread = max(over_seeds) - min(over_seeds) if over_seeds else 0.0
        compared.append(Compared(name, own.get(name), new.get(name), spread))
    return compared


def _without_seed(settings: Mapping[str, JSON]) -> dict[str, JSON]:
    return {name: value for name, value in settings.items() if name != SEED}


def _inside(name: str, value: JSON) -> Iterator[tuple[str, float]]:
    match value:
        case bool():
            yield name, float(value)
        case int() | float():
            yield name, float(value)
        case list():
            for place, part in enumerate(value):
                yield from _inside(f"{name}[{place}]", part)
        case dict():
            for key, part in value.items():
                yield from _inside(f"{name}.{key}", part)
