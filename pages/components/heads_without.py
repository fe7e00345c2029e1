"""The bundled model without some of its heads: what it says, and what that costs; computed once for the whole server.

Such a model has the name of the whole one. So whatever is kept is kept by the name and by the heads that are off.
"""

import streamlit as st

from core.decoding import DecodingTrace
from core.heads_gallery import HeadName
from core.heads_loss import HeadCosts, LossBatch, loss_batches, mean_loss
from core.heads_off import Shift, compare_next, switch_off
from core.models import TranslationModel
from core.quality import read_pairs
from pages.components import translator
from pages.components.translator import Method

Off = tuple[HeadName, ...]


@st.cache_resource(show_spinner=False)
def rankings() -> dict[str, HeadCosts]:
    """What all heads cost, as far as it has been measured, by model: one person measures, all see it."""
    return {}


@st.cache_resource(max_entries=10, show_spinner=False)
def without(_model: TranslationModel, name: str, off: Off) -> TranslationModel:
    return switch_off(_model, off)


@st.cache_resource(max_entries=60, show_spinner=False)
def translation(_model: TranslationModel, name: str, text: str, off: Off) -> DecodingTrace:
    # Not translator.trace: it knows a model by its name alone.
    return translator.decode(without(_model, name, off), text, Method(), ())


@st.cache_resource(max_entries=2, show_spinner=False)
def _batches(_model: TranslationModel, name: str) -> tuple[LossBatch, ...]:
    return loss_batches(_model, read_pairs())


@st.cache_data(max_entries=300, show_spinner=False)
def loss(_model: TranslationModel, name: str, off: Off) -> float:
    """On the sentence pairs that were written for this project, in nats per token."""
    return mean_loss(without(_model, name, off), _batches(_model, name))


@st.cache_data(max_entries=300, show_spinner=False)
def next_tokens(
    _model: TranslationModel, name: str, text: str, said: tuple[int, ...], off: Off, most: int
) -> tuple[Shift, ...]:
    """The likeliest tokens of either model after the same words, those of the whole model first."""
    found = compare_next(_model, without(_model, name, off), text, said, most=most)
    likely = sorted(found, key=lambda each: max(each.before, each.after), reverse=True)[:most]
    return tuple(each for each in found if each in likely)
