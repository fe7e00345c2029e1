"""The Transformer, small enough to be read: two stacks of layers, or one of them, and the choices that came after it.

Vaswani et al. 2017, "Attention Is All You Need", section 3 and figure 1; normalisation before each block as in Xiong et
al. 2020, "On Layer Normalization in the Transformer Architecture". There is no dropout: nothing here is trained.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor, nn

from core.attention import AttentionTrace, scaled_dot_product_attention
from core.heads import merge_heads, split_heads
from core.masks import causal_mask, combine
from core.positions.sinusoidal import sinusoidal_encoding

LEARNT_POSITION_STD = 0.02  # as BERT and GPT-2 begin


class Stacks(StrEnum):
    """What a Transformer is made of."""

    BOTH = "both"  # reads with the one, writes with the other: translation
    ENCODER = "encoder"  # reads only
    DECODER = "decoder"  # writes on


class NormPlace(StrEnum):
    """Where the vectors are normalised."""

    POST = "post"  # norm(x + block(x)), as in the original
    PRE = "pre"  # x + block(norm(x)), and once more at the end of the stack


class PositionKind(StrEnum):
    SINUSOIDAL = "sinusoidal"  # computed
    LEARNT = "learnt"  # a table of parameters


@dataclass(frozen=True, slots=True)
class TransformerConfig:
    """The sizes and the choices. Raises: ValueError if they do not fit together."""

    num_layers: int = 6  # of each stack
    d_model: int = 512
    num_heads: int = 8
    d_ff: int = 2048
    vocab_size: int = 37_000
    max_len: int = 512  # rows of a table of positions
    stacks: Stacks = Stacks.BOTH
    norm: NormPlace = NormPlace.POST
    positions: PositionKind = PositionKind.SINUSOIDAL
    tied: bool = True  # one matrix for both embeddings and the output

    def __post_init__(self) -> None:
        for name in ("num_layers", "d_model", "num_heads", "d_ff", "vocab_size", "max_len"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} ({getattr(self, name)}) must be at least 1")
        if self.d_model % self.num_heads != 0:
            raise ValueError(f"d_model ({self.d_model}) must be divisible by num_heads ({self.num_heads})")
        if self.positions is PositionKind.SINUSOIDAL and self.d_model % 2 != 0:
            raise ValueError(f"d_model ({self.d_model}) must be even for sinusoidal positions")


class Attend(nn.Module):
    """Scaled dot-product attention as a module, so that a hook can look at its trace."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor, attend_mask: Tensor | None) -> AttentionTrace:
        return scaled_dot_product_attention(q, k, v, attend_mask=attend_mask)


class MultiHeadAttention(nn.Module):
    """Queries from x, keys and values from the memory: from x itself in self-attention. Section 3.2.2."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.attend = Attend()

    def forward(self, x: Tensor, attend_mask: Tensor | None, memory: Tensor | None = None) -> Tensor:
        memory = x if memory is None else memory
        q = split_heads(self.q(x), self.num_heads)  # (batch, num_heads, seq_q, head_dim)
        k = split_heads(self.k(memory), self.num_heads)  # (batch, num_heads, seq_k, head_dim)
        v = split_heads(self.v(memory), self.num_heads)  # (batch, num_heads, seq_k, head_dim)
        output = self.attend(q, k, v, attend_mask).output  # (batch, num_heads, seq_q, head_dim)
        result: Tensor = self.o(merge_heads(output))  # (batch, seq_q, d_model)
        return result


class FeedForward(nn.Module):
    """Two matrices with a ReLU between them, for every token alone. Section 3.3."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.up, self.activation, self.down = nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.down(self.activation(self.up(x)))  # (batch, seq_len, d_model)
        return result


class Residual(nn.Module):
    """A block, the connection around it, and the normalisation before or after it."""

    def __init__(self, block: nn.Module, d_model: int, norm: NormPlace) -> None:
        super().__init__()
        self.place = norm
        self.norm, self.block = nn.LayerNorm(d_model), block

    def forward(self, x: Tensor, *others: Tensor | None) -> Tensor:
        pre = self.place is NormPlace.PRE
        result: Tensor = x + self.block(self.norm(x), *others) if pre else self.norm(x + self.block(x, *others))
        return result


class EncoderLayer(nn.Module):
    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        d_model, norm = config.d_model, config.norm
        self.self_attention = Residual(MultiHeadAttention(d_model, config.num_heads), d_model, norm)
        self.feed_forward = Residual(FeedForward(d_model, config.d_ff), d_model, norm)

    def forward(self, x: Tensor, attend_mask: Tensor | None) -> Tensor:
        x = self.self_attention(x, attend_mask)
        x = self.feed_forward(x)
        return x


