"""The losses while the models are trained: every kind, and RoPE's readings in the short training after it."""

from core.charts.training import training_curves, training_curves_data
from core.labs.longer import METHODS, Settings, reading_curve
from core.labs.record import POINTS, Curve, Record
from pages.components.i18n import _
from pages.components.lab import Seen
from pages.components.longer_position import in_words
from pages.components.longer_scene import HEIGHT, kind_names, method_names
from pages.components.plot import Part, Plot, figure, part
from pages.components.words import look_for

KEY = "longer.train"
LOSSES = (0.0, 4.0)  # nats, of the axis; guessing evenly costs ln 30 = 3.4


def draw(settings: Settings, seen: Seen) -> Plot:
    record = seen.record
    look_for(*in_words(settings, record))
    again = bool(settings.rope and settings.tune_steps)
    share = 0.5 if again else 1
    kinds = {kind.value: name for kind, name in kind_names().items()}  # a kind keeps its colour
    parts = [_part("kinds", _("Training"), kinds, record, settings.steps, share)]
    if again:
        readings = {reading_curve(method): method_names()[method] for method in METHODS}
        title = _("RoPE again, on texts {factor} times as long").format(factor=settings.factor)
        parts.append(_part("again", title, readings, record, settings.tune_steps, share))
    return figure(
        KEY,
        [parts],
        name=_("training"),
        alt=_("Curves of the training loss against the step: of every kind, and of RoPE's readings trained again."),
    )


def _part(name: str, title: str, series: dict[str, str], record: Record, steps: int, share: float) -> Part:
    thinned = [record.curves.get(curve, Curve()).thinned(POINTS) for curve in series]
    return part(
        name,
        training_curves,
        training_curves_data([curve.steps for curve in thinned], [curve.losses for curve in thinned]),
        share=share,
        series=tuple(series.values()),
        steps=steps,
        losses=LOSSES,
        x_title=_("step"),
        y_title=_("training loss (nats)"),
        title=title,
        height=HEIGHT,
    )
