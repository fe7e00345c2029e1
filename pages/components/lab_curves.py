"""Curves of trainings, as parts of a figure: losses that grow while models learn, and bands of several seeds."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from core.charts.curves import curves_data
from core.charts.training import training_curves, training_curves_data
from core.labs.record import POINTS, Curve, Record
from core.labs.spread import Spread
from pages.components.i18n import _
from pages.components.plot import Part, part


def losses(
    name: str,
    title: str,
    record: Record,
    series: Mapping[str, str],
    *,
    steps: int,
    domain: tuple[float, float],
    y_title: str,
    share: float,
    height: int,
    legend_columns: int | None = None,
) -> Part:
    """series: curve of the record → what it is called; one that has not begun is empty, and keeps its colour.

    steps: of each curve. domain: of the losses; one outside of it lies on its border.
    """
    drawn = [record.curves.get(curve, Curve()).thinned(POINTS) for curve in series]
    return part(
        name,
        training_curves,
        training_curves_data([curve.steps for curve in drawn], [curve.losses for curve in drawn]),
        share=share,
        series=tuple(series.values()),
        steps=steps,
        losses=domain,
        x_title=_("step"),
        y_title=y_title,
        legend_columns=legend_columns,
        title=title,
        height=height,
    )


def bands_data(
    x: Sequence[Sequence[float]], spreads: Sequence[Sequence[Spread | None]], *, marks: Sequence[float] = ()
) -> dict[str, pa.Table]:
    """The data of `core.charts.curves.curves` with bands: every series' means, from its least to its largest seed.

    A point without a spread, None, is left out. marks: where vertical lines stand.
    Raises: ValueError if a series has not as many spreads as places, or their numbers differ.
    """
    known = [
        [(place, spread) for place, spread in zip(places, each, strict=True) if spread is not None]
        for places, each in zip(x, spreads, strict=True)
    ]
    return curves_data(
        [[place for place, _spread in points] for points in known],
        [[spread.mean for _place, spread in points] for points in known],
        low=[[spread.low for _place, spread in points] for points in known],
        high=[[spread.high for _place, spread in points] for points in known],
        marks=marks,
    )
