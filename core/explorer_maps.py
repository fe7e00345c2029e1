"""One map out of many: a head, the mean of a layer's heads, their maximum, or attention rollout; and heads in order."""

from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor


class Together(StrEnum):
    """How the heads of a layer are seen at once."""

    HEAD = "head"  # one of them
    MEAN = "mean"  # their mean: rows still sum to 1
    MAXIMUM = "maximum"  # the largest weight of any head: rows sum to more
    ROLLOUT = "rollout"  # what reaches a token through all layers so far; self-attention only


def shown_map(weights: Tensor, how: Together, *, layer: int, head: int = 0) -> Tensor:
    """The map of a layer, counted from 0.

    Shape: (num_layers, num_heads, seq_q, seq_k) → (seq_q, seq_k).
    Raises: ValueError if there is no such layer or head, or for the rollout of a map that is not square.
    """
    for name, number, count in (("layer", layer, weights.shape[0]), ("head", head, weights.shape[1])):
        if not 0 <= number < count:
            raise ValueError(f"{name} ({number}) must be between 0 and {count - 1}")
    match how:
        case Together.HEAD:
            return weights[layer, head]
        case Together.MEAN:
            return weights[layer].mean(dim=0)
        case Together.MAXIMUM:
            return weights[layer].amax(dim=0)
        case Together.ROLLOUT:
            return rollout(weights)[layer]


def rollout(weights: Tensor) -> Tensor:
    """How much of each token has reached every other one through the layers up to each.

    A layer keeps half of a token, by its skip connection, and mixes half by the mean of its heads:
    R_l = (½·A_l + ½·I) · R_(l−1), with R_0 = I. Values, the output projection and the feed-forward block are left out.

    Shape: (num_layers, num_heads, seq_len, seq_len) → (num_layers, seq_len, seq_len), float64; rows sum to 1.
    Raises: ValueError if queries and keys are not the same tokens.
    Source: Abnar & Zuidema 2020, section 3, equation 1.
    """
    seq_q, seq_k = weights.shape[-2:]
    if seq_q != seq_k:
        raise ValueError(f"seq_q ({seq_q}) must equal seq_k ({seq_k})")
    kept = torch.eye(seq_k, dtype=torch.float64)
    mixed = 0.5 * weights.double().mean(dim=1) + 0.5 * kept  # (num_layers, seq_len, seq_len)
    found = []
    for layer in mixed:
        kept = layer @ kept  # (seq_len, seq_len)
        found.append(kept)
    return torch.stack(found)


@dataclass(frozen=True, slots=True)
class Ranked:
    """One head, and how much of its weight one token gives another; layer and head are counted from 0."""

    layer: int
    head: int
    weight: float
    rank: int  # of that key among all keys of the query, 1 = gets the most


def rank_heads(weights: Tensor, query: int, key: int) -> tuple[Ranked, ...]:
    """All heads, the one in which `query` looks most at `key` first; equal ones stay layer by layer.

    Shape: (num_layers, num_heads, seq_q, seq_k).
    Raises: ValueError if there is no such token.
    """
    for name, number, count in (("query", query, weights.shape[2]), ("key", key, weights.shape[3])):
        if not 0 <= number < count:
            raise ValueError(f"{name} ({number}) must be between 0 and {count - 1}")
    rows = weights[:, :, query]  # (num_layers, num_heads, seq_k)
    to_key = rows[..., key]  # (num_layers, num_heads)
    ranks = (rows > to_key[..., None]).sum(dim=-1) + 1
    heads = [
        Ranked(layer, head, float(to_key[layer, head]), int(ranks[layer, head]))
        for layer in range(weights.shape[0])
        for head in range(weights.shape[1])
    ]
    return tuple(sorted(heads, key=lambda each: -each.weight))


def strongest_pairs(weights: Tensor) -> Tensor:
    """Where the largest weight of each head lies.

    Shape: (num_layers, num_heads, seq_q, seq_k) → int64 (num_layers, num_heads, 2): query, key.
    """
    flat = weights.flatten(2).argmax(dim=-1)  # (num_layers, num_heads)
    seq_k = weights.shape[-1]
    return torch.stack([flat // seq_k, flat % seq_k], dim=-1)
