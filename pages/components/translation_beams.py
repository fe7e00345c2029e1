"""The tree of all hypotheses that a beam search considered."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core.charts import trees
from core.decoding import Fate
from pages.components.i18n import _
from pages.components.plot import Plot, at_least, draw
from pages.components.tokens import plain
from pages.components.translation_scene import Scene, result_line, say_that_there_is_nothing, source_line
from pages.components.words import look_for

LEGIBLE = 640  # pixels: of the legend


def view(scene: Scene) -> Sequence[Plot]:
    search = scene.trace.search
    if not scene.trace.steps:
        say_that_there_is_nothing()
        return ()
    if not search:
        st.info(_("Choose “Beam” as the way of decoding to see its tree of hypotheses."))
        return ()
    st.html(source_line(scene) + result_line(scene))
    plot = draw(
        "translation.tree",
        trees.beam_tree,
        trees.tree_data(
            [[replace(hypothesis, token=plain(hypothesis.token)) for hypothesis in step] for step in search],
            scene.trace.winner,
        ),
        name=_("tree of hypotheses"),
        alt=_(
            "Tree: every hypothesis of the beam search, from left to right; the winner is thick, the dropped are grey."
        ),
        num_steps=len(search),
        width=at_least(LEGIBLE),
        height=330,
        words=trees.TreeWords(
            axis=_("step"),
            token=_("token"),
            log_probability=_("log-probability"),
            score=_("score"),
            fate=_("what became of it"),
            winner=_("winner"),
            kept=_("kept"),
            finished=_("finished"),
            outscored=_("finished, but outscored"),
            dropped=_("dropped"),
            abandoned=_("left when the search stopped"),
        ),
    )
    considered = [hypothesis for step in search for hypothesis in step]
    finished = sum(hypothesis.fate in (Fate.FINISHED, Fate.OUTSCORED) for hypothesis in considered)
    dropped = sum(hypothesis.fate is Fate.DROPPED for hypothesis in considered)
    look_for(
        _(
            "{considered} hypotheses were considered in {steps} steps: {dropped} fell out of the beam, {finished} came "
            "to an end."
        ).format(considered=len(considered), steps=len(search), dropped=dropped, finished=finished),
        _(
            "The winner has the score {score:.3f}: its sum of log-probabilities, divided by its length to the power "
            "{penalty:.1f}."
        ).format(score=scene.trace.score, penalty=scene.method.length_penalty),
    )
    return (plot,)
