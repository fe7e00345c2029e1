"""The fourth view of the masks page: reading with the answer in view, and why a decoder is trained with a mask."""

from collections.abc import Sequence
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from core.charts import heatmaps
from core.fill_values import Fill, masked_softmax
from core.token_attention import gradient_reach
from pages.components import frame
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.masks_pictures import PANEL_WIDTHS, heatmap_words, height, html_table, row_bars
from pages.components.masks_scene import EOS, Scene
from pages.components.plot import Plot, clicks, draw, picked
from pages.components.words import look_for


def teaching(panel: Panel, scene: Scene) -> Sequence[Plot]:
    """Teacher forcing: every position must say the next token, which stands among what is read."""
    settings = scene.settings
    tokens, query = settings.queries, settings.query
    open_weights = torch.softmax(scene.scores, dim=-1)
    masked_weights = masked_softmax(scene.scores, scene.attend_mask, Fill.GUARDED)
    key = "masks.teaching"
    left, right = st.columns([1.25, 1], gap="medium")
    with left:
        grids = draw(
            key,
            heatmaps.panels,
            heatmaps.panels_data(
                {"open": open_weights.numpy(), "causal": masked_weights.numpy()},
                masks={"mask": scene.attend_mask.numpy()},
                marked_row=query,
                nonce=clicks(key),
            ),
            alt=_("Two heatmaps of weights: without and with the causal mask; the row of this position is outlined."),
            on_select=partial(_go_to_step, panel, key),
            queries=tokens,
            keys=tokens,
            shown=(
                heatmaps.Panel(_("Without a mask"), "weights", "open", value_word=_("weight")),
                heatmaps.Panel(_("With the causal mask"), "weights", "causal", "mask", value_word=_("weight")),
            ),
            words=heatmap_words(),
            width=PANEL_WIDTHS[frame.type_size()] - 40,
            height=max(height(len(tokens)), 170),
        )
    with right:
        _answers(scene, open_weights, masked_weights)
    left, right = st.columns([1.25, 1], gap="medium")
    with left:
        row = row_bars(scene, open_weights, masked_weights)
    with right:
        look_for(*_answer_in_words(scene, open_weights))
    return grids, row


def _go_to_step(panel: Panel, key: str) -> None:
    row = picked(key, "cell", "q")
    if row is not None:
        panel.put({"step": row + 1})


def _answers(scene: Scene, open_weights: Tensor, masked_weights: Tensor) -> None:
    """For every position: what it reads, what it must say, and how much it sees of that."""
    tokens = scene.settings.queries
    open_reach = gradient_reach(scene.layer, scene.x, None, None)
    rows = []
    for position, (read, answer) in enumerate(zip(tokens, (*tokens[1:], EOS), strict=True)):
        seen_of_it = ["–"] * 4  # the end is not among what is read
        if position + 1 < len(tokens):
            cell = position, position + 1
            seen_of_it = [f"{float(open_weights[cell]):.0%}", f"{float(masked_weights[cell]):.0%}"]
            seen_of_it += [f"{float(open_reach[cell]):.2f}", f"{float(scene.reach[cell]):.2f}"]
        rows.append([read, answer, *seen_of_it])
    head = [
        _("reads"),
        _("must say"),
        _("looks at it"),
        _("… with mask"),
        _("gradient from it"),
        _("… with mask"),
    ]
    st.html(html_table(head, rows, scene.settings.query))


def _answer_in_words(scene: Scene, open_weights: Tensor) -> Sequence[str]:
    tokens, query = scene.settings.queries, scene.settings.query
    if query + 1 == len(tokens):
        told = _("The last position must say {end}, which is not among what is read: nothing gives it away.")
        return (told.format(end=EOS),)
    return (
        _(
            "In training the decoder reads the whole sentence at once. At “{read}” it must say “{answer}”, which is "
            "the very next token it reads: without a mask {share:.0%} of the attention lies on the answer, with it "
            "none at all."
        ).format(read=tokens[query], answer=tokens[query + 1], share=float(open_weights[query, query + 1])),
        _(
            "Whoever learns with the answer in view learns to copy it. When it speaks for itself nobody has written "
            "the next token yet, and there is nothing to copy."
        ),
    )
