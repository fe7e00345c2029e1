"""All seeds: every case of the comparison, every variant, every seed a dot."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from core.charts.strips import strips, strips_data
from core.labs.shipped import Run
from core.labs.spread import Spread
from core.labs.three_matrices import NARROW, VARIANTS, Settings
from core.labs.three_matrices_seeds import bound_of, over_seeds
from core.labs.three_matrices_task import RINGS, accuracy_of
from core.projections import Sharing
from pages.components import three_matrices_fold
from pages.components.i18n import _
from pages.components.lab import results
from pages.components.lab_words import not_compared
from pages.components.plot import Part, figure, part
from pages.components.three_matrices_words import tasks, variants
from pages.components.words import look_for

KEY = "three_matrices.seeds"
SHARE, NATS = (0.0, 1.04), (0.0, 2.6)  # what the axes show
HEIGHT = 165

SELF = tuple(Settings(task=task) for task in RINGS)
OTHERS = tuple(replace(case, look_at_self=False) for case in SELF)
HEADS = tuple(Settings(task="successor", head_dim=head_dim) for head_dim in (*NARROW, Settings().head_dim))
SKIPS = (Settings(), Settings(skip=True))


def draw(measure: str) -> None:
    ships = results("three_matrices")
    if not ships.runs:
        st.info(not_compared())
        return
    runs = ships.runs
    look_for(*_in_words(runs))
    tasks_of, heads = tuple(tasks().values()), tuple(str(case.head_dim) for case in HEADS)
    plot = figure(
        KEY,
        [
            [
                _strips(runs, measure, "self", _("A token may look at itself"), SELF, tasks_of),
                _strips(runs, measure, "others", _("Only at others"), OTHERS, tasks_of),
            ],
            [
                _strips(runs, measure, "heads", _("Successor, against head_dim"), HEADS, heads),
                _strips(runs, measure, "skips", _("Partner"), SKIPS, (_("without skip connection"), _("with one"))),
            ],
        ],
        name=_("all seeds"),
        alt=_(
            "Four charts of dots, one for each seed of each variant, with strokes for the means: the tasks with and "
            "without the look at oneself, narrow heads, and a skip connection."
        ),
    )
    three_matrices_fold.draw_seeds(plot)


def _strips(
    runs: Sequence[Run], measure: str, name: str, title: str, cases: Sequence[Settings], places: tuple[str, ...]
) -> Part:
    values = [[over_seeds(runs, case, variant, measure).values for variant in VARIANTS] for case in cases]
    return part(
        name,
        strips,
        strips_data(values, bounds=_bounds(cases, measure)),
        share=0.5,
        series=tuple(variants().values()),
        places=places,
        axis=_("loss, nats") if measure == "loss" else _("share"),
        mean=_("mean"),
        domain=NATS if measure == "loss" else SHARE,
        title=title,
        height=HEIGHT,
    )


def _bounds(cases: Sequence[Settings], measure: str) -> Mapping[int, float]:
    """What Q = K and none can reach, where their scores forbid more; with a skip connection answers need no look."""
    shared = {place: bound_of(case, Sharing.QUERY_IS_KEY.value) for place, case in enumerate(cases) if not case.skip}
    if measure == "looking_right":
        return {place: bound for place, bound in shared.items() if bound < 1}
    if measure == "accuracy":
        return {place: accuracy_of(bound) for place, bound in shared.items() if 0 < bound < 1}
    return {}


def _in_words(runs: Sequence[Run]) -> Sequence[str]:
    """Accuracies, whatever is drawn."""

    def said(case: Settings, variant: Sharing) -> str:
        return in_short(over_seeds(runs, case, variant.value))

    partner, three = Settings(task="partner"), Settings(task="three")
    return (
        _(
            "Accuracy, mean (lowest to highest seed). Q = K, partner: {partner}; only at others: {others}; with a skip "
            "connection: {skip}."
        ).format(
            partner=said(partner, Sharing.QUERY_IS_KEY),
            others=said(replace(partner, look_at_self=False), Sharing.QUERY_IS_KEY),
            skip=said(replace(partner, skip=True), Sharing.QUERY_IS_KEY),
        ),
        _(
            "Q = K, ring of 3: {three}; only at others: {others}. A ring has a direction; symmetric scores have none."
        ).format(
            three=said(three, Sharing.QUERY_IS_KEY),
            others=said(replace(three, look_at_self=False), Sharing.QUERY_IS_KEY),
        ),
        _("V = K, successor, by head_dim: {heads}. In a narrow head, keys and values compete for room.").format(
            heads=" · ".join(f"{case.head_dim}: {said(case, Sharing.VALUE_IS_KEY)}" for case in HEADS)
        ),
        _("None, partner: {none}; but the right answer has a probability of {probability}: it nearly ties.").format(
            none=said(partner, Sharing.NONE),
            probability=in_short(over_seeds(runs, partner, Sharing.NONE.value, "probability")),
        ),
        _("Dashed: what Q = K and none can reach if every token tells the tag it looks at most, and the others guess."),
    )


def in_short(spread: Spread) -> str:
    """0.56 (0.55 to 0.57), or one number where all seeds agree."""
    mean, low, high = (f"{number:.2f}" for number in (spread.mean, spread.low, spread.high))
    return mean if low == high else _("{mean} ({low} to {high})").format(mean=mean, low=low, high=high)
