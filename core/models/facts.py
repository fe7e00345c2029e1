"""What a loaded network is, read from its modules and from the configuration that built them."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from transformers import MarianMTModel, PreTrainedModel, PreTrainedTokenizerFast, T5ForConditionalGeneration

from core.models.catalogue import Family


class Positions(StrEnum):
    """How a network knows the order of its tokens."""

    SINUSOIDAL = "sinusoidal"  # a vector of sines, then cosines, is added to each embedding
    RELATIVE = "relative"  # a learned number per head and distance is added to each score


class Norm(StrEnum):
    """How, and where, a layer keeps its numbers in bounds."""

    LAYER_NORM_AFTER = "layer_norm_after"  # after each block and its skip connection, as in the original Transformer
    RMS_NORM_BEFORE = "rms_norm_before"  # before each block, without mean and bias


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The structure of an encoder–decoder; ids and tokens are those of its tokenizer."""

    family: Family
    encoder_layers: int
    decoder_layers: int
    d_model: int
    d_ff: int  # of the encoder
    decoder_d_ff: int
    num_heads: int
    head_dim: int
    vocab_size: int
    parameters: int  # learned numbers, each counted once
    positions: Positions
    max_positions: int | None  # longest input, in tokens; None: no limit
    relative_buckets: int | None  # how many distances a head tells apart, and from where on it tells none apart
    relative_max_distance: int | None
    activation: str
    gated: bool  # the feed-forward block multiplies its activation by a second projection
    biases: bool  # the projections of attention add a bias
    norm: Norm
    scaled_scores: bool  # q·k is divided by √head_dim
    embedding_scale: float  # embeddings are multiplied by it
    output_scale: float  # the decoder's last vector is multiplied by it before it scores the vocabulary
    tied_embeddings: bool  # the embedding of tokens also scores the next token
    start_id: int  # what the decoder reads first
    start_token: str
    end_id: int
    end_token: str
    pad_id: int
    pad_token: str
    forbidden_ids: tuple[int, ...]  # tokens that the network can never say


def read_facts(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> ModelFacts:
    """Look the facts up in a Marian or T5 network.

    Raises: TypeError if it is neither.
    """
    if isinstance(network, MarianMTModel):
        return _marian_facts(network, tokenizer)
    if isinstance(network, T5ForConditionalGeneration):
        return _t5_facts(network, tokenizer)
    raise TypeError(f"network ({type(network).__name__}) must be a MarianMTModel or a T5ForConditionalGeneration")


def _marian_facts(network: MarianMTModel, tokenizer: PreTrainedTokenizerFast) -> ModelFacts:
    encoder, decoder = network.model.encoder, network.model.decoder
    attention = encoder.layers[0].self_attn
    return ModelFacts(
        family=Family.MARIAN,
        encoder_layers=len(encoder.layers),
        decoder_layers=len(decoder.layers),
        d_model=attention.embed_dim,
        d_ff=encoder.layers[0].fc1.out_features,
        decoder_d_ff=decoder.layers[0].fc1.out_features,
        num_heads=attention.num_heads,
        head_dim=attention.head_dim,
        vocab_size=network.lm_head.out_features,
        parameters=_count(network, "embed_positions"),  # computed, not learned
        positions=Positions.SINUSOIDAL,
        max_positions=encoder.embed_positions.num_embeddings,
        relative_buckets=None,
        relative_max_distance=None,
        activation=network.config.activation_function,
        gated=False,
        biases=attention.q_proj.bias is not None,
        norm=Norm.LAYER_NORM_AFTER,
        scaled_scores=math.isclose(attention.scaling, attention.head_dim**-0.5),
        embedding_scale=encoder.embed_scale,
        output_scale=1.0,
        tied_embeddings=network.lm_head.weight is network.model.shared.weight,
        forbidden_ids=tuple(network.final_logits_bias[0].isneginf().nonzero().flatten().tolist()),
        **_tokens(network, tokenizer),
    )


def _t5_facts(network: T5ForConditionalGeneration, tokenizer: PreTrainedTokenizerFast) -> ModelFacts:
    encoder: Any = network.encoder
    decoder: Any = network.decoder
    attention = encoder.block[0].layer[0].SelfAttention
    widths = [stack.block[0].layer[-1].DenseReluDense.wo.in_features for stack in (encoder, decoder)]
    return ModelFacts(
        family=Family.T5,
        encoder_layers=len(encoder.block),
        decoder_layers=len(decoder.block),
        d_model=attention.d_model,
        d_ff=widths[0],
        decoder_d_ff=widths[1],
        num_heads=attention.n_heads,
        head_dim=attention.key_value_proj_dim,
        vocab_size=network.lm_head.out_features,
        parameters=_count(network),
        positions=Positions.RELATIVE,
        max_positions=None,
        relative_buckets=attention.relative_attention_num_buckets,
        relative_max_distance=attention.relative_attention_max_distance,
        activation=network.config.dense_act_fn,
        gated=network.config.is_gated_act,
        biases=attention.q.bias is not None,
        norm=Norm.RMS_NORM_BEFORE,
        scaled_scores=math.isclose(attention.scaling, attention.key_value_proj_dim**-0.5),
        embedding_scale=1.0,
        output_scale=network.model_dim**-0.5 if network.config.scale_decoder_outputs else 1.0,
        tied_embeddings=network.lm_head.weight is network.shared.weight,
        forbidden_ids=(),
        **_tokens(network, tokenizer),
    )


def _tokens(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> dict[str, Any]:
    config: Any = network.config
    ids = {"start": config.decoder_start_token_id, "end": config.eos_token_id, "pad": config.pad_token_id}
    texts = {f"{name}_token": tokenizer.convert_ids_to_tokens(number) for name, number in ids.items()}
    return {f"{name}_id": number for name, number in ids.items()} | texts


def _count(network: PreTrainedModel, without: str | None = None) -> int:
    return sum(p.numel() for name, p in network.named_parameters() if without is None or without not in name)
