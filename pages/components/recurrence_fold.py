"""What stands folded below the page on recurrence."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from core import additive, layer_times, long_range, recurrence, recurrence_snippets
from core.additive import Form
from core.recurrence import Layer
from pages.components import recurrence_additive, recurrence_layers
from pages.components.fold import Formula, Source, fold
from pages.components.i18n import _
from pages.components.plot import Plot

BAHDANAU = Source(
    "Neural Machine Translation by Jointly Learning to Align and Translate",
    "Bahdanau, Cho, Bengio 2015, section 3 and appendix A",
    "https://arxiv.org/abs/1409.0473",
)
TRANSFORMER = Source(
    "Attention Is All You Need",
    "Vaswani et al. 2017, section 4 and table 1: path lengths and sequential steps",
    "https://arxiv.org/abs/1706.03762",
)
READING_LAYERS = (
    TRANSFORMER,
    Source(
        "On the Difficulty of Training Recurrent Neural Networks",
        "Pascanu, Mikolov, Bengio 2013: gradients that vanish and explode",
        "https://arxiv.org/abs/1211.5063",
    ),
    Source(
        "Long Short-Term Memory",
        "Hochreiter, Schmidhuber 1997",
        "https://doi.org/10.1162/neco.1997.9.8.1735",
    ),
    Source(
        "Learning Phrase Representations using RNN Encoder-Decoder",
        "Cho et al. 2014: the GRU",
        "https://arxiv.org/abs/1406.1078",
    ),
    Source(
        "An Empirical Exploration of Recurrent Network Architectures",
        "Jozefowicz, Zaremba, Sutskever 2015: the bias of the forget gate",
        "https://proceedings.mlr.press/v37/jozefowicz15.html",
    ),
)
READING_ALIGNMENT = (
    BAHDANAU,
    Source(
        "Effective Approaches to Attention-based Neural Machine Translation",
        "Luong, Pham, Manning 2015, section 3.1: dot, general, concat",
        "https://arxiv.org/abs/1508.04025",
    ),
    TRANSFORMER,
)
STEPS: Mapping[Layer, Callable[..., Any]] = {
    Layer.RNN: recurrence.rnn_step,
    Layer.LSTM: recurrence.lstm_step,
    Layer.GRU: recurrence.gru_step,
}
SCORES: Mapping[Form, Callable[..., Any]] = {
    Form.ADDITIVE: additive.additive_scores,
    Form.DOT: additive.dot_scores,
    Form.GENERAL: additive.general_scores,
    Form.CONCAT: additive.concat_scores,
}


def of_layers(chosen: recurrence_layers.Chosen, found: recurrence_layers.Found, plot: Plot) -> None:
    fold(
        "recurrence",
        formula=lambda: _layer_formulas(chosen, found),
        code=(
            recurrence.edges,
            recurrence.path,
            long_range.new_layer,
            long_range.gradient_sizes,
            layer_times.measure_times,
        ),
        plots=[plot],
        snippet=partial(
            recurrence_snippets.layers,
            words=chosen.words,
            length=chosen.length,
            dim=chosen.dim,
            seeds=recurrence_layers.SEEDS,
            recurrent_scale=chosen.recurrent_scale,
            gate_bias=chosen.gate_bias,
        ),
        reading=READING_LAYERS,
    )


def of_alignment(
    chosen: recurrence_additive.Chosen, found: recurrence_additive.Found, seen: recurrence_additive.Look, plot: Plot
) -> None:
    shown: list[Callable[..., Any]] = [SCORES[chosen.form], additive.printed_scores, additive.align]
    if chosen.from_lesson:
        shown.append(additive.lesson)
    else:
        shown += [STEPS[chosen.encoder], recurrence.bidirectional_states]
    fold(
        "recurrence",
        formula=lambda: _alignment_formulas(chosen, seen),
        code=shown,
        plots=[plot],
        snippet=partial(
            recurrence_snippets.alignment,
            words=chosen.words,
            form=chosen.form,
            state=seen.state,
            encoder_states=found.encoder_states,
            weights=found.weights,
        ),
        reading=READING_ALIGNMENT,
    )


def _layer_formulas(chosen: recurrence_layers.Chosen, found: recurrence_layers.Found) -> Sequence[Formula]:
    sizes = found.gradients[Layer.RNN].median(dim=0).values
    per_step = float(sizes[-1] / sizes[0]) ** (1 / (len(sizes) - 1))
    return (
        Formula(
            r"h_t = \tanh(W_x x_t + W_h h_{t-1} + b)"
            r"\quad\Rightarrow\quad \frac{\partial h_n}{\partial x_j} = "
            r"\Big(\prod_{t=j+1}^{n} D_t W_h\Big) D_j W_x,\quad D_t = \mathrm{diag}(1 - h_t^2)",
            rf"\left(\frac{{{_power(float(sizes[-1]))}}}{{{_power(float(sizes[0]))}}}\right)^{{1/{len(sizes) - 1}}}"
            rf" = {per_step:.3f}",
            _(
                "In an RNN one factor D W_h comes with every step of distance. Below it: by which factor the measured "
                "gradient changes per step, from distance 0 to the longest."
            ),
        ),
        Formula(
            r"c_t = f_t \odot c_{t-1} + i_t \odot g_t, \qquad f_t = \sigma(\dots + b_f)",
            rf"\sigma({chosen.gate_bias:g})^{{{chosen.length - 1}}} = "
            rf"{_power(long_range.through_open_gates(chosen.gate_bias, chosen.length - 1))}",
            _(
                "In an LSTM the cell is multiplied by its forget gate instead. Below it: what is left after the whole "
                "distance if nothing but the gate bias sets the gate."
            ),
        ),
        Formula(
            r"o_n = \sum_j \alpha_{nj}\, W_V x_j",
            rf"n^2 = {len(chosen.words)}^2 = {len(found.graphs[Layer.ATTENTION])}",
            _(
                "In attention every input is one factor away from every output; the price is a weight for every pair "
                "of words."
            ),
        ),
    )


def _alignment_formulas(chosen: recurrence_additive.Chosen, seen: recurrence_additive.Look) -> Sequence[Formula]:
    formula = {
        Form.ADDITIVE: r"e_i = v^\top \tanh(W_s s + W_h h_i)",
        Form.DOT: r"e_i = s^\top h_i",
        Form.GENERAL: r"e_i = s^\top W h_i",
        Form.CONCAT: r"e_i = v^\top \tanh(W [s; h_i])",
    }[chosen.form]
    top = int(seen.now.weights.argmax())
    exponentials = " + ".join(rf"e^{{{float(score):.2f}}}" for score in seen.now.scores)
    return (
        Formula(
            formula,
            rf"e_{{{top + 1}}} = {float(seen.now.scores[top]):.4f}",
            _("The score: how well the encoder's state h at a place fits the decoder's state s."),
        ),
        Formula(
            r"\alpha_i = \frac{e^{e_i}}{\sum_j e^{e_j}}",
            rf"\alpha_{{{top + 1}}} = \frac{{e^{{{float(seen.now.scores[top]):.2f}}}}}{{{exponentials}}}"
            rf" = {float(seen.now.weights[top]):.4f}",
            _("Softmax turns the scores into weights that sum to 1; here that of the strongest place."),
        ),
        Formula(
            r"c = \sum_i \alpha_i h_i",
            r"c = (" + r",\; ".join(f"{number:.3f}" for number in seen.now.context.tolist()) + ")",
            _("The context vector: the mean of the encoder's states under these weights."),
        ),
    )


def _power(number: float) -> str:
    """A number as mantissa and power of ten, in LaTeX."""
    mantissa, exponent = f"{number:.1e}".split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
