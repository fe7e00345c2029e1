"""The tables of the library view: four examples to begin with, and the user's own as an address can hold it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.retrieval import Shelf
from pages.components.i18n import _

FEATURES, CONTENTS = 3, 3
MOST_ROWS = 8
LARGEST = 9.0
LONGEST_TITLE = 40

Row = Sequence[Any]

_TITLE = r'"(?:[^"\\\x00-\x1f]|\\["\\]){1,80}"'
_NUMBER = r"-?[0-9](?:\.[0-9]{1,4})?"
_ROW = rf"\[{_TITLE}(?:,{_NUMBER}){{{FEATURES + CONTENTS}}}\]"
WRITTEN = rf"|\[{_ROW}(?:,{_ROW}){{0,{MOST_ROWS - 1}}}\]"
"""What a table looks like in an address; empty for an example as it is."""


@dataclass(frozen=True, slots=True)
class Example:
    """A shelf to begin with, and what is asked of it."""

    name: str
    wanted: str  # the query in words
    features: tuple[str, ...]
    contents: tuple[str, ...]
    rows: tuple[Row, ...]
    query: tuple[float, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """What stands above the columns: labels are keys, contents are values."""
        keys = tuple(_("key: {name}").format(name=name) for name in self.features)
        return (_("Title"), *keys, *(_("value: {name}").format(name=name) for name in self.contents))


def examples() -> Mapping[str, Example]:
    return {
        "library": Example(
            _("Library"),
            _("a deep learning tutorial"),
            (_("deep learning"), _("programming"), _("poetry")),
            (_("networks"), _("code"), _("verse")),
            (
                (_("Deep learning for beginners"), 1.0, 0.4, 0.0, 0.9, 0.3, 0.0),
                (_("Foundations of machine learning"), 0.6, 0.3, 0.0, 0.6, 0.2, 0.0),
                (_("Python programming"), 0.2, 1.0, 0.0, 0.1, 1.0, 0.0),
                (_("Classical poems"), 0.0, 0.0, 1.0, 0.0, 0.0, 1.0),
            ),
            (3.0, 1.0, 0.0),
        ),
        "restaurant": Example(
            _("Restaurants"),
            _("good Sichuan food"),
            (_("Sichuan"), _("hot"), _("dessert")),
            (_("address"), _("menu"), _("rating")),
            (
                (_("Hot pot"), 0.9, 0.8, 0.0, 0.2, 0.7, 0.9),
                (_("Skewers in broth"), 0.8, 0.7, 0.0, 0.5, 0.4, 0.6),
                (_("Malatang"), 0.7, 1.0, 0.0, 0.9, 0.5, 0.7),
                (_("Ice cream parlour"), 0.0, -0.5, 1.0, 0.3, 0.2, 0.8),
            ),
            (2.0, 1.0, -0.5),
        ),
        "cat": Example(
            _("cat and 猫"),
            _("the word “cat”"),
            (_("animal"), _("pet"), _("vehicle")),
            (_("sounds māo"), _("sounds gǒu"), _("sounds chē")),
            (
                ("猫", 1.0, 1.0, 0.0, 1.0, 0.0, 0.0),
                ("狗", 1.0, 0.4, 0.0, 0.0, 1.0, 0.0),
                ("车", 0.0, 0.0, 1.0, 0.0, 0.0, 1.0),
            ),
            (1.0, 3.0, 0.0),
        ),
        "sat": Example(
            _("The cat sat"),
            _("the word “cat”, looking at its sentence"),
            (_("article"), _("noun"), _("verb")),
            (_("of The"), _("of cat"), _("of sat")),
            (
                ("The", 1.0, 0.0, 0.0, 1.0, 0.0, 0.0),
                ("cat", 0.0, 1.0, 0.0, 0.0, 1.0, 0.0),
                ("sat", 0.0, 0.0, 1.0, 0.0, 0.0, 1.0),
            ),
            (0.2, 1.0, 0.7),
        ),
    }


def queries(name: str) -> dict[str, float]:
    """What the query's sliders say in this example."""
    return {f"q{number}": value for number, value in enumerate(examples()[name].query, start=1)}


def read(written: str) -> list[Row]:
    """The rows of a table that an address holds; it matches WRITTEN."""
    rows: list[Row] = json.loads(written)
    return rows


def write(shelf: Shelf) -> str:
    """A shelf as an address holds it."""
    rows = [
        [title, *(_short(number) for number in [*keys, *values])]
        for title, keys, values in zip(shelf.titles, shelf.keys.tolist(), shelf.values.tolist(), strict=True)
    ]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def _short(number: float) -> int | float:
    """1 instead of 1.0."""
    return int(number) if number.is_integer() else number
