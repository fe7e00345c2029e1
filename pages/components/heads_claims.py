"""The claims of the heads page, each with what was measured just now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from core.claims import Verdict
from core.claims.heads import (
    CLEAR,
    NEEDLESS,
    count_clear,
    count_needless,
    labels_verdict,
    measure_layers,
    measure_parameters,
    needed_verdict,
    parameters_verdict,
    printed_verdict,
    told_ranks_verdict,
)
from core.heads_as_printed import PrintedRun, run_printed, swap_last_axes
from core.heads_loss import HeadCosts
from core.model_heads import encoder_inputs
from core.models import TranslationModel
from core.quality import read_pairs
from pages.components import heads_model
from pages.components.heads_model import Read
from pages.components.i18n import _, joined
from pages.components.typed import quoted
from pages.components.words import Claim

SENTENCES = 14  # joined they have more tokens than the rank that all heads together are said to have
MOST_TOKENS = 128


def printed() -> Claim:
    as_printed, swapped = _printed()
    if swapped.weights_shape is None:
        measured = _("NumPy refuses both ways.")
    elif as_printed.refusal is None:
        measured = _("It runs.")
    else:
        measured = _("NumPy says “{refusal}”. With the last two axes swapped instead, the weights are {shape}.").format(
            refusal=as_printed.refusal, shape=" × ".join(map(str, swapped.weights_shape))
        )
    return Claim(
        _("Multi-head attention in NumPy, with K.transpose(0, 2, 1) as printed, runs."),
        printed_verdict(as_printed, swapped),
        measured,
        label=_("only if corrected"),
    )


@st.cache_data(show_spinner=False)
def _printed() -> tuple[PrintedRun, PrintedRun]:
    return run_printed(), run_printed(swap_last_axes)


def parameters(d_model: int, head_counts: Sequence[int]) -> Claim:
    found = _parameters(d_model, tuple(head_counts))
    measured = _("With d_model {d_model}: {counts} parameters for {heads} heads.").format(
        d_model=d_model,
        counts=", ".join(f"{count:,}" for count in sorted(set(found.values()))),
        heads=", ".join(map(str, found)),
    )
    return Claim(_("More heads mean more parameters."), parameters_verdict(found), measured)


@st.cache_data(max_entries=10, show_spinner=False)
def _parameters(d_model: int, head_counts: tuple[int, ...]) -> Mapping[int, int]:
    return dict(measure_parameters(d_model, head_counts))


def labels(read: Read) -> Claim:
    found = count_clear(read.stats)
    names = heads_model.targets()
    measured = _("On “{sentence}”, {clear} of {heads} heads put more than {share:.0%} of their weight on one place.")
    sentences = [measured.format(sentence=quoted(read.text), clear=found.clear, heads=found.heads, share=CLEAR)]
    if found.by_target:
        told = " · ".join(f"{names[target]} × {count}" for target, count in found.by_target.items())
        sentences.append(_("These are: {places}.").format(places=told))
    return Claim(
        _("Heads are “the grammar head, the meaning head, the position head”."),
        labels_verdict(found),
        joined(sentences),
        label=_("some have a place") if labels_verdict(found) is Verdict.ONLY_IF else None,
    )


@dataclass(frozen=True, slots=True)
class _Ranks:
    seq_len: int
    one: tuple[int, ...]  # numerical rank of each head's weights
    together: tuple[int, ...]  # of each layer's outputs of all heads, side by side
    effective: tuple[float, ...]  # of each head's weights
    effective_together: tuple[float, ...]


def ranks(model: TranslationModel) -> Claim:
    found = _ranks(model, model.name)
    measured = _(
        "The encoder on {seq_len} tokens: a head's weights have rank {one} (effective {one_effective}), the joined "
        "outputs of a layer {all} (effective {all_effective})."
    ).format(
        seq_len=found.seq_len,
        one=_from_to(found.one),
        one_effective=_from_to(found.effective),
        all=_from_to(found.together),
        all_effective=_from_to(found.effective_together),
    )
    return Claim(
        _("One head has rank 8 to 12, all heads together 60 to 80."),
        told_ranks_verdict(found.seq_len, found.one, found.together),
        measured,
    )


def _from_to(values: Sequence[float]) -> str:
    low, high = f"{min(values):.0f}", f"{max(values):.0f}"
    return low if low == high else f"{low}–{high}"


@st.cache_data(max_entries=2, show_spinner=False)
def _ranks(_model: TranslationModel, name: str) -> _Ranks:
    text = " ".join(pair.source for pair in read_pairs()[:SENTENCES])
    read = encoder_inputs(_model, text, most_tokens=MOST_TOKENS)
    layers = measure_layers(_model, read)
    heads = [head for layer in layers for head in layer.heads]
    return _Ranks(
        len(read.tokens),
        tuple(head.numerical for head in heads),
        tuple(layer.joined.numerical for layer in layers),
        tuple(head.effective for head in heads),
        tuple(layer.joined.effective for layer in layers),
    )


def needed(costs: HeadCosts | None) -> Claim:
    statement = _("A model needs all of its heads.")
    if costs is None:
        return Claim(statement, Verdict.UNDECIDED, _("Not measured yet: rank all heads."))
    found = count_needless(costs)
    verdict = needed_verdict(found)
    measured = _(
        "With one head off at a time, {needless} of {heads} cost less than {share:.0%} of the loss of {loss:.3f}; "
        "without {better} of them the loss is even smaller. The dearest is {head}: {cost:+.3f}."
    ).format(
        needless=found.needless,
        heads=found.heads,
        share=NEEDLESS,
        loss=costs.loss,
        better=found.better,
        head=heads_model.short(costs.heads[0].name),
        cost=costs.heads[0].cost,
    )
    return Claim(statement, verdict, measured, label=_("most, not all") if verdict is Verdict.ONLY_IF else None)
