"""What the page of learning heads calls its layers and measures."""

from collections.abc import Mapping
from typing import Any

from core.charts.curves import Axis
from core.labs.learning_heads_task import NAMES
from core.labs.spread import Spread
from pages.components.i18n import _, ngettext
from pages.components.numbers import percent

LETTERS = tuple("ABCDEFGHIJKLMNOP"[:NAMES])
"""The names of the tokens."""


def heads(count: int) -> str:
    return ngettext("{count} head", "{count} heads", count).format(count=count)


def look_ups(count: int) -> str:
    return ngettext("{count} look-up", "{count} look-ups", count).format(count=count)


def measures() -> Mapping[str, str]:
    return {"effective": _("effective"), "stable": _("stable"), "numerical": _("numerical")}


def rank_axis(measure: str) -> Axis:
    titles = {
        "effective": _("effective rank (entropy)"),
        "stable": _("stable rank"),
        "numerical": _("numerical rank"),
    }
    return Axis(titles[measure], domain=(1.0, NAMES + 0.5), ticks=(1, 3, 6, 9, NAMES))


def accuracy_axis() -> Axis:
    return Axis(_("accuracy"), domain=(0.0, 1.04), ticks=(0, 0.25, 0.5, 0.75, 1), format=".0%")


def queries(example: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Every token of a found example as one that looks: its name, and the names that it wants."""
    if example is None:
        return LETTERS
    names = keys(example)
    return tuple(
        f"{name}: {' '.join(names[place] for place in wanted)}"
        for name, wanted in zip(names, example["places"], strict=True)
    )


def keys(example: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The same tokens as they are looked at: their names."""
    return LETTERS if example is None else tuple(LETTERS[name] for name in example["names"])


def spoken(spread: Spread) -> str:
    """An accuracy, and its standard deviation over the seeds."""
    return f"{percent(spread.mean)} ± {percent(spread.deviation)}"
