"""Attention sinks: how much of all attention goes to places that say little.

Source: Xiao et al. 2023, "Efficient Streaming Language Models with Attention Sinks"; for [SEP] and full stops in BERT,
Clark et al. 2019, section 3.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor

from core.tokens import WORD_MARK

STOPS = frozenset(".。．")


class Sink(StrEnum):
    """A place that often gets much attention; each token is at most one of them, the first that fits."""

    START = "start"  # [CLS], or whatever special token stands first
    END = "end"  # [SEP], </s>: special tokens elsewhere
    FIRST = "first"  # the first token, where it is no special one
    STOP = "stop"  # a full stop


@dataclass(frozen=True, slots=True, eq=False)
class Sinks:
    """The share of all attention that each sink gets, layer by layer."""

    tokens: tuple[Sink | None, ...]  # which sink each key is
    shares: Tensor  # (sinks, num_layers), in the order of Sink; 0 where there is none
    heads: Tensor  # (num_layers, num_heads): of all sinks together
    even: float  # what all sinks together would get if every key got the same

    @property
    def together(self) -> float:
        """Of all attention, in all layers."""
        return float(self.shares.sum(dim=0).mean())

    def of(self, sink: Sink) -> float:
        """The mean over the layers."""
        return float(self.shares[list(Sink).index(sink)].mean())


def which_sinks(tokens: Sequence[str], special: Sequence[bool]) -> tuple[Sink | None, ...]:
    """What each token is.

    >>> which_sinks(["[CLS]", "▁the", "▁.", "[SEP]"], [True, False, False, True])
    (<Sink.START: 'start'>, None, <Sink.STOP: 'stop'>, <Sink.END: 'end'>)
    """
    return tuple(_sink(place, token, apart) for place, (token, apart) in enumerate(zip(tokens, special, strict=True)))


def _sink(place: int, token: str, special: bool) -> Sink | None:
    if special:
        return Sink.START if place == 0 else Sink.END
    if place == 0:
        return Sink.FIRST
    return Sink.STOP if token.removeprefix(WORD_MARK) in STOPS else None


def measure_sinks(weights: Tensor, sinks: Sequence[Sink | None], *, causal: bool = False) -> Sinks:
    """Add up what the queries give to each sink, meaned over heads and queries.

    causal: whether a query sees only the keys up to its own place, which counts for `even`.

    Shape: (num_layers, num_heads, seq_q, seq_k).
    Raises: ValueError if sinks are not as many as the keys.
    """
    if len(sinks) != weights.shape[-1]:
        raise ValueError(f"sinks ({len(sinks)}) must be as many as the keys ({weights.shape[-1]})")
    received = weights.double().mean(dim=2)  # (num_layers, num_heads, seq_k)
    members = torch.tensor([[found is sink for found in sinks] for sink in Sink])  # (sinks, seq_k)
    shares = received.mean(dim=1) @ members.double().T  # (num_layers, sinks)
    seq_q, seq_k = weights.shape[-2:]
    visible = torch.ones(seq_q, seq_k).tril() if causal else torch.ones(seq_q, seq_k)
    even = (visible / visible.sum(dim=1, keepdim=True))[:, members.any(dim=0)].sum(dim=1).mean()
    return Sinks(tuple(sinks), shares.T, received[..., members.any(dim=0)].sum(dim=-1), float(even))
