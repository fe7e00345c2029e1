"""What a Transformer takes, part by part, and how that grows with the length of its sequences."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.anatomy import Anatomy, Kind

BYTES = 4  # of a number in float32


class Part(StrEnum):
    """What a bar is made of."""

    EMBEDDINGS = "embeddings"  # positions among them
    SELF_ATTENTION = "self_attention"
    CROSS_ATTENTION = "cross_attention"
    FEED_FORWARD = "feed_forward"
    REST = "rest"  # normalisations, a pooler
    OUTPUT = "output"


PART_OF: Mapping[Kind, Part] = {
    Kind.EMBEDDING: Part.EMBEDDINGS,
    Kind.POSITIONS: Part.EMBEDDINGS,
    Kind.SELF_ATTENTION: Part.SELF_ATTENTION,
    Kind.CROSS_ATTENTION: Part.CROSS_ATTENTION,
    Kind.FEED_FORWARD: Part.FEED_FORWARD,
    Kind.NORM: Part.REST,
    Kind.POOLER: Part.REST,
    Kind.OUTPUT: Part.OUTPUT,
}


class Cost(StrEnum):
    """What is counted."""

    PARAMETERS = "parameters"
    MULTIPLY_ADDS = "multiply_adds"  # of one pass
    ACTIVATIONS = "activations"  # bytes of all that the parts of all blocks put out in one pass: training keeps it
    CACHE = "cache"  # bytes of the keys and values that a decoder keeps, so that no token is read twice


def cost_parts(anatomy: Anatomy) -> Mapping[Cost, Mapping[Part, int]]:
    """Every cost, split among the parts; a matrix that several blocks share counts where it stands first."""
    table = {cost: dict.fromkeys(Part, 0) for cost in Cost}
    for block, trace in anatomy.blocks.items():
        part = PART_OF[block.kind]
        table[Cost.PARAMETERS][part] += trace.parameters
        table[Cost.MULTIPLY_ADDS][part] += trace.multiply_adds
        table[Cost.ACTIVATIONS][part] += trace.numbers * BYTES
        table[Cost.CACHE][part] += trace.cached * BYTES
    return table


@dataclass(frozen=True, slots=True)
class Growth:
    """What one sequence costs at any length n, source and target alike: a multiple of n, and a multiple of n²."""

    matrices: float  # multiply-adds per token
    products: float  # multiply-adds per pair of tokens
    numbers: float  # activations per token, without attention weights
    weights: float  # attention weights per pair of tokens
    cached: float  # numbers of keys and values per token

    def multiply_adds(self, seq_len: float) -> tuple[float, float]:
        """With parameters, and of tokens with tokens."""
        return self.matrices * seq_len, self.products * seq_len**2

    def bytes(self, seq_len: float) -> tuple[float, float, float]:
        """Of activations without attention weights, of attention weights, of the cache."""
        return BYTES * self.numbers * seq_len, BYTES * self.weights * seq_len**2, BYTES * self.cached * seq_len

    @property
    def crossing(self) -> float:
        """The length from which on attention among the tokens costs more multiply-adds than all matrices."""
        return self.matrices / self.products


def growth(anatomy: Anatomy, seq_len: int) -> Growth:
    """From one pass of one sequence, source and target of this length; a pooler reads one token of it, and is left out.

    Raises: ValueError if the pass was another one.
    """
    blocks = {block: trace for block, trace in anatomy.blocks.items() if block.kind is not Kind.POOLER}
    entering = {trace.entering for block, trace in blocks.items() if block.kind is Kind.EMBEDDING}
    if entering != {(1, seq_len)}:
        raise ValueError(f"anatomy (of a pass of {sorted(entering)} tokens) must be of one sequence of {seq_len}")

    def per_token(name: str) -> float:
        counts: list[int] = [getattr(trace, name) for trace in blocks.values()]
        return sum(counts) / seq_len

    return Growth(
        matrices=per_token("matrices"),
        products=per_token("products") / seq_len,
        numbers=per_token("numbers") - per_token("weights"),
        weights=per_token("weights") / seq_len,
        cached=per_token("cached"),
    )
