"""What the views of the RoPE page share: controls, names, and the queries and keys that are looked at."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from core.model_heads import encoder_head, encoder_inputs
from core.models import ModelError
from core.positions.distance import Vectors, draw_vectors, head_vectors
from core.positions.scalings import Method
from pages.components import translator
from pages.components.controls import Panel
from pages.components.i18n import _

View = tuple[Callable[[], Any], Callable[[Any], None]]
"""What `Panel.follow` takes: the sliders, and the picture of what they say."""

TRIALS = 256  # queries and keys that are drawn, to see how large scores usually are
SENTENCE = "Le chat noir dort dans le jardin parce qu'il fait beau."
MOST_TOKENS = 14
SHORTEST, LONGEST = 1024, 131_072  # tokens, of a training and of a text


def choose_size(panel: Panel, name: str, sizes: Sequence[int], *, default: int) -> int:
    """The head's dimensions: each view has sizes that suit it."""
    return int(
        panel.choice(name, _("Dimensions of the head"), {str(n): f"{n:d}" for n in sizes}, default=f"{default:d}")
    )


def choose_base(panel: Panel) -> float:
    return float(panel.slider("base", _("Base"), 1_000, 1_000_000, default=10_000, step=1_000))


def choose_lengths(panel: Panel) -> tuple[int, int]:
    """How many tokens the texts of the training had, and how many a text is to have."""
    trained = panel.slider("trained", _("Trained length"), SHORTEST, 16_384, default=2048, step=1024)
    return trained, panel.slider("target", _("Target length"), trained, LONGEST, default=4096, step=1024)


def choose_seed(panel: Panel) -> int:
    return panel.slider("seed", _("Seed"), 0, 99, default=0, step=1)


def method_names() -> dict[str, str]:
    """In the order of `Method`."""
    return {
        Method.NONE.value: _("plain RoPE"),
        Method.LINEAR.value: _("interpolation"),
        Method.NTK.value: _("NTK"),
        Method.DYNAMIC_NTK.value: _("dynamic NTK"),
        Method.YARN.value: _("YaRN"),
        Method.LLAMA3.value: _("Llama 3"),
    }


def vector_names() -> dict[Vectors, str]:
    return {
        Vectors.RANDOM: _("random"),
        Vectors.EQUAL: _("equal"),
        Vectors.ONE_SIGN: _("one sign"),
        Vectors.REAL: _("a real head"),
    }


@functools.lru_cache(maxsize=50)
def drawn(kind: Vectors, head_dim: int, trials: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Queries and keys, (trials, head_dim) each."""
    return draw_vectors(kind, trials, head_dim, generator=torch.Generator().manual_seed(seed))


@st.cache_resource(max_entries=20, show_spinner=False)
def _of_a_head(layer: int, head: int) -> tuple[Tensor, Tensor]:
    model = translator.load(translator.BUNDLED)
    states = encoder_inputs(model, SENTENCE, most_tokens=MOST_TOKENS).states[layer]  # (seq_len, d_model)
    return head_vectors(states, encoder_head(model, layer, head))


def of_a_head(layer: int = 0, head: int = 0) -> tuple[Tensor, Tensor] | None:
    """Every query of a head of the bundled model with every key; None where the model cannot be loaded."""
    try:
        return _of_a_head(layer, head)
    except ModelError:
        return None
