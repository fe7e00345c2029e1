"""The quality view of the translation page: 100 sentences, measured on demand with several beam widths."""

from collections.abc import Callable, Sequence

import streamlit as st
import torch

from core.charts import intervals
from core.models import TranslationModel
from core.quality import Metric, read_pairs
from core.width_study import WidthStudy, study_widths
from pages.components.i18n import _
from pages.components.job import job
from pages.components.plot import Plot, draw
from pages.components.translator import Method
from pages.components.words import look_for


@st.cache_resource(show_spinner=False)
def _studies() -> dict[tuple[str, float], WidthStudy]:
    """What has been measured on this server, by model and length penalty: one person measures, all see it."""
    return {}


def study(model: TranslationModel, method: Method) -> WidthStudy | None:
    """The measurement for this model and length penalty, if somebody has made it."""
    return _studies().get((model.name, method.length_penalty))


def view(model: TranslationModel, method: Method) -> Sequence[Plot]:
    """The button that measures, and what came out."""
    if model.tasks:
        st.info(_("The sentences with references are French and English. Choose the bundled model to measure it."))
        return ()
    pairs = read_pairs()
    st.write(
        _(
            "{count} French sentences were written for this page, each with one English translation. None of them "
            "occurs in the data that the bundled model was trained on. They are translated with 1, 2, 4 and 8 beams; "
            "the length penalty is {penalty:.1f}."
        ).format(count=len(pairs), penalty=method.length_penalty)
    )

    def work(on_progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        _studies()[model.name, method.length_penalty] = study_widths(
            model,
            pairs,
            length_penalty=method.length_penalty,
            generator=torch.Generator().manual_seed(0),
            on_progress=on_progress,
            cancelled=cancelled,
        )

    job("translation.study", _("Measure (about a minute)"), work)
    found = study(model, method)
    return _show(found) if found else ()


def _show(found: WidthStudy) -> Sequence[Plot]:
    labels = tuple(_("greedy") if width == 1 else str(width) for width in found.runs)
    left, right = st.columns(2, gap="medium")
    plots = []
    for column, metric in ((left, Metric.BLEU), (right, Metric.CHRF)):
        name = {Metric.BLEU: "BLEU", Metric.CHRF: "chrF"}[metric]
        with column:
            plots.append(
                draw(
                    f"translation.{metric}",
                    intervals.intervals,
                    intervals.interval_data(found.intervals[metric]),
                    alt=_("Dots with intervals: {metric} for each beam width.").format(metric=name),
                    labels=labels,
                    axis=name,
                    label_axis=_("beams"),
                    title=_("{metric} and its 95 % bootstrap interval").format(metric=name),
                )
            )
    worse = found.by_log_probability.worse
    look_for(
        _("The intervals are wide: with {count} sentences a difference must be large to be seen.").format(
            count=len(found.pairs)
        ),
        _("In {count} of {total} sentences the beam ended with a less probable sentence than greedy decoding.").format(
            count=len(worse), total=len(found.pairs)
        ),
    )
    greedy, beam = found.runs[1], found.runs[4]
    with st.expander(_("All sentences")):
        st.dataframe(
            {
                _("French"): [pair.source for pair in found.pairs],
                _("Reference"): [pair.reference for pair in found.pairs],
                _("Greedy"): greedy.translations,
                _("4 beams"): beam.translations,
                _("log p, greedy"): [round(value, 3) for value in greedy.log_probabilities],
                _("log p, 4 beams"): [round(value, 3) for value in beam.log_probabilities],
            },
            hide_index=True,
        )
    return plots
