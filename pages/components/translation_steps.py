"""One step of the decoder: what it has read, what it could say next, and where it looks meanwhile."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st
from torch import Tensor

from core.attention_maps import describe, pick
from core.charts import bars, heatmaps
from pages.components.i18n import _, ngettext
from pages.components.plot import Plot, clicks, draw, picked
from pages.components.tokens import plain, plainly, token_line
from pages.components.translation_scene import (
    Scene,
    heatmap_words,
    result_line,
    say_that_there_is_nothing,
    source_line,
)
from pages.components.words import look_for

CANDIDATES = 10


def view(scene: Scene) -> Sequence[Plot]:
    trace, shown = scene.trace, scene.shown
    if not trace.steps:
        say_that_there_is_nothing()
        return ()
    step = trace.steps[shown.step]
    said = (trace.start_token, *trace.tokens[: shown.step])
    st.html(
        source_line(scene)
        + token_line(_("The decoder has said"), said, step.decoder_input, next_token=plain(step.chosen.token))
        + result_line(scene)
    )
    cross = pick(trace.cross_attention, layer=shown.layer, head=shown.head)  # (steps, seq_source)
    left, middle, right = st.columns([1, 1, 1.2], gap="medium")
    with left:
        next_token = _candidates(scene)
    with middle:
        looks = _looks(scene, cross[shown.step])
    with right:
        alignment = _alignment(scene, cross)
    look_for(*_in_words(scene, cross[shown.step]))
    return next_token, looks, alignment


def _candidates(scene: Scene) -> Plot:
    key, step = "translation.candidates", scene.trace.steps[scene.shown.step]
    return draw(
        key,
        bars.candidates,
        bars.candidates_data(
            [replace(candidate, token=plain(candidate.token)) for candidate in step.candidates],
            chosen_id=step.chosen.token_id,
            count=CANDIDATES,
            nonce=clicks(key),
        ),
        name=_("next token"),
        alt=_("Bars: the most probable next tokens with their probabilities; the one that was taken is marked."),
        on_select=partial(_prescribe, scene, key),
        count=CANDIDATES,
        words=bars.CandidateWords(
            axis=_("probability of being next"),
            token=_("token"),
            token_id=_("id"),
            probability=_("probability"),
            log_probability=_("log-probability"),
        ),
        title=_("What could come next: click to choose"),
    )


def _prescribe(scene: Scene, key: str) -> None:
    """A candidate was clicked: from this step on, the sentence is to go on from it."""
    rank = picked(key, "candidate", "rank")
    if rank is not None:
        number = scene.shown.step
        ids = (*scene.trace.token_ids[:number], scene.trace.steps[number].candidates[int(rank)].token_id)
        scene.panel.put({"forced": "-".join(map(str, ids))})


def _looks(scene: Scene, weights: Tensor) -> Plot:
    return draw(
        "translation.looks",
        bars.attention_bars,
        bars.attention_bars_data(weights.numpy()),
        name=_("attention of this step"),
        alt=_("Bars: how this step shares its attention among the source tokens."),
        keys=plainly(scene.trace.source_tokens),
        words=bars.AttentionWords(axis=_("attention weight"), key=_("source token"), weight=_("weight")),
        title=_("Where this step looks in the source"),
        height=200,
        expected_width=330,
    )


def _alignment(scene: Scene, cross: Tensor) -> Plot:
    key = "translation.alignment"
    return draw(
        key,
        heatmaps.heatmap,
        heatmaps.heatmap_data(cross.numpy(), marked_row=scene.shown.step, nonce=clicks(key)),
        name=_("attention of all steps"),
        alt=_("Heatmap: the attention of every step over the source tokens; the row of this step is outlined."),
        on_select=partial(_go_to_row, scene, key),
        queries=plainly(scene.trace.tokens),
        keys=plainly(scene.trace.source_tokens),
        words=heatmap_words(_("the decoder is about to say"), _("source: is looked at")),
        title=_("Cross-attention of all steps"),
        expected_width=380,
    )


def _go_to_row(scene: Scene, key: str) -> None:
    row = picked(key, "cell", "q")
    if row is not None:
        scene.panel.put({"step": int(row) + 1})


def _in_words(scene: Scene, weights: Tensor) -> Sequence[str]:
    trace, shown = scene.trace, scene.shown
    step, row = trace.steps[shown.step], describe(weights)
    first, second = step.candidates[:2]
    sentences = [
        _("Step {step} of {steps}: the model gives “{first}” {p:.0%} and “{second}” {q:.0%}.").format(
            step=shown.step + 1,
            steps=len(trace.steps),
            first=plain(first.token),
            p=first.probability,
            second=plain(second.token),
            q=second.probability,
        ),
        _(
            "It looks most at “{token}” ({weight:.0%}; {which}). The entropy of its attention is {bits:.2f} bits "
            "of at most {most:.2f}."
        ).format(
            token=plain(trace.source_tokens[row.strongest]),
            weight=row.weight,
            which=shown.name,
            bits=row.entropy,
            most=row.most,
        ),
    ]
    if step.forced and shown.step == len(scene.forced) - 1:
        sentences.append(
            _("You chose “{token}” here: the model held it for number {rank} of {size:,}.").format(
                token=plain(step.chosen.token), rank=step.rank, size=scene.model.facts.vocab_size
            )
        )
    elif step.forced:
        sentences.append(_("This step is kept as it was when you chose a later token."))
    return [*sentences, *_about_the_source(scene)]


def _about_the_source(scene: Scene) -> Sequence[str]:
    sentences = []
    tokenizer = scene.model.tokenizer
    unknown = scene.trace.source_ids.count(tokenizer.unk_token_id)
    if unknown:
        sentences.append(
            ngettext(
                "{count} token of the sentence is unknown to this model: it reads {mark} there, and can only guess.",
                "{count} tokens of the sentence are unknown to this model: it reads {mark} there, and can only guess.",
                unknown,
            ).format(count=unknown, mark=tokenizer.unk_token)
        )
    if scene.was_cut:
        sentences.append(
            _("The sentence was cut after {count} tokens: there is room for no more.").format(
                count=len(scene.trace.source_ids)
            )
        )
    return sentences
