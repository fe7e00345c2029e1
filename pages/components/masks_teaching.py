"""The fourth view of the masks page: reading with the answer in view, and why a decoder is trained with a mask."""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from core.charts import heatmaps
from core.fill_values import Fill, masked_softmax
from core.token_attention import gradient_reach
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.masks_pictures import BARS, heatmap_words, height, html_table, row_bars
from pages.components.masks_scene import EOS, Scene
from pages.components.plot import Part, Plot, clicks, figure, part, picked
from pages.components.typed import quoted
from pages.components.words import look_for

KEY = "masks.teaching"
MOST_ROWS = 6  # of the table
HIGHEST = 230  # pixels of the charts


def teaching(panel: Panel, scene: Scene) -> Sequence[Plot]:
    """Teacher forcing: every position must say the next token, which stands among what is read."""
    open_weights = torch.softmax(scene.scores, dim=-1)
    masked_weights = masked_softmax(scene.scores, scene.attend_mask, Fill.GUARDED)
    look_for(*_answer_in_words(scene, open_weights), beside=_answers(scene, open_weights, masked_weights))
    rows = len(scene.settings.queries)
    bars = row_bars(scene, open_weights, masked_weights, share=0.4, high=max(height(rows, HIGHEST), BARS))
    plot = figure(
        KEY,
        [[_grids(scene, open_weights, masked_weights), bars]],
        name=_("answer in view"),
        alt=_(
            "Two heatmaps of weights, without and with the causal mask, the row of this position outlined; bars: how "
            "this position shares its attention, before and after the mask."
        ),
        on_select=partial(_go_to_step, panel),
    )
    return (plot,)


def _go_to_step(panel: Panel) -> None:
    row = picked(KEY, "grids_cell", "q")
    if row is not None:
        panel.put({"step": row + 1})


def _grids(scene: Scene, open_weights: Tensor, masked_weights: Tensor) -> Part:
    settings = scene.settings
    return part(
        "grids",
        heatmaps.panels,
        heatmaps.panels_data(
            {"open": open_weights.numpy(), "causal": masked_weights.numpy()},
            masks={"mask": scene.attend_mask.numpy()},
            marked_row=settings.query,
            nonce=clicks(KEY),
        ),
        share=0.6,
        queries=settings.queries,
        keys=settings.queries,
        shown=(
            heatmaps.Panel(_("Without a mask"), "weights", "open", value_word=_("weight")),
            heatmaps.Panel(_("With the causal mask"), "weights", "causal", "mask", value_word=_("weight")),
        ),
        words=heatmap_words(),
        height=height(len(settings.queries), HIGHEST),
    )


def _answers(scene: Scene, open_weights: Tensor, masked_weights: Tensor) -> str:
    """For the positions around this one: what each reads, what it must say, and how much it sees of that."""
    tokens = scene.settings.queries
    open_reach = gradient_reach(scene.layer, scene.x, None, None)
    rows = []
    for position, (read, answer) in enumerate(zip(tokens, (*tokens[1:], EOS), strict=True)):
        seen_of_it = ["–"] * 4  # the end is not among what is read
        if position + 1 < len(tokens):
            cell = position, position + 1
            seen_of_it = [f"{float(open_weights[cell]):.0%}", f"{float(masked_weights[cell]):.0%}"]
            seen_of_it += [f"{float(open_reach[cell]):.2f}", f"{float(scene.reach[cell]):.2f}"]
        rows.append([str(position + 1), quoted(read), quoted(answer), *seen_of_it])
    head = [
        _("step"),
        _("reads"),
        _("must say"),
        _("looks at it"),
        _("… with mask"),
        _("gradient from it"),
        _("… with mask"),
    ]
    first = max(0, min(scene.settings.query - MOST_ROWS // 2, len(rows) - MOST_ROWS))
    return html_table(head, rows[first : first + MOST_ROWS], scene.settings.query - first)


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
        ).format(
            read=quoted(tokens[query]), answer=quoted(tokens[query + 1]), share=float(open_weights[query, query + 1])
        ),
        _(
            "Whoever learns with the answer in view learns to copy it. When it speaks for itself nobody has written "
            "the next token yet, and there is nothing to copy."
        ),
    )
