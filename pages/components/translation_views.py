"""The views of the translation page; only the chosen one is computed."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st
from torch import Tensor

from core.attention_maps import describe, pick
from core.charts import bars, heatmaps, trees
from core.decoding import DecodingTrace, Fate, Step
from core.models import ModelFacts, Positions, TranslationModel
from pages.components import translation_quality
from pages.components.controls import Panel
from pages.components.i18n import _, ngettext
from pages.components.plot import Plot, clicks, draw, picked
from pages.components.tokens import plain, plainly, token_line
from pages.components.translator import LONGEST_SOURCE, Method
from pages.components.words import look_for

CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class Shown:
    """Which step, layer and head are drawn, counted from 0; None is the mean over all."""

    step: int
    layer: int | None
    head: int | None

    @classmethod
    def counted_from_one(cls, step: int, layer: str, head: str) -> "Shown":
        """From what the controls say: "1", "2", … or "mean"."""
        return cls(step - 1, *(int(number) - 1 if number.isdigit() else None for number in (layer, head)))

    @property
    def name(self) -> str:
        if self.layer is None and self.head is None:
            return _("mean over all layers and heads")
        layer = _("all layers") if self.layer is None else _("layer {number}").format(number=self.layer + 1)
        head = _("all heads") if self.head is None else _("head {number}").format(number=self.head + 1)
        return f"{layer}, {head}"


def choose(panel: Panel, trace: DecodingTrace | None, view: str) -> Shown:
    """The controls for step, layer and head, as far as this view draws them."""
    step, layer, head = 1, "mean", "mean"
    if trace is not None and view == "steps":
        step = panel.slider("step", _("Step"), 1, max(len(trace.steps), 1), default=1, step=1)
    if trace is not None and view in ("steps", "encoder"):
        attention = trace.encoder_attention if view == "encoder" else trace.cross_attention
        num_layers, num_heads = attention.shape[:2]
        left, right = st.columns(2)
        with left:
            layer = panel.choice("layer", _("Layer"), _numbered(num_layers), default="mean", narrow=True)
        with right:
            head = panel.choice("head", _("Head"), _numbered(num_heads), default="mean", narrow=True)
    return Shown.counted_from_one(step, layer, head)


def _numbered(count: int) -> dict[str, str]:
    return {"mean": _("mean")} | {str(number): str(number) for number in range(1, count + 1)}


# ------------------------------------------------------------------------------------------------------- step by step


def steps(panel: Panel, model: TranslationModel, trace: DecodingTrace, method: Method, shown: Shown) -> Sequence[Plot]:
    """One step of the decoder: what it has read, what it could say next, and where it looks meanwhile."""
    if not trace.steps:
        st.info(_("There is nothing to translate yet. Type a sentence on the left."))
        return ()
    step = trace.steps[shown.step]
    said = (trace.start_token, *trace.tokens[: shown.step])
    st.html(
        token_line(_("The encoder reads"), trace.source_tokens, trace.source_ids)
        + token_line(_("The decoder has said"), said, step.decoder_input, next_token=plain(step.chosen.token))
        + _result(trace)
    )
    cross = pick(trace.cross_attention, layer=shown.layer, head=shown.head)  # (steps, seq_source)
    left, middle, right = st.columns([1, 1, 1.2], gap="medium")
    with left:
        next_token = _draw_candidates(panel, trace, shown.step)
    with middle:
        looks = _draw_looks(trace, cross[shown.step])
    with right:
        alignment = _draw_alignment(panel, trace, cross, shown)
    look_for(*_step_in_words(model, trace, step, cross[shown.step], shown))
    return next_token, looks, alignment


def _draw_candidates(panel: Panel, trace: DecodingTrace, number: int) -> Plot:
    key, step = "translation.candidates", trace.steps[number]
    return draw(
        key,
        bars.candidates,
        bars.candidates_data(
            [replace(candidate, token=plain(candidate.token)) for candidate in step.candidates],
            chosen_id=step.chosen.token_id,
            count=CANDIDATES,
            nonce=clicks(key),
        ),
        alt=_("Bars: the most probable next tokens with their probabilities; the one that was taken is marked."),
        on_select=partial(_force, panel, trace, number, key),
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


def _force(panel: Panel, trace: DecodingTrace, number: int, key: str) -> None:
    """A candidate was clicked: from this step on, the sentence is to go on from it."""
    rank = picked(key, "candidate", "rank")
    if rank is not None:
        ids = (*trace.token_ids[:number], trace.steps[number].candidates[rank].token_id)
        panel.put({"forced": "-".join(map(str, ids))})


def _draw_looks(trace: DecodingTrace, weights: Tensor) -> Plot:
    return draw(
        "translation.looks",
        bars.attention_bars,
        bars.attention_bars_data(weights.numpy()),
        alt=_("Bars: how this step shares its attention among the source tokens."),
        keys=plainly(trace.source_tokens),
        words=bars.AttentionWords(axis=_("attention weight"), key=_("source token"), weight=_("weight")),
        title=_("Where this step looks in the source"),
        height=200,
        expected_width=330,
    )


def _draw_alignment(panel: Panel, trace: DecodingTrace, cross: Tensor, shown: Shown) -> Plot:
    key = "translation.alignment"
    return draw(
        key,
        heatmaps.heatmap,
        heatmaps.heatmap_data(cross.numpy(), marked_row=shown.step, nonce=clicks(key)),
        alt=_("Heatmap: the attention of every step over the source tokens; the row of this step is outlined."),
        on_select=partial(_go_to_row, panel, key),
        queries=plainly(trace.tokens),
        keys=plainly(trace.source_tokens),
        words=heatmap_words(_("the decoder is about to say"), _("source: is looked at")),
        title=_("All steps · {which}").format(which=shown.name),
        expected_width=380,
    )


def _go_to_row(panel: Panel, key: str) -> None:
    row = picked(key, "cell", "q")
    if row is not None:
        panel.put({"step": row + 1})


def _step_in_words(
    model: TranslationModel, trace: DecodingTrace, step: Step, weights: Tensor, shown: Shown
) -> Sequence[str]:
    first, second = step.candidates[:2]
    row = describe(weights)
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
            which=shown.name,
            token=plain(trace.source_tokens[row.strongest]),
            weight=row.weight,
            bits=row.entropy,
            most=row.most,
        ),
    ]
    if step.forced:
        sentences.append(
            _("You chose “{token}” here: the model held it for number {rank} of {size:,}.").format(
                token=plain(step.chosen.token), rank=step.rank, size=model.facts.vocab_size
            )
        )
    unknown = trace.source_ids.count(model.tokenizer.unk_token_id)
    if unknown:
        sentences.append(
            ngettext(
                "{count} token of the sentence is unknown to this model: it reads {mark} there, and can only guess.",
                "{count} tokens of the sentence are unknown to this model: it reads {mark} there, and can only guess.",
                unknown,
            ).format(count=unknown, mark=model.tokenizer.unk_token)
        )
    if len(trace.source_ids) == LONGEST_SOURCE:
        sentences.append(
            _("The sentence was cut after {count} tokens: this page has room for no more.").format(count=LONGEST_SOURCE)
        )
    return sentences


def _result(trace: DecodingTrace) -> str:
    score = _("score {score:.3f}").format(score=trace.score)
    end = "" if trace.finished else " …"
    return (
        f'<div class="atlas-tokens"><b>{html.escape(_("Translation"))}</b>'
        f'<span class="atlas-result">{html.escape(trace.text + end)}</span> <small>{html.escape(score)}</small></div>'
    )


# -------------------------------------------------------------------------------------------------------- the beams


def beams(panel: Panel, model: TranslationModel, trace: DecodingTrace, method: Method, shown: Shown) -> Sequence[Plot]:
    """The tree of all hypotheses that beam search considered."""
    if not trace.search:
        st.info(_("Choose “Beam” as the way of decoding to see its tree of hypotheses."))
        return ()
    st.html(token_line(_("The encoder reads"), trace.source_tokens, trace.source_ids) + _result(trace))
    plot = draw(
        "translation.tree",
        trees.beam_tree,
        trees.tree_data(
            [[replace(hypothesis, token=plain(hypothesis.token)) for hypothesis in step] for step in trace.search],
            trace.winner,
        ),
        alt=_(
            "Tree: every hypothesis of the beam search, from left to right; the winner is thick, the dropped are grey."
        ),
        num_steps=len(trace.search),
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
    considered = [hypothesis for step in trace.search for hypothesis in step]
    finished = sum(hypothesis.fate in (Fate.FINISHED, Fate.OUTSCORED) for hypothesis in considered)
    dropped = sum(hypothesis.fate is Fate.DROPPED for hypothesis in considered)
    look_for(
        _(
            "{considered} hypotheses were considered in {steps} steps: {dropped} fell out of the beam, {finished} came "
            "to an end."
        ).format(considered=len(considered), steps=len(trace.search), dropped=dropped, finished=finished),
        _(
            "The winner has the score {score:.3f}: its sum of log-probabilities, divided by its length to the power "
            "{penalty:.1f}."
        ).format(score=trace.score, penalty=method.length_penalty),
    )
    return (plot,)


# ------------------------------------------------------------------------------------------------------- the encoder


def encoder(
    panel: Panel, model: TranslationModel, trace: DecodingTrace, method: Method, shown: Shown
) -> Sequence[Plot]:
    """How the encoder's tokens look at each other, beside the structure of the model."""
    if not trace.source_tokens:
        st.info(_("There is nothing to translate yet. Type a sentence on the left."))
        return ()
    st.html(token_line(_("The encoder reads"), trace.source_tokens, trace.source_ids) + _result(trace))
    weights = pick(trace.encoder_attention, layer=shown.layer, head=shown.head)  # (seq_source, seq_source)
    tokens = plainly(trace.source_tokens)
    left, right = st.columns([1.6, 1], gap="large")
    with left:
        plot = draw(
            "translation.encoder",
            heatmaps.heatmap,
            heatmaps.heatmap_data(weights.numpy()),
            alt=_("Heatmap: how the source tokens look at each other in the encoder."),
            queries=tokens,
            keys=tokens,
            words=heatmap_words(_("query: looks"), _("key: is looked at")),
            title=_("Encoder self-attention · {which}").format(which=shown.name),
            expected_width=620,
            clickable=False,
        )
    with right:
        _structure(model)
    return (plot,)


