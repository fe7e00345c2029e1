"""The first view of the masks page: scores, mask and weights side by side, and one row of them as bars."""

from collections.abc import Sequence
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from core.attention_maps import describe
from core.charts import heatmaps
from core.fill_values import Fill, FillOverflowError, masked_softmax, seen
from core.token_attention import share_on
from core.written_masks import write_closed
from pages.components import frame
from pages.components.controls import Panel
from pages.components.i18n import _, ngettext
from pages.components.masks_pictures import PANEL_WIDTHS, heatmap_words, height, row_bars
from pages.components.masks_scene import Scene
from pages.components.plot import Plot, clicks, draw, picked
from pages.components.words import look_for


def weights(panel: Panel, scene: Scene) -> Sequence[Plot]:
    """Scores, mask and weights side by side, and one row of them as bars."""
    settings = scene.settings
    before = torch.softmax(scene.scores, dim=-1)
    try:
        after = masked_softmax(scene.scores, scene.attend_mask, settings.fill)
    except FillOverflowError as error:
        return _refused(panel, scene, before, str(error))
    grids = _grids(panel, scene, after)
    left, right = st.columns([1.6, 1], gap="medium")
    with left:
        row = row_bars(scene, before, after)
    with right:
        look_for(*_row_in_words(scene, before, after))
    return grids, row


def _grids(panel: Panel, scene: Scene, after: Tensor | None) -> Plot:
    settings = scene.settings
    key = "masks.grids"
    own = settings.kind == "own"
    shown = [
        heatmaps.Panel(_("1 Scores"), "scores", "scores", value_word=_("score")),
        heatmaps.Panel(
            _("2 Mask: click to open or close") if own else _("2 Mask"), "mask", mask="mask", value_word=_("mask")
        ),
    ]
    values, masks = {"scores": scene.scores.float().numpy()}, {"mask": scene.attend_mask.numpy()}
    if after is not None:
        title = _("3 Weights")
        shown.append(heatmaps.Panel(title, "weights", "weights", "seen", value_word=_("weight")))
        values["weights"] = after.float().numpy()
        masks["seen"] = seen(after, scene.attend_mask).numpy()
    return draw(
        key,
        heatmaps.panels,
        heatmaps.panels_data(values, masks=masks, marked_row=settings.query, nonce=clicks(key)),
        alt=_("Three heatmaps side by side: scores, mask and weights; the row of the chosen query is outlined."),
        on_select=partial(_clicked, panel, scene, key),
        queries=settings.queries,
        keys=settings.keys,
        shown=tuple(shown),
        words=heatmap_words(),
        width=PANEL_WIDTHS[frame.type_size()],
        height=height(len(settings.queries)),
    )


def _clicked(panel: Panel, scene: Scene, key: str) -> None:
    """Go to the row that was clicked; in a mask of one's own, open or close the cell."""
    row, column = picked(key, "cell", "q"), picked(key, "cell", "k")
    if row is None:
        return
    panel.put({"query": row + 1})
    if scene.settings.kind == "own":
        mask = scene.attend_mask.clone()
        mask[row, column] = ~mask[row, column]
        panel.put({"closed": write_closed(mask)})


def _refused(panel: Panel, scene: Scene, before: Tensor, reason: str) -> Sequence[Plot]:
    """torch does not write the fill value: there are scores and a mask, and no weights."""
    settings = scene.settings
    left, right = st.columns([2.1, 1], gap="medium")
    with left:
        grids = _grids(panel, scene, None)
    with right:
        st.error(_("No weights: torch refuses to write −1e9 into a {dtype}.").format(dtype=settings.dtype))
        st.code(f"RuntimeError: {reason}", language=None, wrap_lines=True)
    left, right = st.columns([1.6, 1], gap="medium")
    with left:
        row = row_bars(scene, before, None)
    with right:
        look_for(
            _("The largest {dtype} is {most:,.0f}. Choose −∞, or a type with a wider range.").format(
                dtype=settings.dtype, most=torch.finfo(before.dtype).max
            ),
            _("Without a mask, “{token}” would give {share:.0%} of its attention to what is forbidden.").format(
                token=settings.queries[settings.query],
                share=float(share_on(before.double(), ~scene.attend_mask)[settings.query]),
            ),
        )
    return grids, row


def _row_in_words(scene: Scene, before: Tensor, after: Tensor) -> Sequence[str]:
    settings, query = scene.settings, scene.settings.query
    permitted = scene.attend_mask[query]
    taken = float(share_on(before.double(), ~scene.attend_mask)[query])
    sentences = [
        _(
            "“{token}” may look at {visible} of {all} tokens; without a mask, {taken:.0%} of its attention would lie "
            "on the others."
        ).format(token=settings.queries[query], visible=int(permitted.sum()), all=len(settings.keys), taken=taken),
        _outcome(after[query].double(), permitted, settings.fill),
    ]
    padding = len(settings.queries) - settings.valid_queries
    if padding:
        sentences.append(
            ngettext(
                "{count} row is padding: it still looks, although nobody will read what it finds.",
                "{count} rows are padding: they still look, although nobody will read what they find.",
                padding,
            ).format(count=padding)
        )
    if settings.kind.startswith("xlnet"):
        order = " → ".join(settings.queries[position] for position in settings.order)
        sentences.append(_("Order of prediction: {order}").format(order=order))
    sentences.append(
        _("Scores here come from random projections of random vectors, untrained; equal tokens have equal vectors.")
    )
    return sentences


def _outcome(row: Tensor, permitted: Tensor, fill: Fill) -> str:
    """What became of one row of weights."""
    if bool(row.isnan().any()):
        return _("All of its weights are NaN: softmax divides 0 by 0 when every score is −∞.")
    if not permitted.any():
        if fill is Fill.GUARDED:
            return _("It may look at nothing: the guarded softmax gives it weights of 0, and its output is 0.")
        return _(
            "It may look at nothing, and yet its weights sum to {total:.3f}: each forbidden key gets {share:.3f}, "
            "whatever its score was."
        ).format(total=float(row.sum()), share=float(row.max()))
    known = describe(row[permitted])
    return _("Its weights sum to {total:.4f}; their entropy is {bits:.2f} bits of {most:.2f} possible.").format(
        total=float(row.sum()), bits=known.entropy, most=known.most
    )
