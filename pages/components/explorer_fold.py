"""What stands folded below every view of the attention explorer."""

from collections.abc import Callable, Sequence
from typing import Any

from core.explorer_maps import Together
from core.explorer_snippets import attention
from pages.components import shelf
from pages.components.explorer_scene import Shown
from pages.components.fold import Formula, Source, fold
from pages.components.i18n import _
from pages.components.plot import Plot

MEAN = Together.MEAN
READING = (
    Source(
        "Quantifying Attention Flow in Transformers",
        "Abnar & Zuidema 2020: attention rollout",
        "https://arxiv.org/abs/2005.00928",
    ),
    Source(
        "Efficient Streaming Language Models with Attention Sinks",
        "Xiao et al. 2023",
        "https://arxiv.org/abs/2309.17453",
    ),
    Source(
        "What Does BERT Look At? An Analysis of BERT's Attention",
        "Clark et al. 2019, section 3",
        "https://arxiv.org/abs/1906.04341",
    ),
    Source("Attention is not Explanation", "Jain & Wallace 2019", "https://arxiv.org/abs/1902.10186"),
    Source("Attention is not not Explanation", "Wiegreffe & Pinter 2019", "https://arxiv.org/abs/1908.04626"),
    Source(
        "A Multiscale Visualization of Attention in the Transformer Model",
        "Vig 2019: BertViz",
        "https://arxiv.org/abs/1906.05714",
    ),
)


def draw(page: str, shown: Shown, *, code: Sequence[Callable[..., Any]], plots: Sequence[Plot]) -> None:
    """The folded part of one view; all views have one list of papers."""
    fold(
        page,
        formula=lambda: _formulas(shown),
        code=code,
        plots=plots,
        snippet=lambda: _snippet(shown),
        reading=READING,
    )


def _snippet(shown: Shown) -> str:
    folder, revision = shelf.where(shown.scene.model)
    trace = shown.scene.trace
    return attention(
        kind=shown.scene.halves,
        folder=folder,
        revision=revision,
        texts=shown.scene.reading.texts,
        how=shown.how,
        layer=shown.layer,
        head=shown.head,
        said=() if trace is None else trace.token_ids,
        side=shown.maps.kind.value,
    )


def _formulas(shown: Shown) -> Sequence[Formula]:
    row = shown.row
    largest = float(row.max())
    layer, head = shown.layer + 1, shown.head + 1
    general = {
        Together.HEAD: r"A^{(l,h)} = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right)",
        Together.MEAN: r"\bar A^{(l)} = \frac{1}{H} \sum_{h=1}^{H} A^{(l,h)}",
        Together.MAXIMUM: r"M^{(l)}_{ij} = \max_h A^{(l,h)}_{ij}",
        Together.ROLLOUT: r"R^{(l)} = \left(\tfrac12 \bar A^{(l)} + \tfrac12 I\right) R^{(l-1)}, \quad R^{(0)} = I",
    }[shown.how]
    name = {
        Together.HEAD: rf"A^{{({layer},{head})}}",
        Together.MEAN: rf"\bar A^{{({layer})}}",
        Together.MAXIMUM: rf"M^{{({layer})}}",
        Together.ROLLOUT: rf"R^{{({layer})}}",
    }[shown.how]
    return (
        Formula(
            general,
            rf"\max_j {name}_{{{shown.token + 1},\,j}} = {largest:.4f}, \quad "
            rf"\sum_j {name}_{{{shown.token + 1},\,j}} = {float(row.sum()):.4f}",
            _("Row i says where token i looks; l is the layer, h the head, H the number of heads."),
        ),
        Formula(
            r"\mathrm{received}_j = \frac{1}{n-1} \sum_{i \neq j} \frac{1}{L H} \sum_{l, h} A^{(l,h)}_{ij}",
            rf"L = {shown.maps.weights.shape[0]}, \quad H = {shown.maps.weights.shape[1]}, \quad n = {len(row)}",
            _("What a token receives from the n − 1 others, meaned over L layers and H heads."),
        ),
    )
