"""The claims about heads: one verdict for each, and what it takes to measure it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import torch

from core.claims import Verdict
from core.heads import count_parameters, cut_into_heads, random_multi_head
from core.heads_as_printed import PrintedRun
from core.heads_gallery import HeadStats, Measure, main_target
from core.model_heads import EncoderInputs
from core.rank import Ranks, default_tolerance, ranks_of
from core.rank_heads import attend, layer_spectra, model_heads

if TYPE_CHECKING:
    from core.heads_loss import HeadCosts
    from core.models import TranslationModel

# ------------------------------------------------------------------------- the printed NumPy multi-head attention runs


def printed_verdict(as_printed: PrintedRun, swapped: PrintedRun) -> Verdict:
    """Judge by two runs: as printed, and with the last two axes swapped instead.

    ONLY_IF ("with the last two axes swapped") if only the second one runs.
    """
    if as_printed.refusal is None:
        return Verdict.HOLDS
    return Verdict.ONLY_IF if swapped.refusal is None else Verdict.DOES_NOT_HOLD


# --------------------------------------------------------------------------------------- more heads, more parameters


def measure_parameters(d_model: int, head_counts: Sequence[int]) -> Mapping[int, int]:
    """Cut a layer's four matrices into so many heads, and count the numbers of all pieces.

    Raises: ValueError if a number of heads does not divide d_model.
    """
    layer = random_multi_head(d_model, generator=torch.Generator().manual_seed(0))  # only shapes matter
    return {count: count_parameters(cut_into_heads(layer, count)) for count in head_counts}


def parameters_verdict(parameters: Mapping[int, int]) -> Verdict:
    """Judge by the parameters for each number of heads: they must grow with every step to confirm the claim.

    UNDECIDED with fewer than two numbers of heads.
    """
    if len(parameters) < 2:
        return Verdict.UNDECIDED
    counts = [parameters[heads] for heads in sorted(parameters)]
    growing = all(more > fewer for fewer, more in pairwise(counts))
    return Verdict.HOLDS if growing else Verdict.DOES_NOT_HOLD


# -------------------------------------------------------------- "the grammar head, the meaning head, the position head"

CLEAR = 0.5  # of a head's weight on one target: more than on all others together


@dataclass(frozen=True, slots=True)
class Labelled:
    """How many heads could be named after one target that gets most of their weight."""

    heads: int
    clear: int
    by_target: Mapping[Measure, int]  # of the clear ones


def count_clear(stats: Sequence[HeadStats], *, clear: float = CLEAR) -> Labelled:
    """Count the heads that put more than `clear` of their weight on one of the targets."""
    targets = [target for target, share in map(main_target, stats) if share > clear]
    return Labelled(len(stats), len(targets), {target: targets.count(target) for target in sorted(set(targets))})


def labels_verdict(measured: Labelled) -> Verdict:
    """Judge "each head has its task" by how many have one that can be measured: all, some, or none.

    That a head looks at one place says what it reads, not what for; grammar and meaning are not measured here.
    UNDECIDED if there are no heads.
    """
    if not measured.heads:
        return Verdict.UNDECIDED
    if measured.clear == measured.heads:
        return Verdict.HOLDS
    return Verdict.ONLY_IF if measured.clear else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------ one head has rank 8 to 12, all together 60 to 80

TOLD_ONE = (8, 12)
TOLD_ALL = (60, 80)


@dataclass(frozen=True, slots=True)
class LayerRanks:
    """The heads of one encoder layer on one text."""

    layer: int
    heads: tuple[Ranks, ...]  # of each head's weights, seq_len × seq_len
    joined: Ranks  # of all outputs side by side, seq_len × num_heads · head_dim


def measure_layers(
    model: "TranslationModel", read: EncoderInputs, *, tolerance: float | None = None
) -> tuple[LayerRanks, ...]:
    """Measure every layer of the encoder in float64; tolerance is torch's for each shape by default.

    Raises: ValueError if the model is no Marian model.
    """
    found = []
    seq_len, facts = len(read.tokens), model.facts
    square = default_tolerance(seq_len, seq_len) if tolerance is None else tolerance
    wide = default_tolerance(seq_len, facts.num_heads * facts.head_dim) if tolerance is None else tolerance
    for layer in range(facts.encoder_layers):
        trace = attend(model_heads(model, read, layer))
        spectra = layer_spectra(trace)
        (joined,) = ranks_of(spectra.joined[None], tolerance=wide)
        found.append(LayerRanks(layer, ranks_of(spectra.weights, tolerance=square), joined))
    return tuple(found)


def told_ranks_verdict(
    seq_len: int,
    one: Sequence[float],
    together: Sequence[float],
    *,
    told_one: tuple[float, float] = TOLD_ONE,
    told_all: tuple[float, float] = TOLD_ALL,
) -> Verdict:
    """Judge both numbers by a measure of rank of each head (`one`) and of each layer's joined outputs (`together`).

    HOLDS if all heads and all layers lie within what is told, DOES_NOT_HOLD if no head or no layer does, ONLY_IF ("some
    heads") in between. UNDECIDED for a text with fewer tokens than the rank that all heads together are said to have.
    """
    if seq_len < told_all[0] or not one or not together:
        return Verdict.UNDECIDED
    ones = [told_one[0] <= rank <= told_one[1] for rank in one]
    layers = [told_all[0] <= rank <= told_all[1] for rank in together]
    if all(ones) and all(layers):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if any(ones) and any(layers) else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------------------------ a model needs all of its heads

NEEDLESS = 0.01  # of the loss with all heads: a head that costs less than this share when it is off


@dataclass(frozen=True, slots=True)
class Needless:
    """How many heads a model hardly misses, when one of them alone is off."""

    heads: int
    needless: int  # cost less than a share of the loss
    better: int  # of these: the loss is even smaller without


def count_needless(costs: "HeadCosts", *, share: float = NEEDLESS) -> Needless:
    """Count the heads that cost less than `share` of the loss."""
    few = [head for head in costs.heads if head.cost < share * costs.loss]
    return Needless(len(costs.heads), len(few), sum(head.cost < 0 for head in few))


def needed_verdict(measured: Needless) -> Verdict:
    """Judge "a model needs all of its heads" by how many it hardly misses: none, some, or more than half.

    Each was off alone; that one is not missed does not say that two would not be.
    UNDECIDED if there are no heads.
    """
    if not measured.heads:
        return Verdict.UNDECIDED
    if not measured.needless:
        return Verdict.HOLDS
    return Verdict.DOES_NOT_HOLD if 2 * measured.needless > measured.heads else Verdict.ONLY_IF
