"""The view of additive attention: a decoder's state on sliders looks at an encoder's states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
from pages.components.plot import Part, Plot, figure, part
from pages.components.typed import quoted
from pages.components.words import look_for

ON_SLIDERS = 4  # numbers of the decoder's state; the lesson's has four more, which stay as it drew them
WORD_DIM, HIDDEN_DIM, ATTENTION_DIM = 8, 2, 8
MANY_STATES = 200
MOST_HEIGHT = 126  # pixels of the encoder's states, however many there are
ALMOST_STRAIGHT = 0.3  # up to this scale of the weights, tanh hardly bends


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the controls say."""

    words: tuple[str, ...]
    form: Form
    from_lesson: bool
    encoder: Layer
    scale: float
    seed: int
    state: tuple[float, ...] = ()  # as far as it is on sliders, which change the picture only


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What was computed from it, whatever the decoder's state."""

    encoder_states: Tensor  # (seq_k, encoder_dim)
    weights: Weights
    at_zero: Alignment  # for a decoder state of zeros, by the chosen form
    printed: Alignment  # by the form without the state
    many: Mapping[Form, Tensor]  # scores for many random states, (MANY_STATES, seq_k)
    agreements: Mapping[Form, Agreement]  # with the additive form
    seconds: Mapping[Form, float] | None

    @property
    def many_weights(self) -> Mapping[Form, Tensor]:
        return {form: torch.softmax(scores, dim=-1) for form, scores in self.many.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What the decoder sees in one state."""

    state: Tensor  # (decoder_dim,)
    now: Alignment  # by the chosen form


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
    with panel.beside():
        scale = panel.slider("scale", _("Weights ×"), 0.1, 3.0, default=2.0, step=0.1)
        seed = 0 if from_lesson else panel.slider("seed", _("Seed"), 0, 50, default=0, step=1)
    return Chosen(words, Form(form), from_lesson, encoder, scale, seed)


def choose_state(panel: Panel, chosen: Chosen) -> Chosen:
    """The sliders for the decoder's state."""

    def number(place: int, default: float) -> float:
        label = _("State s[{number}]").format(number=place)
        return panel.slider(f"s{place}", label, -2.0, 2.0, default=default, step=0.1)

    with panel.beside():
        first = (number(1, 1.0), number(2, -1.0))
    with panel.beside():
        return replace(chosen, state=(*first, number(3, 0.5), number(4, -0.5)))


def compute(chosen: Chosen) -> Found:
    if chosen.from_lesson:
        encoder_states, weights = additive.lesson().encoder_states, additive.lesson().weights
        decoder_dim = len(additive.lesson().state)
    else:
        generator = torch.Generator().manual_seed(chosen.seed)
        encoder_states, decoder_dim = _encode(chosen, generator), ON_SLIDERS
        dims = {"encoder_dim": 2 * HIDDEN_DIM, "decoder_dim": ON_SLIDERS, "attention_dim": ATTENTION_DIM}
        weights = additive.random_weights(generator=generator, **dims)
    weights = weights.scaled(chosen.scale)
    zero = torch.zeros(decoder_dim, dtype=torch.float64)
    states = torch.randn(MANY_STATES, decoder_dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    many = {form: additive.scores(form, states, encoder_states, weights) for form in Form}  # (MANY_STATES, seq_k)
    printed = additive.printed_scores(encoder_states, weights.w_h, weights.v)
    return Found(
        encoder_states=encoder_states,
        weights=weights,
        at_zero=additive.align(additive.scores(chosen.form, zero, encoder_states, weights), encoder_states),
        printed=additive.align(printed, encoder_states),
        many=many,
        agreements={form: additive.agreement(many[Form.ADDITIVE], scores) for form, scores in many.items()},
        seconds=recurrence_costs.measured().get(recurrence_costs.SIZE),
    )


def look(chosen: Chosen, found: Found) -> Look:
    typed = torch.tensor(chosen.state, dtype=torch.float64)
    state = torch.cat((typed, additive.lesson().state[ON_SLIDERS:])) if chosen.from_lesson else typed
    scores = additive.scores(chosen.form, state, found.encoder_states, found.weights)  # (seq_k,)
    return Look(state, additive.align(scores, found.encoder_states))


def _encode(chosen: Chosen, generator: torch.Generator) -> Tensor:
    x = token_vectors(chosen.words, seed=chosen.seed, d_model=WORD_DIM)  # (seq_k, WORD_DIM)
    forwards, backwards = (
        random_cell(chosen.encoder, input_dim=WORD_DIM, hidden_dim=HIDDEN_DIM, generator=generator) for _ in range(2)
    )
    return bidirectional_states(forwards, backwards, x)  # (seq_k, 2 · HIDDEN_DIM)


def draw(chosen: Chosen, found: Found, seen: Look) -> Plot:
    look_for(*_in_words(chosen, found, seen), beside=_costs(chosen, found))
    weights = _weights(
        chosen, "weights", seen.now, found.at_zero, _("Weights; dashed: for the state s = 0"), with_state=True
    )
    printed = _weights(
        chosen, "printed", found.printed, found.printed, _("Weights by vᵀ tanh(W h), without s"), with_state=False
    )
    return figure(
        "recurrence.additive",
        [[weights, printed], [_scores(chosen, found, seen), _context(chosen, found, seen)]],
        name=_("additive attention"),
        alt=_(
            "Bars: the weight of every encoder state, dashed outlines for a state of zeros, a line at equal shares; "
            "beside them the same by the form without s. Heatmaps: the score of every encoder state with the decoder's "
            "state and without it; the encoder's states, and below them the context vector, outlined."
        ),
    )


def _costs(chosen: Chosen, found: Found) -> str:
    sizes = {
        "decoder_dim": found.weights.w_s.shape[1],
        "encoder_dim": found.encoder_states.shape[1],
        "attention_dim": len(found.weights.v),
        "seq_k": len(chosen.words),
    }
    return recurrence_costs.table(
        found.agreements,
        {form: alignment_cost.cost(form, **sizes) for form in Form},
        num_words=len(chosen.words),
        num_states=MANY_STATES,
    )


def _scores(chosen: Chosen, found: Found, seen: Look) -> Part:
    return part(
        "scores",
        heatmaps.heatmap,
        heatmaps.heatmap_data(torch.stack((seen.now.scores, found.printed.scores))),
        share=0.5,
        queries=(_("with s"), _("without s")),
        keys=chosen.words,
        kind="scores",
        words=_heatmap_words(column_axis="", query=_("form"), key=_("word"), value=_("score")),
        title=_("Scores"),
        height=60,
        clickable=False,
    )


def _weights(
    chosen: Chosen, name: str, alignment: Alignment, before: Alignment, title: str, *, with_state: bool
) -> Part:
    return part(
        name,
        bars.attention_bars,
        bars.attention_bars_data(alignment.weights, before=before.weights, uniform=True),
        share=0.5,
        keys=chosen.words,
        before=with_state,
        words=bars.AttentionWords(axis=_("weight"), key=_("word"), weight=_("weight"), before=_("at s = 0")),
        title=title,
        height=94,
    )


def _context(chosen: Chosen, found: Found, seen: Look) -> Part:
    rows = torch.cat((found.encoder_states, seen.now.context[None]))  # (seq_k + 1, encoder_dim)
    return part(
        "context",
        heatmaps.heatmap,
        heatmaps.heatmap_data(rows, marked_row=len(chosen.words)),
        share=0.5,
        queries=(*chosen.words, _("context c")),
        keys=tuple(str(number) for number in range(1, rows.shape[1] + 1)),
        kind="scores",
        words=_heatmap_words(column_axis="", query=_("word"), key=_("dimension"), value=_("value")),
        title=_("Encoder states h, and their weighted mean"),
        height=MOST_HEIGHT,
        clickable=False,
    )


def _heatmap_words(*, column_axis: str, query: str, key: str, value: str) -> heatmaps.Words:
    return heatmaps.Words("", column_axis, query, key, value, _("masked"), _("may look"))


def _in_words(chosen: Chosen, found: Found, seen: Look) -> Sequence[str]:
    top, before = int(seen.now.weights.argmax()), int(found.at_zero.weights.argmax())
    words = [
        _(
            "With this s, {now:.0%} of the attention goes to “{word}”; with s = 0, {earlier:.0%} to “{before}”. Equal "
            "shares would be {equal:.0%}. The form without s says {printed:.0%} for “{word}”, whatever s is."
        ).format(
            now=float(seen.now.weights[top]),
            word=quoted(chosen.words[top]),
            earlier=float(found.at_zero.weights[before]),
            before=quoted(chosen.words[before]),
            equal=1 / len(chosen.words),
            printed=float(found.printed.weights[top]),
        )
    ]
    if chosen.form is Form.DOT:
        words.append(_("The dot product has no weights of its own: with s = 0 every score is 0."))
    elif chosen.form is Form.GENERAL:
        words.append(_("sᵀ W h is the Transformer's score without its scaling, with W = W_Q W_Kᵀ. With s = 0 it is 0."))
    elif chosen.scale <= ALMOST_STRAIGHT:
        moved = float((seen.now.weights - found.at_zero.weights).abs().max())
        words.append(
            _(
                "With weights this small tanh is almost straight: W_s s then adds nearly the same to every score, and "
                "softmax cancels it. The state moves no weight by more than {moved:.4f}."
            ).format(moved=moved)
        )
    return words
