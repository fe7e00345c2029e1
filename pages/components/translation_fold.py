"""What stands folded below the translation page."""

from collections.abc import Sequence

from core import snippets
from core.attention_maps import pick
from core.decoding.beam import beam_search
from core.decoding.decoder import Decoder
from core.decoding.one_by_one import decode_one_by_one
from core.decoding.sampling import warp
from core.models import Family
from core.quality import paired_difference
from core.width_study import COMPARED, study_widths
from pages.components import translation_quality, translator
from pages.components.fold import Formula, Source, fold
from pages.components.i18n import _
from pages.components.plot import Plot
from pages.components.tokens import plain
from pages.components.translation_scene import Scene

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

READING_ON_QUALITY = (
    Source(
        "Bleu: a Method for Automatic Evaluation of Machine Translation",
        "Papineni et al. 2002",
        "https://aclanthology.org/P02-1040/",
    ),
    Source(
        "chrF: character n-gram F-score for automatic MT evaluation",
        "Popović 2015",
        "https://aclanthology.org/W15-3049/",
    ),
    Source(
        "Statistical Significance Tests for Machine Translation Evaluation",
        "Koehn 2004",
        "https://aclanthology.org/W04-3250/",
    ),
)
MOST_TERMS = 12  # of a sum; more would run off the panel


def draw(scene: Scene, plots: Sequence[Plot]) -> None:
    """For the views of one sentence."""
    if not scene.trace.steps:
        return
    folder, revision = translator.place(scene.model)
    how = (beam_search,) if scene.method.num_beams > 1 else (decode_one_by_one,)
    fold(
        "translation",
        formula=lambda: _formulas(scene),
        code=(Decoder.advance, *how, *((warp,) if scene.method.sampling else ()), pick),
        plots=plots,
        snippet=lambda: snippets.translation(
            folder=folder,
            revision=revision,
            text=scene.text,
            said=scene.trace.token_ids,
            step=scene.shown.step,
            layer=scene.shown.layer,
            head=scene.shown.head,
            length_penalty=scene.method.length_penalty,
        ),
        reading=READING,
    )


def draw_quality(scene: Scene, plots: Sequence[Plot]) -> None:
    """For the view that measures, once something is measured."""
    found = translation_quality.study(scene)
    if found is None:
        return
    beam = found.runs[COMPARED]
    fold(
        "translation_quality",
        formula=lambda: (
            Formula(
                r"F_\beta = (1 + \beta^2)\,\frac{P \cdot R}{\beta^2 P + R}, \quad \beta = 2",
                rf"\mathrm{{chrF}} = {beam.chrf:.1f}, \quad \mathrm{{BLEU}} = {beam.bleu:.1f}",
                _("chrF: precision P and recall R of runs of 1 to 6 characters, averaged; recall counts double."),
            ),
        ),
        code=(study_widths, paired_difference),
        plots=plots,
        snippet=lambda: snippets.quality(
            translations=beam.translations, references=[pair.reference for pair in found.pairs]
        ),
        reading=READING_ON_QUALITY,
    )


def _formulas(scene: Scene) -> Sequence[Formula]:
    trace, facts, penalty = scene.trace, scene.model.facts, scene.method.length_penalty
    chosen = trace.steps[scene.shown.step].chosen
    terms = [rf"{step.chosen.log_probability:+.2f}" for step in trace.steps]
    if len(terms) > MOST_TERMS:
        terms = [*terms[: MOST_TERMS - 1], r"\dots", terms[-1]]
    scale = "" if facts.output_scale == 1 else r"\tfrac{1}{\sqrt{d_\mathrm{model}}}\,"
    matrix, bias = "E" if facts.tied_embeddings else "W", "+ b" if facts.family is Family.MARIAN else ""
    return (
        Formula(
            rf"p(y_t \mid y_{{<t}}, x) = \mathrm{{softmax}}({scale}{matrix}\,h_t {bias})_{{y_t}}",
            rf"p(\text{{{_latex(chosen.token)}}}) = {chosen.probability:.4f}",
            _(
                "The decoder's last vector h is compared with a vector for every token, a row of the matrix; softmax "
                "makes this probabilities."
            ),
        ),
        Formula(
            r"\mathrm{score}(y) = \frac{1}{|y|^{\alpha}} \sum_t \log p(y_t \mid y_{<t}, x)",
            rf"\frac{{{' '.join(terms)}}}{{{len(trace.steps)}^{{{penalty:g}}}}} \approx {trace.score:.3f}",
            _("The score of a sentence: the sum of its log-probabilities; α is the length penalty."),
        ),
    )


def _latex(token: str) -> str:
    """A token inside \\text{…}, whatever it holds."""
    return "".join(rf"\{c}" if c in "#$%&_{}" else " " if c in "\\^~" else c for c in plain(token))
