"""Both twins learn: their losses while they come, and how far before and behind itself each of their heads looks."""

import numpy as np
import streamlit as st

from core.charts import heatmaps
from core.labs.open_book import NUM_HEADS, Settings
from core.labs.open_book_exam import CLOSED, OPEN, REACH
from core.labs.open_book_results import Winner, attention, final_loss, strongest
from core.labs.record import Record
from pages.components.i18n import _, ngettext
from pages.components.lab import Seen
from pages.components.lab_curves import losses
from pages.components.numbers import percent
from pages.components.open_book_controls import names
from pages.components.plot import Part, Plot, figure, part
from pages.components.words import look_for

KEY = "open_book.train"
LEAST = 520  # pixels; with less a phone would show labels that nobody can read
LOSSES = (0.0, 3.6)  # nats; guessing gives ln 30
CURVES_HEIGHT, MAP_HEIGHT = 260, 250


def draw(settings: Settings, guess: Winner | None, seen: Seen, *, examined: bool) -> Plot:
    """examined: the reader asked for the exam, which is covered until there is a guess."""
    if examined:
        st.info(
            _("The papers are covered. Predict first, on the left: which book wins the exam?"),
            icon=":material/visibility_off:",
        )
    else:
        look_for(*_in_words(settings, guess, seen.record))
    return figure(
        KEY,
        [
            [
                losses(
                    "losses",
                    _("Loss in training"),
                    seen.record,
                    names(),
                    steps=settings.steps,
                    domain=LOSSES,
                    y_title=_("loss, nats per character"),
                    share=0.44,
                    height=CURVES_HEIGHT,
                ),
                _maps(settings, seen.record),
            ]
        ],
        least=LEAST,
        name=_("training of both books"),
        alt=_(
            "Curves of the training loss of both models over the steps; beside them two heatmaps: for every head, the "
            "mean weight that it gives to characters before and after the one that looks."
        ),
    )


def _maps(settings: Settings, record: Record) -> Part:
    heads = tuple(f"{layer}.{head}" for layer in range(1, settings.num_layers + 1) for head in range(1, NUM_HEADS + 1))
    distances = np.arange(-REACH, REACH + 1)
    masks = {curve: np.tile(distances <= leak, (len(heads), 1)) for curve, leak in _leaks(settings).items()}
    values = {
        curve: np.asarray(found).reshape(len(heads), -1) if found else np.full((len(heads), len(distances)), np.nan)
        for curve, found in ((curve, attention(record, curve)) for curve in names())
    }
    return part(
        "heads",
        heatmaps.panels,
        heatmaps.panels_data(values, masks={f"{curve}_mask": mask for curve, mask in masks.items()}),
        share=0.56,
        queries=heads,
        keys=tuple(f"{distance:+d}".replace("-", "−") if distance else "0" for distance in distances.tolist()),
        shown=tuple(
            heatmaps.Panel(name, "weights", curve, f"{curve}_mask", _("mean weight")) for curve, name in names().items()
        ),
        words=heatmaps.Words(
            row_axis=_("layer.head"),
            column_axis=_("distance: + is later"),
            query=_("layer.head"),
            key=_("distance"),
            value=_("mean weight"),
            masked=_("masked"),
            allowed=_("may look"),
        ),
        height=MAP_HEIGHT,
        clickable=False,
    )


def _leaks(settings: Settings) -> dict[str, int]:
    return {CLOSED: 0, OPEN: settings.leak}


def _in_words(settings: Settings, guess: Winner | None, record: Record) -> tuple[str, ...]:
    said = [
        ngettext(
            "Twins: the same weights at the start, the same pieces of text. One sees the past only; its twin also sees "
            "{count} later character, and the next character is what both are asked for.",
            "Twins: the same weights at the start, the same pieces of text. One sees the past only; its twin also sees "
            "{count} later characters, and the next one is what both are asked for.",
            settings.leak,
        ).format(count=settings.leak)
    ]
    if all(curve in record.curves for curve in names()):
        closed, opened = (final_loss(record.curves[curve]) for curve in (CLOSED, OPEN))
        said.append(
            _("Training loss after {step} steps: closed book {closed:.2f} nats, open book {opened:.3f}.").format(
                step=record.curves[OPEN].steps[-1], closed=closed, opened=opened
            )
        )
    found = attention(record, OPEN)
    if found:
        said.append(_look_in_words(found))
    if guess is None:
        said.append(_("Which of them will write better? Predict on the left, then open “Exam”."))
    return tuple(said)


def _look_in_words(found: list[list[list[float]]]) -> str:
    look = strongest(found)
    if look.distance == 1:
        return _(
            "Where does the open book look? Head {head} of layer {layer} gives {weight} of its weight to the next "
            "character: it copies the answer."
        ).format(head=look.head + 1, layer=look.layer + 1, weight=percent(look.weight))
    return _(
        "Where does the open book look? Head {head} of layer {layer} gives {weight} of its weight to distance "
        "{distance}."
    ).format(
        head=look.head + 1,
        layer=look.layer + 1,
        weight=percent(look.weight),
        distance=f"{look.distance:+d}".replace("-", "−"),
    )
