"""Let a decoder continue a text: one token at a time, always the most probable one."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.explorer import written
from core.models import Kind, TextModel

CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that could come next."""

    token_id: int
    token: str
    log_probability: float
    drawn: None = None  # nothing is drawn: the first one is taken

    @property
    def probability(self) -> float:
        return math.exp(self.log_probability)


@dataclass(frozen=True, slots=True)
class Written:
    """One step: what could come next, the most probable first; that one is taken."""

    candidates: tuple[Candidate, ...]

    @property
    def chosen(self) -> Candidate:
        return self.candidates[0]


@dataclass(frozen=True, slots=True)
class Continuation:
    """A text, and what a model writes behind it."""

    ids: tuple[int, ...]  # of all: what was given, as far as there was room, and what follows
    steps: tuple[Written, ...]
    said: str  # the continuation
    ended: bool  # the model said that the text is over


@torch.inference_mode()
def continue_text(model: TextModel, text: str, steps: int, *, most_tokens: int = 128) -> Continuation:
    """Continue a text greedily by at most `steps` tokens, as `generate` of transformers does.

    most_tokens: of a longer text only the end counts.
    Raises: ValueError if the model is no decoder, the text holds no token, or steps is less than 1.
    Source: Radford et al. 2019, section 2: a language model predicts the next symbol from those before.
    """
    if model.facts.family.kind is not Kind.DECODER:
        raise ValueError(f"model ({model.facts.family}) must be a decoder")
    if steps < 1:
        raise ValueError(f"steps ({steps}) must be at least 1")
    room = min(most_tokens, model.facts.max_positions - steps)
    ids = model.tokenizer(text).input_ids[-room:]
    if not ids:
        raise ValueError(f"text ({text!r}) must hold at least one token")
    end = model.tokenizer.eos_token_id
    given, cache, found, said = torch.tensor([ids]), None, list[Written](), list[int]()
    while len(found) < steps and (not said or said[-1] != end):
        result = model.network(input_ids=given, cache=cache, use_cache=True)
        cache = result.cache
        found.append(_step(model, result.logits[0, -1]))
        said.append(found[-1].chosen.token_id)
        given = torch.tensor([[said[-1]]])
    ended = said[-1] == end
    spoken = str(model.tokenizer.decode(said[:-1] if ended else said))
    return Continuation((*ids, *said), tuple(found), spoken, ended)


def _step(model: TextModel, logits: Tensor) -> Written:
    """logits: (vocab_size,)."""
    best = logits.double().log_softmax(dim=-1).topk(min(CANDIDATES, len(logits)))
    ids = [int(number) for number in best.indices]
    special = [number == model.tokenizer.eos_token_id for number in ids]
    tokens = [written(model.tokenizer, [number], [apart])[0] for number, apart in zip(ids, special, strict=True)]
    return Written(
        tuple(
            Candidate(number, token, float(log_probability))
            for number, token, log_probability in zip(ids, tokens, best.values, strict=True)
        )
    )
