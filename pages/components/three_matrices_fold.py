"""What stands folded below the page."""

from collections.abc import Sequence
from functools import partial

from core.attention import scaled_dot_product_attention
from core.labs.three_matrices import Settings, train
from core.labs.three_matrices_measures import measure
from core.labs.three_matrices_model import new_model, run, sizes
from core.labs.three_matrices_seeds import bound_of, over_seeds
from core.labs.three_matrices_task import RINGS, accuracy_of, draw_batch, most_looking_right
from core.projections import Sharing
from core.three_matrices_snippets import training
from pages.components.fold import Formula, Source, fold
from pages.components.i18n import _
from pages.components.plot import Plot

READING = (
    Source(
        "Attention Is All You Need",
        "Vaswani et al. 2017, section 3.2",
        "https://arxiv.org/abs/1706.03762",
    ),
    Source(
        "Reformer: The Efficient Transformer",
        "Kitaev, Kaiser, Levskaya 2020, section 2: Q = K, and a token does not look at itself",
        "https://arxiv.org/abs/2001.04451",
    ),
    Source(
        "Key-Value Memory Networks for Directly Reading Documents",
        "Miller et al. 2016: keys to match, values to answer",
        "https://arxiv.org/abs/1606.03126",
    ),
)


def draw_train(settings: Settings, plot: Plot) -> None:
    fold(
        "three_matrices_train",
        formula=lambda: (*_formulas(settings), _size(settings)),
        code=(train, new_model, run, scaled_dot_product_attention, draw_batch, measure, most_looking_right),
        plots=(plot,),
        snippet=partial(training, settings),
        reading=READING,
    )


def draw_seeds(plot: Plot) -> None:
    fold(
        "three_matrices_seeds",
        formula=lambda: _formulas(Settings()),
        code=(train, over_seeds, most_looking_right),
        plots=(plot,),
        snippet=partial(training, Settings()),
        reading=READING,
    )


def _formulas(settings: Settings) -> Sequence[Formula]:
    bound = bound_of(settings, Sharing.QUERY_IS_KEY.value)
    return (
        Formula(
            r"W_Q = W_K \;\Rightarrow\; s_{ij} = \frac{(x_i W)\cdot(x_j W)}{\sqrt{d_k}} = s_{ji}, \qquad "
            r"\max_j |x_j W| = |x_i W| \;\Rightarrow\; s_{ii} \ge s_{ij}",
            rf"r = {RINGS[settings.task]}: \quad {bound:.4f}, \qquad {accuracy_of(bound):.4f}",
            _(
                "Scores are the same both ways. The longest vector scores highest with itself; without that look, "
                "scores along a ring of 3 or more would have to grow all the way round. So one token in each ring of r "
                "looks wrong. The numbers: how many can look right, and how many answer right if the others "
                "guess. That is no bound: a query knows its own tag, and where it looks can tell it."
            ),
        ),
    )


def _size(settings: Settings) -> Formula:
    counts = r", \quad ".join(
        rf"\text{{{variant}}}: {sizes(Sharing(variant), settings.d_model, settings.head_dim)[0]:,}".replace("_", r"\_")
        for variant in settings.variants
    )
    return Formula(
        r"n \cdot d_{model} \cdot d_k",
        counts,
        _("Numbers in n different matrices; d_k is head_dim. Without any, a head is as wide as the model."),
    )
