"""One attention layer of one head, whose queries, keys and values share their matrices, or have none.

A token is the sum of the vectors of its name and of its tag. What the head fetches goes through W_O to the logits of
the answer. There is no position; and without the skip connection what a token itself is reaches its answer only by its
query, which decides where it looks, or by a look at itself.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention import AttentionTrace, scaled_dot_product_attention
from core.checks import check_sizes
from core.labs.three_matrices_task import NAMES, TAGS, Batch
from core.projections import Sharing


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """All that is trained. Where matrices are shared, q, k and v hold the same tensor; None is no matrix at all."""

    names: Tensor  # (NAMES, d_model)
    tags: Tensor  # (TAGS, d_model)
    q: Tensor | None  # (d_model, head_dim)
    k: Tensor | None  # (d_model, head_dim)
    v: Tensor | None  # (d_model, head_dim)
    o: Tensor  # (head_dim, d_model); (d_model, d_model) if nothing is projected
    answer: Tensor  # (d_model, TAGS)
    skip: bool  # whether the token itself is added to what it has fetched

    @property
    def projections(self) -> tuple[Tensor, ...]:
        """The different ones of q, k and v."""
        return tuple({id(each): each for each in (self.q, self.k, self.v) if each is not None}.values())

    @property
    def parameters(self) -> tuple[Tensor, ...]:
        return (self.names, self.tags, *self.projections, self.o, self.answer)


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """What a model did with a batch."""

    trace: AttentionTrace  # scores and weights (batch, 1, seq_len, seq_len)
    logits: Tensor  # (batch, seq_len, TAGS)


def new_model(sharing: Sharing, d_model: int, head_dim: int, *, skip: bool, generator: torch.Generator) -> Model:
    """Normal weights that keep the variance; variants begin with the same numbers where they have the same matrices.

    Raises: ValueError if d_model or head_dim is less than 1.
    """
    check_sizes(d_model=d_model, head_dim=head_dim)

    def draw(rows: int, columns: int, fan_in: int) -> Tensor:
        return (torch.randn(rows, columns, generator=generator) / math.sqrt(fan_in)).requires_grad_()

    names, tags = draw(NAMES, d_model, 2), draw(TAGS, d_model, 2)  # a token is the sum of two rows
    answer = draw(d_model, TAGS, d_model)
    q, k, v = (draw(d_model, head_dim, d_model) for _ in range(3))
    if sharing is Sharing.NONE:
        return Model(names, tags, None, None, None, draw(d_model, d_model, d_model), answer, skip)
    if sharing in (Sharing.QUERY_IS_KEY, Sharing.ONE):
        k = q
    if sharing in (Sharing.VALUE_IS_KEY, Sharing.ONE):
        v = k
    return Model(names, tags, q, k, v, draw(head_dim, d_model, head_dim), answer, skip)


def sizes(sharing: Sharing, d_model: int, head_dim: int) -> tuple[int, int]:
    """How many numbers are trained: of the projections, and in all.

    Raises: ValueError if d_model or head_dim is less than 1.
    """
    model = new_model(sharing, d_model, head_dim, skip=False, generator=torch.Generator())
    projections, every = (sum(each.numel() for each in group) for group in (model.projections, model.parameters))
    return projections, every


def run(model: Model, batch: Batch, *, look_at_self: bool) -> Answered:
    """Let every token look at all tokens, or at all others, and answer from what it has fetched.

    Source: Vaswani et al. 2017, section 3.2.1.
    """
    x = model.names[batch.names] + model.tags[batch.tags]  # (batch, seq_len, d_model)
    q, k, v = (x if each is None else x @ each for each in (model.q, model.k, model.v))  # (batch, seq_len, head_dim)
    attend_mask = None if look_at_self else ~torch.eye(x.shape[-2], dtype=torch.bool)  # (seq_len, seq_len)
    trace = scaled_dot_product_attention(q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1), attend_mask=attend_mask)
    result = trace.output.squeeze(1) @ model.o  # (batch, seq_len, d_model)
    if model.skip:
        result = result + x
    return Answered(trace, result @ model.answer)  # (batch, seq_len, TAGS)
