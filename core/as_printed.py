"""Modules as the source texts print them, kept as they are so that what is claimed of them can be tested on them.

Nothing else may use them: core.projections does what they mean to do.
"""

import math
from collections.abc import Callable, Mapping
from enum import StrEnum

import torch
import torch.nn.functional as F  # noqa: N812  (the texts' own name)
from torch import Tensor, nn


class SelfAttention(nn.Module):
    """The texts' module for one head; it works."""

    def __init__(self, d_model: int, d_k: int) -> None:
        super().__init__()
        self.d_k = d_k
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)  # (batch, seq_len, d_k)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (batch, seq_len, seq_len)
        weights = F.softmax(scores, dim=-1)  # (batch, seq_len, seq_len)
        return torch.matmul(weights, v), weights  # (batch, seq_len, d_k)


class StandardAttention(nn.Module):
    def __init__(self, d_model: int, d_k: int) -> None:
        self.W_q = nn.Linear(d_model, d_k)
        self.W_k = nn.Linear(d_model, d_k)
        self.W_v = nn.Linear(d_model, d_k)


class SharedKV(nn.Module):
    def __init__(self, d_model: int, d_k: int) -> None:
        self.W_q = nn.Linear(d_model, d_k)
        self.W_kv = nn.Linear(d_model, d_k)

    def forward(self, x: Tensor) -> None:
        q = self.W_q(x)  # noqa: F841  (as printed: nothing is done with them)
        k = v = self.W_kv(x)  # noqa: F841


class SharedQK(nn.Module):
    def __init__(self, d_model: int, d_k: int) -> None:
        self.W_qk = nn.Linear(d_model, d_k)
        self.W_v = nn.Linear(d_model, d_k)

    def forward(self, x: Tensor) -> None:
        q = k = self.W_qk(x)  # noqa: F841
        v = self.W_v(x)  # noqa: F841


class NoProjection(nn.Module):
    def forward(self, x: Tensor) -> None:
        q = k = v = x  # noqa: F841


class Outcome(StrEnum):
    """What comes of constructing a printed module and calling it."""

    RUNS = "runs"
    RETURNS_NOTHING = "returns_nothing"
    RAISES = "raises"  # AttributeError, on construction


def try_variants(d_model: int = 8, d_k: int = 4) -> Mapping[str, Outcome]:
    """Construct and call the four printed variants; by name, what came of it."""
    return {
        "StandardAttention": _try(lambda: StandardAttention(d_model, d_k), d_model),
        "SharedKV": _try(lambda: SharedKV(d_model, d_k), d_model),
        "SharedQK": _try(lambda: SharedQK(d_model, d_k), d_model),
        "NoProjection": _try(NoProjection, d_model),
    }


def _try(construct: Callable[[], nn.Module], d_model: int) -> Outcome:
    try:
        module = construct()
    except AttributeError:
        return Outcome.RAISES
    return Outcome.RUNS if module(torch.zeros(1, 2, d_model)) is not None else Outcome.RETURNS_NOTHING


PRINTED_WEIGHTS = (
    (0.1823, 0.2154, 0.1932, 0.2011, 0.2080),
    (0.2234, 0.1876, 0.1943, 0.2001, 0.1946),
    (0.1987, 0.2123, 0.1854, 0.2067, 0.1969),
    (0.2056, 0.1932, 0.2098, 0.1876, 0.2038),
    (0.1943, 0.2011, 0.2087, 0.1989, 0.1970),
)
"""What the texts print as the weights of SelfAttention(512, 64) on torch.randn(2, 5, 512)."""


def weight_spreads(seeds: int) -> tuple[float, ...]:
    """The standard deviation of the weights of SelfAttention(512, 64) on such an input, for the seeds 0, 1, …

    torch.nn takes its initial weights from the global generator: it is put back as it was.
    """
    spreads = []
    with torch.random.fork_rng(devices=[]), torch.inference_mode():
        for seed in range(seeds):
            torch.manual_seed(seed)
            x = torch.randn(1, 5, 512)
            spreads.append(float(SelfAttention(512, 64)(x)[1].std()))
    return tuple(spreads)


def printed_spread() -> float:
    """The standard deviation of the printed weights."""
    return float(torch.tensor(PRINTED_WEIGHTS).std())
