"""The measures of rank against head_dim: of one head's logits and weights, and of the outputs of all heads."""

from collections.abc import Sequence

import torch

from core.charts.curves import Axis, curves, curves_data
from core.rank_heads import HEAD_DIMS
from pages.components import rank_fold
from pages.components.i18n import _
from pages.components.plot import Part, figure, part
from pages.components.rank_claims import illusion
from pages.components.rank_scene import (
    LONGEST,
    Chosen,
    Measured,
    about_the_sentence,
    brief,
    head_dims,
    heads_of,
    measure,
    outputs_of,
    sweep_of,
)
from pages.components.rank_spectrum import measure_names, softmax_in_words
from pages.components.words import look_for

KEY = "rank.dims"
POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def draw(chosen: Chosen) -> None:
    num_heads, seq_len, _most = heads_of(chosen.layer.heads).q.shape
    square = (seq_len, seq_len)
    swept = sweep_of(chosen.layer, chosen.head)
    logits, weights = measure(swept.logits, square, chosen), measure(swept.weights, square, chosen)
    outputs = [
        measure(values[None], (seq_len, num_heads * head_dim), chosen)[0]
        for head_dim, values in zip(swept.head_dims, outputs_of(chosen.layer), strict=True)
    ]
    look_for(*_in_words(chosen, logits, weights), about_the_sentence(chosen.layer))
    plot = figure(
        KEY,
        [
            [
                _curves(chosen, "logits", _("Logits of the chosen head"), logits),
                _curves(chosen, "weights", _("Its weights"), weights),
                _curves(chosen, "outputs", _("Outputs of all heads, side by side"), outputs),
            ]
        ],
        name=_("against head_dim"),
        alt=_(
            "Three times five curves: measures of rank against head_dim, of a head's logits, of its weights, and of "
            "the outputs of all heads."
        ),
    )
    rank_fold.draw_dims(chosen, weights, plot)


def _curves(chosen: Chosen, name: str, title: str, measured: Sequence[Measured]) -> Part:
    across = head_dims(chosen.layer)
    series = torch.tensor([[each.torch, each.stated, each.effective, each.stable, each.energy] for each in measured])
    return part(
        name,
        curves,
        curves_data([across] * series.shape[1], list(series.T.numpy())),
        share=1 / 3,
        series=measure_names(),
        x=Axis("head_dim", log=True, domain=(0.9, 1.1 * HEAD_DIMS[-1]), ticks=HEAD_DIMS),
        y=Axis(_("rank"), log=True, domain=(0.9, 1.1 * LONGEST), ticks=POWERS),
        legend_columns=2,
        title=title,
        height=250,
    )


def _in_words(chosen: Chosen, logits: Sequence[Measured], weights: Sequence[Measured]) -> Sequence[str]:
    across, seq_len = head_dims(chosen.layer), heads_of(chosen.layer.heads).q.shape[1]
    full = next((d for d, each in zip(across, weights, strict=True) if each.torch == seq_len), None)
    steps = " · ".join(f"{d}: {a.torch} → {b.torch}" for d, a, b in zip(across, logits, weights, strict=True))
    found = illusion()
    return (
        _("Rank of the logits → rank of the weights (torch's tolerance), by head_dim: {steps}.").format(steps=steps),
        softmax_in_words(chosen, logits[0].torch, weights[0].torch, across[0])
        if full is None
        else _("The weights have full rank, {seq_len}, from head_dim {head_dim} on.").format(
            seq_len=seq_len, head_dim=full
        ),
        _(
            "All is in float64. In float32, counted above {threshold}, logits of head_dim 1 on {seq_len} tokens "
            "seem to have rank {rank}: that is rounding."
        ).format(threshold=brief(found.threshold), seq_len=found.seq_len, rank=found.rank),
    )
