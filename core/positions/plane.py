"""One pair of dimensions of a query and of a key: two arrows in a plane, before and after they are turned."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.checks import check_between, check_even
from core.positions.pairing import join_pairs, read_pairing, split_pairs
from core.positions.rope import angles, rotate
from core.positions.scalings import Scaled


@dataclass(frozen=True, slots=True, eq=False)
class Turned:
    """A query at position m and a key at position n, turned; their scores are divided by √head_dim."""

    q: Tensor  # (width, 2), the pairs of the query as they were
    k: Tensor  # (width, 2)
    q_turned: Tensor  # (width, 2)
    k_turned: Tensor  # (width, 2)
    q_angles: Tensor  # (width,), radians, not reduced to one turn
    k_angles: Tensor  # (width,)
    pair_scores: Tensor  # (width,), what each pair adds to the score
    unturned_score: float  # what the dimensions that do not turn add to it
    score: float

    @property
    def angles_between(self) -> Tensor:
        """By how much the query was turned further than the key: (m − n) · θ, (width,)."""
        return self.q_angles - self.k_angles


def turn_pairs(q: Tensor, k: Tensor, m: float, n: float, scaled: Scaled, *, pairing: str) -> Turned:
    """Turn a query and a key, and split their score into what the pairs add.

    The scores of the pairs include the square of the attention factor; the arrows are not made longer by it.
    Shapes: q and k (head_dim,), float64, head_dim at least 2 · width.
    Raises: ValueError if q and k differ in shape or have more than one dimension, or as `rotate` does.
    """
    if q.ndim != 1 or q.shape != k.shape:
        raise ValueError(f"q (shape {tuple(q.shape)}) and k (shape {tuple(k.shape)}) must both be (head_dim,)")
    kind, width = read_pairing("pairing", pairing), scaled.frequencies.shape[0]
    positions = torch.tensor([m, n], dtype=torch.float64)
    tables = scaled.tables(positions)  # (2, width)
    turned = rotate(torch.stack((q, k)), tables.cos, tables.sin, pairing=pairing)  # (2, head_dim)
    arrows = [torch.stack(split_pairs(x, width, kind), dim=-1) for x in (q, k, *turned)]  # (width, 2) each
    q_angles, k_angles = angles(scaled.positions(positions), scaled.frequencies)  # (width,) each
    scale = 1 / math.sqrt(q.shape[-1])
    pair_scores = (arrows[2] * arrows[3]).sum(dim=-1) * scaled.attention_factor**2 * scale  # (width,)
    unturned_score = float(q[2 * width :] @ k[2 * width :]) * scale
    score = float(pair_scores.sum()) + unturned_score
    return Turned(arrows[0], arrows[1], arrows[2], arrows[3], q_angles, k_angles, pair_scores, unturned_score, score)


def only_pair(x: Tensor, pair: int, *, pairing: str) -> Tensor:
    """Keep one pair of dimensions, and put 0 in all others: what a pair alone makes of a score.

    Shape: x (…, head_dim), and so the result.
    Raises: ValueError if there is no such pairing or pair, or head_dim is odd or 0.
    """
    kind, head_dim = read_pairing("pairing", pairing), x.shape[-1]
    check_even("head_dim", head_dim)
    width = head_dim // 2
    check_between("pair", pair, 0, width - 1)
    kept = (torch.arange(width) == pair).to(x.dtype)  # (width,)
    first, second = split_pairs(x, width, kind)
    return join_pairs(first * kept, second * kept, kind)
