"""Rules that lengths and bases of positions obey."""

import math

from core.checks import whole


def check_base(base: float) -> None:
    """With a base of 1 all pairs would turn alike, below it the later ones would be the faster ones.

    Raises: ValueError unless base is above 1 and finite.
    """
    if not 1 < base < math.inf:
        raise ValueError(f"base ({base}) must be greater than 1 and finite")


def check_length(name: str, length: int, *, least: int = 0) -> None:
    """Raises: ValueError unless length is a whole number and not below `least`."""
    number = whole(name, length)
    if number < least:
        raise ValueError(f"{name} ({number}) must be at least {least}")


def check_factor(name: str, factor: float) -> None:
    """Raises: ValueError unless factor is finite and not below 1."""
    if not 1 <= factor < math.inf:
        raise ValueError(f"{name} ({factor}) must be at least 1 and finite")
