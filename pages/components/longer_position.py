"""Losses by position: of every kind, and of the readings of RoPE before and after a short training."""

from collections.abc import Sequence

from core.charts.curves import curves, curves_data
from core.labs.longer import METHODS, Kind, Settings, reading_curve
from core.labs.longer_summary import (
    SPANS,
    Losses,
    centres,
    cheapest,
    curve_values,
    found,
    mean_beyond,
    span_mean,
)
from core.labs.record import Record
from pages.components.i18n import _
from pages.components.lab import Seen
from pages.components.longer_scene import HEIGHT, kind_names, loss_axis, method_names, position_axis
from pages.components.numbers import signed
from pages.components.plot import Part, Plot, figure, part
from pages.components.words import look_for

KEY = "longer.position"


def draw(settings: Settings, seen: Seen) -> Plot:
    record = seen.record
    look_for(*in_words(settings, record))
    main = Kind.ROPE if settings.rope else settings.kinds[0]
    names = kind_names()
    windows = found(record, main, "window")
    parts = [
        _part(
            "kinds",
            _("As trained"),
            {name: found(record, kind, "loss") for kind, name in names.items()}  # a kind keeps its colour
            | {_("{kind}, windows").format(kind=names[main]): windows},
            settings,
            marks=(1,),
        )
    ]
    for name, title in _readings(settings).items():
        losses = {method_names()[method]: found(record, reading_curve(method), name) for method in METHODS} | {
            _("windows"): windows
        }
        parts.append(_part(name, title, losses, settings, marks=(1, settings.factor)))
    return figure(
        KEY,
        [parts],
        name=_("loss by position"),
        alt=_(
            "Curves of the loss against the position in the text, on logarithmic axes: of every kind of positions, and "
            "of the readings of RoPE before and after a short training. Dashed lines: the trained length, and the "
            "length that the scalings are made for."
        ),
    )


def _readings(settings: Settings) -> dict[str, str]:
    """What was measured of the readings → how it is called."""
    titles = {"before": _("RoPE, other readings"), "after": _("The same after a short training")}
    return {
        name: title for name, title in titles.items() if settings.rope and (name == "before" or settings.tune_steps)
    }


def _part(name: str, title: str, losses: dict[str, Losses], settings: Settings, marks: Sequence[int]) -> Part:
    across = centres(settings.trained_len)
    return part(
        name,
        curves,
        curves_data(
            [across] * len(losses),
            [curve_values(each) for each in losses.values()],
            marks=[settings.trained_len * times for times in marks],
        ),
        share=1 / (1 + len(_readings(settings))),
        series=tuple(losses),
        x=position_axis(settings.trained_len),
        y=loss_axis(),
        symbols=False,
        legend_columns=2 if settings.rope else 6,
        title=title,
        height=HEIGHT,
    )


# ----------------------------------------------------------------------------------------------------------- in words


def in_words(settings: Settings, record: Record) -> Sequence[str]:
    """What to look for, as far as it was measured."""
    if not record.found:
        return (
            _(
                "Nothing is measured with these settings yet. Guess first: which curve rises beyond {length} "
                "characters, and how soon?"
            ).format(length=settings.trained_len),
        )
    return (
        *_spans(settings, record),
        *_windows(settings, record),
        *_cheapest(settings, record),
        *_ends(settings),
        *_long(settings, record),
    )


def _spans(settings: Settings, record: Record) -> Sequence[str]:
    lengths = [settings.trained_len * span for span in SPANS]
    each = []
    for kind in settings.kinds:
        means = [span_mean(found(record, kind, "loss"), span) for span in SPANS]
        measured = [f"{mean:.2f}" for mean in means if mean is not None]
        if measured:
            each.append(f"{kind_names()[kind]} {' → '.join(measured)}")
    if not each:
        return ()
    return (
        _("Mean loss within {first} characters, then up to {second}, {third} and {last}: {each}.").format(
            first=lengths[0], second=lengths[1], third=lengths[2], last=lengths[3], each="; ".join(each)
        ),
    )


def _windows(settings: Settings, record: Record) -> Sequence[str]:
    each = []
    for kind in settings.kinds:
        mean = mean_beyond(found(record, kind, "window"))
        if mean is not None:
            each.append(f"{kind_names()[kind]} {mean:.2f}")
    if not each:
        return ()
    return (
        _(
            "In windows, given only the last {length} characters, the same models reach {each}: what lies above that "
            "is what strange positions cost."
        ).format(length=settings.trained_len, each=", ".join(each)),
    )


def _cheapest(settings: Settings, record: Record) -> Sequence[str]:
    names = {reading_curve(method): name for method, name in method_names().items()}
    before, after = (cheapest(record, names, name, settings.factor) for name in ("before", "after"))
    length = settings.factor * settings.trained_len
    if before is None:
        return ()
    first, cost = names[before[0]], signed(before[1], 2)
    if after is None:
        return (
            _("Of RoPE's readings, up to {length} characters, {name} costs least: {cost} nats at worst.").format(
                length=length, name=first, cost=cost
            ),
        )
    return (
        _(
            "Of RoPE's readings, up to {length} characters, {name} costs least: {cost} nats at worst. After {steps} "
            "more steps on texts of {length}: {again}, {cost_again} nats."
        ).format(
            length=length,
            name=first,
            cost=cost,
            steps=settings.tune_steps,
            again=names[after[0]],
            cost_again=signed(after[1], 2),
        ),
    )


def _ends(settings: Settings) -> Sequence[str]:
    if not settings.learnt:
        return ()
    return (
        _(
            "Learnt positions end at {length}: no vector stands for a later place, so there is no curve. In windows "
            "such a model can still read on."
        ).format(length=settings.trained_len),
    )


def _long(settings: Settings, record: Record) -> Sequence[str]:
    loss = found(record, Kind.ROPE_LONG, "loss")
    near, far = span_mean(loss, 2), span_mean(loss, 8)
    if near is None or far is None:
        return ()
    return (
        _(
            "Trained on texts of {longest} characters, RoPE has a loss of {near:.2f} up to {second} and of {far:.2f} "
            "at the end: what more context is worth in this text."
        ).format(longest=settings.longest, near=near, second=2 * settings.trained_len, far=far),
    )
