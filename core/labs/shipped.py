"""Results that ship with the app: the full comparison of an experiment, run once, with the program that ran it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.labs.catalogue import EXPERIMENTS
from core.labs.events import JSON
from core.labs.record import Record
from core.labs.settings import plain

FOLDER = Path(__file__).parent.parent / "assets" / "labs"


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One training of the comparison."""

    settings: dict[str, JSON]
    record: Record  # its curves have at most 100 points each


@dataclass(frozen=True, slots=True, eq=False)
class Shipped:
    """All trainings of an experiment's comparison."""

    made: str  # the day, as 2026-11-30; "" if nothing has been shipped yet
    program: str  # what to type to make it again
    torch: str  # the version that ran
    seconds: float  # of one core, for all of it
    runs: tuple[Run, ...]

    def of(self, settings: Any) -> Run | None:
        """The run with exactly these settings, if there is one."""
        wanted = plain(settings)
        return next((run for run in self.runs if run.settings == wanted), None)


def shipped(experiment: str, folder: Path = FOLDER) -> Shipped:
    """What ships of this experiment; without any runs if it has not been trained yet.

    Raises: ValueError if there is no such experiment.
    """
    path = folder / f"{experiment}.json"
    if experiment not in EXPERIMENTS and not path.exists():
        raise ValueError(f"experiment ({experiment!r}) must be one of {sorted(EXPERIMENTS)}")
    if not path.exists():
        return Shipped("", "", "", 0.0, ())
    values = json.loads(path.read_text(encoding="utf-8"))
    runs = tuple(Run(run["settings"], Record.from_plain(run["record"])) for run in values["runs"])
    return Shipped(values["made"], values["program"], values["torch"], values["seconds"], runs)
