"""Decoding that decides at once: one token after another, and no way back."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from core.decoding.decoder import Decoder, Prediction


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """One token of a sentence, and the prediction that it was taken from."""

    prediction: Prediction
    row: int
    token_id: int
    forced: bool
    log_probability: float  # what it adds to the sentence's
    allowed: Tensor | None = None  # log-probabilities that the choice was made from, (vocab_size,)


def decode_one_by_one(
    decoder: Decoder, choose: Callable[[Tensor], int], *, max_new_tokens: int, prefix: Sequence[int] = ()
) -> list[Move]:
    """Choose one token after another, until an end token or max_new_tokens.

    choose: from log-probabilities, (vocab_size,), to a token. Greedy decoding takes the most probable, sampling draws.
    While the prefix lasts, its tokens are said, even one that is impossible to the network. Where it is a whole
    sentence, this is teacher forcing: the network reads what it should have said, and is asked at every token how
    probable it would have been.
    """
    moves: list[Move] = []
    token_id = decoder.rules.start_id
    while len(moves) < max_new_tokens:
        prediction = decoder.advance([token_id])
        forced = prefix[len(moves)] if len(moves) < len(prefix) else None
        allowed = prediction.allowed(decoder.rules, last=len(moves) + 1 == max_new_tokens, forced=forced)[0]
        chosen = choose(allowed)  # drawn even where a token is forced: what follows is then drawn as it would have been
        token_id = chosen if forced is None else forced
        moves.append(Move(prediction, 0, token_id, forced is not None, allowed[token_id].item(), allowed))
        if token_id in decoder.rules.end_ids:
            break
    return moves


def most_probable(log_probs: Tensor) -> int:
    """Greedy decoding's choice."""
    return int(log_probs.argmax())


def score_of(moves: Sequence[Move], length_penalty: float) -> float:
    """Return the score that beam search would give this sentence."""
    return sum(move.log_probability for move in moves) / math.pow(len(moves), length_penalty)
