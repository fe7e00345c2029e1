"""What stands folded below the open-book exam."""

from functools import partial

from core.labs.character_model import next_character_loss
from core.labs.open_book import Settings, train, train_step
from core.labs.open_book_exam import CLOSED, OPEN, answers, attention_by_distance, book_mask, honest, so_far
from core.labs.open_book_results import Paper, Winner, final_loss
from core.labs.open_book_writing import write
from core.labs.record import Record
from core.masks import causal_mask
from core.open_book_snippets import open_book
from pages.components.fold import Formula, Source, fold
from pages.components.i18n import _
from pages.components.numbers import in_latex
from pages.components.plot import Plot

READING = (
    Source(
        "Language Models are Unsupervised Multitask Learners",
        "Radford et al. 2019, GPT-2: every position is asked for the next token, and sees no later one",
        "https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf",
    ),
    Source(
        "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
        "Devlin et al. 2019, section 3.1: who looks both ways must be asked for words that are hidden",
        "https://arxiv.org/abs/1810.04805",
    ),
    Source(
        "Leakage in data mining: formulation, detection, and avoidance",
        "Kaufman, Rosset, Perlich, Stitelman 2012: answers among the data, outside of language, too",
        "https://doi.org/10.1145/2382577.2382579",
    ),
)


def draw(settings: Settings, record: Record, guess: Winner | None, plot: Plot | None) -> None:
    fold(
        "open_book",
        formula=lambda: _formulas(settings, record, guess),
        code=(
            train, train_step, book_mask, causal_mask, next_character_loss, answers, honest, so_far, write,
            attention_by_distance,
        ),
        plots=() if plot is None else (plot,),
        snippet=partial(open_book, settings),
        reading=READING,
    )  # fmt: skip


def _formulas(settings: Settings, record: Record, guess: Winner | None) -> tuple[Formula, ...]:
    training = r", \quad ".join(
        rf"\text{{{curve}}}: {final_loss(record.curves[curve]):.4f}"
        for curve in (CLOSED, OPEN)
        if curve in record.curves
    )
    formulas = [
        Formula(
            r"\mathcal{L} = -\frac{1}{n} \sum_{t=1}^{n} \log p(x_{t+1} \mid x_1, \dots, x_{t+\ell})",
            rf"\ell = 0 \;\text{{or}}\; {settings.leak}" + (rf": \quad {training}" if training else ""),
            _("The training loss; ℓ is how many later characters a position sees. With ℓ ≥ 1 the answer is given."),
        )
    ]
    papers = {curve: Paper.of(record, curve) for curve in (CLOSED, OPEN)}
    sat = [(curve, paper.honest) for curve, paper in papers.items() if paper is not None]
    if guess is not None and sat:
        formulas.append(
            Formula(
                r"\text{perplexity} = e^{\mathcal{L}}, \quad \ell = 0",
                r", \quad ".join(
                    rf"\text{{{curve}}}: e^{{{score.loss:.3f}}} = {in_latex(score.perplexity, 4)}"
                    for curve, score in sat
                ),
                _("The exam: of how many equally probable characters one would have to choose to be as surprised."),
            )
        )
    return tuple(formulas)
