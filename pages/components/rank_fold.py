"""What stands folded below the rank page."""

from collections.abc import Callable, Mapping, Sequence

from torch import Tensor

from core import rank_snippets
from core.attention import scaled_dot_product_attention
from core.rank import (
    decompose,
    default_tolerance,
    effective_rank,
    energy_rank,
    numerical_rank,
    reconstruct,
    reconstruction_errors,
    stable_rank,
)
from core.rank_depth import rank_one_residual, residuals
from core.rank_heads import attend, layer_spectra, random_heads, sweep_head_dims, sweep_outputs
from pages.components.fold import Formula, Source, fold
from pages.components.i18n import _
from pages.components.numbers import in_latex
from pages.components.plot import Plot
from pages.components.rank_scene import Chosen, Drawn, Measured, head_dims, heads_of
from pages.components.rank_stack import NUM_HEADS, PURE, Variant
from pages.components.rank_stack import Chosen as ChosenStack

MEASURES = (numerical_rank, effective_rank, stable_rank, energy_rank)
LOW_RANK = Source(
    "Low-Rank Bottleneck in Multi-head Attention Models",
    "Bhojanapalli et al. 2020: what head_dim bounds",
    "https://arxiv.org/abs/2002.07028",
)
ECKART_YOUNG = Source(
    "The approximation of one matrix by another of lower rank",
    "Eckart, Young 1936: the nearest matrix of rank k",
    "https://doi.org/10.1007/BF02288367",
)
READING = (
    Source(
        "torch.linalg.matrix_rank",
        "PyTorch's documentation: the numerical rank and its tolerance",
        "https://docs.pytorch.org/docs/stable/generated/torch.linalg.matrix_rank.html",
    ),
    Source(
        "The effective rank: a measure of effective dimensionality",
        "Roy, Vetterli 2007: the entropy effective rank",
        "https://ieeexplore.ieee.org/document/7098875/",
    ),
    Source(
        "Sampling from large matrices: an approach through geometric functional analysis",
        "Rudelson, Vershynin 2007: the stable rank, there called numerical rank",
        "https://arxiv.org/abs/math/0503442",
    ),
    ECKART_YOUNG,
    LOW_RANK,
)
READING_ON_DEPTH = (
    Source(
        "Attention is not all you need: pure attention loses rank doubly exponentially with depth",
        "Dong, Cordonnier, Loukas 2021",
        "https://arxiv.org/abs/2103.03404",
    ),
    LOW_RANK,
)


def draw_spectrum(chosen: Chosen, values: Tensor, weights: Measured, plot: Plot) -> None:
    fold(
        "rank_spectrum",
        formula=lambda: _formulas(chosen, float(values[0]), weights),
        code=(*_source(chosen), attend, layer_spectra, *MEASURES),
        plots=(plot,),
        snippet=_snippet(chosen),
        reading=READING,
    )


def draw_dims(chosen: Chosen, weights: Sequence[Measured], plot: Plot) -> None:
    fold(
        "rank_dims",
        formula=lambda: (
            Formula(
                r"\operatorname{rank}\,\frac{QK^\top}{\tau\sqrt{d}} \le \min(n, d), \qquad "
                r"\operatorname{rank}\,\mathrm{softmax}(\dots) \le n",
                rf"n = {heads_of(chosen.layer.heads).q.shape[1]}, \quad "
                + r", \quad ".join(
                    rf"d = {d}: {each.torch}" for d, each in zip(head_dims(chosen.layer), weights, strict=True)
                ),
                _("n tokens, d = head_dim, τ the temperature. The numbers are the ranks of the weights."),
            ),
        ),
        code=(*_source(chosen), sweep_head_dims, sweep_outputs, *MEASURES),
        plots=(plot,),
        snippet=_sweep_snippet(chosen),
        reading=READING,
    )


def draw_rebuild(chosen: Chosen, errors: Tensor, plot: Plot) -> None:
    fold(
        "rank_rebuild",
        formula=lambda: (
            Formula(
                r"A = \sum_i \sigma_i u_i v_i^\top, \quad A_k = \sum_{i \le k} \sigma_i u_i v_i^\top, \quad "
                r"\frac{\lVert A - A_k \rVert}{\lVert A \rVert} = "
                r"\sqrt{\frac{\sum_{i > k} \sigma_i^2}{\sum_i \sigma_i^2}}",
                rf"k = {chosen.k}: \quad {float(errors[chosen.k]):.4f}",
                _("σ are the singular values of the weights A; no matrix of rank k is nearer to A than this one."),
            ),
        ),
        code=(*_source(chosen), attend, decompose, reconstruct, reconstruction_errors),
        plots=(plot,),
        snippet=_snippet(chosen),
        reading=(ECKART_YOUNG, LOW_RANK),
    )


