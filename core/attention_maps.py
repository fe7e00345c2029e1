"""Looking at attention weights: one layer and head, or a mean over them, and what can be said of a row in numbers."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.checks import check_between, check_sizes


def pick(attention: Tensor, *, layer: int | None = None, head: int | None = None) -> Tensor:
    """One map out of all: this layer, this head, counted from 0; None takes the mean over all of them.

    Shapes: attention (num_layers, num_heads, …) → (…).
    Raises: ValueError if there is no such layer or head.
    """
    num_layers, num_heads = attention.shape[:2]
    if layer is not None:
        check_between("layer", layer, 0, num_layers - 1)
    if head is not None:
        check_between("head", head, 0, num_heads - 1)
    layers = attention if layer is None else attention[layer : layer + 1]  # (layers, num_heads, …)
    return (layers if head is None else layers[:, head : head + 1]).mean(dim=(0, 1))


@dataclass(frozen=True, slots=True)
class Row:
    """What one query's weights say."""

    strongest: int  # index of the key with the largest weight
    weight: float  # that weight
    entropy: float  # bits; 0 = all weight on one key
    most: float  # bits; the entropy of equal shares


def describe(weights: Tensor) -> Row:
    """Describe one row of weights, shape (seq_k,).

    Raises: ValueError if the row is empty.
    """
    check_sizes(seq_k=len(weights))
    strongest = int(weights.argmax())
    entropy = max(0.0, -float((weights * weights.clamp_min(1e-30).log2()).sum()))  # not −0.0, nor a rounding error
    return Row(strongest, float(weights[strongest]), entropy, math.log2(len(weights)))


def coarsen(attention: Tensor, most: int) -> tuple[Tensor, int]:
    """A map of at most `most` × `most` cells, each for a block of neighbouring queries and of neighbouring keys.

    A cell is what the queries of its block, in the mean, give to all keys of its block: rows still sum to 1.

    Shapes: attention (seq_q, seq_k) → (⌈seq_q / size⌉, ⌈seq_k / size⌉), and the size of a block.
    Raises: ValueError if most is less than 1.
    """
    check_sizes(most=most)
    size = max(1, -(-max(attention.shape) // most))
    if size == 1:
        return attention, 1
    rows = torch.stack([block.mean(dim=0) for block in torch.split(attention, size)])  # (blocks, seq_k)
    return torch.stack([block.sum(dim=1) for block in torch.split(rows, size, dim=1)], dim=1), size  # (blocks, blocks)
