"""Rules that sizes and places obey everywhere, said in the same words. All functions raise ValueError.

It imports nothing: charts check what they get with it too.
"""

import math
import operator


def check_sizes(**sizes: int) -> None:
    """Raises: ValueError if one of the named sizes is less than 1."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} ({size}) must be at least 1")


def check_divisible(name: str, size: int, by_name: str, by: int) -> None:
    """Raises: ValueError unless size is a multiple of `by`, which is not 0."""
    if size % by != 0:
        raise ValueError(f"{name} ({size}) must be divisible by {by_name} ({by})")


def check_even(name: str, size: int) -> None:
    """Raises: ValueError unless size is an even whole number, 2 or more."""
    number = whole(name, size)
    if number < 2 or number % 2:
        raise ValueError(f"{name} ({number}) must be even and at least 2")


def check_between(name: str, number: int, low: int, high: int) -> None:
    """Raises: ValueError unless the number is one of low, low + 1, … high."""
    if not low <= number <= high:
        raise ValueError(f"{name} ({number}) must be between {low} and {high}")


def check_positive(name: str, number: float) -> None:
    """Raises: ValueError unless the number is above 0 and finite."""
    if not 0 < number < math.inf:
        raise ValueError(f"{name} ({number}) must be positive and finite")


def check_not_negative(name: str, number: int) -> None:
    """Raises: ValueError if the number is below 0."""
    if number < 0:
        raise ValueError(f"{name} ({number}) must not be negative")


def whole(name: str, value: int) -> int:
    """The value as Python's own integer: NumPy and torch have others.

    Raises: ValueError unless it is a whole number.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{name} ({value!r}) must be a whole number") from None