def draw_depth(chosen: ChosenStack, found: Mapping[Variant, Sequence[float]], plot: Plot) -> None:
    size = chosen.size

    def program(variant: Variant) -> Callable[[], str]:
        return lambda: rank_snippets.depth(
            seed=size.seed,
            seq_len=size.seq_len,
            d_model=size.d_model,
            num_heads=NUM_HEADS,
            num_layers=size.num_layers,
            scale=chosen.scale,
            skip=variant.skip,
            mlp=variant.mlp,
        )

    fold(
        "rank_depth",
        formula=lambda: (
            Formula(
                r"\mathrm{res}(X) = \frac{\lVert X - \mathbf{1}\,\bar{x}^\top \rVert}{\lVert X \rVert}",
                in_latex(found[PURE][-1], 3),
                _("X are the tokens, one a row; x̄ is their mean. For attention alone, after the last layer:"),
            ),
        ),
        code=(residuals, rank_one_residual, scaled_dot_product_attention),
        plots=(plot,),
        snippet=program(PURE),
        reading=READING_ON_DEPTH,
    )


def _source(chosen: Chosen) -> tuple[Callable[..., object], ...]:
    return (random_heads,) if chosen.structure.read is None else ()


def _formulas(chosen: Chosen, largest: float, weights: Measured) -> Sequence[Formula]:
    seq_len = heads_of(chosen.layer.heads).q.shape[1]
    return (
        Formula(
            r"\#\{i : \sigma_i > \varepsilon\,\sigma_1\}",
            rf"\sigma_1 = {largest:.3f}; \quad \varepsilon = {in_latex(default_tolerance(seq_len, seq_len), 2)}: "
            rf"{weights.torch}, \quad \varepsilon = {in_latex(chosen.tolerance, 1)}: {weights.stated}",
            _("The numerical rank of the chosen head's weights; σ are its singular values, largest first."),
        ),
        Formula(
            r"\exp\Bigl(-\sum_i p_i \log p_i\Bigr), \quad p_i = \frac{\sigma_i}{\sum_j \sigma_j}",
            f"{weights.effective:.3f}",
            _("The entropy effective rank (Roy & Vetterli 2007)."),
        ),
        Formula(
            r"\frac{\sum_i \sigma_i^2}{\sigma_1^2}",
            f"{weights.stable:.3f}",
            _("The stable rank (Rudelson & Vershynin 2007)."),
        ),
        Formula(
            rf"\min\Bigl\{{k : \sum_{{i \le k}} \sigma_i^2 \ge {chosen.share:.2f} \sum_i \sigma_i^2\Bigr\}}",
            f"{weights.energy}",
            _("How many singular values hold this share of the energy (Eckart & Young 1936)."),
        ),
    )


def _snippet(chosen: Chosen) -> Callable[[], str]:
    layer = chosen.layer

    def program() -> str:
        if isinstance(layer.heads, Drawn):
            drawn = layer.heads
            return rank_snippets.random_ranks(
                seed=drawn.seed, num_heads=drawn.num_heads, seq_len=drawn.seq_len, head_dim=drawn.head_dim,
                head=chosen.head, k=chosen.k, temperature=layer.temperature, left=layer.left, share=chosen.share,
            )  # fmt: skip
        return rank_snippets.given_ranks(
            heads_of(layer.heads), head=chosen.head, k=chosen.k,
            temperature=layer.temperature, left=layer.left, share=chosen.share,
        )  # fmt: skip

    return program


def _sweep_snippet(chosen: Chosen) -> Callable[[], str]:
    layer, across = chosen.layer, head_dims(chosen.layer)

    def program() -> str:
        if isinstance(layer.heads, Drawn):
            drawn = layer.heads
            return rank_snippets.random_sweep(
                seed=drawn.seed, num_heads=drawn.num_heads, seq_len=drawn.seq_len, head_dims=across,
                head=chosen.head, temperature=layer.temperature, left=layer.left, share=chosen.share,
            )  # fmt: skip
        return rank_snippets.given_sweep(
            heads_of(layer.heads), head_dims=across, head=chosen.head,
            temperature=layer.temperature, left=layer.left, share=chosen.share,
        )  # fmt: skip

    return program
