"""Switch heads of a model off, and see what it says without them.

A head adds its output, times its columns of the output projection, to what the layer gives. So a head is off where
these columns are zero. Hooks on the model, or other weights in it, would be seen by everyone who shares it: here a
private network is built around the shared model's tensors; only output projections with zeroed columns are its own.
"""

import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from transformers import PreTrainedModel

from core.checks import check_between
from core.decoding.decoder import Decoder
from core.decoding.translation import Translator, encode
from core.heads_gallery import HeadName, Kind
from core.models import TranslationModel
from core.models.catalogue import Family

OUT_PROJECTIONS = {
    Family.MARIAN: {
        Kind.ENCODER: "model.encoder.layers.{layer}.self_attn.out_proj.weight",
        Kind.DECODER: "model.decoder.layers.{layer}.self_attn.out_proj.weight",
        Kind.CROSS: "model.decoder.layers.{layer}.encoder_attn.out_proj.weight",
    },
    Family.T5: {
        Kind.ENCODER: "encoder.block.{layer}.layer.0.SelfAttention.o.weight",
        Kind.DECODER: "decoder.block.{layer}.layer.0.SelfAttention.o.weight",
        Kind.CROSS: "decoder.block.{layer}.layer.1.EncDecAttention.o.weight",
    },
}
"""Where the matrix lies, (d_model, num_heads · head_dim), that all heads of a layer share."""


def all_heads(model: TranslationModel) -> tuple[HeadName, ...]:
    """Every head of a model: encoder, decoder, cross; layer by layer."""
    facts = model.facts
    layers = {Kind.ENCODER: facts.encoder_layers, Kind.DECODER: facts.decoder_layers, Kind.CROSS: facts.decoder_layers}
    return tuple(
        HeadName(kind, layer, head) for kind in Kind for layer in range(layers[kind]) for head in range(facts.num_heads)
    )


def switch_off(model: TranslationModel, off: Collection[HeadName]) -> TranslationModel:
    """The model without these heads; the model itself if there are none.

    It takes about 20 ms for the bundled model, and little memory: all tensors but the changed ones are shared. The
    model that is given stays as it is, at every moment, so other threads may use it meanwhile.

    Raises: ValueError if the model has no such head.
    """
    if not off:
        return model
    known = set(all_heads(model))
    tensors = model.network.state_dict()
    for name in sorted(off):
        if name not in known:
            raise ValueError(f"off ({name.kind}, layer {name.layer}, head {name.head}) must be a head of the model")
    for kind, layer in sorted({(name.kind, name.layer) for name in off}):
        place = OUT_PROJECTIONS[model.facts.family][kind].format(layer=layer)
        heads = [name.head for name in off if (name.kind, name.layer) == (kind, layer)]
        tensors[place] = _without(tensors[place], heads, model.facts.head_dim)
    return replace(model, network=_private(model.network, tensors))


def _without(weight: Tensor, heads: Sequence[int], head_dim: int) -> Tensor:
    """A copy of an output projection whose columns for these heads are zero."""
    changed = weight.clone()
    for head in heads:
        changed[:, head * head_dim : (head + 1) * head_dim] = 0.0
    return changed


def _private(network: PreTrainedModel, tensors: dict[str, Tensor]) -> PreTrainedModel:
    """A network of the same architecture with these tensors, which are not copied."""
    with torch.device("meta"):  # shapes only: nothing is allocated
        private = type(network)(copy.deepcopy(network.config))
    private.load_state_dict(tensors, assign=True)
    private.generation_config = copy.deepcopy(network.generation_config)
    private.requires_grad_(False)
    private.train(False)
    return private


# ------------------------------------------------------------------------------------------ what comes next, otherwise


@dataclass(frozen=True, slots=True)
class Shift:
    """A token that could come next: its probability with all heads, and without some."""

    token_id: int
    token: str
    before: float
    after: float


@torch.inference_mode()
def next_probabilities(model: Translator, text: str, said: Sequence[int]) -> Tensor:
    """How probable each token is after what has been said, ids without the start token; (vocab_size,) float32.

    Raises: ValueError if text has no tokens or too many; UnusableNetworkError if the network gives NaN.
    """
    source_ids = encode(model, text)
    if not source_ids:
        raise ValueError(f"text ({text!r}) must hold at least one token")
    decoder = Decoder(model.network, source_ids)
    prediction = decoder.advance([decoder.rules.start_id])
    for token_id in said:
        prediction = decoder.advance([token_id])
    return prediction.log_probs[0].exp()


def compare_next(
    model: TranslationModel, without: TranslationModel, text: str, said: Sequence[int], *, most: int = 8
) -> tuple[Shift, ...]:
    """The most probable next tokens of both models after the same words, sorted by probability in the first.

    most: how many of each; tokens that are among those of one model only are given for both.
    Raises: ValueError as `next_probabilities` does, or if most is not from 1 to vocab_size.
    """
    before, after = (next_probabilities(each, text, said) for each in (model, without))
    check_between("most", most, 1, len(before))
    chosen = {token_id for each in (before, after) for token_id in each.topk(most).indices.tolist()}
    ordered = sorted(chosen, key=lambda token_id: float(before[token_id]), reverse=True)
    tokens = model.tokenizer.convert_ids_to_tokens(ordered)
    return tuple(
        Shift(token_id, token, float(before[token_id]), float(after[token_id]))
        for token_id, token in zip(ordered, tokens, strict=True)
    )
