"""A sentence in two orders: what the view of a sentence computes from its controls."""

from dataclasses import dataclass

import streamlit as st
import torch

from core.model_embeddings import Embedded, embed, encoder_layers
from core.models import TranslationModel
from core.positions.order import OrderTrial, Setting, order_trials, random_layers, reversed_but_last, shuffled_but_last
from pages.components.controls import Panel
from pages.components.i18n import _

SENTENCE = "Le chat voit le chien et le chien dort."
MOST_TOKENS = 20
RANDOM_LAYERS, RANDOM_HEADS, RANDOM_HEAD_DIM = 2, 2, 64


@dataclass(frozen=True, slots=True)
class Settings:
    """What the controls say that decide about the whole view."""

    text: str
    setting: Setting
    shuffle: int | None  # None: the words are read backwards
    seed: int | None  # of random layers; None: those of the model


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """One sentence in two orders; `layer` and `head` are drawn, counted from 0."""

    settings: Settings
    embedded: Embedded
    was_cut: bool
    trials: tuple[OrderTrial, ...]
    layer: int = 0
    head: int = 0

    @property
    def trial(self) -> OrderTrial:
        return next(trial for trial in self.trials if trial.setting is self.settings.setting)


def controls(panel: Panel) -> Settings:
    text = panel.text("sentence", _("French sentence"), default=SENTENCE, max_chars=400, spoken="fr")
    asked = panel.choice("setting", _("Attention"), names(), default=Setting.NO_MASK.value)
    orders = {"reversed": _("Backwards"), "shuffled": _("Shuffled")}
    shuffle = seed = None
    if panel.choice("order", _("Order of the words"), orders, default="reversed") == "shuffled":
        shuffle = panel.slider("shuffle", _("Shuffle"), 0, 99, default=0, step=1)
    heads = {"model": _("Of the model"), "random": _("Random")}
    if panel.choice("layers", _("Attention layers"), heads, default="model") == "random":
        seed = panel.slider("seed", _("Seed"), 0, 99, default=0, step=1)
    return Settings(text, Setting(asked), shuffle, seed)


def names() -> dict[str, str]:
    return {
        Setting.NO_MASK.value: _("No mask"),
        Setting.CAUSAL_ONE_LAYER.value: _("Causal mask, one layer"),
        Setting.CAUSAL_TWO_LAYERS.value: _("Causal mask, two layers"),
        Setting.WITH_POSITIONS.value: _("With positions, no mask"),
    }


@st.cache_resource(max_entries=60, show_spinner=False)
def trials(_model: TranslationModel, settings: Settings) -> tuple[OrderTrial, ...]:
    """The sentence in both orders, in every setting."""
    embedded = embed(_model, settings.text, most_tokens=MOST_TOKENS)
    if settings.seed is None:
        layers = encoder_layers(_model)
    else:
        layers = random_layers(
            RANDOM_LAYERS,
            num_heads=RANDOM_HEADS,
            d_model=embedded.words.shape[1],
            head_dim=RANDOM_HEAD_DIM,
            generator=torch.Generator().manual_seed(settings.seed),
        )
    return order_trials(embedded.words, embedded.positions, _order(len(embedded.tokens), settings.shuffle), layers)


def _order(seq_len: int, shuffle: int | None) -> tuple[int, ...]:
    if shuffle is None:
        return reversed_but_last(seq_len)
    return shuffled_but_last(seq_len, torch.Generator().manual_seed(shuffle))
