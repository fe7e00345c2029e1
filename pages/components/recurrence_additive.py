"""The view of additive attention: a decoder's state on sliders looks at an encoder's states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
import torch
from torch import Tensor

from core import additive, alignment_cost
from core.additive import Agreement, Alignment, Form, Weights
from core.charts import bars, heatmaps
from core.recurrence import Layer, bidirectional_states, random_cell
from core.token_attention import token_vectors
from pages.components import recurrence_costs, recurrence_sentence
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.plot import Plot
from pages.components.plot import draw as draw_plot
from pages.components.words import look_for

ON_SLIDERS = 4  # numbers of the decoder's state; the lesson's has four more, which stay as it drew them
WORD_DIM, HIDDEN_DIM, ATTENTION_DIM = 8, 2, 8
MANY_STATES = 200
ALMOST_STRAIGHT = 0.3  # up to this scale of the weights, tanh hardly bends


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the controls say."""

    words: tuple[str, ...]
    form: Form
    from_lesson: bool
    encoder: Layer
    state: tuple[float, ...]  # as far as it is on sliders
    scale: float
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was computed from it."""

    state: Tensor  # (decoder_dim,)
    encoder_states: Tensor  # (seq_k, encoder_dim)
    weights: Weights
    now: Alignment  # by the chosen form, as are the others unless they say otherwise
    at_zero: Alignment  # for a decoder state of zeros
    printed: Alignment  # by the form without the state
    many: Mapping[Form, Tensor]  # scores for many random states, (MANY_STATES, seq_k)
    agreements: Mapping[Form, Agreement]  # with the additive form
    seconds: Mapping[Form, float] | None

    @property
    def many_weights(self) -> Mapping[Form, Tensor]:
        return {form: torch.softmax(scores, dim=-1) for form, scores in self.many.items()}


def lesson_settings() -> dict[str, object]:
    """The sliders for the lesson's run: its state as near as they can stand, and its scale."""
    state = additive.lesson().state[:ON_SLIDERS].tolist()
    return {"source_of_states": "lesson", "scale": additive.LESSON_SCALE} | {
        f"s{number}": round(value, 1) for number, value in enumerate(state, 1)
    }


def controls(panel: Panel) -> Chosen:
    names = {
        Form.ADDITIVE: _("additive (Bahdanau)"),
        Form.DOT: _("dot (Luong)"),
        Form.GENERAL: _("general (Luong)"),
        Form.CONCAT: _("concat (Luong)"),
    }
    form = panel.choice("form", _("Score"), {str(form): name for form, name in names.items()}, default="additive")
    sources = {"sentence": _("Sentence"), "lesson": _("Lesson")}
    from_lesson = panel.choice("source_of_states", _("Encoder states"), sources, default="sentence") == "lesson"
    encoder = Layer.GRU
    if from_lesson:
        words = tuple(str(number) for number in range(1, len(additive.lesson().encoder_states) + 1))
    else:
        words = recurrence_sentence.words(panel)
        options = {str(layer): layer.value for layer in (Layer.RNN, Layer.LSTM, Layer.GRU)}
        encoder = Layer(panel.choice("encoder", _("Encoder, in both directions"), options, default="GRU"))
    left, right = st.columns(2)
    state = []
    for number, (column, default) in enumerate(zip((left, right) * 2, (1.0, -1.0, 0.5, -0.5), strict=True), 1):
        with column:
            state.append(
                panel.slider(
                    f"s{number}", _("State s[{number}]").format(number=number), -2.0, 2.0, default=default, step=0.1
                )
            )
    with left:
        scale = panel.slider("scale", _("Weights ×"), 0.1, 3.0, default=2.0, step=0.1)
    seed = 0
    if not from_lesson:
        with right:
            seed = panel.slider("seed", _("Seed"), 0, 50, default=0, step=1)
    return Chosen(words, Form(form), from_lesson, encoder, tuple(state), scale, seed)


