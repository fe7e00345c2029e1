"""The views of the masks page; only the chosen one is computed."""

import html
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from core.attention_maps import describe
from core.charts import bars, contexts, heatmaps
from core.fill_values import Fill, FillOverflowError, masked_softmax, seen
from core.token_attention import gradient_reach, share_on, visible_context
from core.written_masks import write_closed
from pages.components import frame
from pages.components.controls import Panel
from pages.components.i18n import _, ngettext
from pages.components.masks_scene import EOS, Scene, batch_masks
from pages.components.plot import Plot, clicks, draw, picked
from pages.components.words import look_for

PANEL_WIDTHS = {"normal": 292, "projector": 236}  # of one of three grids; what a window of 1440 pixels has room for
ROW, HIGHEST = 26, 270  # pixels


# ------------------------------------------------------------------------------------------ scores, mask and weights


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
        row = _row(scene, before, after)
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
        words=_heatmap_words(),
        width=PANEL_WIDTHS[frame.type_size()],
        height=_height(len(settings.queries)),
    )


def _height(rows: int) -> int:
    return min(ROW * rows, HIGHEST)


def _heatmap_words(value: str = "") -> heatmaps.Words:
    return heatmaps.Words(
        row_axis=_("query: looks"),
        column_axis=_("key: is looked at"),
        query=_("query"),
        key=_("key"),
        value=value,
        masked=_("masked"),
        allowed=_("may look"),
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


def _row(scene: Scene, before: Tensor, after: Tensor | None) -> Plot:
    settings = scene.settings
    query = settings.query
    token = settings.queries[query]
    masked = after is not None
    shown = before if after is None else after
    title = _("Row of “{token}”: before the mask (dashed) and after (filled)") if masked else _("Row of “{token}”")
    visible = seen(shown, scene.attend_mask)[query].numpy() if masked else None
    return draw(
        "masks.row",
        bars.attention_bars,
        bars.attention_bars_data(
            shown[query].float().numpy(), before=before[query].float().numpy() if masked else None, attend_mask=visible
        ),
        alt=_("Bars: how the chosen query shares its attention among the keys, before and after the mask."),
        keys=settings.keys,
        before=masked,
        words=bars.AttentionWords(
            axis=_("weight"), key=_("key"), weight=_("after"), before=_("before"), masked=_("masked")
        ),
        title=title.format(token=token),
        height=110,
        expected_width=600,
    )


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
        row = _row(scene, before, None)
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
        _("“{token}” may look at {visible} of {all} tokens. Without a mask, {taken:.0%} of its attention").format(
            token=settings.queries[query], visible=int(permitted.sum()), all=len(settings.keys), taken=taken
        )
        + " "
        + _("would lie on the forbidden ones."),
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
    if settings.kind == "xlnet":
        order = " → ".join(settings.queries[position] for position in settings.order)
        sentences.append(_("Order of prediction: {order}").format(order=order))
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


# ------------------------------------------------------------------------------------------- context and gradient


def reach(panel: Panel, scene: Scene) -> Sequence[Plot]:
    """How much each position sees, and which inputs each output depends on."""
    settings = scene.settings
    counts = visible_context(scene.attend_mask)
    gradient = scene.reach
    left, right = st.columns([1, 1.1], gap="medium")
    with left:
        context = draw(
            "masks.context",
            contexts.visible_contexts,
            contexts.visible_contexts_data(counts.numpy(), marked=settings.query),
            alt=_("Bars: how many keys each query may look at, and their mean as a line."),
            queries=settings.queries,
            most=len(settings.keys),
            words=contexts.ContextWords(axis=_("visible keys"), query=_("query"), mean=_("mean")),
            title=_("Visible context of each position"),
            height=_height(len(settings.queries)),
        )
    with right:
        most = float(gradient.max())
        key = "masks.reach"
        depends = draw(
            key,
            heatmaps.heatmap,
            heatmaps.heatmap_data(
                gradient.numpy() / (most or 1.0),
                attend_mask=(gradient != 0).numpy(),
                marked_row=settings.query,
                nonce=clicks(key),
            ),
            alt=_("Heatmap: how strongly each output depends on each input; hatched where the gradient is exactly 0."),
            on_select=partial(_go_to_row, panel, key),
            queries=settings.queries,
            keys=settings.keys,
            words=heatmaps.Words(
                row_axis=_("output of"),
                column_axis=_("input of"),
                query=_("output of"),
                key=_("input of"),
                value=_("gradient, of the largest"),
                masked=_("exactly 0"),
            ),
            title=_("Gradient ∂output/∂input, as a part of the largest"),
            height=_height(len(settings.queries)),
            expected_width=460,
        )
    look_for(*_reach_in_words(scene, counts, gradient))
    return context, depends


def _go_to_row(panel: Panel, key: str) -> None:
    row = picked(key, "cell", "q")
    if row is not None:
        panel.put({"query": row + 1})


def _reach_in_words(scene: Scene, counts: Tensor, gradient: Tensor) -> Sequence[str]:
    settings, query = scene.settings, scene.settings.query
    zero = int((gradient == 0).sum())
    sentences = [
        _("“{token}” may look at {visible} of {all} tokens; on average a position sees {mean:.2f}.").format(
            token=settings.queries[query],
            visible=int(counts[query]),
            all=len(settings.keys),
            mean=float(counts.double().mean()),
        ),
        _("{zero} of {all} gradients are exactly 0; the mask forbids {forbidden} looks.").format(
            zero=zero, all=gradient.numel(), forbidden=int((~scene.attend_mask).sum())
        ),
    ]
    own = not settings.crosses and not scene.attend_mask[query, query] and gradient[query, query] != 0
    if own:
        sentences.append(
            _("“{token}” may not look at itself, yet its output depends on it: its own input makes its query.").format(
                token=settings.queries[query]
            )
        )
    return sentences


# ----------------------------------------------------------------------------------------------- the masks of a batch


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
                    words=_heatmap_words(_("mask")),
                    title=title,
                    height=_height(max(len(source), len(target))),
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
        _("Hidden in this batch: {encoder:.0%}, {decoder:.0%} and {cross:.0%} of all cells.").format(**hidden),
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
        rows.append([title, queries, keys, mask, f"({sentences}, 1, {rows_of_mask}, {columns})", *per_sentence])
    st.html(_html_table(head, rows))


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]], marked: int | None = None) -> str:
    top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join(
        f"<tr{' class=marked' if number == marked else ''}>"
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
        + "</tr>"
        for number, row in enumerate(rows)
    )
    return f'<table class="atlas-grid"><tr>{top}</tr>{body}</table>'


# ------------------------------------------------------------------------------------- reading with the answer in view


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
            words=_heatmap_words(),
            width=PANEL_WIDTHS[frame.type_size()] - 40,
            height=max(_height(len(tokens)), 170),
        )
    with right:
        _answers(scene, open_weights, masked_weights)
    row = _row(scene, open_weights, masked_weights)
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
    st.html(_html_table(head, rows, scene.settings.query))


def _answer_in_words(scene: Scene, open_weights: Tensor) -> Sequence[str]:
    tokens, query = scene.settings.queries, scene.settings.query
    if query + 1 == len(tokens):
        told = _("The last position must say {end}, which is not among what is read: nothing gives it away.")
        return (told.format(end=EOS),)
    return (
        _(
            "In training the decoder reads the whole sentence at once. At “{read}” it must say “{answer}”, which is "
            "the very next token it reads: without a mask {share:.0%} of the attention lies on the answer, with it "
            "exactly 0 %."
        ).format(read=tokens[query], answer=tokens[query + 1], share=float(open_weights[query, query + 1])),
        _(
            "Whoever learns with the answer in view learns to copy it. When it speaks for itself nobody has written the "
            "next token yet, and there is nothing to copy."
        ),
    )
