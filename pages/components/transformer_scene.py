"""What the page on the whole Transformer looks at: one that is built from its sizes, or one that is loaded."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st
from torch import nn

from core.anatomy import UnknownNetworkError
from core.model_pass import Pass, Sizes, pass_of_network, pass_through, reads, writes
from core.models import AnyModel
from core.transformer import NormPlace, PositionKind, Stacks, TransformerConfig
from core.transformer_costs import Growth, growth
from pages.components import shelf
from pages.components.controls import Panel
from pages.components.i18n import _
from pages.components.plot import clicks, picked
from pages.components.transformer_words import norm_names, position_names, stacks_names, tied_names

LONGEST = 512  # tokens; also the rows of a table of learnt positions
LONGEST_OF_MODEL = 128
SEEDS = 3  # of what is measured before training
REFERENCE = 8  # tokens of the pass from which growth is told
BASE = {"num_layers": 6, "d_model": 512, "heads": 3, "d_ff": 2048, "vocab": 37_000}
"""Vaswani et al. 2017, table 3, "base"; heads as a power of two."""


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What no slider says; without a model, one is built by these choices."""

    model: AnyModel | None = None
    stacks: Stacks = Stacks.BOTH
    norm: NormPlace = NormPlace.POST
    positions: PositionKind = PositionKind.SINUSOIDAL
    tied: bool = True

    @property
    def reads(self) -> bool:
        return reads(self.model.network) if self.model else self.stacks is not Stacks.DECODER

    @property
    def writes(self) -> bool:
        return writes(self.model.network) if self.model else self.stacks is not Stacks.ENCODER


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """One pass through it."""

    subject: Subject
    config: TransformerConfig | None  # None: it was loaded
    sizes: Sizes
    found: Pass


def choose_subject(panel: Panel) -> Subject | None:
    """None, with a sentence about it, if there is no model."""
    kinds = {"own": _("of your sizes"), "real": _("a real model")}
    if panel.choice("subject", _("Transformer"), kinds, default="own") == "real":
        model = shelf.choose(
            panel,
            shelf.offered(),
            default=shelf.ATLAS,
            help=_("Bundled models are here; others have to be fetched once, or lie in a folder."),
        )
        return None if model is None else Subject(model)
    with panel.beside():
        stacks = panel.choice("stacks", _("Stacks"), stacks_names(), default=Stacks.BOTH.value, narrow=True)
        norm = panel.choice("norm", _("Normalisation"), norm_names(), default=NormPlace.POST.value, narrow=True)
    with panel.beside():
        positions = panel.choice(
            "positions", _("Positions"), position_names(), default=PositionKind.SINUSOIDAL.value, narrow=True
        )
        tied = panel.choice("tied", _("Embeddings"), tied_names(), default="tied", narrow=True)
    return Subject(None, Stacks(stacks), NormPlace(norm), PositionKind(positions), tied == "tied")


def choose_sizes(panel: Panel, subject: Subject) -> Scene | None:
    """The sliders; None if the model cannot be taken apart."""
    if subject.model is None:
        config, batch = _choose_config(panel, subject)
        most = LONGEST
    else:
        config, batch = None, choose_batch(panel)
        most = min(LONGEST_OF_MODEL, subject.model.facts.max_positions or LONGEST)
    source = target = 1
    with panel.beside():
        if subject.reads:
            source = panel.slider("source", _("Source tokens"), 1, most, default=10, step=1)
        if subject.writes:
            target = panel.slider("target", _("Target tokens"), 1, most, default=9, step=1)
    sizes = Sizes(batch, source, target)
    try:
        return Scene(subject, config, sizes, one_pass(subject, config, sizes))
    except UnknownNetworkError:
        return None


def choose_batch(panel: Panel) -> int:
    return panel.slider("batch", _("Batch"), 1, 32, default=1, step=1)


def _choose_config(panel: Panel, subject: Subject) -> tuple[TransformerConfig, int]:
    """And the batch, which stands among its sliders."""
    with panel.beside():
        num_layers = panel.slider("num_layers", _("Layers"), 1, 12, default=BASE["num_layers"], step=1)
        power = panel.slider("heads", _("Heads: 2ⁿ"), 0, 4, default=BASE["heads"], step=1, format="2^%d")
    with panel.beside():
        d_model = panel.slider("d_model", "d_model", 16, 1024, default=BASE["d_model"], step=16)
        d_ff = panel.slider("d_ff", "d_ff", 64, 4096, default=BASE["d_ff"], step=64)
    with panel.beside():
        vocab_size = panel.slider("vocab", _("Vocabulary"), 1000, 64_000, default=BASE["vocab"], step=1000)
        batch = choose_batch(panel)
    config = TransformerConfig(
        num_layers=num_layers,
        d_model=d_model,
        num_heads=1 << power,
        d_ff=d_ff,
        vocab_size=vocab_size,
        max_len=LONGEST,
        stacks=subject.stacks,
        norm=subject.norm,
        positions=subject.positions,
        tied=subject.tied,
    )
    return config, batch


def one_pass(subject: Subject, config: TransformerConfig | None, sizes: Sizes) -> Pass:
    """Raises: UnknownNetworkError, which is not kept; ValueError if there is neither a configuration nor a model."""
    if config is not None:
        return _own_pass(config, sizes)
    if subject.model is None:
        raise ValueError("subject must have a model where there is no configuration")
    network: nn.Module = subject.model.network
    return _model_pass(network, subject.model.name, id(network), sizes)


@functools.lru_cache(maxsize=100)
def _own_pass(config: TransformerConfig, sizes: Sizes) -> Pass:
    return pass_through(config, sizes)


@st.cache_resource(max_entries=50, show_spinner=False)
def _model_pass(_network: nn.Module, name: str, identity: int, sizes: Sizes) -> Pass:
    """identity: another model may lie in the same folder later."""
    return pass_of_network(_network, sizes)


def clicked(key: str, selection: str, field: str) -> Any:
    """As `picked`, but None for what was clicked earlier: a figure of several parts keeps the last click in each."""
    points = st.session_state[key]["selection"].get(selection)
    if not points or points[0].get("nonce") != clicks(key) % 100:
        return None
    return picked(key, selection, field)


def growth_of(scene: Scene) -> Growth:
    """How its costs grow with the length of its sequences."""
    model = scene.subject.model
    seq_len = REFERENCE if model is None else min(REFERENCE, model.facts.max_positions or REFERENCE)
    return growth(one_pass(scene.subject, scene.config, Sizes(1, seq_len, seq_len)).anatomy, seq_len)


def presets() -> Mapping[str, Mapping[str, object]]:
    return {
        _("Transformer big"): {"d_model": 1024, "heads": 4, "d_ff": 4096},
        _("Pre-norm decoder"): {"stacks": "decoder", "norm": "pre", "positions": "learnt", "num_layers": 12},
        _("A real encoder"): {"subject": "real", "model": shelf.MINILM},
    }
