"""What people type, or write into an address: made clean, brought within bounds, quoted."""

import re
import unicodedata
from typing import TypeVar

Number = TypeVar("Number", int, float)

LONGEST_QUOTE = 40  # characters of a refused value that are shown
JOINERS = "\u200c\u200d"


def quoted(text: str) -> str:
    """A text to be shown inside a sentence: not too long, and without what turns the reading around."""
    shown = clean(text)
    return shown if len(shown) <= LONGEST_QUOTE else f"{shown[:LONGEST_QUOTE]}…"


def clean(text: str, *, several_lines: bool = False) -> str:
    """The text without control characters; a tab becomes a space, as does a line break where there is one line only.

    What Unicode calls a space or a joiner stays: French, Persian and emoji are spelled with them.
    """
    if several_lines:
        return "\n".join(clean(line) for line in re.split(r"\r\n|\r|\n", text))
    spaced = (" " if c.isspace() and unicodedata.category(c) != "Zs" else c for c in text)
    return "".join(c for c in spaced if c.isprintable() or c.isspace() or c in JOINERS)


def nearest(value: Number, low: Number, high: Number, step: Number) -> Number:
    """The nearest number that a slider can stand at: an address may hold one between two steps."""
    if value <= low or value >= high:
        return low if value <= low else high
    decimals = max(len(f"{x:.10f}".rstrip("0").partition(".")[2]) for x in (low, step))
    return type(low)(min(high, round(low + round((value - low) / step) * step, decimals)))


def same_number(text: str, value: float) -> bool:
    try:
        return float(text) == value
    except ValueError:
        return False