class DecoderLayer(nn.Module):
    """With cross-attention if there is an encoder to look at."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        d_model, norm = config.d_model, config.norm
        self.self_attention = Residual(MultiHeadAttention(d_model, config.num_heads), d_model, norm)
        if config.stacks is Stacks.BOTH:
            self.cross_attention = Residual(MultiHeadAttention(d_model, config.num_heads), d_model, norm)
        self.feed_forward = Residual(FeedForward(d_model, config.d_ff), d_model, norm)

    def forward(
        self, x: Tensor, attend_mask: Tensor, memory: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> Tensor:
        x = self.self_attention(x, attend_mask)
        if memory is not None:
            x = self.cross_attention(x, memory_mask, memory)
        x = self.feed_forward(x)
        return x


class SinusoidalPositions(nn.Module):
    """A table of sines and cosines, which has no parameters. Section 3.5."""

    table: Tensor  # (max_len, d_model)

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        table = sinusoidal_encoding(max_len, d_model).to(torch.get_default_dtype())
        self.register_buffer("table", table, persistent=False)

    def forward(self, positions: Tensor) -> Tensor:
        return self.table[positions]  # (seq_len, d_model)


class Embedding(nn.Module):
    """Each token's vector, times √d_model, plus the vector of its position. Section 3.4."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.scale = math.sqrt(config.d_model)
        self.tokens = nn.Embedding(config.vocab_size, config.d_model)
        learnt = config.positions is PositionKind.LEARNT
        self.positions = (nn.Embedding if learnt else SinusoidalPositions)(config.max_len, config.d_model)

    def forward(self, ids: Tensor) -> Tensor:
        positions = self.positions(torch.arange(ids.shape[-1], device=ids.device))  # (seq_len, d_model)
        x: Tensor = self.tokens(ids) * self.scale + positions  # (batch, seq_len, d_model)
        return x


class Stack(nn.Module):
    """An embedding and layers; the last vectors are normalised once more where each block's are normalised before."""

    def __init__(self, config: TransformerConfig, layer: type[EncoderLayer] | type[DecoderLayer]) -> None:
        super().__init__()
        self.embedding = Embedding(config)
        self.layers = nn.ModuleList(layer(config) for _ in range(config.num_layers))
        self.norm = nn.LayerNorm(config.d_model) if config.norm is NormPlace.PRE else None

    def forward(self, ids: Tensor, *others: Tensor | None) -> Tensor:
        x: Tensor = self.embedding(ids)  # (batch, seq_len, d_model)
        for layer in self.layers:
            x = layer(x, *others)  # (batch, seq_len, d_model)
        if self.norm is not None:
            x = self.norm(x)
        return x


class Transformer(nn.Module):
    """One or two stacks, and the matrix that scores every token of the vocabulary."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        if config.stacks is not Stacks.DECODER:
            self.encoder = Stack(config, EncoderLayer)
        if config.stacks is not Stacks.ENCODER:
            self.decoder = Stack(config, DecoderLayer)
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.tie()

    def tie(self) -> None:
        """Let the embeddings and the output share one matrix, where the configuration says so."""
        if self.config.tied:
            for stack in self.stacks:
                stack.embedding.tokens.weight = self.output.weight

    @property
    def stacks(self) -> tuple[Stack, ...]:
        return tuple(module for module in self.children() if isinstance(module, Stack))

    def forward(
        self,
        source: Tensor | None = None,
        target: Tensor | None = None,
        *,
        source_mask: Tensor | None = None,
        target_mask: Tensor | None = None,
    ) -> Tensor:
        """The logits for every position of the target, or of the source if there is no decoder.

        Shapes: source and target int64 (batch, seq_source) and (batch, seq_target), each if its stack is there; masks
            bool (batch, 1, 1, seq), False where a key is padding → (batch, seq, vocab_size).
        Raises: ValueError if the input of a stack is missing, or there is no stack for an input.
        """
        wanted = {
            "source": self.config.stacks is not Stacks.DECODER,
            "target": self.config.stacks is not Stacks.ENCODER,
        }
        for name, ids in (("source", source), ("target", target)):
            if (ids is not None) is not wanted[name]:
                rule = "must be given" if wanted[name] else "must be None"
                raise ValueError(f"{name} {rule} with stacks ({self.config.stacks})")
        states: Tensor | None = None if source is None else self.encoder(source, source_mask)
        if target is not None:
            mask = causal_mask(target.shape[-1])  # (seq_target, seq_target)
            mask = mask if target_mask is None else combine(mask, target_mask)  # (batch, 1, seq_target, seq_target)
            states = self.decoder(target, mask, states, source_mask)  # (batch, seq_target, d_model)
        logits: Tensor = self.output(states)  # (batch, seq, vocab_size)
        return logits


def without_numbers(config: TransformerConfig) -> Transformer:
    """A Transformer whose tensors have shapes and no numbers: of any size at no cost. Call it under the same device.

    >>> with torch.device("meta"):
    ...     without_numbers(TransformerConfig())(torch.zeros(1, 9).long(), torch.zeros(1, 7).long()).shape
    torch.Size([1, 7, 37000])
    """
    with torch.device("meta"):
        return Transformer(config)


def random_transformer(
    config: TransformerConfig, *, generator: torch.Generator, dtype: torch.dtype = torch.float32
) -> Transformer:
    """A Transformer as it is before training: Xavier's uniform weights, no biases, unit vectors for tokens.

    Source: Glorot & Bengio 2010 for the weights; Xiong et al. 2020, section 3, starts from the same.
    """
    network = without_numbers(config).to(dtype).to_empty(device="cpu")
    network.tie()  # each module was given an empty tensor of its own
    for module in network.modules():
        if isinstance(module, nn.LayerNorm):
            module.reset_parameters()
        elif isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight, generator=generator)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, SinusoidalPositions):
            module.table.copy_(sinusoidal_encoding(config.max_len, config.d_model))
    for stack in network.stacks:  # after the output, with which they may share their numbers
        nn.init.normal_(stack.embedding.tokens.weight, std=config.d_model**-0.5, generator=generator)
        if isinstance(stack.embedding.positions, nn.Embedding):
            nn.init.normal_(stack.embedding.positions.weight, std=LEARNT_POSITION_STD, generator=generator)
    return network
