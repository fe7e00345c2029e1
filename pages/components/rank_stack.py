"""Random stacks of attention layers, and how far their tokens differ: drawn and computed once, for all views."""

from dataclasses import dataclass

import streamlit as st
from torch import Generator, Tensor

from core.rank_depth import Stack, random_stack, random_tokens, residuals

NUM_HEADS = 4


@dataclass(frozen=True, slots=True)
class Size:
    """What is drawn; plain values, so that it can be the key of a cache."""

    num_layers: int = 8
    seq_len: int = 32
    d_model: int = 64
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Variant:
    """Whether blocks add to what they get, and whether an MLP follows each attention."""

    skip: bool
    mlp: bool


VARIANTS = tuple(Variant(skip, mlp) for skip in (False, True) for mlp in (False, True))
PURE, WITH_SKIP = Variant(skip=False, mlp=False), Variant(skip=True, mlp=False)


@dataclass(frozen=True, slots=True)
class Chosen:
    size: Size
    scale: float


def short(residual: float) -> str:
    """0.72 or 1e-7."""
    return f"{residual:.2g}".replace("e-0", "e-")


@st.cache_resource(max_entries=8, show_spinner=False)
def _drawn(size: Size) -> tuple[Tensor, Stack]:
    """The tokens, and the stack that they pass."""
    generator = Generator().manual_seed(size.seed)
    tokens = random_tokens(size.seq_len, size.d_model, generator=generator)
    return tokens, random_stack(size.num_layers, size.d_model, NUM_HEADS, generator=generator)


@st.cache_data(max_entries=500, show_spinner=False)
def residuals_of(size: Size, scale: float, variant: Variant) -> tuple[float, ...]:
    """How far the tokens differ before the first layer and after each."""
    tokens, stack = _drawn(size)
    return residuals(tokens, stack, scale=scale, skip=variant.skip, mlp=variant.mlp)
