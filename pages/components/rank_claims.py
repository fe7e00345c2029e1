"""The claims of the rank page, measured at the settings that the story is told with; always without a mask."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
import torch

from core.claims import Verdict
from core.claims.rank import (
    PRINTED_THRESHOLD,
    TOLD_EXAMPLE,
    TOLD_RANK,
    TOLD_TOGETHER,
    Example,
    HeadRanks,
    Together,
    bottleneck_verdict,
    bound_verdict,
    depth_verdict,
    example_verdict,
    measure_example,
    measure_head,
    measure_together,
    printed_rank,
    together_verdict,
    told_bound,
)
from core.rank import ENERGY_SHARE
from core.rank_heads import head_spectra, layer_spectra, random_w_o
from pages.components import rank_stack
from pages.components.i18n import _
from pages.components.rank_scene import Drawn, Layer, heads_of, trace_of
from pages.components.words import Claim

TOLD = Drawn(num_heads=8, seq_len=128, head_dim=64, seed=0)
SMALL, LARGE = 1.0, 3.0  # scales of weights


def cards(view: str) -> Sequence[Claim]:
    if view == "depth":
        return (_depth(),)
    every = (_bottleneck(), _together(), _bound(), _example())
    return {"spectrum": every, "dims": (every[0], every[2]), "rebuild": (every[0], every[3])}[view]


@dataclass(frozen=True, slots=True)
class Illusion:
    """What rounding makes of logits that are a product of two vectors."""

    seq_len: int
    threshold: float
    rank: int


@st.cache_data(show_spinner=False)
def illusion() -> Illusion:
    thin = Layer(Drawn(num_heads=1, seq_len=TOLD.seq_len, head_dim=1, seed=TOLD.seed))
    return Illusion(TOLD.seq_len, PRINTED_THRESHOLD, printed_rank(trace_of(thin).scores[0]))


@st.cache_data(show_spinner=False)
def _measured() -> tuple[HeadRanks, Together]:
    trace = trace_of(Layer(TOLD))
    one = head_spectra(trace, 0)
    w_o = random_w_o(heads_of(TOLD), generator=torch.Generator().manual_seed(TOLD.seed))
    return measure_head(one, TOLD.head_dim), measure_together(trace, layer_spectra(trace, one), w_o)


@st.cache_data(show_spinner=False)
def _example_measured() -> Example:
    return measure_example()


def _bottleneck() -> Claim:
    head, _all = _measured()
    return Claim(
        _("One head's {n}×{n} attention matrix has rank about {rank}: softmax is a low-rank bottleneck.").format(
            n=head.seq_len, rank=TOLD_RANK
        ),
        bottleneck_verdict(head),
        _(
            "head_dim {head_dim}: the logits have rank {logits}, the weights {weights} of {n}. Only these are low: "
            "effective rank {effective:.0f}, {energy} values for {share:.0%} of the energy, stable rank {stable:.1f}."
        ).format(
            head_dim=head.head_dim,
            logits=head.logits.numerical,
            weights=head.weights.numerical,
            n=head.seq_len,
            effective=head.weights.effective,
            energy=head.weights.energy,
            share=ENERGY_SHARE,
            stable=head.weights.stable,
        ),
    )


def _together() -> Claim:
    _head, found = _measured()
    return Claim(
        _("{heads} heads together reach rank about {rank} of {n}.").format(
            heads=len(found.per_head), rank=TOLD_TOGETHER, n=found.seq_len
        ),
        together_verdict(found),
        _(
            "The heads' ranks add up to {summed} “of {n}”: the rank of no matrix. All outputs side by side have rank "
            "{joined}, the sum of the heads' value paths {paths}."
        ).format(summed=found.summed, n=found.seq_len, joined=found.joined, paths=found.paths),
    )


def _bound() -> Claim:
    head, _all = _measured()
    verdict = bound_verdict(head)
    return Claim(
        _("The rank of one head is at most min(n − 1, head_dim) = {bound}.").format(bound=told_bound(head)),
        verdict,
        _("The logits keep to it with rank {logits}; softmax of them does not: {weights}.").format(
            logits=head.logits.numerical, weights=head.weights.numerical
        ),
        label=_("only for the logits") if verdict is Verdict.ONLY_IF else None,
    )


def _example() -> Claim:
    found = _example_measured()
    return Claim(
        _("The 4×4 example (rows .7 .2 .05 .05 / .1 .8 .05 .05 / …) has rank {low} to {high}.").format(
            low=TOLD_EXAMPLE[0], high=TOLD_EXAMPLE[1]
        ),
        example_verdict(found.rank),
        _("Its rank is {rank}; singular values {values}.").format(
            rank=found.rank, values=", ".join(f"{value:.3f}" for value in found.values)
        ),
    )


def _depth() -> Claim:
    size = rank_stack.Size()
    small, large = (rank_stack.residuals_of(size, scale, rank_stack.PURE) for scale in (SMALL, LARGE))
    skip = rank_stack.residuals_of(size, SMALL, rank_stack.WITH_SKIP)
    verdict = depth_verdict(small, large)
    return Claim(
        _("Attention alone loses rank with depth."),
        verdict,
        _(
            "Scale {small:.0f}: {first}. Scale {large:.0f}: {last:.2f} after layer {layers}. Skip connections at scale "
            "{small:.0f}: {skip:.2f}. ({tokens} tokens, d_model {d_model})"
        ).format(
            small=SMALL,
            first=", ".join(rank_stack.short(value) for value in small[1:5]),
            large=LARGE,
            last=large[-1],
            layers=size.num_layers,
            skip=skip[-1],
            tokens=size.seq_len,
            d_model=size.d_model,
        ),
        label=_("only if weights are not large") if verdict is Verdict.ONLY_IF else None,
    )
