"""The heads of a real encoder: their projections, and what they read."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from core.checks import check_between
from core.models import TranslationModel
from core.projections import Head, Projection, run_head
from core.scaling import entropies


@dataclass(frozen=True, slots=True, eq=False)
class EncoderInputs:
    """A sentence as the attention of every encoder layer reads it."""

    tokens: tuple[str, ...]
    states: Tensor  # (num_layers, seq_len, d_model), float64
    was_cut: bool  # it had more tokens than that


@dataclass(frozen=True, slots=True)
class HeadEntropies:
    """How widely real heads look, in bits, meaned over the layers, heads and tokens of one sentence."""

    scaled: float
    unscaled: float
    heads: int


def encoder_inputs(model: TranslationModel, text: str, *, most_tokens: int) -> EncoderInputs:
    """Read a sentence with the model's encoder; what exceeds most_tokens is cut off before the end token.

    In a Marian model a layer's attention reads what the layer gets, without a normalisation before it.
    Raises: ValueError if the model is no Marian model.
    """
    _check_family(model)
    *said, end = model.tokenizer(text).input_ids
    ids = [*said[: most_tokens - 1], end]  # not by truncation=True: that would change the tokenizer for all threads
    with torch.inference_mode():
        states = model.network.get_encoder()(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
    stacked = torch.cat(states[:-1]).double()  # (num_layers, seq_len, d_model); the last is the encoder's output
    tokens = tuple(model.tokenizer.convert_ids_to_tokens(ids))
    return EncoderInputs(tokens, stacked, was_cut=len(said) > most_tokens - 1)


def encoder_head(model: TranslationModel, layer: int, head: int) -> Head:
    """The projections of one head of the encoder, in float64; layer and head are counted from 0.

    W_O's bias belongs to all heads of the layer together, so no head has it.
    Raises: ValueError if there is no such layer or head, or the model is no Marian model.
    """
    _check_family(model)
    facts = model.facts
    check_between("layer", layer, 0, facts.encoder_layers - 1)
    check_between("head", head, 0, facts.num_heads - 1)
    attention = model.network.get_encoder().layers[layer].self_attn
    mine = slice(head * facts.head_dim, (head + 1) * facts.head_dim)
    q, k, v = (_rows(getattr(attention, name), mine) for name in ("q_proj", "k_proj", "v_proj"))
    weight_o = attention.out_proj.weight.detach()[:, mine].double().T  # (head_dim, d_model)
    return Head(q, k, v, Projection(weight_o))


def _rows(linear: Any, mine: slice) -> Projection:
    """A head's part of a torch.nn.Linear whose outputs are those of all heads, one after the other."""
    weight, bias = linear.weight.detach()[mine].double(), linear.bias.detach()[mine].double()
    return Projection(weight.T, bias)  # (d_model, head_dim), (head_dim,)


def measure_entropies(model: TranslationModel, text: str, *, most_tokens: int) -> HeadEntropies:
    """The entropy of all heads of the encoder on a sentence, with the scaling and without it."""
    read = encoder_inputs(model, text, most_tokens=most_tokens)
    facts = model.facts
    found = [
        [
            float(entropies(run_head(x, encoder_head(model, layer, head), scaled=scaled).weights).mean())
            for layer, x in enumerate(read.states)
            for head in range(facts.num_heads)
        ]
        for scaled in (True, False)
    ]
    scaled_mean, unscaled_mean = (sum(each) / len(each) for each in found)
    return HeadEntropies(scaled_mean, unscaled_mean, len(found[0]))


def _check_family(model: TranslationModel) -> None:
    if model.facts.family != "marian":
        raise ValueError(f"family ({model.facts.family!r}) must be 'marian'")
