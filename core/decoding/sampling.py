"""Drawing the next token instead of taking the most probable one."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the network's probabilities are changed before one token is drawn: in this order.

    temperature: scores are divided by it. Below 1 the probable becomes more probable, above 1 all become alike.
    top_k: only the k most probable tokens stay; 0 = all.
    top_p: only the most probable tokens stay that it takes to reach this share of the probability; 1 = all.

    Raises: ValueError if temperature is not above 0, top_k is negative, or top_p does not lie in (0, 1].
    Source: top-k: Fan et al. 2018, section 5.1; top-p (nucleus): Holtzman et al. 2020, section 3.1.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.temperature < math.inf:
            raise ValueError(f"temperature ({self.temperature}) must be a finite number above 0")
        if self.top_k < 0:
            raise ValueError(f"top_k ({self.top_k}) must be 0 (all tokens) or more")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p ({self.top_p}) must be above 0 and at most 1")


def warp(log_probs: Tensor, sampling: Sampling) -> Tensor:
    """Return the probabilities to draw from, (vocab_size,), given the network's log-probabilities, (vocab_size,)."""
    scores = log_probs / sampling.temperature
    if sampling.top_k:
        weakest = scores.topk(min(sampling.top_k, len(scores))).values[-1]
        scores = scores.masked_fill(scores < weakest, -torch.inf)
    if sampling.top_p < 1:
        best_first = scores.argsort(descending=True)
        probabilities = scores.softmax(-1)[best_first]
        before = probabilities.cumsum(-1) - probabilities  # how much all that is more probable has together
        before[0] = 0.0  # the subtraction may leave a trace: the most probable token always stays
        scores[best_first[before >= sampling.top_p]] = -torch.inf
    return scores.softmax(-1)


def draw(log_probs: Tensor, sampling: Sampling, generator: torch.Generator) -> int:
    """Draw one token."""
    return int(torch.multinomial(warp(log_probs, sampling), 1, generator=generator))
