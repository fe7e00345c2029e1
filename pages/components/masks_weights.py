"""The first view of the masks page: scores, mask and weights side by side, and one row of them as bars."""

import html
from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from core.attention_maps import describe
from core.charts import heatmaps
from core.fill_values import Fill, FillOverflowError, masked_softmax, seen
from core.token_attention import share_on
from pages.components.controls import Panel
from pages.components.i18n import _, ngettext
from pages.components.masks_pictures import heatmap_words, height, row_bars
from pages.components.masks_scene import Scene
from pages.components.masks_sliders import turn
from pages.components.plot import Part, Plot, clicks, figure, part, picked
from pages.components.typed import quoted
from pages.components.words import look_for

KEY = "masks.weights"
LEGIBLE = 700  # pixels


def weights(panel: Panel, scene: Scene) -> Sequence[Plot]:
    """Scores, mask and weights side by side, and one row of them as bars."""
    before = torch.softmax(scene.scores, dim=-1)
    after: Tensor | None = None
    try:
        after = masked_softmax(scene.scores, scene.attend_mask, scene.settings.fill)
        look_for(*_row_in_words(scene, before, after))
    except FillOverflowError as error:
        look_for(*_instead(scene, before), beside=_refusal(scene, str(error)))
    plot = figure(
        KEY,
        [[_grids(scene, after)], [row_bars(scene, before, after, under=True)]],
        name=_("scores, mask and weights"),
        alt=_(
            "Heatmaps side by side: scores, mask and weights; the row of the chosen query is outlined. Below it, bars: "
            "how this query shares its attention among the keys, before and after the mask."
        ),
        on_select=partial(_clicked, panel, scene),
        least=LEGIBLE,
    )
    return (plot,)


def _grids(scene: Scene, after: Tensor | None) -> Part:
    settings = scene.settings
    own = settings.kind == "own"
    shown = [
        heatmaps.Panel(_("1 Scores, random and untrained"), "scores", "scores", value_word=_("score")),
        heatmaps.Panel(
            _("2 Mask: click to open or close") if own else _("2 Mask"), "mask", mask="mask", value_word=_("mask")
        ),
    ]
    values, masks = {"scores": scene.scores.float().numpy()}, {"mask": scene.attend_mask.numpy()}
    if after is not None:
        shown.append(heatmaps.Panel(_("3 Weights"), "weights", "weights", "seen", value_word=_("weight")))
        values["weights"] = after.float().numpy()
        masks["seen"] = seen(after, scene.attend_mask).numpy()
    return part(
        "grids",
        heatmaps.panels,
        heatmaps.panels_data(values, masks=masks, marked_row=settings.query, nonce=clicks(KEY)),
        share=len(shown) / 3,
        queries=settings.queries,
        keys=settings.keys,
        shown=tuple(shown),
        words=heatmap_words(),
        height=height(len(settings.queries)),
    )


def _clicked(panel: Panel, scene: Scene) -> None:
    """Go to the row that was clicked; in a mask of one's own, open or close the cell."""
    row, column = picked(KEY, "grids_cell", "q"), picked(KEY, "grids_cell", "k")
    if row is None:
        return
    panel.put({"query": row + 1})
    if scene.settings.kind == "own":
        panel.put({"key": column + 1})
        turn(panel, scene.settings, row, column)


def _refusal(scene: Scene, reason: str) -> str:
    """torch does not write the fill value: there are scores and a mask, and no weights."""
    told = _("No weights: torch refuses to write −1e9 into a {dtype}.").format(dtype=scene.settings.dtype)
    return (
        f'<div class="atlas-refused" role="status"><p>{html.escape(told)}</p>'
        f"<code>RuntimeError: {html.escape(reason)}</code></div>"
    )


def _instead(scene: Scene, before: Tensor) -> Sequence[str]:
    """What to say where nothing came out."""
    settings = scene.settings
    return (
        _("The largest {dtype} is {most:,.0f}. Choose −∞, or a type with a wider range.").format(
            dtype=settings.dtype, most=torch.finfo(before.dtype).max
        ),
        _("Without a mask, “{token}” would give {share:.0%} of its attention to what is forbidden.").format(
            token=quoted(settings.queries[settings.query]),
            share=float(share_on(before.double(), ~scene.attend_mask)[settings.query]),
        ),
    )


def _row_in_words(scene: Scene, before: Tensor, after: Tensor) -> Sequence[str]:
    settings, query = scene.settings, scene.settings.query
    permitted = scene.attend_mask[query]
    taken = float(share_on(before.double(), ~scene.attend_mask)[query])
    sentences = [
        _(
            "“{token}” may look at {visible} of {all} tokens; without a mask, {taken:.0%} of its attention would lie "
            "on the others."
        ).format(
            token=quoted(settings.queries[query]), visible=int(permitted.sum()), all=len(settings.keys), taken=taken
        ),
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
        order = " → ".join(quoted(settings.queries[position]) for position in settings.order)
        sentences.append(_("Order of prediction: {order}").format(order=order))
    if settings.kind == "own":
        key = quoted(settings.keys[settings.key])
        may = scene.attend_mask[query, settings.key]
        told = _("The chosen cell is open: “{token}” may look at “{key}”, number {number}.")
        if not may:
            told = _("The chosen cell is closed: “{token}” may not look at “{key}”, number {number}.")
        sentences.append(told.format(token=quoted(settings.queries[query]), key=key, number=settings.key + 1))
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
