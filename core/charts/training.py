"""Losses of a training, while they come: curves on axes that stay as they are until the end."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy.typing as npt
import pyarrow as pa

from core.charts.curves import Axis, curves, curves_data
from core.charts.theme import Style


def training_curves(
    style: Style,
    series: Sequence[str],
    *,
    steps: int,
    losses: tuple[float, float],
    x_title: str,
    y_title: str,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    legend_columns: int | None = None,
    height: int = 220,
) -> alt.LayerChart:
    """A line for every series, from step 0 to ``steps``; losses outside of their range lie on its border.

    Both ranges are fixed, so that a curve grows and nothing else moves; the symbol at a curve's end is where it is now.
    It is the chart of :func:`core.charts.curves.curves`, and takes its width as that does.
    Datasets: "curves" and "marks", from :func:`training_curves_data`.
    Raises: ValueError if there are no series or more than there are symbols, if steps is less than 1, or if losses do
        not rise.
    """
    if steps < 1:
        raise ValueError(f"steps ({steps}) must be at least 1")
    if not losses[0] < losses[1]:
        raise ValueError(f"losses ({losses}) must rise")
    return curves(
        style,
        series,
        x=Axis(x_title, domain=(0, steps), format="d", least_step=1),
        y=Axis(y_title, domain=losses),
        symbols=False,
        title=title,
        width=width,
        outer_width=outer_width,
        legend_columns=legend_columns,
        height=height,
    )


def training_curves_data(steps: Sequence[npt.ArrayLike], losses: Sequence[npt.ArrayLike]) -> dict[str, pa.Table]:
    """The data of :func:`training_curves`: for every series its steps (n,) and losses (n,); one without any is empty.

    Send no more points than the eye can tell apart: see `core.labs.record.Curve.thinned`.
    Raises: ValueError if the shapes of a series differ, or the numbers of series.
    """
    return curves_data(steps, losses)
