"""The heads of a real model on one translation: what each looks at, in numbers to sort by."""

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor

from core.decoding.trace import DecodingTrace
from core.scaling import entropies
from core.token_attention import share_on
from core.tokens import WORD_MARK


class Kind(StrEnum):
    """Whose attention it is."""

    ENCODER = "encoder"  # source tokens at each other
    DECODER = "decoder"  # tokens said so far at each other
    CROSS = "cross"  # tokens said so far at source tokens


@dataclass(frozen=True, slots=True, order=True)
class HeadName:
    """One head of a model; layer and head are counted from 0."""

    kind: Kind
    layer: int
    head: int


@dataclass(frozen=True, slots=True, eq=False)
class Maps:
    """All attention maps of one kind, with the tokens beside them."""

    kind: Kind
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    weights: Tensor  # (num_layers, num_heads, seq_q, seq_k), each row sums to 1


class Measure(StrEnum):
    """What heads can be sorted by. In cross-attention, places are compared by their number in either sentence.

    The shares may overlap: for the second query, the previous key is the first one.
    """

    ENTROPY = "entropy"  # bits, mean over the queries; 0 = all weight on one key
    DISTANCE = "distance"  # tokens between query and key, mean over all weight
    PREVIOUS = "previous"  # share of the weight on the key one place before the query
    NEXT = "next"  # on the key one place after it
    SAME = "same"  # on the key at the same place
    FIRST = "first"  # on the first key
    PUNCTUATION = "punctuation"  # on punctuation marks


TARGETS = (Measure.PREVIOUS, Measure.NEXT, Measure.SAME, Measure.FIRST, Measure.PUNCTUATION)
"""The measures that are shares of the weight."""


def filled_bar(measure: Measure, seq_k: int) -> float:
    """The value that fills a bar, among seq_k keys: the entropy of equal shares, half of the sentence, all weight."""
    if measure is Measure.ENTROPY:
        return math.log2(max(seq_k, 2))  # one key has an entropy of 0, which is no length
    return max(seq_k - 1, 1) / 2 if measure is Measure.DISTANCE else 1.0


@dataclass(frozen=True, slots=True)
class HeadStats:
    """One head, measured; a field for every Measure."""

    name: HeadName
    entropy: float
    distance: float
    previous: float
    next: float
    same: float
    first: float
    punctuation: float


def attention_maps(trace: DecodingTrace) -> tuple[Maps, ...]:
    """The three kinds of maps of a translation; none for an empty one.

    A query of the decoder stands for the token that it has just read, the start token first.
    """
    if not trace.steps:
        return ()
    read = (trace.start_token, *trace.tokens[:-1])
    return (
        Maps(Kind.ENCODER, trace.source_tokens, trace.source_tokens, trace.encoder_attention),
        Maps(Kind.DECODER, read, read, trace.decoder_attention),
        Maps(Kind.CROSS, read, trace.source_tokens, trace.cross_attention),
    )


def measure_heads(maps: Maps) -> tuple[HeadStats, ...]:
    """Measure all heads of one kind, layer by layer.

    A share on the previous, next or same place is a mean over the queries that have such a key; 0 if none has.
    """
    weights = maps.weights.double()  # (num_layers, num_heads, seq_q, seq_k)
    seq_q, seq_k = weights.shape[-2:]
    offsets = torch.arange(seq_k) - torch.arange(seq_q)[:, None]  # (seq_q, seq_k), how far the key stands behind
    marks = torch.tensor([is_punctuation(token) for token in maps.keys]).expand(seq_q, seq_k)
    first = (torch.arange(seq_k) == 0).expand(seq_q, seq_k)
    columns = {
        Measure.ENTROPY: entropies(weights).mean(dim=-1),
        Measure.DISTANCE: (weights * offsets.abs()).sum(dim=-1).mean(dim=-1),
        Measure.PREVIOUS: _at(weights, offsets == -1),
        Measure.NEXT: _at(weights, offsets == 1),
        Measure.SAME: _at(weights, offsets == 0),
        Measure.FIRST: share_on(weights, first).mean(dim=-1),
        Measure.PUNCTUATION: share_on(weights, marks).mean(dim=-1),
    }  # (num_layers, num_heads) each
    num_layers, num_heads = weights.shape[:2]
    return tuple(
        HeadStats(
            HeadName(maps.kind, layer, head),
            **{str(measure): float(column[layer, head]) for measure, column in columns.items()},
        )
        for layer in range(num_layers)
        for head in range(num_heads)
    )


def _at(weights: Tensor, places: Tensor) -> Tensor:
    """The mean weight on places of which each query has one at most, (…, seq_q, seq_k) → (…)."""
    having = int(places.any(dim=-1).sum())
    return share_on(weights, places).sum(dim=-1) / max(having, 1)


def is_punctuation(token: str) -> bool:
    """Whether a token consists of punctuation marks only, apart from the sign for the beginning of a word.

    >>> [is_punctuation(token) for token in ("▁,", "...", "t'", "▁", "</s>")]
    [True, True, False, False, False]
    """
    letters = token.replace(WORD_MARK, "")
    return bool(letters) and all(unicodedata.category(letter).startswith("P") for letter in letters)


def sort_heads(stats: Sequence[HeadStats], measure: Measure, *, largest_first: bool = True) -> tuple[HeadStats, ...]:
    """The heads in the order of a measure; equal ones stay in the order in which they come."""
    return tuple(sorted(stats, key=lambda each: float(getattr(each, measure)), reverse=largest_first))


def main_target(stats: HeadStats) -> tuple[Measure, float]:
    """Which of the targets gets the largest share of a head's weight, and how much that is."""
    shares = {target: float(getattr(stats, target)) for target in TARGETS}
    target = max(TARGETS, key=lambda each: shares[each])
    return target, shares[target]


def strongest_head(maps: Maps, query: int, key: int) -> tuple[HeadName, float]:
    """The head in which one token looks most at another, and how much; places are counted from 0.

    Raises: IndexError if there is no such query or key.
    """
    weights = maps.weights[:, :, query, key]  # (num_layers, num_heads)
    layer, head = divmod(int(weights.argmax()), weights.shape[1])
    return HeadName(maps.kind, layer, head), float(weights[layer, head])
