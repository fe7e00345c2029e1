"""Beam search: go on with the best few beginnings of a sentence instead of with one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from core.decoding.decoder import Decoder
from core.decoding.one_by_one import Move
from core.decoding.trace import Fate

EarlyStopping = bool | Literal["never"]


@dataclass(slots=True, eq=False)
class Node:
    """A hypothesis: its parent and one more token. What becomes of it is known for good when the search is over."""

    parent: "Node | None"
    move: Move
    log_probability: float  # of the whole hypothesis
    score: float
    ended: bool
    fate: Fate = Fate.DROPPED

    def line(self) -> "list[Node]":
        """Return this hypothesis after all its ancestors."""
        nodes = [self]
        while (parent := nodes[-1].parent) is not None:
            nodes.append(parent)
        return nodes[::-1]


def beam_search(
    decoder: Decoder,
    *,
    num_beams: int,
    length_penalty: float,
    early_stopping: EarlyStopping,
    max_new_tokens: int,
    prefix: Sequence[int] = (),
) -> tuple[Node, list[list[Node]]]:
    """Search for the sentence with the best score: log-probability / length ** length_penalty.

    Every step extends each hypothesis in the beam by each token, and considers the best of all these. The best
    num_beams that have not ended are the next beam. Those that have ended and are among the best num_beams of all
    become results, of which the best num_beams stay. At max_new_tokens every hypothesis ends.

    The search stops when the beam cannot improve the results. early_stopping says how that is judged: False = by the
    best score in the beam as it is now; "never" = by what it could still become, if all tokens to come were certain;
    True = not at all, num_beams results are enough.

    Returns: the best result, and all that was considered at every step, best first.
    Source: Wu et al. 2016, section 7; the rules for ending are those of `generate` in transformers.
    """
    steps: list[list[Node]] = []
    beam: list[Node] = []  # nothing is said yet
    results: list[Node] = []
    for length in range(1, max_new_tokens + 1):
        considered = extend(
            decoder,
            beam,
            num_beams,
            scale=math.pow(length, length_penalty),
            last=length == max_new_tokens,
            forced=prefix[length - 1] if length <= len(prefix) else None,
        )
        steps.append(considered)
        ended = [node for node in considered[:num_beams] if node.ended]
        results = sorted([*results, *ended], key=lambda node: node.score, reverse=True)[:num_beams]
        beam = [node for node in considered if not node.ended][:num_beams]
        for node in ended:
            node.fate = Fate.OUTSCORED
        for node in beam:
            node.fate = Fate.KEPT
        if not beam:
            break
        if len(results) == num_beams:
            best_hope = beam[0].score
            if early_stopping == "never" and length_penalty > 0:  # the score gains from every token that costs nothing
                best_hope = divide(beam[0].log_probability, math.pow(max_new_tokens, length_penalty))
            if early_stopping is True or best_hope <= results[-1].score:
                break
    for node in results:
        node.fate = Fate.FINISHED
    for node in beam:
        node.fate = Fate.ABANDONED
    return results[0], steps


def extend(
    decoder: Decoder, beam: Sequence[Node], num_beams: int, *, scale: float, last: bool, forced: int | None
) -> list[Node]:
    """Extend every hypothesis by every token, and return the best of all these, best first.

    They are enough to leave num_beams that go on, even if every hypothesis could end here.
    """
    if beam:
        prediction = decoder.advance([node.move.token_id for node in beam], [node.move.row for node in beam])
    else:
        prediction = decoder.advance([decoder.rules.start_id])
    allowed = prediction.allowed(decoder.rules, last=last, forced=forced)  # (rows, vocab_size)
    so_far = torch.tensor([node.log_probability for node in beam] or [0.0], dtype=torch.float32)  # (rows,)
    totals = (so_far[:, None] + allowed).flatten()  # (rows · vocab_size,)
    breadth = (1 + max(1, len(decoder.rules.end_ids))) * num_beams
    best = totals.topk(min(breadth, len(totals)))
    nodes = []
    for total, score, place in zip(
        best.values.tolist(), (best.values / scale).tolist(), best.indices.tolist(), strict=True
    ):
        if total == -torch.inf:  # not allowed, and neither is what follows
            break
        row, token_id = divmod(place, allowed.shape[1])
        move = Move(prediction, row, token_id, forced is not None, allowed[row, token_id].item())
        ended = last or token_id in decoder.rules.end_ids
        nodes.append(Node(beam[row] if beam else None, move, total, score, ended))
    return nodes


def divide(log_probability: float, scale: float) -> float:
    """Divide as tensors do, in float32: scores that are compared must be rounded alike."""
    return (torch.tensor(log_probability, dtype=torch.float32) / scale).item()
