"""A language model of characters, small enough to be trained while one waits, and to be read.

Layers of masked attention and feed-forward blocks, normalised before each block as in GPT-2 (Radford et al. 2019,
section 2.3). What the experiments vary is passed in: who may look at whom, and how positions are told.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor, nn

from core.attention import AttentionTrace, scaled_dot_product_attention
from core.checks import check_divisible, check_even, check_sizes
from core.heads import merge_heads, split_heads
from core.positions.rope import Pairing, rotate
from core.positions.scalings import Scaled, Unscaled
from core.positions.sinusoidal import sinusoidal_encoding
from core.transformer import FeedForward, NormPlace, Residual

STD = 0.02  # of all weights before training, as in GPT-2
PAIRING = Pairing.HALF_SPLIT  # of RoPE


class Positions(StrEnum):
    """How the model is told where a character stands."""

    NONE = "none"
    SINUSOIDAL = "sinusoidal"  # added to the embeddings, computed
    LEARNT = "learnt"  # added to the embeddings, a table of parameters: it ends where training ended
    ROPE = "rope"  # queries and keys are turned


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The sizes and the choices. Raises: ValueError if they do not fit together."""

    vocab_size: int
    num_layers: int = 2
    d_model: int = 64
    num_heads: int = 4
    positions: Positions = Positions.SINUSOIDAL
    max_len: int = 64  # rows of the table of learnt positions
    rope_base: float = 10000.0

    def __post_init__(self) -> None:
        check_sizes(
            vocab_size=self.vocab_size,
            num_layers=self.num_layers,
            d_model=self.d_model,
            num_heads=self.num_heads,
            max_len=self.max_len,
        )
        check_divisible("d_model", self.d_model, "num_heads", self.num_heads)
        if self.positions is Positions.SINUSOIDAL:
            check_even("d_model", self.d_model)
        if self.positions is Positions.ROPE:
            check_even("head_dim", self.head_dim)

    @property
    def head_dim(self) -> int:
        return self.d_model // self.num_heads


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """By how much RoPE turns queries and keys: tables as `rotate` wants them, the attention factor already in them."""

    cos: Tensor  # (seq_len, head_dim / 2), float32
    sin: Tensor

    @classmethod
    def of(cls, scaled: Scaled, seq_len: int) -> "Turns":
        tables = scaled.tables(torch.arange(seq_len))
        factor = scaled.attention_factor
        return cls((tables.cos * factor).float(), (tables.sin * factor).float())


class SelfAttention(nn.Module):
    """Multi-head self-attention; with RoPE queries and keys are turned before they meet."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x: Tensor, attend_mask: Tensor, turns: Turns | None) -> Tensor:
        output = self.trace(x, attend_mask, turns).output
        result: Tensor = self.o(merge_heads(output))  # (batch, seq_len, d_model)
        return result

    def trace(self, x: Tensor, attend_mask: Tensor, turns: Turns | None) -> AttentionTrace:
        """What every head does with x (batch, seq_len, d_model), before the heads are merged."""
        q, k, v = (split_heads(part(x), self.num_heads) for part in (self.q, self.k, self.v))
        # each (batch, num_heads, seq_len, head_dim)
        if turns is not None:
            q, k = (rotate(part, turns.cos, turns.sin, pairing=PAIRING) for part in (q, k))
        return scaled_dot_product_attention(q, k, v, attend_mask=attend_mask)


class Layer(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d_model = config.d_model
        self.attention = Residual(SelfAttention(d_model, config.num_heads), d_model, NormPlace.PRE)
        self.feed_forward = Residual(FeedForward(d_model, 4 * d_model), d_model, NormPlace.PRE)

    def forward(self, x: Tensor, attend_mask: Tensor, turns: Turns | None) -> Tensor:
        x = self.attention(x, attend_mask, turns)
        x = self.feed_forward(x)
        return x


class CharacterModel(nn.Module):
    """From characters to the logits of what follows each of them."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        if config.positions is Positions.LEARNT:
            self.positions = nn.Embedding(config.max_len, config.d_model)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_layers))
        self.norm = nn.LayerNorm(config.d_model)
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=False)

    def forward(self, characters: Tensor, attend_mask: Tensor, *, scaled: Scaled | None = None) -> Tensor:
        """The logits of the next character at every position.

        scaled: another reading of RoPE's positions than that of the training.
        Shapes: characters int64 (batch, seq_len), attend_mask bool (seq_len, seq_len) → (batch, seq_len, vocab_size).
        Raises: ValueError if learnt positions end before seq_len, or `scaled` is given without RoPE.
        """
        config, seq_len = self.config, characters.shape[-1]
        x = self.embedding(characters)  # (batch, seq_len, d_model)
        turns = None
        match config.positions:
            case Positions.SINUSOIDAL:  # at the size of the embeddings, which begin small
                x = x + math.sqrt(2) * STD * sinusoidal_encoding(seq_len, config.d_model).to(x.dtype)
            case Positions.LEARNT:
                if seq_len > config.max_len:
                    raise ValueError(f"seq_len ({seq_len}) must be at most max_len ({config.max_len})")
                x = x + self.positions.weight[:seq_len]
            case Positions.ROPE:
                turns = Turns.of(scaled or Unscaled().apply(config.head_dim, base=config.rope_base), seq_len)
        if scaled is not None and config.positions is not Positions.ROPE:
            raise ValueError(f"scaled must be None with positions ({config.positions})")
        for layer in self.layers:
            x = layer(x, attend_mask, turns)  # (batch, seq_len, d_model)
        logits: Tensor = self.output(self.norm(x))  # (batch, seq_len, vocab_size)
        return logits


def new_model(config: ModelConfig, *, generator: torch.Generator) -> CharacterModel:
    """A model as it is before training: normal weights, no biases.

    What two configurations have in common gets the same numbers from the same generator: positions are drawn last.
    """
    model = CharacterModel(config)
    tables = [module for module in model.modules() if isinstance(module, nn.Linear | nn.Embedding)]
    if config.positions is Positions.LEARNT:
        tables.sort(key=lambda table: table is model.positions)
    for table in tables:
        nn.init.normal_(table.weight, std=STD, generator=generator)
        if isinstance(table, nn.Linear) and table.bias is not None:
            nn.init.zeros_(table.bias)
    return model


def next_character_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy of every prediction, in nats.

    Shapes: logits (batch, seq_len, vocab_size), targets int64 (batch, seq_len) → (batch, seq_len).
    """
    return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").view_as(targets)
