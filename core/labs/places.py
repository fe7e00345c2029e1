"""How many trainings a server may run at once."""

import os
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "ATLAS_TRAININGS"
QUOTA = Path("/sys/fs/cgroup/cpu.max")  # of a container on Linux: microseconds of processor, and of time


def places(environment: Mapping[str, str] = os.environ) -> int:
    """What the variable ATLAS_TRAININGS says; one for each core that this server may use if it says nothing.

    Where it says something that is no whole number, none: who wrote it wanted a limit.
    """
    said = environment.get(VARIABLE, "").strip()
    if not said:
        return cores()
    return int(said) if said.isascii() and said.isdigit() else 0


def cores(quota: Path = QUOTA) -> int:
    """At least 1. A container is often allowed less than the machine has."""
    seen = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        used, period = quota.read_text(encoding="ascii").split()
        allowed = int(used) // int(period)
    except (OSError, ValueError):  # there is none, or it says "max"
        return seen
    return max(1, min(seen, allowed))