def compute(chosen: Chosen) -> Found:
    """All of it anew: it costs a few milliseconds."""
    typed = torch.tensor(chosen.state, dtype=torch.float64)
    if chosen.from_lesson:
        lesson = additive.lesson()
        encoder_states, weights = lesson.encoder_states, lesson.weights
        state = torch.cat((typed, lesson.state[ON_SLIDERS:]))
    else:
        generator = torch.Generator().manual_seed(chosen.seed)
        encoder_states, state = _encode(chosen, generator), typed
        dims = {"encoder_dim": 2 * HIDDEN_DIM, "decoder_dim": ON_SLIDERS, "attention_dim": ATTENTION_DIM}
        weights = additive.random_weights(generator=generator, **dims)
    weights = weights.scaled(chosen.scale)

    def aligned(state: Tensor) -> Alignment:
        return additive.align(additive.scores(chosen.form, state, encoder_states, weights), encoder_states)

    states = torch.randn(MANY_STATES, len(state), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    many = {form: additive.scores(form, states, encoder_states, weights) for form in Form}  # (MANY_STATES, seq_k)
    printed = additive.printed_scores(encoder_states, weights.w_h, weights.v)
    return Found(
        state=state,
        encoder_states=encoder_states,
        weights=weights,
        now=aligned(state),
        at_zero=aligned(torch.zeros_like(state)),
        printed=additive.align(printed, encoder_states),
        many=many,
        agreements={form: additive.agreement(many[Form.ADDITIVE], scores) for form, scores in many.items()},
        seconds=recurrence_costs.measured().get(recurrence_costs.SIZE),
    )


def _encode(chosen: Chosen, generator: torch.Generator) -> Tensor:
    x = token_vectors(chosen.words, seed=chosen.seed, d_model=WORD_DIM)  # (seq_k, WORD_DIM)
    forwards, backwards = (
        random_cell(chosen.encoder, input_dim=WORD_DIM, hidden_dim=HIDDEN_DIM, generator=generator) for _ in range(2)
    )
    return bidirectional_states(forwards, backwards, x)  # (seq_k, 2 · HIDDEN_DIM)


def draw(chosen: Chosen, found: Found) -> Sequence[Plot]:
    left, right = st.columns([1.35, 1], gap="medium")
    with left:
        scores = _draw_scores(chosen, found)
        now = _draw_weights(
            chosen, "weights", found.now, found.at_zero, _("Weights; dashed: for the state s = 0"), with_state=True
        )
        printed = _draw_weights(
            chosen, "printed", found.printed, found.printed, _("Weights by vᵀ tanh(W h), without s"), with_state=False
        )
        look_for(*_in_words(chosen, found))
    with right:
        context = _draw_context(chosen, found)
        recurrence_costs.draw(
            found.agreements,
            {
                form: alignment_cost.cost(
                    form,
                    decoder_dim=len(found.state),
                    encoder_dim=found.encoder_states.shape[1],
                    attention_dim=len(found.weights.v),
                    seq_k=len(chosen.words),
                )
                for form in Form
            },
            num_words=len(chosen.words),
            num_states=MANY_STATES,
        )
    return scores, now, printed, context


def _draw_scores(chosen: Chosen, found: Found) -> Plot:
    return draw_plot(
        "recurrence.scores",
        heatmaps.heatmap,
        heatmaps.heatmap_data(torch.stack((found.now.scores, found.printed.scores))),
        alt=_("Heatmap: the score of every encoder state, with the decoder's state and without it."),
        queries=(_("with s"), _("without s")),
        keys=chosen.words,
        kind="scores",
        words=_heatmap_words(column_axis="", query=_("form"), key=_("word"), value=_("score")),
        title=_("Scores"),
        height=48,
        expected_width=560,
        clickable=False,
    )


def _draw_weights(
    chosen: Chosen, name: str, alignment: Alignment, before: Alignment, title: str, *, with_state: bool
) -> Plot:
    said = {
        True: _(
            "Bars: the weight of every encoder state; dashed outlines for a state of zeros, a line at equal shares."
        ),
        False: _("Bars: the weight of every encoder state by the form without s, and a line at equal shares."),
    }
    return draw_plot(
        f"recurrence.{name}",
        bars.attention_bars,
        bars.attention_bars_data(alignment.weights, before=before.weights, uniform=True),
        alt=said[with_state],
        keys=chosen.words,
        before=with_state,
        words=bars.AttentionWords(axis=_("weight"), key=_("word"), weight=_("weight"), before=_("at s = 0")),
        title=title,
        height=94,
        expected_width=560,
    )


def _draw_context(chosen: Chosen, found: Found) -> Plot:
    rows = torch.cat((found.encoder_states, found.now.context[None]))  # (seq_k + 1, encoder_dim)
    return draw_plot(
        "recurrence.context",
        heatmaps.heatmap,
        heatmaps.heatmap_data(rows, marked_row=len(chosen.words)),
        alt=_("Heatmap: the encoder's states, one row each, and below them the context vector, outlined."),
        queries=(*chosen.words, _("context c")),
        keys=tuple(str(number) for number in range(1, rows.shape[1] + 1)),
        kind="scores",
        words=_heatmap_words(column_axis="", query=_("word"), key=_("dimension"), value=_("value")),
        title=_("Encoder states h, and their weighted mean"),
        height=200,
        expected_width=330,
        clickable=False,
    )


def _heatmap_words(*, column_axis: str, query: str, key: str, value: str) -> heatmaps.Words:
    return heatmaps.Words("", column_axis, query, key, value, _("masked"), _("may look"))


def _in_words(chosen: Chosen, found: Found) -> Sequence[str]:
    top, before = int(found.now.weights.argmax()), int(found.at_zero.weights.argmax())
    words = [
        _(
            "With this s, {now:.0%} of the attention goes to “{word}”; with s = 0, {earlier:.0%} to “{before}”. Equal "
            "shares would be {equal:.0%}. The form without s says {printed:.0%} for “{word}”, whatever s is."
        ).format(
            now=float(found.now.weights[top]),
            word=chosen.words[top],
            earlier=float(found.at_zero.weights[before]),
            before=chosen.words[before],
            equal=1 / len(chosen.words),
            printed=float(found.printed.weights[top]),
        )
    ]
    if chosen.form is Form.DOT:
        words.append(_("The dot product has no weights of its own: with s = 0 every score is 0."))
    elif chosen.form is Form.GENERAL:
        words.append(_("sᵀ W h is the Transformer's score without its scaling, with W = W_Q W_Kᵀ. With s = 0 it is 0."))
    elif chosen.scale <= ALMOST_STRAIGHT:
        moved = float((found.now.weights - found.at_zero.weights).abs().max())
        words.append(
            _(
                "With weights this small tanh is almost straight: W_s s then adds nearly the same to every score, and "
                "softmax cancels it. The state moves no weight by more than {moved:.4f}."
            ).format(moved=moved)
        )
    return words
