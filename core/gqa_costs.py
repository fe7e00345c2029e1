"""What attention costs when a model writes one more token, against num_kv_heads: counted.

Shazeer 2019, "Fast Transformer Decoding", sections 2.4.1 and 3.1, counts memory traffic against arithmetic.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.checks import check_sizes
from core.kv_heads import check_heads, kv_cache_bytes, legal_kv_heads


class NumberType(StrEnum):
    """How a number is stored."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    INT8 = "int8"


BYTES: Mapping[NumberType, int] = {NumberType.FLOAT32: 4, NumberType.BFLOAT16: 2, NumberType.INT8: 1}
"""Bytes per number of each type."""


@dataclass(frozen=True, slots=True)
class AttentionCost:
    """What the attention of all layers costs; its feed-forward blocks and embeddings are not counted."""

    parameters: int
    cache_bytes: int  # of all sequences of the batch
    multiply_adds: int  # per decoded token
    weight_bytes_moved: float  # per decoded token: a step reads the weights once, for the whole batch
    cache_bytes_moved: int  # per decoded token: each sequence reads its own cache

    @property
    def bytes_moved(self) -> float:
        """Bytes that must come from memory for each decoded token."""
        return self.weight_bytes_moved + self.cache_bytes_moved


def attention_parameters(d_model: int, num_heads: int, num_kv_heads: int, head_dim: int) -> int:
    """Weights of W_Q, W_K, W_V and W_O of one layer, without biases.

    >>> attention_parameters(512, 8, 2, 64)
    655360

    Raises: ValueError if a size is less than 1, or num_heads is not divisible by num_kv_heads.
    """
    check_heads(num_heads, num_kv_heads)
    check_sizes(d_model=d_model, head_dim=head_dim)
    return 2 * d_model * head_dim * (num_heads + num_kv_heads)


def attention_cost(
    *,
    d_model: int,
    num_heads: int,
    num_kv_heads: int,
    head_dim: int,
    num_layers: int,
    seq_len: int,
    batch: int,
    bytes_per_number: int,
) -> AttentionCost:
    """The cost of one more token, with seq_len tokens in the cache.

    multiply_adds: each weight is used once; each query head takes a product with every key and adds up every value,
        however many heads share them.
    Raises: ValueError as attention_parameters and kv_cache_bytes do.
    """
    parameters = num_layers * attention_parameters(d_model, num_heads, num_kv_heads, head_dim)
    cache = kv_cache_bytes(
        num_layers=num_layers,
        num_kv_heads=num_kv_heads,
        head_dim=head_dim,
        seq_len=seq_len,
        batch=batch,
        bytes_per_number=bytes_per_number,
    )
    return AttentionCost(
        parameters=parameters,
        cache_bytes=cache,
        multiply_adds=parameters + num_layers * 2 * num_heads * head_dim * seq_len,
        weight_bytes_moved=parameters * bytes_per_number / batch,
        cache_bytes_moved=cache // batch,
    )


def cost_table(
    *,
    d_model: int,
    num_heads: int,
    head_dim: int,
    num_layers: int,
    seq_len: int,
    batch: int,
    bytes_per_number: int,
) -> dict[int, AttentionCost]:
    """The cost for every legal num_kv_heads, from MQA to MHA.

    Raises: ValueError as attention_cost does.
    """
    return {
        num_kv_heads: attention_cost(
            d_model=d_model,
            num_heads=num_heads,
            num_kv_heads=num_kv_heads,
            head_dim=head_dim,
            num_layers=num_layers,
            seq_len=seq_len,
            batch=batch,
            bytes_per_number=bytes_per_number,
        )
        for num_kv_heads in legal_kv_heads(num_heads)
    }


@dataclass(frozen=True, slots=True)
class Fit:
    """How a model and its users share a memory."""

    weight_bytes: int
    bytes_per_user: int  # one sequence's cache
    memory_bytes: int

    @property
    def weights_fit(self) -> bool:
        return self.weight_bytes <= self.memory_bytes

    @property
    def users(self) -> int:
        """How many sequences fit beside the weights; 0 if not even the weights do."""
        return max(0, self.memory_bytes - self.weight_bytes) // self.bytes_per_user


MEMORY_BYTES = 80 * 10**9
"""80 GB, of 10⁹ bytes each: a large graphics card."""


def fit(*, parameters: int, bytes_per_user: int, bytes_per_number: int, memory_bytes: int = MEMORY_BYTES) -> Fit:
    """How many users fit, each with a cache of bytes_per_user; activations and the program itself take nothing here.

    Raises: ValueError if a number is less than 1.
    """
    check_sizes(
        parameters=parameters,
        bytes_per_user=bytes_per_user,
        bytes_per_number=bytes_per_number,
        memory_bytes=memory_bytes,
    )
    return Fit(parameters * bytes_per_number, bytes_per_user, memory_bytes)
