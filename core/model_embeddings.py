"""What the encoder of a real model starts from, words and positions apart, and its attention layers."""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.model_heads import encoder_head
from core.models import TranslationModel
from core.positions.order import Layer, layer_of


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """A sentence as it enters the encoder: words + positions."""

    tokens: tuple[str, ...]
    words: Tensor  # (seq_len, d_model), float64, times the model's embedding scale
    positions: Tensor  # (seq_len, d_model), float64


def embed(model: TranslationModel, text: str, *, most_tokens: int) -> Embedded:
    """Look up a sentence; what exceeds most_tokens is cut off before the end token.

    Raises: ValueError if most_tokens is below 1, or the model is no Marian model.
    """
    if model.facts.family != "marian":
        raise ValueError(f"family ({model.facts.family!r}) must be 'marian'")
    if most_tokens < 1:
        raise ValueError(f"most_tokens ({most_tokens}) must be at least 1")
    *said, end = model.tokenizer(text).input_ids
    ids = [*said[: most_tokens - 1], end]
    encoder = model.network.get_encoder()
    with torch.inference_mode():
        words = encoder.embed_tokens(torch.tensor(ids)).double() * model.facts.embedding_scale
        positions = encoder.embed_positions(torch.Size((1, len(ids)))).double()
    return Embedded(tuple(model.tokenizer.convert_ids_to_tokens(ids)), words, positions)


def encoder_layers(model: TranslationModel) -> tuple[Layer, ...]:
    """The self-attention of every encoder layer, without W_O's bias and what treats each word alone.

    Raises: ValueError if the model is no Marian model.
    """
    heads = range(model.facts.num_heads)
    return tuple(
        layer_of([encoder_head(model, layer, head) for head in heads]) for layer in range(model.facts.encoder_layers)
    )


def cosines(vectors: Tensor) -> Tensor:
    """The cosine of the angle between each vector and each other.

    Shapes: vectors (seq_len, d_model) → (seq_len, seq_len).
    """
    unit: Tensor = vectors / vectors.norm(dim=-1, keepdim=True)
    return unit @ unit.T  # (seq_len, seq_len)
