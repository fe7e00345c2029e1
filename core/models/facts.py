"""What a loaded network is, read from its modules and from the configuration that built them."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from transformers import (
    BertModel,
    DistilBertModel,
    GPT2LMHeadModel,
    MarianMTModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    T5ForConditionalGeneration,
)

from core.models.catalogue import Family


class Positions(StrEnum):
    """How a network knows the order of its tokens."""

    SINUSOIDAL = "sinusoidal"  # a vector of sines, then cosines, is added to each embedding
    RELATIVE = "relative"  # a learned number per head and distance is added to each score
    LEARNED = "learned"  # a learned vector per place is added to each embedding


class Norm(StrEnum):
    """How, and where, a layer keeps its numbers in bounds."""

    LAYER_NORM_AFTER = "layer_norm_after"  # after each block and its skip connection, as in the original Transformer
    RMS_NORM_BEFORE = "rms_norm_before"  # before each block, without mean and bias
    LAYER_NORM_BEFORE = "layer_norm_before"  # before each block, and once more after the last


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


@dataclass(frozen=True, slots=True)
class TextFacts:
    """The structure of a model with one stack of layers: an encoder, or a decoder on its own."""

    family: Family
    num_layers: int
    d_model: int
    d_ff: int
    num_heads: int
    head_dim: int
    vocab_size: int
    parameters: int  # learned numbers, each counted once
    positions: Positions
    max_positions: int  # longest input, in tokens
    activation: str
    biases: bool  # the projections of attention add a bias
    norm: Norm
    scaled_scores: bool  # q·k is divided by √head_dim
    pooler: bool  # one more layer on the first token's vector, after the last
    parts: int  # how many parts of a text have a vector of their own, added to each embedding; 0: none
    tied_embeddings: bool  # the embedding of tokens also scores the next token; False for an encoder
    special: tuple[tuple[str, int, str], ...]  # what it is for, id, token: pad, cls, sep, mask, eos


def read_text_facts(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> TextFacts:
    """Look the facts up in a BERT, DistilBERT or GPT-2 network.

    Raises: TypeError if it is none of them.
    """
    if isinstance(network, BertModel):
        return _bert_facts(network, tokenizer)
    if isinstance(network, DistilBertModel):
        return _distilbert_facts(network, tokenizer)
    if isinstance(network, GPT2LMHeadModel):
        return _gpt2_facts(network, tokenizer)
    raise TypeError(f"network ({type(network).__name__}) must be a BertModel, a DistilBertModel or a GPT2LMHeadModel")


def _bert_facts(network: BertModel, tokenizer: PreTrainedTokenizerFast) -> TextFacts:
    layer: Any = network.encoder.layer[0]
    attention = layer.attention.self
    return TextFacts(
        family=Family.BERT,
        num_layers=len(network.encoder.layer),
        d_model=network.embeddings.word_embeddings.embedding_dim,
        d_ff=layer.intermediate.dense.out_features,
        num_heads=attention.num_attention_heads,
        head_dim=attention.attention_head_size,
        vocab_size=network.embeddings.word_embeddings.num_embeddings,
        parameters=_count(network),
        positions=Positions.LEARNED,
        max_positions=network.embeddings.position_embeddings.num_embeddings,
        activation=network.config.hidden_act,
        biases=attention.query.bias is not None,
        norm=Norm.LAYER_NORM_AFTER,
        scaled_scores=math.isclose(attention.scaling, attention.attention_head_size**-0.5),
        pooler=network.pooler is not None,
        parts=network.embeddings.token_type_embeddings.num_embeddings,
        tied_embeddings=False,
        special=_special(tokenizer),
    )


def _distilbert_facts(network: DistilBertModel, tokenizer: PreTrainedTokenizerFast) -> TextFacts:
    layer: Any = network.transformer.layer[0]
    attention = layer.attention
    return TextFacts(
        family=Family.DISTILBERT,
        num_layers=len(network.transformer.layer),
        d_model=attention.dim,
        d_ff=layer.ffn.lin1.out_features,
        num_heads=attention.n_heads,
        head_dim=attention.attention_head_size,
        vocab_size=network.embeddings.word_embeddings.num_embeddings,
        parameters=_count(network),
        positions=Positions.LEARNED,
        max_positions=network.embeddings.position_embeddings.num_embeddings,
        activation=network.config.activation,
        biases=attention.q_lin.bias is not None,
        norm=Norm.LAYER_NORM_AFTER,
        scaled_scores=math.isclose(attention.scaling, attention.attention_head_size**-0.5),
        pooler=False,
        parts=0,
        tied_embeddings=False,
        special=_special(tokenizer),
    )


def _gpt2_facts(network: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast) -> TextFacts:
    body: Any = network.transformer
    attention = body.h[0].attn
    return TextFacts(
        family=Family.GPT2,
        num_layers=len(body.h),
        d_model=attention.embed_dim,
        d_ff=body.h[0].mlp.c_fc.nf,
        num_heads=attention.num_heads,
        head_dim=attention.head_dim,
        vocab_size=network.lm_head.out_features,
        parameters=_count(network),
        positions=Positions.LEARNED,
        max_positions=body.wpe.num_embeddings,
        activation=network.config.activation_function,
        biases=attention.c_attn.bias is not None,
        norm=Norm.LAYER_NORM_BEFORE,
        scaled_scores=math.isclose(attention.scaling, attention.head_dim**-0.5),
        pooler=False,
        parts=0,
        tied_embeddings=network.lm_head.weight is body.wte.weight,
        special=_special(tokenizer),
    )


def _special(tokenizer: PreTrainedTokenizerFast) -> tuple[tuple[str, int, str], ...]:
    roles = ("pad", "cls", "sep", "mask", "eos")
    found = ((role, getattr(tokenizer, f"{role}_token_id"), getattr(tokenizer, f"{role}_token")) for role in roles)
    return tuple((role, number, token) for role, number, token in found if token is not None)


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
