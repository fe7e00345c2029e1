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
_COMPACT: dict[str, Any] = {"separators": (",", ":"), "allow_nan": False, "ensure_ascii": False}


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One training of the comparison."""

    settings: dict[str, JSON]
    record: Record  # its curves have at most POINTS points each


@dataclass(frozen=True, slots=True, eq=False)
class Shipped:
    """All trainings of an experiment's comparison."""

    made: str  # the day, as 2026-11-30; "" if nothing has been shipped yet
    program: str  # what to type to make it again
    torch: str  # the version that ran
    seconds: float  # that its trainings ran, added up; more where others used the processor
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


def write(made: Shipped, experiment: str, folder: Path = FOLDER) -> Path:
    """Write it where `shipped` reads it: a line for every run. Returns: the file."""
    runs = (json.dumps({"settings": run.settings, "record": run.record.plain()}, **_COMPACT) for run in made.runs)
    head = {"made": made.made, "program": made.program, "torch": made.torch, "seconds": made.seconds}
    text = json.dumps(head, **_COMPACT).removesuffix("}") + ',"runs":[\n' + ",\n".join(runs) + "\n]}\n"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{experiment}.json"
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
