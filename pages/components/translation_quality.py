"""The quality view of the translation page: 100 sentences, measured on demand with several beam widths."""

from collections.abc import Callable, Sequence

import streamlit as st
import torch

from core.charts import intervals
from core.quality import Metric, read_pairs
from core.width_study import COMPARED, WidthStudy, study_widths
from pages.components import translator
from pages.components.i18n import _
from pages.components.job import job
from pages.components.plot import Plot, draw
from pages.components.translation_scene import Scene
from pages.components.words import look_for


@st.cache_resource(show_spinner=False)
def _studies() -> dict[tuple[str, float], WidthStudy]:
    """What has been measured on this server, by model and length penalty: one person measures, all see it."""
    return {}


def study(scene: Scene) -> WidthStudy | None:
    """The measurement for this model and length penalty, if somebody has made it."""
    return _studies().get((scene.model.name, scene.method.length_penalty))


def view(scene: Scene) -> Sequence[Plot]:
    """The button that measures, and what came out."""
    model, penalty = scene.model, scene.method.length_penalty
    if model.name != translator.BUNDLED:
        st.info(_("The sentences with references are French and English. Choose the bundled model to measure it."))
        return ()
    pairs = read_pairs()
    st.write(
        _(
            "{count} French sentences were written for this page, each with one English translation. None of them "
            "occurs in the data that the bundled model was trained on. They are translated with 1, 2, 4 and 8 beams; "
            "the length penalty is {penalty:.1f}."
        ).format(count=len(pairs), penalty=penalty)
    )

    def work(on_progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        if study(scene) is None:  # nobody measured it while this waited
            _studies()[model.name, penalty] = study_widths(
                model,
                pairs,
                length_penalty=penalty,
                generator=torch.Generator().manual_seed(0),
                on_progress=on_progress,
                cancelled=cancelled,
            )

    measuring = None
    found = study(scene)
    if found is None:
        measuring = job("translation.study", _("Measure (about a minute)"), work)
    if measuring is not None and measuring.failed:
        st.error(_("The measurement failed. Try again; if it fails again, start the server anew."))
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
                    name=name,
                    alt=_("Dots with intervals: {metric} for each beam width.").format(metric=name),
                    labels=labels,
                    axis=name,
                    label_axis=_("beams"),
                    title=_("{metric} and its 95 % bootstrap interval").format(metric=name),
                )
            )
    look_for(
        _("The intervals are wide: with {count} sentences a difference must be large to be seen.").format(
            count=len(found.pairs)
        ),
        _(
            "With {beams} beams, {less} of {total} sentences are less probable than the greedy ones, and {lower} have "
            "a lower score, which is what the search looks for."
        ).format(
            beams=COMPARED,
            less=len(found.by_log_probability.worse),
            total=len(found.pairs),
            lower=len(found.by_score.worse),
        ),
    )
    with st.expander(_("All sentences")):
        _sentences(found)
    return plots


def _sentences(found: WidthStudy) -> None:
    """Those where greedy decoding found the more probable sentence stand first."""
    greedy, beam = found.runs[1], found.runs[COMPARED]
    worse = set(found.by_log_probability.worse)
    order = sorted(range(len(found.pairs)), key=lambda i: i not in worse)
    st.dataframe(
        {
            _("French"): [found.pairs[i].source for i in order],
            _("Reference"): [found.pairs[i].reference for i in order],
            _("Greedy"): [greedy.translations[i] for i in order],
            _("{beams} beams").format(beams=COMPARED): [beam.translations[i] for i in order],
            _("log p, greedy"): [round(greedy.log_probabilities[i], 3) for i in order],
            _("log p, {beams} beams").format(beams=COMPARED): [round(beam.log_probabilities[i], 3) for i in order],
            _("greedy is more probable"): [i in worse for i in order],
        },
        hide_index=True,
    )
