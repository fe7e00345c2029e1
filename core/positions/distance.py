"""How a score changes with the distance between query and key: does RoPE make it decay?"""

import math
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor

from core.positions.checks import check_length
from core.positions.pairing import read_pairing, split_pairs
from core.positions.rope import angles
from core.positions.scalings import Scaled
from core.projections import Head


class Vectors(StrEnum):
    """What the queries and keys are."""

    RANDOM = "random"  # independent of each other
    EQUAL = "equal"  # each key is its query
    ONE_SIGN = "one_sign"  # all numbers positive
    REAL = "real"  # of a head of a trained model


def draw_vectors(kind: Vectors, trials: int, head_dim: int, *, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Queries and keys of standard normal numbers; for ONE_SIGN, of their absolute values.

    Shapes: (trials, head_dim) each, float64.
    Raises: ValueError for REAL ones: those are not drawn, see `head_vectors`.
    """
    if kind is Vectors.REAL:
        raise ValueError(f"kind ({kind.value!r}) must be one that is drawn")
    q, k = torch.randn(2, trials, head_dim, generator=generator, dtype=torch.float64)
    if kind is Vectors.EQUAL:
        return q, q
    return (q.abs(), k.abs()) if kind is Vectors.ONE_SIGN else (q, k)


def head_vectors(states: Tensor, head: Head) -> tuple[Tensor, Tensor]:
    """Every query of a head with every key. If the head was trained without RoPE, it had no reason to be made for it.

    Shapes: states (seq_len, d_model) → (seq_len², head_dim) each.
    """
    q, k = head.q(states), head.k(states)  # (seq_len, head_dim)
    seq_len = states.shape[0]
    return q.repeat_interleave(seq_len, dim=0), k.repeat(seq_len, 1)  # (seq_len², head_dim)


def scores_by_distance(q: Tensor, k: Tensor, distances: Tensor, scaled: Scaled, *, pairing: str) -> Tensor:
    """The score of a query with a key that stands `distance` tokens before it, divided by √head_dim.

    It is Σ (q_a k_a + q_b k_b) cos(distance · θ) + (q_a k_b − q_b k_a) sin(distance · θ) over the pairs (a, b), times
    attention_factor², plus what does not turn: the product of the rotated vectors, multiplied out.

    Shapes: q and k (…, head_dim), distances (count,) → (…, count).
    Raises: ValueError if there is no such pairing or the pairs exceed head_dim.
    """
    kind, width, head_dim = read_pairing("pairing", pairing), scaled.frequencies.shape[0], q.shape[-1]
    if 2 * width > head_dim:
        raise ValueError(f"width ({width}) must be at most half of head_dim ({head_dim})")
    (q_a, q_b), (k_a, k_b) = split_pairs(q, width, kind), split_pairs(k, width, kind)  # (…, width)
    turned = angles(scaled.positions(distances), scaled.frequencies).T  # (width, count)
    rest = (q[..., 2 * width :] * k[..., 2 * width :]).sum(dim=-1, keepdim=True)  # (…, 1)
    pairs = (q_a * k_a + q_b * k_b) @ turned.cos() + (q_a * k_b - q_b * k_a) @ turned.sin()  # (…, count)
    return (pairs * scaled.attention_factor**2 + rest) / math.sqrt(head_dim)


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Scores against the distance, over many queries and keys. All tensors are (count,)."""

    distances: Tensor
    mean: Tensor
    size: Tensor  # root mean square: how large scores are, whatever their sign
    negative: Tensor  # share of the scores below 0


def profile(scores: Tensor, distances: Tensor) -> Profile:
    """Sum up the scores of many trials.

    Shapes: scores (trials, count), distances (count,).
    """
    return Profile(
        distances, scores.mean(dim=0), scores.square().mean(dim=0).sqrt(), (scores < 0).double().mean(dim=0)
    )  # fmt: skip


def largest_score(q: Tensor, k: Tensor, distances: Tensor, scaled: Scaled, *, pairing: str) -> float:
    """The largest of the scores over all trials and distances, whatever its sign; see `scores_by_distance`.

    Shapes: q and k (trials, head_dim), distances (count,).
    Raises: ValueError as `scores_by_distance` does.
    """
    return float(scores_by_distance(q, k, distances, scaled, pairing=pairing).abs().max())


def spread(last: int, count: int) -> Tensor:
    """At most `count` whole numbers from 1 to `last`, about evenly on a logarithmic axis, float64.

    Raises: ValueError if last is below 1, or count below 2.
    """
    check_length("last", last, least=1)
    check_length("count", count, least=2)
    numbers = torch.logspace(0, math.log10(last), count, dtype=torch.float64).round()  # (count,)
    return torch.tensor(sorted(set(numbers.tolist())), dtype=torch.float64)
