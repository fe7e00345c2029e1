"""One layer: the spectra of a head's logits and weights and of all outputs, and the measures of every head."""

import html
from collections.abc import Sequence
from dataclasses import astuple
from functools import partial

from core.charts import columns, spectra
from core.rank import default_tolerance
from pages.components import rank_fold
from pages.components.i18n import _
from pages.components.plot import clicks, figure, part, picked
from pages.components.rank_scene import (
    LONGEST,
    Chosen,
    Drawn,
    Layer,
    Measured,
    about_the_sentence,
    brief,
    heads_of,
    logits_of,
    measure,
    spectra_of,
)
from pages.components.words import look_for

KEY = "rank.spectrum"
HEIGHT = 250


def draw(chosen: Chosen) -> None:
    num_heads, seq_len, head_dim = heads_of(chosen.layer.heads).q.shape
    square, wide = (seq_len, seq_len), (seq_len, num_heads * head_dim)
    of_logits, of_layer = logits_of(chosen.layer, chosen.head), spectra_of(chosen.layer)
    (logits,) = measure(of_logits[None], square, chosen)
    (outputs,) = measure(of_layer.joined[None], wide, chosen)
    heads = measure(of_layer.weights, square, chosen)
    weights = heads[chosen.head]
    rows = {
        (_("logits, head {head}"), square): logits,
        (_("weights, head {head}"), square): weights,
        (_("outputs of all heads"), wide): outputs,
    }
    look_for(*_in_words(chosen, logits, heads, outputs), about_the_sentence(chosen.layer), beside=_table(chosen, rows))
    spectrum = part(
        "spectra",
        spectra.spectra,
        spectra.spectra_data(
            [of_logits.numpy(), of_layer.weights[chosen.head].numpy(), of_layer.joined.numpy()],
            limits=(chosen.tolerance, default_tolerance(*square)),
        ),
        share=0.56,
        series=(_("logits"), _("weights"), _("outputs of all heads")),
        words=spectra.SpectrumWords(
            place=_("number of the singular value"),
            share=_("singular value / the largest"),
            value=_("singular value"),
            limits=(_("tolerance"), _("torch's tolerance")),
        ),
        legend_columns=2,
        title=_("Spectra of the chosen head, and of all outputs"),
        height=HEIGHT,
    )
    every_head = part(
        "heads",
        columns.columns,
        columns.columns_data(
            [astuple(each) for each in heads], together=astuple(outputs), marked=chosen.head, nonce=clicks(KEY)
        ),
        share=0.44,
        series=measure_names(),
        most=LONGEST,
        words=columns.ColumnWords(axis=_("rank"), places=_("weights of head"), together=_("outputs")),
        title=_("Every head: click to choose"),
        height=HEIGHT,
    )
    plot = figure(
        KEY,
        [[spectrum, every_head]],
        name=_("spectrum"),
        alt=_(
            "Curves on a logarithmic axis: singular values of a head's logits, of its weights and of the outputs of "
            "all heads, with two tolerances; symbols: five measures of rank for the weights of every head, and for all "
            "outputs."
        ),
        on_select=partial(_clicked, chosen),
    )
    rank_fold.draw_spectrum(chosen, of_layer.weights[chosen.head], weights, plot)


def measure_names() -> tuple[str, ...]:
    """As long as the fields of Measured, in their order."""
    return (
        _("rank (torch)"),
        _("rank (tolerance)"),
        _("effective"),
        _("stable"),
        _("energy"),
    )


def _clicked(chosen: Chosen) -> None:
    place = picked(KEY, "heads_column", "p")
    if place is not None and place != columns.ALL:
        chosen.panel.put({"head": int(place) + 1})


def _table(chosen: Chosen, rows: dict[tuple[str, tuple[int, int]], Measured]) -> str:
    """Which matrix has which rank, in HTML."""
    heads = (
        _("matrix"),
        _("size"),
        _("rank (torch)"),
        _("rank ({tolerance})").format(tolerance=brief(chosen.tolerance)),
        _("effective"),
        _("stable"),
        _("{share:.0%} energy").format(share=chosen.share),
    )
    lines = ["".join(f"<th>{_whole_words(head)}</th>" for head in heads)]
    for (name, (height, width)), ranks in rows.items():
        called = name.format(head=chosen.head + 1)
        cells = (
            f"{height} × {width}",
            str(ranks.torch),
            str(ranks.stated),
            f"{ranks.effective:.1f}",
            f"{ranks.stable:.1f}",
            str(ranks.energy),
        )
        lines.append(f"<td>{_whole_words(called)}</td>" + "".join(f"<td>{_whole(cell)}</td>" for cell in cells))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    table = f'<table class="atlas-grid dense">{body}</table>'
    return f'<div class="atlas-wide" tabindex="0">{table}</div>'


