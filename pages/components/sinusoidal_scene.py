"""What the page on sinusoidal positions draws: its waves, and the places that are looked at."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from core.charts.fields import drawn
from core.positions.sinusoidal import PositionShift, shift, similarity_by_distance, sinusoidal_encoding
from pages.components.controls import Panel
from pages.components.i18n import _

LONGEST, WIDEST = 512, 512
FEW_POINTS = 64  # of more, a curve has its symbol at its end only
FARTHEST = 20


@dataclass(frozen=True, slots=True)
class Waves:
    """What the controls say; positions and dimensions are counted from 0, as in the formula."""

    panel: Panel
    length: int
    d_model: int
    base: float
    m: int = 0
    n: int = 0
    i: int = 0
    j: int = 0
    offset: int = 0

    @property
    def encoding(self) -> Tensor:
        """(length, d_model)"""
        return sinusoidal_encoding(self.length, self.d_model, base=self.base)

    @property
    def moved(self) -> PositionShift:
        """All positions moved on by the offset."""
        return shift(torch.arange(self.length), self.d_model, self.offset, base=self.base)

    @property
    def similarity(self) -> float:
        """PE(m) · PE(n)"""
        return float(similarity_by_distance(torch.tensor(self.m - self.n), self.d_model, base=self.base))

    @property
    def rows(self) -> list[int]:
        """The positions that the heatmap draws."""
        return drawn(self.length)

    @property
    def columns(self) -> list[int]:
        """The dimensions that it draws: whole pairs."""
        return drawn(self.d_model, together=2)


def choose(panel: Panel, view: str) -> Waves:
    """The sliders of a view without words."""
    with panel.beside():
        length = panel.slider("length", _("Length"), 2, LONGEST, default=32, step=1)
        d_model = panel.slider("d_model", "d_model", 2, WIDEST, default=32, step=2)
    base = panel.slider("base", _("Base: 10 to the power of"), 0.5, 6.0, default=4.0, step=0.5, format="%.1f")
    waves = Waves(panel, length, d_model, 10.0**base)
    if view == "shift":
        with panel.beside():
            m = panel.slider("from", _("From position"), 0, length - 1, default=2, step=1)
            offset = panel.slider("offset", _("Offset k"), -FARTHEST, FARTHEST, default=3, step=1)
        return replace(waves, m=m, offset=offset)
    with panel.beside():
        m = panel.slider("m", _("Position m"), 0, length - 1, default=5, step=1)
        n = panel.slider("n", _("Position n"), 0, length - 1, default=20, step=1)
    if view == "waves":
        return replace(waves, m=m, n=n)
    with panel.beside():
        i = panel.slider("i", _("Dimension i"), 0, d_model - 1, default=4, step=1)
        j = panel.slider("j", _("Dimension j"), 0, d_model - 1, default=12, step=1)
    return replace(waves, m=m, n=n, i=i, j=j)


def tiny(number: float) -> str:
    """A small number by its power of ten, and an exact 0 as such."""
    return f"{number:.0e}" if number else "0"
