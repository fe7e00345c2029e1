"""The claims about sinusoidal positions, measured where the texts make them: at their own sizes."""

from collections.abc import Mapping, Sequence

import streamlit as st
import torch

from core.claims.sinusoidal import compare_frequencies, frequency_verdict, order_verdict, shift_verdict
from core.positions.order import Setting
from core.positions.sinusoidal import shift
from pages.components.i18n import _
from pages.components.sinusoidal_scene import tiny
from pages.components.words import Claim

BASE = 10_000.0
FREQUENCY_D_MODEL = 256
SHIFT_LENGTH, SHIFT_D_MODEL, SHIFT_OFFSET = 100, 512, 3


def cards() -> Sequence[Claim]:
    """Those about the encoding itself."""
    return (_frequency(), _shift())


def order_card(changes: Mapping[Setting, float] | None) -> Claim:
    """The one about attention: how far outputs change when the words do; None: there are too few words."""
    statement = _("Without positions, attention does not see the order of the words.")
    if changes is None:
        return Claim(statement, order_verdict(dict.fromkeys(Setting, 0.0)), _("There are too few words to test it."))
    measured = _(
        "Change of the outputs: without a mask {no_mask}; of the last one under a causal mask, one layer "
        "{one}, two layers {two:.1%}; with positions {with_positions:.1%}."
    ).format(
        no_mask=tiny(changes[Setting.NO_MASK]),
        one=tiny(changes[Setting.CAUSAL_ONE_LAYER]),
        two=changes[Setting.CAUSAL_TWO_LAYERS],
        with_positions=changes[Setting.WITH_POSITIONS],
    )
    return Claim(statement, order_verdict(changes), measured)


def _frequency() -> Claim:
    even, odd = _frequency_errors()
    measured = _(
        "Read off PE for d = {d_model}: right for even i (to {even:.0e}), for odd i up to {odd:.1%} too low. The "
        "exponent there is (i − 1)/d: dimensions 2j and 2j + 1 share a frequency."
    ).format(d_model=FREQUENCY_D_MODEL, even=even, odd=odd)
    return Claim(_("The frequency of dimension i is 1 / 10000^(i/d)."), frequency_verdict(even, odd), measured)


def _shift() -> Claim:
    residual = _shift_residual()
    measured = _(
        "One matrix moves {length} positions of d = {d_model} on by {offset}: the largest residual is {residual:.0e}."
    ).format(length=SHIFT_LENGTH, d_model=SHIFT_D_MODEL, offset=SHIFT_OFFSET, residual=residual)
    return Claim(_("PE(pos + k) is a linear function of PE(pos)."), shift_verdict(residual), measured)


@st.cache_data(show_spinner=False)
def _frequency_errors() -> tuple[float, float]:
    compared = compare_frequencies(FREQUENCY_D_MODEL, base=BASE)
    return compared.even_error, compared.odd_error


@st.cache_data(show_spinner=False)
def _shift_residual() -> float:
    return shift(torch.arange(SHIFT_LENGTH), SHIFT_D_MODEL, SHIFT_OFFSET, base=BASE).residual
