"""One run: loss, accuracy and rank of every layer while it learns, and where the heads of one of them look."""

from collections.abc import Sequence
from typing import Any

from core.charts import curves
from core.labs.learning_heads import Settings
from core.labs.learning_heads_measures import MATRICES
from core.labs.learning_heads_sizes import CHANCE
from core.labs.learning_heads_task import NAMES, TAGS
from core.labs.record import Record
from pages.components import learning_heads_fold, learning_heads_maps
from pages.components.i18n import _
from pages.components.lab import Lab, Seen
from pages.components.lab_curves import losses
from pages.components.learning_heads_controls import Shown
from pages.components.learning_heads_words import accuracy_axis, heads, measures, rank_axis
from pages.components.numbers import percent
from pages.components.plot import Part, Plot, figure, part
from pages.components.words import look_for

KEY = "learning_heads.train"
LOSSES = (0.0, 2.5)  # nats; guessing costs ln 8
HEIGHT = 160
LEGIBLE = 860  # pixels: less is too narrow for the maps of many heads


def draw(settings: Settings, shown: Shown) -> None:
    lab = Lab("learning_heads", settings)
    lab.bar()

    def picture(seen: Seen) -> Plot:
        look_for(*_in_words(settings, shown, seen.record))
        return _figure(settings, shown, seen.record)

    learning_heads_fold.draw_train(settings, lab.show(picture))


def _figure(settings: Settings, shown: Shown, record: Record) -> Plot:
    return figure(
        KEY,
        [
            [
                _losses(settings, record),
                _accuracies(settings, record),
                _ranks(settings, shown, record, "logits", _("Rank of the logits")),
                _ranks(settings, shown, record, "weights", _("Rank of the weights")),
            ],
            [
                learning_heads_maps.focus(settings.look_ups, shown.num_heads, _found(record, shown.num_heads)),
                learning_heads_maps.attention(shown.num_heads, _found(record, shown.num_heads)),
            ],
        ],
        name=_("learning heads"),
        alt=_(
            "Curves of loss, accuracy and rank over the steps of a training, one for each number of heads; below how "
            "much weight every head of one layer puts on the answers of every look-up, and its attention as heatmaps."
        ),
        least=LEGIBLE if shown.num_heads > 2 else 0,
    )


# ------------------------------------------------------------------------------------------------------- the curves


def _losses(settings: Settings, record: Record) -> Part:
    return losses(
        "losses",
        _("Loss in training"),
        record,
        {str(number): heads(number) for number in settings.heads},
        steps=settings.steps,
        domain=LOSSES,
        y_title=_("loss, nats"),
        share=0.25,
        height=HEIGHT,
        legend_columns=2,
    )


def _accuracies(settings: Settings, record: Record) -> Part:
    return part(
        "accuracies",
        curves.curves,
        curves.curves_data(*_moments(settings, record, "accuracy")),
        share=0.25,
        series=_names(settings),
        x=_steps(settings),
        y=accuracy_axis(),
        legend_columns=2,
        title=_("Right answers"),
        height=HEIGHT,
    )


def _ranks(settings: Settings, shown: Shown, record: Record, matrix: str, title: str) -> Part:
    return part(
        matrix,
        curves.curves,
        curves.curves_data(*_moments(settings, record, matrix, shown.measure)),
        share=0.25,
        series=_names(settings),
        x=_steps(settings),
        y=rank_axis(shown.measure),
        legend_columns=2,
        title=title,
        height=HEIGHT,
    )


def _steps(settings: Settings) -> curves.Axis:
    return curves.Axis(_("step"), domain=(0, settings.steps), format="d", least_step=1)


def _names(settings: Settings) -> tuple[str, ...]:
    return tuple(heads(number) for number in settings.heads)


def _moments(settings: Settings, record: Record, *path: str) -> tuple[list[list[int]], list[list[float]]]:
    """Of every layer the steps at which was measured, and what."""
    steps, values = [], []
    for number in settings.heads:
        history = _found(record, number).get("history", {})
        steps.append(history.get("steps", []))
        for name in path:
            history = history.get(name, {})
        values.append(history or [])
    return steps, values


def _found(record: Record, num_heads: int) -> dict[str, Any]:
    return record.found.get(str(num_heads), {})


# --------------------------------------------------------------------------------------------------------- in words


def _in_words(settings: Settings, shown: Shown, record: Record) -> Sequence[str]:
    measured = {number: found for number in settings.heads if "attention" in (found := _found(record, number))}
    if not measured:
        return (
            _(
                "{names} tokens, each with a name and one of {tags} tags, in random order. Every token asks for the "
                "tags of others by their names; guessing is right in {chance} of all cases."
            ).format(names=NAMES, tags=TAGS, chance=f"{CHANCE:.1%}"),
        )
    answers = "; ".join(
        _("{heads} {share}, each {each}").format(
            heads=heads(number),
            share=percent(found["history"]["accuracy"][-1]),
            each=" · ".join(percent(share) for share in found["by_look_up"]),
        )
        for number, found in measured.items()
    )
    logits, weights = (
        "; ".join(
            f"{heads(number)} {values[0]:.1f} → {values[-1]:.1f}"
            for number, found in measured.items()
            if (values := found["history"][matrix][shown.measure])
        )
        for matrix in MATRICES
    )
    measure = measures()[shown.measure].capitalize()
    parameters = next(iter(measured.values()))["parameters"]
    return (
        _("Right answers, and those of each look-up: {answers}.").format(answers=answers),
        _("{measure} rank of the logits, before → now: {logits}.").format(measure=measure, logits=logits),
        _("{measure} rank of the weights, before → now: {weights}.").format(measure=measure, weights=weights),
        _("Guessing is right in {chance}. Every layer has {parameters:,} parameters.").format(
            chance=f"{CHANCE:.1%}", parameters=parameters
        ),
    )
