"""What stands folded below the heads page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pages.components.fold import Formula, Snippet, Source, fold
from pages.components.plot import Plot

READING = (
    Source("Attention Is All You Need", "Vaswani et al. 2017, section 3.2.2", "https://arxiv.org/abs/1706.03762"),
    Source(
        "Are Sixteen Heads Really Better than One?",
        "Michel, Levy, Neubig 2019: one head after the other switched off",
        "https://arxiv.org/abs/1905.10650",
    ),
    Source(
        "Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting, the Rest Can Be Pruned",
        "Voita et al. 2019: what the heads of a translation model look at",
        "https://arxiv.org/abs/1905.09418",
    ),
    Source(
        "What Does BERT Look At? An Analysis of BERT's Attention",
        "Clark et al. 2019, sections 3 and 4",
        "https://arxiv.org/abs/1906.04341",
    ),
)


def draw(
    page: str,
    *,
    formula: Callable[[], Sequence[Formula]],
    code: Sequence[Callable[..., Any]],
    plots: Sequence[Plot],
    snippet: Snippet | Mapping[str, Snippet],
) -> None:
    """The folded part of one view; all views have one list of papers."""
    fold(page, formula=formula, code=code, plots=plots, snippet=snippet, reading=READING)
