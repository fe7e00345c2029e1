"""One look for every chart: a light and a dark palette, at two type sizes.

The charts are shown with Streamlit's own chart theme switched off, so every colour and font comes from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import altair as alt

from core.charts.colour import Ramp

FONT = '"Source Sans", "Noto Sans CJK SC", sans-serif'
"""Streamlit's own text font, so that charts read like the page around them, and its relative for Chinese."""

PROJECTOR = 1.35

_PADDING = {"left": 2, "right": 2, "top": 2, "bottom": 2}  # Streamlit adds 20 px where no bottom is named

AnyChart = TypeVar("AnyChart", alt.Chart, alt.LayerChart, alt.HConcatChart)


@dataclass(frozen=True, slots=True)
class Style:
    """All that a chart may know about looks. Get one from :func:`style`."""

    name: Literal["light", "dark"]
    scale: float  # of type and of what must grow with it: 1 on a desk, PROJECTOR in a lecture room
    background: str  # of the page; charts are transparent, and draw the gaps between cells in this colour
    surface: str  # a quiet area on the page
    text: str
    muted: str  # secondary text, readable on background and surface
    faint: str  # grid lines, tracks, quiet outlines
    primary: str  # filled bars, links, what is active
    on_primary: str  # text on primary
    accent: str  # the one thing that is marked: a row, a choice, the winner's path
    masked: str  # a cell that may not be looked at: grey, never a colour of a scale
    hatch: str  # the stroke across a masked cell
    allowed: str  # a cell of a mask that may be looked at
    dark_ink: str  # text on light cells
    light_ink: str  # text on dark cells
    weights: Ramp  # 0 to 1
    scores: Ramp  # −5 to 5, diverging about 0
    categorical: tuple[str, ...]  # colour-blind safe, for at most six series
    font: str = FONT

    @property
    def signed(self) -> Ramp:
        """−1 to 1, in the colours of scores."""
        return Ramp(-1, 1, self.scores.colours)

    def px(self, length: float) -> int:
        """A length that grows with the type, given as at the normal size: the height of a chart."""
        return round(length * self.scale)

    @property
    def font_size(self) -> float:
        """Size of labels and axis titles, in pixels."""
        return 12 * self.scale

    @property
    def title_size(self) -> float:
        """Size of a chart's own title."""
        return 13 * self.scale

    @property
    def small_size(self) -> float:
        """Size of numbers inside cells, the smallest type."""
        return 10 * self.scale


_LIGHT: dict[str, Any] = {
    "background": "#ffffff",
    "surface": "#f3f5f8",
    "text": "#1c2430",
    "muted": "#566071",
    "faint": "#d9dee6",
    "primary": "#2456a6",
    "on_primary": "#ffffff",
    "accent": "#c9400a",
    "masked": "#c3c6cb",
    "hatch": "#7c8591",
    "allowed": "#cfe6d2",
    "dark_ink": "#000000",
    "light_ink": "#ffffff",
    "weights": Ramp(0, 1, ("#edf3fb", "#cbdef3", "#9fc2e8", "#6c9fd7", "#3f79bf", "#1f549d", "#0a2f6b")),
    "scores": Ramp(-5, 5, ("#174a94", "#4f86c9", "#a9c9ea", "#f4f4f1", "#f7cd97", "#db8a32", "#94490a")),
    "categorical": ("#0072b2", "#d55e00", "#009e73", "#a2285f", "#3d9fd6", "#1c2430"),
}

_DARK: dict[str, Any] = {
    "background": "#12161c",
    "surface": "#1a2028",
    "text": "#e6eaf0",
    "muted": "#a3adbb",
    "faint": "#313a46",
    "primary": "#7fb0ff",
    "on_primary": "#0d1b33",
    "accent": "#ff8f4d",
    "masked": "#454c56",
    "hatch": "#8a94a2",
    "allowed": "#1f4d36",
    "dark_ink": "#000000",
    "light_ink": "#ffffff",
    "weights": Ramp(0, 1, ("#1a222e", "#1f3655", "#264e82", "#3469b0", "#4c8adb", "#7cb1ff", "#c9e0ff")),
    "scores": Ramp(-5, 5, ("#a8d0ff", "#4c8bd6", "#264a78", "#1d232c", "#6b4320", "#c67a2b", "#ffc78a")),
    "categorical": ("#4a8ede", "#f58a3c", "#2fae86", "#efa3c4", "#8fdcff", "#ffffff"),
}


def style(theme: Literal["light", "dark"], size: Literal["normal", "projector"] = "normal") -> Style:
    """The look for a theme and a text size.

    Raises: ValueError for any other theme or size.
    """
    if theme not in ("light", "dark"):
        raise ValueError(f"theme ({theme!r}) must be 'light' or 'dark'")
    if size not in ("normal", "projector"):
        raise ValueError(f"size ({size!r}) must be 'normal' or 'projector'")
    return Style(name=theme, scale=PROJECTOR if size == "projector" else 1.0, **(_LIGHT if theme == "light" else _DARK))


def hand(clickable: bool) -> Literal["pointer", "default"]:
    """The pointer's shape over a mark."""
    return "pointer" if clickable else "default"


def themed(chart: AnyChart, look: Style) -> AnyChart:
    """The chart with the look's fonts, colours and margins; the last step of every chart function."""
    title = {"font": look.font, "fontSize": look.title_size, "fontWeight": 600, "color": look.text}
    axis = {
        "labelFont": look.font,
        "labelFontSize": look.font_size,
        "labelColor": look.text,
        "titleFont": look.font,
        "titleFontSize": look.font_size,
        "titleFontWeight": "normal",
        "titleColor": look.muted,
        "titlePadding": 6 * look.scale,
        "ticks": False,
        "domain": False,
        "labelPadding": 5,
        "gridColor": look.faint,
    }
    config = alt.Config(
        background="transparent",
        font=look.font,
        view={"stroke": None},
        title={**title, "anchor": "start", "offset": 8},
        axis=axis,
        mark={"tooltip": False},  # only what asks for a tooltip gets one; Streamlit's default is everywhere
        text={"font": look.font, "fontSize": look.font_size, "color": look.text},
    )
    # The given height is that of the grid, whatever its labels need; the width is what the page has.
    autosize = alt.AutoSizeParams(type="pad" if isinstance(chart, alt.HConcatChart) else "fit-x", contains="padding")
    themed_chart: AnyChart = chart.properties(config=config, padding=_PADDING, autosize=autosize)
    return themed_chart
