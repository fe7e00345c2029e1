"""The losses while the models are trained: every kind, and RoPE's readings in the short training after it."""

from functools import partial

from core.labs.longer import METHODS, Settings, reading_curve
from pages.components.i18n import _
from pages.components.lab import Seen
from pages.components.lab_curves import losses
from pages.components.longer_position import in_words
from pages.components.longer_scene import HEIGHT, kind_names, method_names
from pages.components.plot import Plot, figure
from pages.components.words import look_for

KEY = "longer.train"
LOSSES = (0.0, 4.0)  # nats, of the axis; guessing evenly costs ln 30 = 3.4


def draw(settings: Settings, seen: Seen) -> Plot:
    record = seen.record
    look_for(*in_words(settings, record))
    again = bool(settings.rope and settings.tune_steps)
    share = 0.5 if again else 1
    kinds = {kind.value: name for kind, name in kind_names().items()}  # a kind keeps its colour
    drawn = partial(losses, record=record, domain=LOSSES, y_title=_("training loss (nats)"), share=share, height=HEIGHT)
    parts = [drawn("kinds", _("Training"), series=kinds, steps=settings.steps)]
    if again:
        readings = {reading_curve(method): method_names()[method] for method in METHODS}
        title = _("RoPE again, on texts {factor} times as long").format(factor=settings.factor)
        parts.append(drawn("again", title, series=readings, steps=settings.tune_steps))
    return figure(
        KEY,
        [parts],
        name=_("training"),
        alt=_("Curves of the training loss against the step: of every kind, and of RoPE's readings trained again."),
    )
