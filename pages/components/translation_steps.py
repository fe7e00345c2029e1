"""One step of the decoder: what it has read, what it could say next, and where it looks meanwhile."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st
from torch import Tensor

from core.attention_maps import describe, pick
from core.charts import bars, heatmaps
from pages.components.frame import type_size
from pages.components.i18n import _
from pages.components.numbers import percent
from pages.components.plot import Part, Plot, clicks, figure, part, picked
from pages.components.tokens import plain, plainly, token_line
from pages.components.translation_scene import (
    Scene,
    heatmap_words,
    result_line,
    say_that_there_is_nothing,
    source_line,
)
from pages.components.words import look_for

KEY = "translation.steps"
CANDIDATES = {"normal": 10, "projector": 7}
HIGHEST = {"normal": 250, "projector": 190}  # pixels of the heatmap, however many steps there are
BARS = {"normal": 200, "projector": 150}


def view(scene: Scene) -> Sequence[Plot]:
    trace, shown = scene.trace, scene.shown
    if not trace.steps:
        say_that_there_is_nothing()
        return ()
    step = trace.steps[shown.step]
    said = (trace.start_token, *trace.tokens[: shown.step])
    cross = pick(trace.cross_attention, layer=shown.layer, head=shown.head)  # (steps, seq_source)
    said_so_far = token_line(_("The decoder has said"), said, step.decoder_input, next_token=plain(step.chosen.token))
    look_for(*_in_words(scene, cross[shown.step]), beside=source_line(scene) + said_so_far + result_line(scene))
    plot = figure(
        KEY,
        [[_candidates(scene), _looks(scene, cross[shown.step]), _alignment(scene, cross)]],
        name=_("step {step}, {which}").format(step=shown.step + 1, which=shown.name),
        alt=_(
            "Bars: the most probable next tokens, the one that was taken is marked; bars: how this step shares its "
            "attention among the source tokens; heatmap: the same for every step, this one outlined."
        ),
        on_select=partial(_clicked, scene),
    )
    return (plot,)


def _clicked(scene: Scene) -> None:
    """A candidate: from this step on, the sentence is to go on from it. A row of the alignment: go there."""
    rank, row = picked(KEY, "next_candidate", "rank"), picked(KEY, "all_cell", "q")
    number = scene.shown.step
    if rank is not None:
        ids = (*scene.trace.token_ids[:number], scene.trace.steps[number].candidates[int(rank)].token_id)
        scene.panel.put({"forced": "-".join(map(str, ids))})
        st.rerun()
    if row is not None:
        scene.panel.put({"step": int(row) + 1})


def _candidates(scene: Scene) -> Part:
    step, sampled = scene.trace.steps[scene.shown.step], scene.method.sampling is not None
    return part(
        "next",
        bars.candidates,
        bars.candidates_data(
            [replace(candidate, token=plain(candidate.token)) for candidate in step.candidates],
            chosen_id=step.chosen.token_id,
            count=CANDIDATES[type_size()],
            nonce=clicks(KEY),
        ),
        share=0.31,
        count=CANDIDATES[type_size()],
        sampled=sampled,
        words=bars.CandidateWords(
            axis=_("drawn (dashed: the model's own)") if sampled else _("probability of being next"),
            token=_("token"),
            token_id=_("id"),
            probability=_("probability"),
            log_probability=_("log-probability"),
            drawn=_("probability of being drawn"),
        ),
        title=_("What could come next: click to choose"),
    )


def _looks(scene: Scene, weights: Tensor) -> Part:
    return part(
        "looks",
        bars.attention_bars,
        bars.attention_bars_data(weights.numpy()),
        share=0.31,
        keys=plainly(scene.trace.source_tokens),
        words=bars.AttentionWords(axis=_("attention weight"), key=_("source token"), weight=_("weight")),
        title=_("Where this step looks in the source"),
        height=BARS[type_size()],
    )


def _alignment(scene: Scene, cross: Tensor) -> Part:
    return part(
        "all",
        heatmaps.heatmap,
        heatmaps.heatmap_data(cross.numpy(), marked_row=scene.shown.step, nonce=clicks(KEY)),
        share=0.38,
        queries=plainly(scene.trace.tokens),
        keys=plainly(scene.trace.source_tokens),
        words=heatmap_words(_("the decoder is about to say"), _("source: is looked at")),
        title=_("Cross-attention of all steps"),
        height=min(28 * len(scene.trace.tokens), HIGHEST[type_size()]),
    )


def _in_words(scene: Scene, weights: Tensor) -> Sequence[str]:
    trace, shown = scene.trace, scene.shown
    step, row = trace.steps[shown.step], describe(weights)
    first, second = step.candidates[:2]
    sentences = [
        _("Step {step} of {steps}: the model gives “{first}” {p} and “{second}” {q}.").format(
            step=shown.step + 1,
            steps=len(trace.steps),
            first=plain(first.token),
            p=percent(first.probability),
            second=plain(second.token),
            q=percent(second.probability),
        ),
        _(
            "It looks most at “{token}” ({weight}; {which}). The entropy of its attention is {bits:.2f} bits "
            "of at most {most:.2f}."
        ).format(
            token=plain(trace.source_tokens[row.strongest]),
            weight=percent(row.weight),
            which=shown.name,
            bits=row.entropy,
            most=row.most,
        ),
    ]
    if step.forced and shown.step == len(scene.forced) - 1:
        sentences.append(
            _("You chose “{token}” here: the model held it for number {rank:,} of {size:,}.").format(
                token=plain(step.chosen.token), rank=step.rank, size=scene.model.facts.vocab_size
            )
        )
    elif step.forced:
        sentences.append(_("This step is kept as it was when you chose a later token."))
    return sentences
