"""Hide one token from a model, and see how far its output moves: beside the attention that the token had received.

Source: Jain & Wallace 2019, "Attention is not Explanation"; Wiegreffe & Pinter 2019 answer that it depends on what an
explanation is to be.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from core.explorer import Reading, run
from core.models import AnyModel
from core.models import Kind as Halves


@dataclass(frozen=True, slots=True)
class Hidden:
    """What a token had received, and what its absence changes."""

    place: int
    special: bool  # no token of the text
    received: float  # mean weight that other tokens give it, over layers, heads and the queries that can see it
    moved: float  # how far the output moves when nothing may look at it


def received(weights: Tensor, *, causal: bool) -> Tensor:
    """The mean weight that each token gets from the others that can see it; 0 where none can.

    Shape: (num_layers, num_heads, seq_len, seq_len) → float64 (seq_len,).
    """
    seq_len = weights.shape[-1]
    visible = torch.ones(seq_len, seq_len, dtype=torch.bool)
    if causal:
        visible = visible.tril()
    visible.fill_diagonal_(False)
    mean = weights.double().mean(dim=(0, 1))  # (seq_len, seq_len)
    return torch.where(visible, mean, 0.0).sum(dim=0) / visible.sum(dim=0).clamp_min(1)


@torch.inference_mode()
def hide_each(
    model: AnyModel,
    reading: Reading,
    *,
    on_progress: Callable[[int, int], None] = lambda *_: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[Hidden, ...]:
    """Hide every token in turn, special ones too. Empty if it was cancelled, or if there is only one token.

    The output of an encoder is the mean of the last vectors of all tokens but the hidden one; it has moved by the
    length of the difference, divided by its own. That of a decoder is its distribution over the next token; it has
    moved by half the sum of all differences (total variation, 0 to 1).
    """
    causal = model.facts.family.kind is Halves.DECODER
    weights = received(reading.maps[0].weights, causal=causal)
    count, found = len(reading.ids), list[Hidden]()
    for place in range(count if count > 1 else 0):
        on_progress(place, count)
        if cancelled():
            return ()
        states, _weights = run(model, reading.ids, reading.parts, hidden=place)
        before, after = reading.states[-1], states[-1]  # (seq_len, d_model)
        moved = _moved_next(model, before, after) if causal else _moved_mean(before, after, place)
        found.append(Hidden(place, reading.special[place], float(weights[place]), moved))
    return tuple(found)


def _moved_mean(before: Tensor, after: Tensor, hidden: int) -> float:
    others = [place for place in range(len(before)) if place != hidden]
    old, new = before[others].double().mean(dim=0), after[others].double().mean(dim=0)  # (d_model,)
    return float((new - old).norm() / old.norm())


def _moved_next(model: AnyModel, before: Tensor, after: Tensor) -> float:
    head: Any = model.network.lm_head
    old, new = (head(states[-1]).double().softmax(dim=-1) for states in (before, after))  # (vocab_size,)
    return float((new - old).abs().sum() / 2)


def rank_correlation(one: Tensor, other: Tensor) -> float | None:
    """Spearman's: the correlation of the ranks, equal values sharing theirs; None where one side is constant.

    Shapes: (n,) each.
    Raises: ValueError if the lengths differ.
    """
    if one.shape != other.shape or one.ndim != 1:
        raise ValueError(f"one {tuple(one.shape)} and other {tuple(other.shape)} must be of one shape (n,)")
    first, second = _ranks(one), _ranks(other)
    first, second = first - first.mean(), second - second.mean()
    size = first.norm() * second.norm()
    return float(first @ second / size) if float(size) > 0 else None


def _ranks(values: Tensor) -> Tensor:
    below = (values[None] < values[:, None]).sum(dim=1)
    equal = (values[None] == values[:, None]).sum(dim=1)
    return (below + (equal + 1) / 2).double()  # (n,), counted from 1
