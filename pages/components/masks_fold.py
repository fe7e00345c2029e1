"""What stands folded below the masks page."""

from collections.abc import Sequence

import torch

from core import snippets
from core.attention import scaled_dot_product_attention
from core.fill_values import FillOverflowError, masked_softmax
from core.token_attention import gradient_reach, random_layer, token_vectors, visible_context
from pages.components.fold import Formula, Source, fold
from pages.components.i18n import _
from pages.components.masks_scene import Scene, mask_makers
from pages.components.plot import Plot

READING = (
    Source(
        "Attention Is All You Need", "Vaswani et al. 2017, sections 3.2.1 and 3.2.3", "https://arxiv.org/abs/1706.03762"
    ),
    Source(
        "XLNet: Generalized Autoregressive Pretraining for Language Understanding",
        "Yang et al. 2019, section 2.3: two streams",
        "https://arxiv.org/abs/1906.08237",
    ),
    Source(
        "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
        "Raffel et al. 2020, section 3.2.1: causal masks with a prefix",
        "https://arxiv.org/abs/1910.10683",
    ),
    Source(
        "Longformer", "Beltagy, Peters, Cohan 2020, section 3.1: sliding windows", "https://arxiv.org/abs/2004.05150"
    ),
)


def draw(scene: Scene, plots: Sequence[Plot]) -> None:
    settings = scene.settings
    last = gradient_reach if settings.view == "reach" else masked_softmax
    fold(
        "masks",
        formula=lambda: _formulas(scene),
        code=(*mask_makers(settings.kind), last, token_vectors, random_layer, scaled_dot_product_attention),
        plots=plots,
        snippet=lambda: snippets.masks(
            queries=settings.queries,
            keys=settings.keys if settings.crosses else None,
            attend_mask=scene.attend_mask.int().tolist(),
            seed=settings.seed,
            score_scale=settings.score_scale,
            fill=settings.fill,
            dtype=settings.dtype,
        ),
        reading=READING,
    )


def _formulas(scene: Scene) -> Sequence[Formula]:
    query = scene.settings.query
    permitted = scene.attend_mask[query]
    counts = visible_context(scene.attend_mask)
    return (
        Formula(
            r"w_{ij} = \frac{m_{ij}\, e^{s_{ij}}}{\sum_k m_{ik}\, e^{s_{ik}}}",
            _row_in_numbers(scene, permitted),
            _("The weights of a row: m is 1 where the mask permits and 0 where it forbids; s are the scores."),
        ),
        Formula(
            r"\bar{c} = \frac{1}{n} \sum_i \sum_j m_{ij}",
            rf"\frac{{{' + '.join(map(str, counts.tolist()))}}}{{{len(counts)}}} = {float(counts.double().mean()):.2f}",
            _("The mean visible context: how many keys each query may look at, summed and divided by their number."),
        ),
    )


def _row_in_numbers(scene: Scene, permitted: torch.Tensor) -> str:
    """The largest weight of the chosen row, from its scores."""
    settings = scene.settings
    if not permitted.any():
        return r"\frac{0}{0}"
    try:
        row = masked_softmax(scene.scores, scene.attend_mask, settings.fill)[settings.query]
    except FillOverflowError:
        return r"-10^9 \notin [-65504,\ 65504]"
    scores = scene.scores[settings.query]
    key = int(row.argmax())
    terms = " + ".join(rf"e^{{{float(score):.2f}}}" for score in scores[permitted])
    weight = rf"w_{{{settings.query + 1},{key + 1}}}"
    return rf"{weight} = \frac{{e^{{{float(scores[key]):.2f}}}}}{{{terms}}} = {float(row[key]):.4f}"
