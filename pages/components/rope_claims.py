"""The claims about rotary positions, each with its measurement; none depends on a control."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st
import torch

from core.claims.rope import (
    NTK_FACTOR,
    NTK_HEAD_DIM,
    THETA_HEAD_DIM,
    THETA_INDEX,
    Decay,
    PairingComparison,
    compare_pairings,
    decay_verdict,
    interpolate,
    interpolation_verdict,
    measure_decay,
    ntk_bases,
    ntk_verdict,
    pairing_verdict,
    printed_complex_verdict,
    theta,
    theta_verdict,
)
from core.positions.distance import Vectors, profile, scores_by_distance
from core.positions.pairing import Pairing
from core.positions.scalings import Unscaled
from core.rope_as_printed import ComplexTrial, Outcome, try_complex
from pages.components.i18n import _
from pages.components.rope_scene import TRIALS, drawn, of_a_head, vector_names
from pages.components.words import Claim

HEAD_DIM, FAR, STEP = 64, 32_768, 16  # of the measurement of decay
TRAINED, TARGET, SHOWN = 2048, 4096, 8  # of interpolation, as in the lesson
SHAPES = ((2, 7, 4, 64), (2, 7, 1, 64), (2, 7, 7, 64))  # batch, seq_len, num_heads, head_dim


def cards(view: str) -> Sequence[Claim]:
    """Those that belong to a view."""
    shown: Mapping[str, Sequence[Callable[[], Claim]]] = {
        "turn": (_theta, _pairings, _decay),
        "distance": (_decay, _theta),
        "pairings": (_pairings, _printed),
        "extend": (_ntk, _interpolation),
    }
    return [claim() for claim in shown[view]]


def _theta() -> Claim:
    measured = theta()
    return Claim(
        _("θ₃₁ for a head of 64 dimensions is 0.000100."),
        theta_verdict(measured),
        _("10000^(−{exponent}/{dim}) = {measured:.6f}; 1/10000 would belong to a pair 32, which there is not.").format(
            exponent=2 * THETA_INDEX, dim=THETA_HEAD_DIM, measured=measured
        ),
    )


def _ntk() -> Claim:
    found = ntk_bases()
    return Claim(
        _("The NTK-aware base for twice the length at dim 128 is about 40,000."),
        ntk_verdict(found.measured),
        _(
            "A factor of {factor:g} at dim {dim} gives {measured:,.0f}; {told:,.0f} belongs to {of_told:.2f} "
            "(a factor of {double:g} gives {doubled:,.0f})."
        ).format(
            factor=NTK_FACTOR,
            dim=NTK_HEAD_DIM,
            measured=found.measured,
            told=found.told,
            of_told=found.factor_of_told,
            double=2 * NTK_FACTOR,
            doubled=found.doubled,
        ),
    )


def _interpolation() -> Claim:
    found = interpolate(SHOWN, trained_len=TRAINED, target_len=TARGET)
    return Claim(
        _("Positions are interpolated by (position * scale).long()."),
        interpolation_verdict(found),
        _(
            "At scale {scale:g} the cast makes them {truncated}: {shared} of {count} tokens share a position with the "
            "one before. Without it: {fractional}."
        ).format(
            scale=TRAINED / TARGET,
            truncated=" ".join(f"{position:g}" for position in found.truncated.tolist()),
            shared=found.shared,
            count=SHOWN,
            fractional=" ".join(f"{position:g}" for position in found.fractional.tolist()),
        ),
    )


@st.cache_resource(show_spinner=False)
def _compared() -> PairingComparison:
    x = torch.randn(7, HEAD_DIM, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return compare_pairings(x, torch.arange(7))


def _pairings() -> Claim:
    found = _compared()
    return Claim(
        _("The rotate-half form and the complex form are the same."),
        pairing_verdict(found.as_given, found.after_permutation),
        _(
            "As given they differ by up to {given:.2f}: one pairs dimensions i and i + d/2, the other 2i and 2i + 1. "
            "After the permutation of the dimensions: {after:.1g}."
        ).format(given=found.as_given, after=found.after_permutation),
    )


@st.cache_resource(show_spinner=False)
def _tried() -> Sequence[ComplexTrial]:
    return [try_complex(*shape, generator=torch.Generator().manual_seed(0)) for shape in SHAPES]


def _printed() -> Claim:
    said = {
        Outcome.RIGHT: _("right"),
        Outcome.RAISES: _("raises an error"),
        Outcome.WRONG_SHAPE: _("a wrong shape, in silence"),
        Outcome.WRONG_NUMBERS: _("wrong numbers, in silence"),
    }
    trials = _tried()
    told = " · ".join(f"{trial.shape[1]}×{trial.shape[2]} {said[trial.outcome]}" for trial in trials)
    return Claim(
        _("The complex form as printed turns (batch, seq_len, num_heads, head_dim)."),
        printed_complex_verdict([trial.outcome for trial in trials]),
        _("It multiplies along the axis of the heads. Positions × heads: {told}.").format(told=told),
    )


@st.cache_resource(show_spinner=False)
def _decays() -> Mapping[Vectors, Decay]:
    distances, scaled = torch.arange(0, FAR, STEP), Unscaled().apply(HEAD_DIM)
    vectors: dict[Vectors, tuple[torch.Tensor, torch.Tensor]] = {
        kind: drawn(kind, HEAD_DIM, TRIALS) for kind in Vectors if kind is not Vectors.REAL
    }
    real = of_a_head()
    if real is not None:
        vectors[Vectors.REAL] = real
    return {
        kind: measure_decay(profile(scores_by_distance(q, k, distances, scaled, pairing=Pairing.HALF_SPLIT), distances))
        for kind, (q, k) in vectors.items()
    }


def _decay() -> Claim:
    found, names = _decays(), vector_names()
    kept = " · ".join(f"{names[kind]} {decay.kept:.0%}" for kind, decay in found.items())
    equal = found[Vectors.EQUAL]
    return Claim(
        _("RoPE makes scores decay with distance."),
        decay_verdict(found),
        _(
            "Of their size at distance 0 scores keep at {far:,}: {kept}. The mean of equal q and k rises in "
            "{rising:.0%} of the steps. {below}"
        ).format(far=FAR, kept=kept, rising=equal.rising, below=_below(equal.first_negative)),
    )


def _below(first: float | None) -> str:
    """Where the mean of equal q and k is negative for the first time."""
    if first is None:
        return _("It never goes below 0.")
    return _("It goes below 0 at distance {first:,.0f}.").format(first=first)
