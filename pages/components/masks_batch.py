"""The third view of the masks page: the masks that an encoder–decoder needs for a batch."""

from collections.abc import Mapping, Sequence

import streamlit as st
from torch import Tensor

from core.charts import heatmaps
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.masks_pictures import heatmap_words, height, html_table
from pages.components.masks_scene import Scene, batch_masks
from pages.components.plot import Plot, draw
from pages.components.words import look_for


def batch(panel: Panel, scene: Scene) -> Sequence[Plot]:
    """The three masks that an encoder–decoder needs, for one sentence as pictures, for the batch as a table."""
    settings = scene.settings
    masks = batch_masks(settings)
    source, target = settings.source.padded(settings.sentence), settings.batch.padded(settings.sentence)
    parts = (
        ("encoder", _("Encoder: self-attention"), source, source),
        ("decoder", _("Decoder: self-attention"), target, target),
        ("cross", _("Decoder: cross-attention"), target, source),
    )
    plots = []
    for (name, title, queries, keys), column in zip(parts, st.columns(3, gap="medium"), strict=True):
        mask = masks[name][settings.sentence].numpy()
        with column:
            plots.append(
                draw(
                    f"masks.{name}",
                    heatmaps.heatmap,
                    heatmaps.heatmap_data(mask, attend_mask=mask),
                    alt=_("Heatmap of a mask: open and hatched cells. {title}").format(title=title),
                    queries=queries,
                    keys=keys,
                    kind="mask",
                    words=heatmap_words(_("mask")),
                    title=title,
                    height=height(max(len(source), len(target))),
                    expected_width=260,
                    clickable=False,
                )
            )
    _table(scene, masks)
    hidden = {name: float((~mask).double().mean()) for name, mask in masks.items()}
    look_for(
        _(
            "Encoder and cross-attention hide the padding of the source, the decoder's self-attention that of the "
            "target and whatever comes later."
        ),
        _("Hidden in this batch: {encoder:.0%}, {decoder:.0%} and {cross:.0%} of all cells.").format(
            encoder=hidden["encoder"], decoder=hidden["decoder"], cross=hidden["cross"]
        ),
    )
    return plots


def _table(scene: Scene, masks: Mapping[str, Tensor]) -> None:
    """One line for each kind of attention: who looks at whom, through which mask, and what is open in each sentence."""
    seq_source, seq_target = scene.settings.source.seq_len, scene.settings.batch.seq_len
    sentences = len(scene.settings.batch.sentences)
    lines = (
        ("encoder", _("Encoder layer"), _("source"), _("source"), _("padding of the source"), (1, seq_source)),
        (
            "decoder",
            _("Decoder, self-attention"),
            _("target"),
            _("target"),
            _("causal, and padding of the target"),
            (seq_target, seq_target),
        ),
        ("cross", _("Decoder, cross-attention"), _("target"), _("source"), _("padding of the source"), (1, seq_source)),
    )
    head = [_("Attention"), _("queries"), _("keys"), _("mask"), _("its shape")]
    head += [_("open in sentence {number}").format(number=number + 1) for number in range(sentences)]
    rows = []
    for name, title, queries, keys, mask, (rows_of_mask, columns) in lines:
        per_sentence = [f"{int(m.sum())} / {m.numel()}" for m in masks[name]]
        shape = f"({sentences}, 1, {rows_of_mask}, {columns})".replace(" ", "\u00a0")  # on one line
        rows.append([title, queries, keys, mask, shape, *per_sentence])
    st.html(html_table(head, rows))
