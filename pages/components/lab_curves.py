"""The losses of a training as a part of a figure: one curve for each model, growing while it learns."""

from collections.abc import Mapping

from core.charts.training import training_curves, training_curves_data
from core.labs.record import POINTS, Curve, Record
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
