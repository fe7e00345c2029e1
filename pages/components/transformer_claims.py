"""The claims of the page on the whole Transformer, each with what was measured just now."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st
import torch

from core.anatomy import Anatomy, Side
from core.batch_reading import PaddedRows
from core.claims import Verdict
from core.claims.masks import no_mask_verdict, padding_share, run_printed_padding_mask, runs_verdict
from core.claims.transformer import (
    Additions,
    Likeness,
    bounds_verdict,
    important_verdict,
    little_verdict,
    memory_verdict,
    mostly_attention_verdict,
    padded_rows_verdict,
    positions_verdict,
    quadratic_verdict,
    tying_verdict,
    vanishing_verdict,
)
from core.hidden_tokens import Influence, measure_influence
from core.initial_gradients import Start
from core.model_pass import Sizes, config_parameters, pass_through
from core.models import TranslationModel
from core.quality import read_pairs
from core.transformer import NormPlace
from core.transformer_costs import BYTES, Cost, Growth, Part, cost_parts, growth
from core.transformer_presets import PUBLISHED
from pages.components.gqa_words import amount
from pages.components.i18n import _, joined
from pages.components.numbers import percent, signed
from pages.components.words import Claim

BASE_CONFIG = PUBLISHED["Transformer base"]
SENTENCE = Sizes(batch=1, seq_source=30, seq_target=30)
TRAINING = Sizes(batch=32, seq_source=64, seq_target=64)
SENTENCES = 12  # on which attention and influence are compared


@st.cache_resource(show_spinner=False)
def _published() -> Mapping[str, Anatomy]:
    """One sentence through Transformers of published sizes."""
    return {name: pass_through(config, SENTENCE).anatomy for name, config in PUBLISHED.items()}


def mostly_attention() -> Claim:
    shares = {}
    for name, anatomy in _published().items():
        table = cost_parts(anatomy)
        shares[name] = [
            (parts[Part.SELF_ATTENTION] + parts[Part.CROSS_ATTENTION]) / sum(parts.values())
            for parts in (table[Cost.PARAMETERS], table[Cost.MULTIPLY_ADDS])
        ]
    said = " · ".join(
        _("{name}: {parameters} and {multiply_adds}").format(
            name=name, parameters=percent(parameters), multiply_adds=percent(multiply_adds)
        )
        for name, (parameters, multiply_adds) in shares.items()
    )
    return Claim(
        _("A Transformer is mostly attention."),
        mostly_attention_verdict([share for pair in shares.values() for share in pair]),
        _(
            "Attention's share of the parameters, and of the multiply-adds of a sentence of {length} tokens: {said}."
        ).format(length=SENTENCE.seq_source, said=said),
    )


@st.cache_resource(show_spinner=False)
def _base_growth() -> Growth:
    sizes = Sizes(1, SENTENCE.seq_source, SENTENCE.seq_source)
    return growth(pass_through(BASE_CONFIG, sizes).anatomy, SENTENCE.seq_source)


def quadratic() -> Claim:
    found, seq_len = _base_growth(), SENTENCE.seq_source
    matrices, products = found.multiply_adds(seq_len)
    verdict = quadratic_verdict(seq_len, found.crossing)
    return Claim(
        _("Attention makes the cost of a text grow with the square of its length."),
        verdict,
        _(
            "Transformer base at {length} tokens: what grows with the square is {share} of the multiply-adds. It "
            "outweighs all matrices from {crossing:,.0f} tokens on."
        ).format(length=seq_len, share=percent(products / (matrices + products)), crossing=found.crossing),
        label=_("only if the text is long") if verdict is Verdict.ONLY_IF else None,
    )


@st.cache_resource(show_spinner=False)
def _batch_bytes() -> tuple[int, int]:
    """Of the parameters, and of what a batch puts out."""
    table = cost_parts(pass_through(BASE_CONFIG, TRAINING).anatomy)
    return BYTES * sum(table[Cost.PARAMETERS].values()), sum(table[Cost.ACTIVATIONS].values())


def memory() -> Claim:
    parameters, activations = _batch_bytes()
    verdict = memory_verdict(parameters, activations)
    return Claim(
        _("A model needs the memory that its parameters need."),
        verdict,
        _(
            "Transformer base in float32: {parameters} of parameters. A training batch of {batch} pairs of {length} + "
            "{length} tokens puts out {activations} more on its way."
        ).format(
            parameters=amount(parameters, "B"),
            batch=TRAINING.batch,
            length=TRAINING.seq_source,
            activations=amount(activations, "B"),
        ),
        label=_("only for few tokens") if verdict is Verdict.ONLY_IF else None,
    )


def tying() -> Claim:
    counts = [config_parameters(replace(BASE_CONFIG, tied=tied)) for tied in (True, False)]
    saved = 1 - counts[0] / counts[1]
    verdict = tying_verdict(saved)
    return Claim(
        _("Tied embeddings make a model much smaller."),
        verdict,
        _("Transformer base has {untied:,} parameters untied and {tied:,} tied: {saved} less.").format(
            untied=counts[1], tied=counts[0], saved=percent(saved)
        ),
        label=_("only if small, with many words") if verdict is Verdict.ONLY_IF else None,
    )


def vanishing(start: Start, num_layers: int) -> Claim:
    found = {side.value: start.unevenness(side) for side in Side}
    verdict = vanishing_verdict(found)
    return Claim(
        _("With post-norm, gradients vanish on their way to the first layers."),
        verdict,
        _(
            "{layers} + {layers} layers before training: the last layer's gradient is {decoder:.1f} times the first's "
            "in the decoder, {encoder:.1f} times in the encoder."
        ).format(layers=num_layers, decoder=found[Side.DECODER], encoder=found[Side.ENCODER]),
        label=_("only in the decoder")
        if verdict is Verdict.ONLY_IF and found[Side.DECODER] > found[Side.ENCODER]
        else None,
    )


def bounds(starts: Mapping[NormPlace, Start]) -> Claim:
    found = {place.value: start.growth(Side.DECODER) for place, start in starts.items()}
    verdict = bounds_verdict(found)
    return Claim(
        _("Normalisation keeps the vectors between the layers at one size."),
        verdict,
        _("From the first layer to the last the decoder's vectors grow {post:.1f} times with post-norm and {pre:.1f} "
          "times with pre-norm, where only what the blocks read is normalised.").format(
            post=found[NormPlace.POST], pre=found[NormPlace.PRE]
        ),
        label=_("only with post-norm") if verdict is Verdict.ONLY_IF else None,
    )  # fmt: skip


def positions(sinusoidal: Likeness, untrained: Likeness, trained: Likeness | None, far: int) -> Claim:
    verdict = positions_verdict(sinusoidal, untrained, trained)
    tables = [(_("sinusoidal"), sinusoidal), (_("learnt, before training"), untrained)]
    if trained is not None:
        tables.append((_("learnt, trained"), trained))
    said = " · ".join(f"{name} {signed(table.near, 2)} / {signed(table.far, 2)}" for name, table in tables)
    return Claim(
        _("Learnt positions have to find out what sinusoidal ones know: who is near."),
        verdict,
        _("Mean cosine of neighbours / of positions {far} apart: {said}.").format(far=far, said=said),
    )


def little(additions: Additions) -> Claim:
    return Claim(
        _("Each block changes the residual stream only a little."),
        little_verdict(additions),
        _(
            "What a block adds is {smallest:.2f} to {largest:.2f} times as long as what it adds to; {little} of "
            "{blocks} blocks add at most half of it."
        ).format(
            smallest=additions.smallest,
            largest=additions.largest,
            little=additions.little,
            blocks=len(additions.ratios),
        ),
        label=_("some blocks") if little_verdict(additions) is Verdict.ONLY_IF else None,
    )


def important(model: TranslationModel, here: Influence | None) -> Claim:
    """A token that gets much attention is an important token."""
    correlations = _correlations(model, model.name, id(model))
    verdict = important_verdict(correlations)
    middle = sorted(correlations)[len(correlations) // 2] if correlations else 0.0
    parts = []
    if here is not None:
        parts.append(_("On this sentence: {here}.").format(here=signed(here.correlation, 2)))
    parts.append(
        _(
            "Rank correlation of cross-attention received and how far the output moves when the token is hidden, "
            "median of {count} sentences: {middle}, from {least} to {most}."
        ).format(
            count=len(correlations),
            middle=signed(middle, 2),
            least=signed(min(correlations, default=0.0), 2),
            most=signed(max(correlations, default=0.0), 2),
        )
    )
    return Claim(
        _("A token with much attention is an important token."),
        verdict,
        joined(parts),
        label=_("more or less") if verdict is Verdict.ONLY_IF else None,
    )


@st.cache_data(max_entries=2, show_spinner=False)
def _correlations(_model: TranslationModel, name: str, identity: int) -> tuple[float, ...]:
    """On sentences with their given translations."""
    tokenizer = _model.tokenizer
    read = [
        (tokenizer(pair.source).input_ids, tokenizer(pair.reference).input_ids) for pair in read_pairs()[:SENTENCES]
    ]
    return tuple(measure_influence(_model, source, target).correlation for source, target in read)


def printed_padding() -> Claim:
    refusal = run_printed_padding_mask()
    said = _("torch refuses: “{reason}”.").format(reason=refusal.partition(":")[0]) if refusal else _("It runs.")
    return Claim(_("The printed function makes the printed padding mask."), runs_verdict(refusal), said)


def padded_rows(rows: PaddedRows) -> Claim:
    verdict = padded_rows_verdict(rows)
    said = _("This batch has no padding: type sentences of different lengths.")
    if rows.keys:
        said = _(
            "Of {keys} padded keys in the batch {looked_at} are looked at; of {queries} padded queries {looking} still "
            "look, and their rows sum to 1."
        ).format(keys=rows.keys, looked_at=rows.looked_at, queries=rows.queries, looking=rows.looking)
    return Claim(
        _("A padding mask takes padding out of attention."),
        verdict,
        said,
        label=_("only as keys") if verdict is Verdict.ONLY_IF else None,
    )


def no_mask(weights: Sequence[torch.Tensor], lengths: Sequence[int]) -> Claim:
    measured = padding_share(weights, lengths)
    verdict = no_mask_verdict(measured)
    said = (
        _("Sentences of one length only: in this batch of {sentences}, {share:.0%} of the attention falls on padding.")
        if measured.padding
        else _("This batch of {sentences} has no padding to look at: add a sentence of another length.")
    )
    return Claim(
        _("Cross-attention needs no mask."),
        verdict,
        said.format(sentences=measured.sentences, share=measured.share),
    )
