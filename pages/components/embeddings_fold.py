"""What stands folded below the embeddings page."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from core import embedding_snippets
from core.claims.embeddings import SEEDS, MapStudy, trial_perplexities
from core.embedding_maps import Pca
from core.embeddings import Sum, cosines_to
from core.models import CATALOGUE
from core.models.catalogue import Kind
from pages.components import shelf
from pages.components.embeddings_scene import Settings, Studied
from pages.components.embeddings_words import Loaded
from pages.components.fold import Formula, Snippet, Source, fold
from pages.components.i18n import _
from pages.components.plot import Plot

READING = (
    Source(
        "Visualizing Data using t-SNE",
        "van der Maaten, Hinton 2008",
        "https://jmlr.org/papers/v9/vandermaaten08a.html",
    ),
    Source(
        "How to Use t-SNE Effectively",
        "Wattenberg, Viégas, Johnson 2016: what perplexity does, and what distances do not say",
        "https://distill.pub/2016/misread-tsne/",
    ),
    Source(
        "Linguistic Regularities in Continuous Space Word Representations",
        "Mikolov, Yih, Zweig 2013: king − man + woman",
        "https://aclanthology.org/N13-1090/",
    ),
    Source(
        "Issues in Evaluating Semantic Spaces Using Word Analogies",
        "Linzen 2016: what is left when the inputs may be the answer",
        "https://arxiv.org/abs/1606.07736",
    ),
)

Code = Sequence[Callable[..., Any]]


def of_map(loaded: Loaded, settings: Settings, fitted: Pca, plot: Plot, *, code: Code) -> None:
    snippet = partial(
        embedding_snippets.word_map,
        loaded.words,
        components=settings.components,
        perplexity=settings.perplexity,
        seed=settings.seed,
        start=settings.start,
    )
    _fold("embeddings_map", lambda: _map_formulas(settings, fitted), code, plot, snippet)


def of_study(some: Studied, found: MapStudy | None, plot: Plot, *, code: Code) -> None:
    snippet = partial(
        embedding_snippets.study,
        some.names,
        some.groups,
        some.vectors.tolist(),
        perplexities=trial_perplexities(len(some.names)),
        seeds=SEEDS,
    )
    _fold("embeddings_study", lambda: _study_formulas(found), code, plot, snippet)


def of_sum(loaded: Loaded, asked: Sum, target: torch.Tensor, plot: Plot, *, code: Code) -> None:
    snippet: Snippet = partial(embedding_snippets.sum_of_table, loaded.words, asked)
    if loaded.model is not None:
        folder, revision = shelf.where(shelf.load(loaded.source))
        translates = CATALOGUE[loaded.source].family.kind is Kind.BOTH
        snippet = partial(
            embedding_snippets.sum_of_model, asked, folder=folder, revision=revision, translates=translates
        )
    _fold("embeddings_sum", lambda: (_sum_formula(asked, target),), code, plot, snippet)


def of_cosines(loaded: Loaded, drawn: Sequence[int], plot: Plot, *, code: Code) -> None:
    words = loaded.words
    snippet = partial(
        embedding_snippets.cosines,
        [words.words[place] for place in drawn],
        [words.groups[place] for place in drawn],
        words.vectors[list(drawn)].tolist(),
    )
    _fold("embeddings_cosines", lambda: (_cosine_formula(words.vectors[list(drawn)]),), code, plot, snippet)


def _fold(name: str, formula: Callable[[], Sequence[Formula]], code: Code, plot: Plot, snippet: Snippet) -> None:
    fold(name, formula=formula, code=code, plots=[plot], snippet=snippet, reading=READING)


def _map_formulas(settings: Settings, fitted: Pca) -> Sequence[Formula]:
    shares = " + ".join(f"{share:.4f}" for share in fitted.shares)
    return (
        Formula(
            r"X - \bar{x} = U S V^{\top}, \quad \mathrm{map} = (X - \bar{x})\, V_k, \quad "
            r"\mathrm{share}_i = s_i^2 / \textstyle\sum_j s_j^2",
            rf"{shares} = {sum(fitted.shares):.4f}",
            _("PCA: the first k columns of V are the directions in which the words differ most."),
        ),
        Formula(
            r"\mathrm{KL} = \sum_{i \neq j} p_{ij} \ln \frac{p_{ij}}{q_{ij}}, \quad "
            r"q_{ij} = \frac{(1 + \|y_i - y_j\|^2)^{-1}}{\sum_{k \neq l} (1 + \|y_k - y_l\|^2)^{-1}}, \quad "
            r"2^{H(p_i)} = \mathrm{perplexity}",
            rf"2^{{H(p_i)}} = {settings.perplexity}",
            _(
                "t-SNE moves the points y until their nearness q is like the nearness p of the vectors; the perplexity "
                "decides how far p reaches."
            ),
        ),
    )


def _study_formulas(found: MapStudy | None) -> Sequence[Formula]:
    current = r"\rho_{\mathrm{PCA}} = " + ("-" if found is None else f"{found.pca.distances:.4f}")
    return (
        Formula(
            r"\rho = \frac{\sum_m (r_m - \bar{r})(r'_m - \bar{r}')}"
            r"{\sqrt{\sum_m (r_m - \bar{r})^2 \sum_m (r'_m - \bar{r}')^2}}",
            current,
            _("Spearman's rank correlation: r ranks the distances between groups on the map, r′ those of the vectors."),
        ),
    )


def _sum_formula(asked: Sum, target: torch.Tensor) -> Formula:
    signs = {1: "+", -1: "-"}
    terms = " ".join(rf"{signs[term.sign]}\, v_{{{place}}}" for place, term in enumerate(asked.terms, start=1))
    numbers = [f"{number:.3f}" for number in target[:6].tolist()]
    dots = r",\; \dots" if len(target) > len(numbers) else ""
    return Formula(
        rf"s = {terms.removeprefix('+').strip()}, \quad \hat{{w}} = \arg\max_w \cos(s, v_w)",
        rf"s = ({', '.join(numbers)}{dots}), \quad \|s\| = {float(target.norm()):.4f}",
        _("The words of the sum are numbered in their order; ŵ is the word that points most nearly the same way."),
    )


def _cosine_formula(vectors: torch.Tensor) -> Formula:
    return Formula(
        r"\cos(v, w) = \frac{v \cdot w}{\|v\|\, \|w\|}",
        rf"\cos(v_1, v_2) = {float(cosines_to(vectors[:1], vectors[1])):.4f}",
        _("Shown for the first two words of the matrix."),
    )
