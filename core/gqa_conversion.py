"""Turning multi-head attention into grouped-query attention: the KV heads of a real layer, merged without training.

Ainslie et al. 2023, "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints", section
2.1: there the converted model is trained on, with 5 % of the original training.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor

from core.checks import check_between
from core.gqa import GroupedQueryAttention, legal_kv_heads, mean_pool_kv_heads, split_kv_heads
from core.model_heads import encoder_inputs
from core.models import TranslationModel


class Pooling(StrEnum):
    """How KV heads become one."""

    MEAN = "mean"  # the mean of their projections
    FIRST = "first"  # the first of them stays, the others go


def first_kv_heads(weight: Tensor, *, num_kv_heads_from: int, num_kv_heads_to: int, head_dim: int) -> Tensor:
    """Keep the first of the KV heads to merge.

    Shapes and Raises: as `core.gqa.mean_pool_kv_heads`.
    """
    return split_kv_heads(weight, num_kv_heads_from, num_kv_heads_to, head_dim)[:, 0].flatten(0, 1)


_POOL: Mapping[Pooling, Callable[..., Tensor]] = {Pooling.MEAN: mean_pool_kv_heads, Pooling.FIRST: first_kv_heads}


def encoder_attention(model: TranslationModel, layer: int) -> GroupedQueryAttention:
    """The self-attention of an encoder layer, in float64: with as many KV heads as query heads.

    layer is counted from 0.
    Raises: ValueError if there is no such layer, or the model is no Marian model.
    """
    facts = model.facts
    if facts.family != "marian":
        raise ValueError(f"family ({facts.family!r}) must be 'marian'")
    check_between("layer", layer, 0, facts.encoder_layers - 1)
    theirs = model.network.get_encoder().layers[layer].self_attn
    heads, head_dim = facts.num_heads, facts.head_dim
    ours = GroupedQueryAttention(facts.d_model, heads, heads, head_dim=head_dim, bias=True, device="meta")
    ours = ours.double().to_empty(device="cpu")
    pairs = (
        (ours.q_proj, theirs.q_proj),
        (ours.k_proj, theirs.k_proj),
        (ours.v_proj, theirs.v_proj),
        (ours.o_proj, theirs.out_proj),
    )
    with torch.no_grad():
        for mine, their in pairs:
            mine.weight.copy_(their.weight)
            mine.bias.copy_(their.bias)
    return ours.eval()


def convert(layer: GroupedQueryAttention, num_kv_heads: int, pooling: Pooling) -> GroupedQueryAttention:
    """The layer with fewer KV heads; its queries and W_O stay as they are.

    Raises: ValueError if the layer's num_kv_heads is not divisible by num_kv_heads.
    """
    pool, sizes = _POOL[pooling], {"num_kv_heads_to": num_kv_heads, "head_dim": layer.head_dim}
    pooled = {
        name: pool(tensor, num_kv_heads_from=layer.num_kv_heads, **sizes) if name[0] in "kv" else tensor
        for name, tensor in layer.state_dict().items()  # q_proj.weight, q_proj.bias, k_proj.weight, …
    }
    converted = GroupedQueryAttention(
        layer.d_model,
        layer.num_heads,
        num_kv_heads,
        head_dim=layer.head_dim,
        bias=layer.q_proj.bias is not None,
        device="meta",
    )
    converted = converted.to(layer.q_proj.weight.dtype).to_empty(device="cpu")
    converted.load_state_dict(pooled)
    return converted.eval()


@dataclass(frozen=True, slots=True)
class ConversionError:
    """How far a converted layer's output is from the layer's own."""

    num_kv_heads: int
    pooling: Pooling
    error: float  # ‖converted − own‖ / ‖own‖ over all numbers of the output; 0 = the same


def measure_conversion(layer: GroupedQueryAttention, x: Tensor) -> tuple[ConversionError, ...]:
    """Convert a layer to every legal smaller or equal number of KV heads, in both ways, and run it on x.

    Shapes: x (batch, seq_len, d_model).
    """
    with torch.inference_mode():
        own = layer(x)  # (batch, seq_len, d_model)
        return tuple(
            ConversionError(
                num_kv_heads,
                pooling,
                float((convert(layer, num_kv_heads, pooling)(x) - own).norm() / own.norm()),
            )
            for num_kv_heads in legal_kv_heads(layer.num_kv_heads)
            for pooling in Pooling
        )


def measure_encoder(model: TranslationModel, text: str, *, most_tokens: int) -> tuple[tuple[ConversionError, ...], ...]:
    """The errors of every encoder layer, each on what it really reads of a text; entry i is for layer i.

    Raises: ValueError if the model is no Marian model.
    """
    states = encoder_inputs(model, text, most_tokens=most_tokens).states  # (num_layers, seq_len, d_model)
    return tuple(
        measure_conversion(encoder_attention(model, layer), x[None]) for layer, x in enumerate(states)
    )  # fmt: skip
