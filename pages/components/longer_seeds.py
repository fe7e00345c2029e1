"""The comparison that ships: every kind and every reading, the mean over the seeds, and what lies between extremes."""

from collections.abc import Sequence

from core.charts.curves import curves
from core.labs.longer import METHODS, Kind, Settings, reading_curve
from core.labs.longer_summary import centres, collect, span_mean, spread, spread_by_bucket
from core.labs.shipped import Run
from pages.components.i18n import _
from pages.components.lab import results
from pages.components.lab_curves import bands_data
from pages.components.lab_words import compared, not_compared
from pages.components.longer_scene import HEIGHT, kind_names, loss_axis, method_names, position_axis
from pages.components.plot import Part, Plot, figure, part
from pages.components.words import look_for

KEY = "longer.seeds"
SHARE = 1 / 3


def draw() -> Plot:
    usual, runs = Settings(), results("longer").runs
    look_for(*_in_words(usual, runs))
    windows = (Kind.ROPE.value, "window")
    kinds = {name: (kind.value, "loss") for kind, name in kind_names().items()} | {
        _("{kind}, windows").format(kind="RoPE"): windows
    }
    readings = {
        name: {method_names()[method]: (reading_curve(method), name) for method in METHODS} | {_("windows"): windows}
        for name in ("before", "after")
    }
    return figure(
        KEY,
        [
            [
                _part("kinds", _("As trained"), kinds, usual, runs, marks=(1,)),
                _part("before", _("RoPE, other readings"), readings["before"], usual, runs, marks=(1, usual.factor)),
                _part(
                    "after",
                    _("The same after a short training"),
                    readings["after"],
                    usual,
                    runs,
                    marks=(1, usual.factor),
                ),
            ]
        ],
        name=_("all seeds"),
        alt=_(
            "Curves of the loss against the position in the text, means over several seeds with bands from the least "
            "to the largest: of every kind of positions, and of the readings of RoPE before and after a short training."
        ),
    )


def _part(
    name: str,
    title: str,
    measured: dict[str, tuple[str, str]],
    usual: Settings,
    runs: Sequence[Run],
    marks: Sequence[int],
) -> Part:
    """measured: name of a series → its curve, and what was found of it."""
    spreads = [spread_by_bucket(collect(runs, *which)) for which in measured.values()]
    across = centres(usual.trained_len)
    return part(
        name,
        curves,
        bands_data(
            [across[: len(each)] for each in spreads], spreads, marks=[usual.trained_len * times for times in marks]
        ),
        share=SHARE,
        series=tuple(measured),
        x=position_axis(usual.trained_len),
        y=loss_axis(),
        band=True,
        symbols=False,
        legend_columns=2,
        title=title,
        height=HEIGHT,
    )


def _in_words(usual: Settings, runs: Sequence[Run]) -> Sequence[str]:
    if not runs:
        return (not_compared(),)
    return (
        compared(results("longer"), len({run.settings["seed"] for run in runs})),
        _("Loss beyond {second} characters, up to {third}: {each}.").format(
            second=2 * usual.trained_len,
            third=4 * usual.trained_len,
            each="; ".join(_each(runs, {name: (kind.value, "loss") for kind, name in kind_names().items()})),
        ),
        _("RoPE's readings there, after the short training: {each}.").format(
            each="; ".join(
                _each(runs, {method_names()[method]: (reading_curve(method), "after") for method in METHODS})
            )
        ),
    )


def _each(runs: Sequence[Run], measured: dict[str, tuple[str, str]]) -> Sequence[str]:
    said = []
    for name, which in measured.items():
        found = spread([span_mean(losses, 4) for losses in collect(runs, *which)])
        if found is not None:
            said.append(f"{name} {found.mean:.2f} ({found.low:.2f} – {found.high:.2f})")
    return said