def _whole(text: str) -> str:
    """The text in HTML, in one line however narrow the table is."""
    return f'<span style="white-space:nowrap">{html.escape(text)}</span>'


def _whole_words(text: str) -> str:
    """The text in HTML; a line of it ends between two words, and not within 1e-5."""
    return " ".join(_whole(word) for word in text.split())


def _in_words(chosen: Chosen, logits: Measured, heads: Sequence[Measured], outputs: Measured) -> Sequence[str]:
    num_heads, seq_len, head_dim = heads_of(chosen.layer.heads).q.shape
    weights = heads[chosen.head]
    return (
        softmax_in_words(chosen, logits.torch, weights.torch, head_dim),
        _evenness(weights, seq_len, chosen.share),
        _(
            "The outputs of all heads, side by side, have rank {rank}: at most {rows}, at most {heads} · {head_dim}."
        ).format(rank=outputs.torch, rows=seq_len, heads=num_heads, head_dim=head_dim),
        _against_random(chosen, heads),
    )


def softmax_in_words(chosen: Chosen, logits: int, weights: int, head_dim: int) -> str:
    """What softmax does to the numerical rank, with torch's tolerance."""
    seq_len = heads_of(chosen.layer.heads).q.shape[1]
    if chosen.layer.left is not None:
        return _(
            "The logits, before the mask, have rank {logits}; the weights {weights} of {seq_len}. The mask alone makes "
            "them triangular with a positive diagonal: their exact rank is {seq_len}, even where it looks lower."
        ).format(logits=logits, weights=weights, seq_len=seq_len)
    if weights > logits:
        return _(
            "head_dim {head_dim} bounds the logits: rank {logits}. Softmax, number by number, raises it: the weights "
            "have rank {weights} of {seq_len}."
        ).format(head_dim=head_dim, logits=logits, weights=weights, seq_len=seq_len)
    if weights == logits < seq_len:
        return _("Logits and weights have the same rank, {rank} of {seq_len}.").format(rank=logits, seq_len=seq_len)
    if weights == logits:
        return _(
            "Logits and weights have rank {logits} of {seq_len}: with head_dim {head_dim}, there is nothing left for "
            "softmax to raise."
        ).format(logits=logits, seq_len=seq_len, head_dim=head_dim)
    return _(
        "The logits have rank {logits}, the weights {weights} of {seq_len}: here softmax lowers it, as many queries "
        "choose alike."
    ).format(logits=logits, weights=weights, seq_len=seq_len)


def _evenness(weights: Measured, seq_len: int, share: float) -> str:
    """Whether few singular values hold the energy; none are uneven, for instance, if every token sees only itself."""
    if weights.energy < share * seq_len:
        said = _("But its singular values are uneven: {energy} of {seq_len} hold {share:.0%} of the energy.")
    else:
        said = _("{energy} of {seq_len} singular values hold {share:.0%} of the energy: as many as if all were equal.")
    return said.format(energy=weights.energy, seq_len=seq_len, share=share)


def _against_random(chosen: Chosen, heads: Sequence[Measured]) -> str:
    """Trained heads beside random ones of the same shape."""
    if chosen.structure.read is None:
        return ""
    num_heads, seq_len, head_dim = heads_of(chosen.layer.heads).q.shape
    alike = Layer(Drawn(num_heads, seq_len, head_dim, seed=0), chosen.layer.temperature, chosen.layer.left)
    drawn = measure(spectra_of(alike).weights, (seq_len, seq_len), chosen)
    found, by_chance = ([each.effective for each in many] for many in (heads, drawn))
    return _(
        "Effective rank of these trained heads: {low:.1f} to {high:.1f}; of random ones of the same shape: "
        "{random_low:.1f} to {random_high:.1f}."
    ).format(low=min(found), high=max(found), random_low=min(by_chance), random_high=max(by_chance))
