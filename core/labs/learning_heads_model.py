"""One attention layer, and nothing else that could look anything up: its answers are read from its output alone.

Tokens are sums of the vectors of their parts. What the heads have fetched goes through W_O and, if wanted, through an
MLP, to one set of logits for each wish. There is no residual connection: what is not fetched is not known.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention import AttentionTrace, scaled_dot_product_attention
from core.checks import check_divisible, check_sizes
from core.heads import merge_heads, split_heads
from core.labs.learning_heads_task import TAGS, table_rows

WIDENING = 4  # of the MLP, as in Vaswani et al. 2017


@dataclass(frozen=True, slots=True, eq=False)
class Mlp:
    """x + relu(x · up + bias) · down."""

    up: Tensor  # (d_model, 4 · d_model)
    bias: Tensor  # (4 · d_model,)
    down: Tensor  # (4 · d_model, d_model)

    def __call__(self, x: Tensor) -> Tensor:
        return x + torch.relu(x @ self.up + self.bias) @ self.down  # (…, d_model)


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """All that is trained. None of the shapes depends on num_heads: it only says how they are cut."""

    num_heads: int
    look_ups: int
    table: Tensor  # (rows, d_model), a vector for every part of a token
    q: Tensor  # (d_model, d_model)
    k: Tensor  # (d_model, d_model)
    v: Tensor  # (d_model, d_model)
    o: Tensor  # (d_model, d_model)
    answer: Tensor  # (d_model, look_ups · TAGS)
    mlp: Mlp | None

    @property
    def parameters(self) -> tuple[Tensor, ...]:
        behind = () if self.mlp is None else (self.mlp.up, self.mlp.bias, self.mlp.down)
        return (self.table, self.q, self.k, self.v, self.o, self.answer, *behind)

    @property
    def size(self) -> int:
        """How many numbers are trained."""
        return sum(parameter.numel() for parameter in self.parameters)

    def double(self) -> "Model":
        """The same numbers in float64, to be measured; nothing of it is trained."""
        table, q, k, v, o, answer, *behind = (parameter.detach().double() for parameter in self.parameters)
        return Model(self.num_heads, self.look_ups, table, q, k, v, o, answer, Mlp(*behind) if behind else None)


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """What a model did with a batch."""

    trace: AttentionTrace  # scores and weights (batch, num_heads, seq_len, seq_len)
    logits: Tensor  # (batch, seq_len, look_ups, TAGS)


def new_model(d_model: int, num_heads: int, look_ups: int, *, mlp: bool, generator: torch.Generator) -> Model:
    """Normal weights that keep the variance; the same for every num_heads, and what an MLP adds is drawn last.

    Raises: ValueError if d_model or num_heads is less than 1, or d_model is not a multiple of num_heads.
    """
    check_sizes(d_model=d_model, num_heads=num_heads)
    check_divisible("d_model", d_model, "num_heads", num_heads)

    def draw(rows: int, columns: int, fan_in: int) -> Tensor:
        return (torch.randn(rows, columns, generator=generator) / math.sqrt(fan_in)).requires_grad_()

    table = draw(table_rows(look_ups), d_model, 2 + look_ups)  # a token is the sum of 2 + look_ups rows
    q, k, v, o = (draw(d_model, d_model, d_model) for _ in range(4))
    answer = draw(d_model, look_ups * TAGS, d_model)
    behind = None
    if mlp:
        wide = WIDENING * d_model
        bias = torch.zeros(wide, requires_grad=True)
        behind = Mlp(draw(d_model, wide, d_model), bias, draw(wide, d_model, wide))
    return Model(num_heads, look_ups, table, q, k, v, o, answer, behind)


def run(model: Model, parts: Tensor) -> Answered:
    """Let every token look at all tokens, and answer its wishes from what it has fetched.

    Shapes: parts int64 (batch, seq_len, 2 + look_ups).
    Source: Vaswani et al. 2017, section 3.2.2.
    """
    x = model.table[parts].sum(dim=-2)  # (batch, seq_len, d_model)
    q, k, v = (split_heads(x @ weight, model.num_heads) for weight in (model.q, model.k, model.v))
    trace = scaled_dot_product_attention(q, k, v)  # output (batch, num_heads, seq_len, head_dim)
    result = merge_heads(trace.output) @ model.o  # (batch, seq_len, d_model)
    if model.mlp is not None:
        result = model.mlp(result)  # (batch, seq_len, d_model)
    every = result @ model.answer  # (batch, seq_len, look_ups · TAGS)
    return Answered(trace, every.reshape(*every.shape[:-1], model.look_ups, TAGS))
