"""Quantities in the units in which people read them; decimal, as makers of memory count.

>>> milliseconds(0.25), kilobytes(131_072), megabytes(400_000_000), gigabytes(80_000_000_000)
(250.0, 131.072, 400.0, 80.0)
"""


def milliseconds(seconds: float) -> float:
    return 1000 * seconds


def kilobytes(count: float) -> float:
    return count / 1e3


def megabytes(count: float) -> float:
    return count / 1e6


def gigabytes(count: float) -> float:
    return count / 1e9
