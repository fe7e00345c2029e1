"""Colour arithmetic: ramps, contrast, and which ink is readable on which cell.

Source: WCAG 2.2, definitions of "relative luminance" and "contrast ratio".
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import altair as alt


def channels(colour: str) -> tuple[float, float, float]:
    """Red, green and blue of ``#rrggbb``, each from 0 to 1."""
    if len(colour) != 7 or not colour.startswith("#"):
        raise ValueError(f"colour ({colour!r}) must be written as #rrggbb")
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def luminance(colour: str) -> float:
    """Relative luminance, 0 (black) to 1 (white)."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio, 1 (none) to 21 (black on white)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def mix(one: str, other: str, share: float) -> str:
    """The colour that lies ``share`` of the way from ``one`` to ``other`` in RGB, as Vega counts it."""
    parts = (a + (b - a) * share for a, b in zip(channels(one), channels(other), strict=True))
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


@dataclass(frozen=True, slots=True)
class Ramp:
    """A colour scale over a fixed range: ``colours`` stand at equal steps from ``low`` to ``high``."""

    low: float
    high: float
    colours: tuple[str, ...]

    def at(self, value: float) -> str:
        """The colour of a value; values outside the range get the colour of its end."""
        steps = len(self.colours) - 1
        place = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low) * steps
        left = min(int(place), steps - 1)
        return mix(self.colours[left], self.colours[left + 1], place - left)

    def scale(self) -> alt.Scale:
        """The same scale for Vega-Lite, clamped."""
        width = (self.high - self.low) / (len(self.colours) - 1)
        domain = [round(self.low + i * width, 6) for i in range(len(self.colours))]
        return alt.Scale(domain=domain, range=list(self.colours), clamp=True, interpolate="rgb")

    def ink(self, value: str, dark: str, light: str) -> str:
        """A Vega expression: ``dark`` or ``light`` text, whichever reads better on the cell that shows ``value``."""
        samples = [self.low + (self.high - self.low) * i / 200 for i in range(201)]

        def better(sample: float) -> str:
            cell = self.at(sample)
            return dark if contrast(dark, cell) >= contrast(light, cell) else light

        runs = [(ink, list(group)) for ink, group in groupby(samples, key=better)]
        expression = f"'{runs[-1][0]}'"
        for ink, run in reversed(runs[:-1]):
            expression = f"{value} <= {run[-1]:.4g} ? '{ink}' : {expression}"
        return expression
