"""The third view of the masks page: the masks that an encoder–decoder needs for a batch."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from core.charts import heatmaps
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.masks_pictures import heatmap_words, height, html_table
from pages.components.masks_scene import Scene, batch_masks
from pages.components.plot import Part, Plot, figure, part
from pages.components.words import look_for

KEY = "masks.batch"


def batch(panel: Panel, scene: Scene) -> Sequence[Plot]:
    """The three masks that an encoder–decoder needs, for one sentence as pictures, for the batch as a table."""
    masks = batch_masks(scene.settings)
    hidden = {name: float((~mask).double().mean()) for name, mask in masks.items()}
    look_for(
        _(
            "Encoder and cross-attention hide the padding of the source, the decoder's self-attention that of the "
            "target and whatever comes later."
        ),
        _("Hidden in this batch: {encoder:.0%}, {decoder:.0%} and {cross:.0%} of all cells.").format(
            encoder=hidden["encoder"], decoder=hidden["decoder"], cross=hidden["cross"]
        ),
        beside=_table(scene, masks),
    )
    plot = figure(
        KEY,
        [_masks(scene, masks)],
        name=_("masks of a batch"),
        alt=_(
            "Three masks as heatmaps, open cells and hatched ones: the encoder's self-attention, the decoder's "
            "self-attention and its cross-attention."
        ),
    )
    return (plot,)


def _masks(scene: Scene, masks: Mapping[str, Tensor]) -> Sequence[Part]:
    """The masks of the chosen sentence."""
    settings = scene.settings
    source, target = settings.source.padded(settings.sentence), settings.batch.padded(settings.sentence)
    shown = (
        ("encoder", _("Encoder: self-attention"), source, source),
        ("decoder", _("Decoder: self-attention"), target, target),
        ("cross", _("Decoder: cross-attention"), target, source),
    )
    return [
        part(
            name,
            heatmaps.heatmap,
            heatmaps.heatmap_data(mask, attend_mask=mask),
            share=1 / len(shown),
            queries=queries,
            keys=keys,
            kind="mask",
            words=heatmap_words(_("mask")),
            title=title,
            height=height(max(len(source), len(target))),
            clickable=False,
        )
        for name, title, queries, keys in shown
        for mask in [masks[name][settings.sentence].numpy()]
    ]


def _table(scene: Scene, masks: Mapping[str, Tensor]) -> str:
    """One line for each kind of attention: who looks at whom, through which mask, and what is open in each sentence."""
    seq_source, seq_target = scene.settings.source.seq_len, scene.settings.batch.seq_len
    sentences = len(scene.settings.batch.sentences)
    lines = (
        ("encoder", _("Encoder"), _("source"), _("source"), _("padding"), (1, seq_source)),
        ("decoder", _("Decoder"), _("target"), _("target"), _("causal, padding"), (seq_target, seq_target)),
        ("cross", _("Cross-attention"), _("target"), _("source"), _("padding"), (1, seq_source)),
    )
    rows = []
    for name, title, queries, keys, mask, (rows_of_mask, columns) in lines:
        cells = [int(of_a_sentence.sum()) for of_a_sentence in masks[name]]
        opened = _("{open} of {all}").format(open=" · ".join(map(str, cells)), all=masks[name][0].numel())
        shape = f"({sentences}, 1, {rows_of_mask}, {columns})".replace(" ", "\u00a0")  # on one line
        rows.append([title, queries, keys, mask, shape, opened])
    head = [_("Attention"), _("queries"), _("keys"), _("mask"), _("its shape"), _("open cells of each sentence")]
    return html_table(head, rows)