def _structure(model: TranslationModel) -> None:
    """Facts that were read from the loaded model."""
    facts = model.facts
    rows = {
        _("Model"): model.name,
        _("Family"): facts.family,
        _("Encoder layers"): facts.encoder_layers,
        _("Decoder layers"): facts.decoder_layers,
        "d_model": facts.d_model,
        "d_ff": facts.d_ff,
        _("Heads"): facts.num_heads,
        "head_dim": facts.head_dim,
        _("Vocabulary"): f"{facts.vocab_size:,}",
        _("Parameters"): f"{facts.parameters:,}",
        _("Positions"): _positions(facts),
        _("Activation"): facts.activation,
        _("Scores divided by √head_dim"): _("yes") if facts.scaled_scores else _("no"),
        _("The decoder starts from"): facts.start_token,
    }
    st.html(
        '<table class="atlas-facts">'
        + "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows.items()
        )
        + "</table>"
    )
    if facts.family == "marian":
        st.caption(
            _(
                "Close to the Transformer of 2017. It differs in the activation, swish instead of ReLU, and in the "
                "order of the position encoding: all sines, then all cosines."
            )
        )


def _positions(facts: ModelFacts) -> str:
    return {
        Positions.SINUSOIDAL: _("sine and cosine, added to the embedding"),
        Positions.RELATIVE: _("relative: a learned number per head and distance"),
    }[facts.positions]


# ------------------------------------------------------------------------------------------------------- the quality


def quality(
    panel: Panel, model: TranslationModel, trace: DecodingTrace, method: Method, shown: Shown
) -> Sequence[Plot]:
    """How well the model translates, measured on demand."""
    return translation_quality.view(model, method)


def heatmap_words(row_axis: str, column_axis: str) -> heatmaps.Words:
    return heatmaps.Words(
        row_axis=row_axis,
        column_axis=column_axis,
        query=_("query"),
        key=_("key"),
        value=_("weight"),
        masked=_("masked"),
        allowed=_("may look"),
    )
