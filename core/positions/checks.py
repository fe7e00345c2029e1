"""Rules that sizes and bases of positions obey."""

import math
import operator


def check_even(name: str, size: int) -> None:
    """Dimensions turn in pairs.

    Raises: ValueError unless size is an even whole number, 2 or more.
    """
    number = _whole(name, size)
    if number < 2 or number % 2:
        raise ValueError(f"{name} ({number}) must be even and at least 2")


def check_base(base: float) -> None:
    """With a base of 1 all pairs would turn alike, below it the later ones would be the faster ones.

    Raises: ValueError unless base is above 1 and finite.
    """
    if not 1 < base < math.inf:
        raise ValueError(f"base ({base}) must be greater than 1 and finite")


def check_length(name: str, length: int, *, least: int = 0) -> None:
    """Raises: ValueError unless length is a whole number and not below `least`."""
    number = _whole(name, length)
    if number < least:
        raise ValueError(f"{name} ({number}) must be at least {least}")


def check_factor(name: str, factor: float) -> None:
    """Raises: ValueError unless factor is finite and not below 1."""
    if not 1 <= factor < math.inf:
        raise ValueError(f"{name} ({factor}) must be at least 1 and finite")


def _whole(name: str, value: int) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{name} ({value!r}) must be a whole number") from None
