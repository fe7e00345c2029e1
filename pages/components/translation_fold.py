"""What stands folded below the translation page."""

from collections.abc import Sequence

from core import snippets
from core.decoding import DecodingTrace
from core.decoding.beam import beam_search
from core.decoding.decoder import Decoder
from core.decoding.one_by_one import decode_one_by_one
from core.models import TranslationModel
from pages.components import translator
from pages.components.fold import Formula, Source, fold
from pages.components.i18n import _
from pages.components.plot import Plot
from pages.components.tokens import plain
from pages.components.translator import Method

READING = (
    Source(
        "Attention Is All You Need", "Vaswani et al. 2017, sections 3.1 and 3.2.3", "https://arxiv.org/abs/1706.03762"
    ),
    Source(
        "Neural Machine Translation by Jointly Learning to Align and Translate",
        "Bahdanau, Cho, Bengio 2015, section 3",
        "https://arxiv.org/abs/1409.0473",
    ),
    Source(
        "Google's Neural Machine Translation System",
        "Wu et al. 2016, section 7: beam search and length penalty",
        "https://arxiv.org/abs/1609.08144",
    ),
    Source(
        "On NMT Search Errors and Model Errors: Cat Got Your Tongue?",
        "Stahlberg, Byrne 2019",
        "https://arxiv.org/abs/1908.10090",
    ),
    Source(
        "The Curious Case of Neural Text Degeneration",
        "Holtzman et al. 2020: top-p",
        "https://arxiv.org/abs/1904.09751",
    ),
)


def draw(
    model: TranslationModel, text: str, trace: DecodingTrace, method: Method, step: int, plots: Sequence[Plot]
) -> None:
    if not trace.steps:
        return
    folder, revision = translator.place(model)
    fold(
        "translation",
        formula=lambda: _formulas(trace, method, step),
        code=(Decoder.advance, beam_search if method.num_beams > 1 else decode_one_by_one),
        plots=plots,
        snippet=lambda: snippets.translation(
            folder=folder,
            revision=revision,
            text=text,
            said=trace.token_ids,
            step=step,
            length_penalty=method.length_penalty,
        ),
        reading=READING,
    )


def _formulas(trace: DecodingTrace, method: Method, step: int) -> Sequence[Formula]:
    chosen = trace.steps[step].chosen
    terms = " ".join(rf"{s.chosen.log_probability:+.2f}" for s in trace.steps)
    return (
        Formula(
            r"p(y_t \mid y_{<t}, x) = \mathrm{softmax}(E\,h_t)_{y_t}",
            rf"p(\text{{{_latex(chosen.token)}}}) = {chosen.probability:.4f}",
            _(
                "The decoder's last vector h is compared with the embedding E of every token; softmax makes this "
                "probabilities."
            ),
        ),
        Formula(
            r"\mathrm{score}(y) = \frac{1}{|y|^{\alpha}} \sum_t \log p(y_t \mid y_{<t}, x)",
            rf"\frac{{{terms}}}{{{len(trace.steps)}^{{{method.length_penalty:g}}}}} = {trace.score:.3f}",
            _("The score of a sentence: the sum of its log-probabilities; α is the length penalty."),
        ),
    )


def _latex(token: str) -> str:
    """A token inside \\text{…}, whatever it holds."""
    return "".join(rf"\{c}" if c in "#$%&_{}" else " " if c in "\\^~" else c for c in plain(token))
