"""What a run has told so far: the curves of its losses, and what was measured. It grows while the run goes on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from core.labs.events import JSON, Event, Found, Step

POINTS, DIGITS = 100, 4  # of a curve that is kept, and of its losses


@dataclass(slots=True, eq=False)
class Curve:
    """The losses of one model, one for every step that was told."""

    steps: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)

    def thinned(self, most: int) -> "Curve":
        """At most so many of its points: every second, or every fourth, …, with the first one, and the last.

        A curve that grows keeps the points that it has: the distance between them only ever doubles.
        Raises: ValueError if most is less than 2.
        """
        if most < 2:
            raise ValueError(f"most ({most}) must be at least 2")
        stride = 1
        while -(-len(self.steps) // stride) >= most and len(self.steps) > most:
            stride *= 2
        kept = list(range(0, len(self.steps), stride))
        if kept and kept[-1] != len(self.steps) - 1:
            kept.append(len(self.steps) - 1)
        return Curve([self.steps[place] for place in kept], [self.losses[place] for place in kept])


@dataclass(slots=True, eq=False)
class Record:
    """All that one run has told."""

    curves: dict[str, Curve] = field(default_factory=dict)  # in the order in which they began
    found: dict[str, dict[str, JSON]] = field(default_factory=dict)  # curve → name → value
    done: int = 0  # steps so far
    total: int = 0  # steps of the whole run; 0 before the first one
    tokens: int = 0  # that were predicted so far

    def add(self, event: Event) -> None:
        match event:
            case Step():
                curve = self.curves.setdefault(event.curve, Curve())
                curve.steps.append(event.step)
                curve.losses.append(event.loss)
                self.done, self.total = event.done, event.total
                self.tokens += event.tokens
            case Found():
                self.found.setdefault(event.curve, {})[event.name] = event.value

    def copy(self) -> "Record":
        """The same, as it is now: it does not grow with the other. Values that were found are not copied."""
        return Record(
            {name: Curve(list(curve.steps), list(curve.losses)) for name, curve in self.curves.items()},
            {name: dict(values) for name, values in self.found.items()},
            self.done,
            self.total,
            self.tokens,
        )

    def plain(self) -> dict[str, JSON]:
        """As JSON, each curve with at most POINTS of its points, and losses of DIGITS digits after the point."""
        curves = {name: curve.thinned(POINTS) for name, curve in self.curves.items()}
        return {
            "curves": {
                name: {"steps": curve.steps, "losses": [round(loss, DIGITS) for loss in curve.losses]}
                for name, curve in curves.items()
            },
            "found": self.found,
            "done": self.done,
            "total": self.total,
            "tokens": self.tokens,
        }

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Self:
        """What `plain` gave. Raises: KeyError or TypeError if it is something else."""
        curves = {name: Curve(curve["steps"], curve["losses"]) for name, curve in values["curves"].items()}
        return cls(curves, values["found"], values["done"], values["total"], values["tokens"])
