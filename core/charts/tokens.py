"""Tokens as labels: safe inside a spec, and placed so that they can be read.

A token is any text a user typed. It reaches Vega only as a JSON string inside an array, never as part of a formula.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt

LIMIT = 9
"""Labels beside rows are cut at so many times their font size."""

_NARROW = frozenset("iljtfrI.,:;!|'`()[] ")
_WIDE = frozenset("mwMW@%")


def literal(texts: Sequence[str]) -> str:
    """The texts as an array that Vega's expression parser reads.

    ASCII only, so that no quote, line separator or half of a surrogate pair can end the string early.

    >>> literal(['"', "é"])
    '["\\\\"", "\\\\u00e9"]'
    """
    return json.dumps(list(texts), ensure_ascii=True)


def quoted(text: str) -> str:
    """One text as a string of Vega's expression language."""
    return json.dumps(text, ensure_ascii=True)


def record(fields: Mapping[str, str]) -> str:
    """An object of Vega's expression language, from names (any text) and expressions: the rows of a tooltip."""
    return "{" + ", ".join(f"{quoted(name)}: {expression}" for name, expression in fields.items()) + "}"


def label_table(name: str, texts: Sequence[str]) -> alt.VariableParameter:
    """A constant of the spec, read as ``name[index]`` by axes and tooltips: no text is repeated per cell.

    An expression rather than a value: Streamlit renames strings such as "param_1" that stand alone in a spec.
    """
    return alt.VariableParameter(name=name, expr=literal(texts))


def text_width(text: str, font_size: float) -> float:
    """About how many pixels a text needs; on the safe side for Streamlit's font and for the usual sans-serifs."""
    ems = 0.0
    for character in text:
        if unicodedata.combining(character):
            continue
        if unicodedata.east_asian_width(character) in "WF":
            ems += 1.0
        elif character in _NARROW:
            ems += 0.34
        elif character in _WIDE:
            ems += 0.88
        else:
            ems += 0.66 if character.isupper() else 0.56
    return ems * font_size


@dataclass(frozen=True, slots=True)
class Labels:
    """How the labels along an axis are set: angle in degrees, font size and length limit in pixels."""

    angle: int
    size: float
    limit: float


def beside_axis(texts: Sequence[str], font_size: float) -> int:
    """About how many pixels an axis at the left of a chart needs for such labels and its title."""
    longest = max(text_width(text, font_size) for text in texts)
    return round(min(longest, LIMIT * font_size) + 1.9 * font_size + 5)


def beyond_axis(texts: Sequence[str], column: float, labels: Labels, bands: int) -> float:
    """About how many pixels labels of columns reach beyond the right end of their axis, which has ``bands`` columns.

    Only slanted ones do: the others stand within their columns.
    """
    if labels.angle in (0, -90):
        return 0.0
    across = math.cos(math.radians(labels.angle))
    ends = (
        (place + 0.5) * column + across * min(text_width(text, labels.size), labels.limit) + 0.45 * labels.size
        for place, text in enumerate(texts)
    )
    return max(0.0, max(ends, default=0.0) - bands * column)


def labels_across(texts: Sequence[str], column: float, font_size: float) -> Labels:
    """Labels of columns that are ``column`` pixels wide: level if all fit, else slanted, else upright."""
    longest = max(text_width(text, font_size) for text in texts)
    if longest + 4 <= column:
        return Labels(0, font_size, column)
    limit = 8.5 * font_size
    if column * math.sin(math.radians(40)) >= 1.1 * font_size:
        return Labels(-40, font_size, limit)
    return Labels(-90, max(min(font_size, 0.94 * column), 6.0), limit)


def labels_beside(texts: Sequence[str], row: float, font_size: float) -> Labels:
    """Labels beside rows that are ``row`` pixels high, always level."""
    return Labels(0, max(min(font_size, 0.94 * row), 6.0), LIMIT * font_size)
