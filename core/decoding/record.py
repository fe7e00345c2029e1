"""From what a decoder did to a trace of it."""

from collections.abc import Sequence
from itertools import chain
from typing import cast

import torch
from transformers import PreTrainedTokenizerFast

from core.decoding.beam import Node
from core.decoding.decoder import Decoder, Rules
from core.decoding.one_by_one import Move
from core.decoding.sampling import Sampling, warp
from core.decoding.trace import Candidate, DecodingTrace, Hypothesis, Step

NUM_CANDIDATES = 20  # how many are kept of every step


def record(
    tokenizer: PreTrainedTokenizerFast,
    decoder: Decoder,
    moves: Sequence[Move],
    score: float,
    search: Sequence[Sequence[Node]] = (),
    winner: Node | None = None,
    *,
    sampling: Sampling | None = None,
) -> DecodingTrace:
    """Make the trace of a sentence, given its tokens (moves) and, of a beam search, all that it considered.

    sampling: how the tokens were drawn, if they were.
    """
    numbers = {node: number for number, node in enumerate(chain.from_iterable(search))}
    hypotheses = tuple(tuple(hypothesis(tokenizer, node, numbers) for node in nodes) for nodes in search)
    token_ids = [move.token_id for move in moves]
    return DecodingTrace(
        text=cast(str, tokenizer.decode(token_ids, skip_special_tokens=True)),
        token_ids=tuple(token_ids),
        tokens=names(tokenizer, token_ids),
        score=score,
        finished=token_ids[-1] in decoder.rules.end_ids,
        source_ids=decoder.source_ids,
        source_tokens=names(tokenizer, decoder.source_ids),
        start_id=decoder.rules.start_id,
        start_token=names(tokenizer, [decoder.rules.start_id])[0],
        encoder_attention=decoder.encoder_attention,
        steps=tuple(step(tokenizer, m, hypotheses[i] if hypotheses else (), sampling) for i, m in enumerate(moves)),
        search=hypotheses,
        winner=tuple(numbers[node] for node in winner.line()) if winner is not None else (),
    )


def record_nothing(tokenizer: PreTrainedTokenizerFast, rules: Rules) -> DecodingTrace:
    """Make the trace of an empty translation: nothing was read, nothing was said."""
    return DecodingTrace(
        text="",
        token_ids=(),
        tokens=(),
        score=0.0,
        finished=True,
        source_ids=(),
        source_tokens=(),
        start_id=rules.start_id,
        start_token=names(tokenizer, [rules.start_id])[0],
        encoder_attention=torch.zeros(0, 0, 0, 0),
        steps=(),
        search=(),
        winner=(),
    )


def step(
    tokenizer: PreTrainedTokenizerFast, move: Move, beams: tuple[Hypothesis, ...], sampling: Sampling | None
) -> Step:
    prediction = move.prediction
    drawn = None if sampling is None or move.allowed is None else warp(move.allowed, sampling)  # (vocab_size,)

    def candidate(token_id: int, token: str) -> Candidate:
        share = None if drawn is None else drawn[token_id].item()
        return Candidate(token_id, token, log_probs[token_id].item(), share)

    log_probs = prediction.log_probs[move.row]  # (vocab_size,)
    best_ids = log_probs.topk(min(NUM_CANDIDATES, len(log_probs))).indices.tolist()
    candidates = tuple(map(candidate, best_ids, names(tokenizer, best_ids)))
    chosen = candidate(move.token_id, names(tokenizer, [move.token_id])[0])
    return Step(
        decoder_input=prediction.decoder_inputs[move.row],
        candidates=candidates if chosen in candidates else (*candidates, chosen),
        chosen=chosen,
        rank=1 + int((log_probs > log_probs[move.token_id]).sum()),
        forced=move.forced,
        self_attention=prediction.self_attention[:, move.row].clone(),  # a view would keep the other rows alive
        cross_attention=prediction.cross_attention[:, move.row].clone(),
        beams=beams,
    )


def hypothesis(tokenizer: PreTrainedTokenizerFast, node: Node, numbers: dict[Node, int]) -> Hypothesis:
    return Hypothesis(
        number=numbers[node],
        parent=None if node.parent is None else numbers[node.parent],
        token_id=node.move.token_id,
        token=names(tokenizer, [node.move.token_id])[0],
        log_probability=node.log_probability,
        score=node.score,
        fate=node.fate,
    )


def names(tokenizer: PreTrainedTokenizerFast, token_ids: Sequence[int]) -> tuple[str, ...]:
    """Return the tokens; where the network has more of them than the tokenizer, a name made of the id."""
    return tuple(tokenizer.backend_tokenizer.id_to_token(i) or f"<{i}>" for i in token_ids)
