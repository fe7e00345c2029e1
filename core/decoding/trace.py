"""What a decoding leaves behind: every step of it, ready to be looked at."""

import math
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor
from torch.nn.functional import pad


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that could come next, and what the network gives for it (its full softmax, before any sampling)."""

    token_id: int
    token: str
    log_probability: float
    drawn: float | None = None  # probability of being drawn, after the sampling's changes; None where nothing is drawn

    @property
    def probability(self) -> float:
        return math.exp(self.log_probability)


class Fate(StrEnum):
    """What became of a hypothesis of beam search."""

    KEPT = "kept"  # among the best `num_beams` that go on
    FINISHED = "finished"  # ended (or was cut off) and is among the best `num_beams` that did: one of the results
    OUTSCORED = "outscored"  # ended (or was cut off), but `num_beams` results are better
    DROPPED = "dropped"  # fell out of the beam: `num_beams` hypotheses of the same length are better
    ABANDONED = "abandoned"  # was still in the beam when the search stopped


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One more token after a hypothesis of the step before."""

    number: int  # unique in the trace
    parent: int | None  # number of the hypothesis that it extends; None at the first step
    token_id: int
    token: str
    log_probability: float  # of the whole hypothesis, summed
    score: float  # log_probability / length ** length_penalty
    fate: Fate


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """How one token of the finished sentence came about."""

    decoder_input: tuple[int, ...]  # ids that the decoder has read, the start token first
    candidates: tuple[Candidate, ...]  # the 20 most probable next tokens, best first; `chosen` after them if need be
    chosen: Candidate  # what the finished sentence says here
    rank: int  # place of `chosen` among all tokens, 1 = most probable
    forced: bool  # `chosen` was prescribed: by a forced prefix or by a reference
    self_attention: Tensor  # (num_layers, num_heads, seq_k) of the newest position over decoder_input
    cross_attention: Tensor  # (num_layers, num_heads, seq_source)
    beams: tuple[Hypothesis, ...]  # every hypothesis considered at this step, best first; empty without beam search


@dataclass(frozen=True, slots=True, eq=False)
class DecodingTrace:
    """A translation, and every step on the way to it."""

    text: str
    token_ids: tuple[int, ...]  # without the start token, with the end token if it came
    tokens: tuple[str, ...]
    score: float  # sum of log-probabilities / length ** length_penalty
    finished: bool  # False where the greatest number of tokens cut it off
    source_ids: tuple[int, ...]
    source_tokens: tuple[str, ...]
    start_id: int
    start_token: str
    encoder_attention: Tensor  # (num_layers, num_heads, seq_source, seq_source)
    steps: tuple[Step, ...]  # one per token of token_ids
    search: tuple[tuple[Hypothesis, ...], ...]  # every step of a beam search, also those after the winner had ended
    winner: tuple[int, ...]  # numbers of the winning hypothesis and of its ancestors, first step first

    @property
    def cross_attention(self) -> Tensor:
        """(num_layers, num_heads, len(steps), seq_source): a row per step; all dimensions 0 without steps."""
        if not self.steps:
            return torch.zeros(0, 0, 0, 0)
        return torch.stack([step.cross_attention for step in self.steps], dim=2)

    @property
    def decoder_attention(self) -> Tensor:
        """(num_layers, num_heads, len(steps), len(steps)): zero above the diagonal; all dimensions 0 without steps."""
        if not self.steps:
            return torch.zeros(0, 0, 0, 0)
        width = len(self.steps)
        rows = [pad(step.self_attention, (0, width - step.self_attention.shape[-1])) for step in self.steps]
        return torch.stack(rows, dim=2)
