"""What stands folded below the page of learning heads."""

from core import learning_heads_snippets
from core.labs.learning_heads import Settings, train
from core.labs.learning_heads_measures import mean_ranks, measure
from core.labs.learning_heads_model import new_model, run
from core.labs.learning_heads_seeds import accuracy, ranks, results
from core.labs.learning_heads_sizes import bound_of_logits, head_dim_of
from core.labs.learning_heads_task import draw_batch
from core.labs.spread import Spread
from pages.components.fold import Formula, Source, fold
from pages.components.i18n import _
from pages.components.plot import Plot

READING = (
    Source(
        "Attention Is All You Need",
        "Vaswani et al. 2017, section 3.2.2: why several heads, and tables 3 (A): too few and too many",
        "https://arxiv.org/abs/1706.03762",
    ),
    Source(
        "Representational Strengths and Limitations of Transformers",
        "Sanford, Hsu, Telgarsky 2023: what one layer can look up at once",
        "https://arxiv.org/abs/2306.02896",
    ),
    Source(
        "Are Sixteen Heads Really Better than One?",
        "Michel, Levy, Neubig 2019: how many heads a trained model needs",
        "https://arxiv.org/abs/1905.10650",
    ),
    Source(
        "Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting, the Rest Can Be Pruned",
        "Voita et al. 2019: what heads specialise in",
        "https://arxiv.org/abs/1905.09418",
    ),
    Source(
        "Low-Rank Bottleneck in Multi-head Attention Models",
        "Bhojanapalli et al. 2020: what a small head_dim costs",
        "https://arxiv.org/abs/2002.07028",
    ),
)


def draw_train(settings: Settings, plot: Plot) -> None:
    fold(
        "learning_heads_train",
        formula=lambda: _formulas(settings),
        code=(draw_batch, new_model, run, train, measure, mean_ranks),
        plots=(plot,),
        snippet=lambda: learning_heads_snippets.training(settings),
        reading=READING,
    )


def draw_seeds(look_ups: int, plot: Plot) -> None:
    settings = Settings(look_ups=look_ups)
    fold(
        "learning_heads_seeds",
        formula=lambda: _formulas(settings),
        code=(results, Spread, accuracy, ranks, train),
        plots=(plot,),
        snippet=lambda: learning_heads_snippets.training(settings),
        reading=READING,
    )


def _formulas(settings: Settings) -> tuple[Formula, ...]:
    each, bounds = (
        r", \quad ".join(rf"h = {number}: {size(settings.d_model, number)}" for number in settings.heads)
        for size in (head_dim_of, bound_of_logits)
    )
    return (
        Formula(
            r"O_i = \sum_j \mathrm{softmax}_j\!\left(\frac{q_i \cdot k_j}{\sqrt{d}}\right) v_j, \qquad "
            r"d = \frac{d_\mathrm{model}}{h}",
            each,
            _("Every one of h heads has one row of weights for a query; its head_dim is d."),
        ),
        Formula(
            r"\operatorname{rank} Q K^\top \le \min(n, d)",
            bounds,
            _("The logits of a head on n tokens; softmax of them can have rank n."),
        ),
        Formula(
            r"z_{iw} = \Bigl(\sum_h \sum_j A^h_{ij}\, v^h_j\, W_O^h\Bigr)\, W_w",
            rf"h \le {settings.heads[-1]}, \quad w \le {settings.look_ups}",
            _(
                "The logits of the answer to wish w, without an MLP: linear in the weights A. With one head all wishes "
                "read the same mixture, so only its largest part can be told; with two, differences count, too."
            ),
        ),
    )
