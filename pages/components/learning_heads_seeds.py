"""The full comparison that ships: accuracy against the number of heads, who works for what, and ranks; all seeds."""

from collections.abc import Mapping, Sequence

from core.charts.curves import Axis, curves
from core.labs.learning_heads import HEADS
from core.labs.learning_heads_seeds import (
    NARROW,
    NARROW_FOR_LONGER,
    OWN,
    WITH_MLP,
    Layer,
    Result,
    accuracy,
    beyond_heads,
    ranks,
    results,
    working,
)
from core.labs.learning_heads_task import MOST_LOOK_UPS
from core.labs.spread import Spread
from pages.components import lab, learning_heads_fold
from pages.components.i18n import _
from pages.components.lab_curves import bands_data
from pages.components.lab_words import compared, not_compared
from pages.components.learning_heads_controls import Compared
from pages.components.learning_heads_words import accuracy_axis, heads, look_ups, rank_axis, spoken
from pages.components.numbers import percent
from pages.components.plot import Part, figure, part
from pages.components.words import look_for

KEY = "learning_heads.seeds"
HEIGHT = 165

Points = Mapping[int, Spread]  # by number of heads


def draw(chosen: Compared) -> None:
    runs = lab.results("learning_heads").runs
    of = results(runs, Layer(look_ups=chosen.look_ups))
    look_for(*_in_words(chosen, accuracy(of)), _surprise(beyond_heads(of)))
    every = {look_ups(number): results(runs, Layer(look_ups=number)) for number in range(1, MOST_LOOK_UPS + 1)}
    by_look_ups, at_work = ({name: of(each) for name, each in every.items()} for of in (accuracy, working))
    kinds = {
        f"d_model {Layer().d_model}": accuracy(results(runs, Layer())),
        f"d_model {NARROW.d_model}": accuracy(results(runs, NARROW)),
        _("d_model {d_model} and an MLP").format(d_model=WITH_MLP.d_model): accuracy(results(runs, WITH_MLP)),
        _("d_model {d_model}, {steps:,} steps").format(
            d_model=NARROW_FOR_LONGER.d_model, steps=NARROW_FOR_LONGER.steps
        ): accuracy(results(runs, NARROW_FOR_LONGER)),
    }
    logits, weights = (ranks(of, matrix, chosen.measure) for matrix in ("logits", "weights"))
    measured = {
        _("logits, before"): logits[0],
        _("logits, after"): logits[1],
        _("weights, before"): weights[0],
        _("weights, after"): weights[1],
    }
    share = accuracy_axis()
    count = Axis(_("heads that work for a look-up"), domain=(0.0, HEADS[-1] + 0.3), ticks=(0, *HEADS))
    rank = rank_axis(chosen.measure)
    plot = figure(
        KEY,
        [
            [
                _part("accuracies", _("Accuracy, by number of look-ups"), by_look_ups, share),
                _part("kinds", _("Accuracy with {look_ups}").format(look_ups=look_ups(Layer().look_ups)), kinds, share),
            ],
            [
                _part(
                    "ranks",
                    _("Rank before and after training, {look_ups}").format(look_ups=look_ups(chosen.look_ups)),
                    measured,
                    rank,
                ),
                _part("working", _("Heads at work"), at_work, count),
            ],
        ],
        name=_("learning heads, all seeds"),
        alt=_(
            "Four charts against the number of heads, means over several seeds with bands from the least to the "
            "largest: accuracy by number of look-ups, accuracy of several kinds of layers, ranks before and after "
            "training, and how many heads work for a look-up."
        ),
    )
    learning_heads_fold.draw_seeds(chosen.look_ups, plot)


def _part(name: str, title: str, series: Mapping[str, Points], y: Axis) -> Part:
    return part(
        name,
        curves,
        bands_data([list(points) for points in series.values()], [list(points.values()) for points in series.values()]),
        share=0.5,
        series=tuple(series),
        x=Axis(_("heads"), log=True, domain=(0.9, 1.1 * HEADS[-1]), ticks=HEADS),
        y=y,
        band=True,
        legend_columns=2,
        title=title,
        height=HEIGHT,
    )


def _in_words(chosen: Compared, found: Points) -> Sequence[str]:
    if not found:
        return (not_compared(),)
    return (
        compared(lab.results("learning_heads"), next(iter(found.values())).count),
        _("{look_ups}: {each} (mean ± standard deviation).").format(
            look_ups=look_ups(chosen.look_ups),
            each="; ".join(f"{heads(number)} {spoken(spread)}" for number, spread in found.items()),
        ),
        _(
            "A head works for a look-up if at least {share} of its weight lies on the answers. The ranks are those of "
            "each head's own matrices."
        ).format(share=percent(OWN)),
    )


def _surprise(found: Sequence[Result]) -> str:
    """That heads may serve more look-ups than they are, if any do."""
    if not found:
        return ""
    return _(
        "More look-ups than heads: {each}. Every look-up reads its own combination of what the heads fetch, and may "
        "subtract one from another."
    ).format(
        each="; ".join(
            _("{heads}: {look_ups} (seed {seed})").format(
                heads=heads(result.num_heads), look_ups=look_ups(result.solved), seed=result.seed
            )
            for result in found
        )
    )
