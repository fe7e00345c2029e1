"""What a training tells while it runs: a step for every step of its optimiser, a finding for every measurement.

A training is a generator of these: whoever runs it draws one after the other, and stops when it likes. They travel from
process to process as lines of JSON.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any

JSON = Any  # None, bool, int, float, str, and lists and dicts (with str keys) of these; no NaN, no infinity


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an optimiser. A run may train several models one after the other: each is a curve."""

    curve: str  # which model: "causal"
    step: int  # of this curve, from 1
    loss: float
    tokens: int  # that were predicted in this step
    done: int  # steps of the whole run so far, this one among them
    total: int  # steps of the whole run


@dataclass(frozen=True, slots=True)
class Found:
    """Something was measured of one curve's model; the later finding of the same name replaces the earlier one."""

    curve: str
    name: str  # "honest_loss"
    value: JSON


Event = Step | Found

_KINDS: dict[str, type[Step] | type[Found]] = {"step": Step, "found": Found}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def to_line(event: Event) -> str:
    """One line of JSON, without the line break. Raises: ValueError if a number in it is NaN or infinite."""
    return json.dumps({"event": _NAMES[type(event)], **asdict(event)}, allow_nan=False, separators=(",", ":"))


def from_line(line: str) -> Event:
    """What `to_line` wrote. Raises: ValueError if it is something else."""
    try:
        values = json.loads(line)
        return _KINDS[values.pop("event")](**values)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"line ({line[:80]!r}) must be an event as `to_line` writes it") from error
