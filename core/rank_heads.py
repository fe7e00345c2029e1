"""Attention heads whose matrices are measured: random ones and those of a real layer, and their singular values.

What a page of given settings has to decompose, with matrices of seq_len × seq_len where nothing else is said:

    head_spectra      logits (values only) and weights (in full) of one head
    layer_spectra     weights of all (other) heads (values only), and the joined outputs, seq_len × num_heads·head_dim
    sweep_head_dims   logits and weights for every head_dim (values only)
    sweep_outputs     joined outputs for every head_dim (values only)

None is decomposed twice. Tolerance, share, and the k of a reconstruction need no decomposition: see core.rank.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from core.attention import AttentionTrace, scaled_dot_product_attention
from core.checks import check_between, check_positive, check_sizes
from core.heads import merge_heads
from core.model_heads import EncoderInputs, encoder_head
from core.rank import Decomposition, decompose, singular_values

if TYPE_CHECKING:
    from core.models import TranslationModel

HEAD_DIMS = (1, 2, 4, 8, 16, 32, 64)
"""Those of a sweep."""


@dataclass(frozen=True, slots=True, eq=False)
class Heads:
    """Queries, keys and values of all heads of a layer; (num_heads, seq_len, head_dim) each, float64."""

    q: Tensor
    k: Tensor
    v: Tensor


def random_heads(num_heads: int, seq_len: int, head_dim: int, *, generator: torch.Generator) -> Heads:
    """Independent standard normal queries, keys and values.

    They are drawn feature by feature: with the same seed, heads of more features begin with those of smaller heads.
    They are drawn in float32, which takes a quarter of the time; all that is computed from them is in float64.
    Raises: ValueError if a size is less than 1.
    """
    check_sizes(num_heads=num_heads, seq_len=seq_len, head_dim=head_dim)
    drawn = [torch.randn(3, num_heads, seq_len, generator=generator) for _ in range(head_dim)]
    return Heads(*torch.stack(drawn).double().movedim(0, -1))  # (num_heads, seq_len, head_dim) each, not copied again


def model_heads(model: "TranslationModel", read: EncoderInputs, layer: int) -> Heads:
    """All heads of one encoder layer on a sentence that `core.model_heads.encoder_inputs` has read.

    Raises: ValueError if there is no such layer, or the model is no Marian model.
    """
    heads = [encoder_head(model, layer, head) for head in range(model.facts.num_heads)]
    x = read.states[layer]  # (seq_len, d_model)
    q, k, v = (torch.stack([getattr(head, name)(x) for head in heads]) for name in ("q", "k", "v"))
    return Heads(q, k, v)


def attend(heads: Heads, *, temperature: float = 1.0, attend_mask: Tensor | None = None) -> AttentionTrace:
    """Let all heads attend; their scores are q·k / (temperature · √head_dim).

    Shapes: attend_mask bool, broadcasts to (num_heads, seq_len, seq_len), True = may attend.
    Raises: ValueError if temperature is not positive and finite, or the mask does not fit.
    """
    check_positive("temperature", temperature)
    scale = 1 / (temperature * math.sqrt(heads.q.shape[-1]))
    return scaled_dot_product_attention(heads.q, heads.k, heads.v, attend_mask=attend_mask, scale=scale)


def random_w_o(heads: Heads, *, generator: torch.Generator) -> Tensor:
    """A square output projection that keeps the variance, (num_heads · head_dim, num_heads · head_dim)."""
    width = heads.q.shape[0] * heads.q.shape[-1]
    return torch.randn(width, width, generator=generator, dtype=torch.float64) / math.sqrt(width)


# ------------------------------------------------------------------------------------------------------------ spectra


@dataclass(frozen=True, slots=True, eq=False)
class HeadSpectra:
    """One head: its logits, which head_dim bounds, and its weights, which it does not."""

    head: int
    logits: Tensor  # (seq_len,), singular values of the scores before any mask
    weights: Decomposition  # values (seq_len,)


@dataclass(frozen=True, slots=True, eq=False)
class LayerSpectra:
    """All heads of a layer."""

    weights: Tensor  # (num_heads, seq_len), singular values
    joined: Tensor  # (min(seq_len, num_heads · head_dim),), of the outputs side by side


def head_spectra(trace: AttentionTrace, head: int) -> HeadSpectra:
    """Decompose one head, counted from 0: two matrices, one of them in full.

    Raises: ValueError if there is no such head.
    """
    num_heads = trace.weights.shape[0]
    check_between("head", head, 0, num_heads - 1)
    return HeadSpectra(head, singular_values(trace.scores[head]), decompose(trace.weights[head]))


def layer_spectra(trace: AttentionTrace, known: HeadSpectra | None = None) -> LayerSpectra:
    """Decompose the weights of all heads, and the joined outputs.

    known: what `head_spectra` of the same trace found; this head is then not decomposed again.
    """
    if known is None:
        return LayerSpectra(singular_values(trace.weights), singular_values(merge_heads(trace.output)))
    before, after = trace.weights[: known.head], trace.weights[known.head + 1 :]  # views: nothing is copied
    weights = torch.cat([singular_values(before), known.weights.values[None], singular_values(after)])
    return LayerSpectra(weights, singular_values(merge_heads(trace.output)))


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """One head with more and more of its features; singular values, a row per head_dim."""

    head_dims: tuple[int, ...]
    logits: Tensor  # (head_dims, seq_len)
    weights: Tensor  # (head_dims, seq_len)


def sweep_head_dims(
    heads: Heads,
    head: int,
    head_dims: Sequence[int] = HEAD_DIMS,
    *,
    temperature: float = 1.0,
    attend_mask: Tensor | None = None,
) -> Sweep:
    """Let one head attend with its first 1, 2, 4, … features only.

    With `random_heads` of one seed, the row of head_dim d is the head that has d features.

    Shapes: attend_mask (seq_len, seq_len).
    Raises: ValueError if there is no such head, or a head_dim is not from 1 to that of the heads.
    """
    num_heads, _, most = heads.q.shape
    check_between("head", head, 0, num_heads - 1)
    _check_head_dims(head_dims, most)
    one = slice(head, head + 1)
    traces = [
        attend(
            Heads(heads.q[one, :, :head_dim], heads.k[one, :, :head_dim], heads.v[one, :, :1]),
            temperature=temperature,
            attend_mask=attend_mask,
        )
        for head_dim in head_dims
    ]
    logits, weights = (torch.cat([getattr(trace, name) for trace in traces]) for name in ("scores", "weights"))
    return Sweep(tuple(head_dims), singular_values(logits), singular_values(weights))


def sweep_outputs(
    heads: Heads,
    head_dims: Sequence[int] = HEAD_DIMS,
    *,
    temperature: float = 1.0,
    attend_mask: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """The same for all heads together: singular values of their joined outputs, for each head_dim.

    Shapes: attend_mask (seq_len, seq_len); the values of head_dim d are (min(seq_len, num_heads · d),).
    Raises: ValueError if a head_dim is not from 1 to that of the heads.
    """
    _check_head_dims(head_dims, heads.q.shape[-1])
    narrow = [Heads(heads.q[..., :d], heads.k[..., :d], heads.v[..., :d]) for d in head_dims]
    traces = (attend(each, temperature=temperature, attend_mask=attend_mask) for each in narrow)  # one at a time
    return tuple(singular_values(merge_heads(trace.output)) for trace in traces)


def _check_head_dims(head_dims: Sequence[int], most: int) -> None:
    for head_dim in head_dims:
        check_between("head_dims", head_dim, 1, most)
