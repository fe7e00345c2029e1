"""Which query heads share which KV head, and what the cache of keys and values takes: counted, without a tensor.

Ainslie et al. 2023, "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints".
"""

from core.checks import check_divisible, check_not_negative, check_sizes


def legal_kv_heads(num_heads: int) -> tuple[int, ...]:
    """Every num_kv_heads that num_heads query heads can share evenly, in rising order: from MQA to MHA.

    >>> legal_kv_heads(6)
    (1, 2, 3, 6)

    Raises: ValueError if num_heads is less than 1.
    """
    check_sizes(num_heads=num_heads)
    return tuple(count for count in range(1, num_heads + 1) if num_heads % count == 0)


def kv_head_of(num_heads: int, num_kv_heads: int) -> tuple[int, ...]:
    """The KV head that each query head uses, both counted from 0: neighbours share.

    >>> kv_head_of(6, 2)
    (0, 0, 0, 1, 1, 1)

    Raises: ValueError if a number is less than 1, or num_heads is not divisible by num_kv_heads.
    Source: Ainslie et al. 2023, section 2.2, figure 2.
    """
    check_heads(num_heads, num_kv_heads)
    queries_per_kv = num_heads // num_kv_heads
    return tuple(head // queries_per_kv for head in range(num_heads))


def kv_cache_bytes(
    *, num_layers: int, num_kv_heads: int, head_dim: int, seq_len: int, batch: int, bytes_per_number: int
) -> int:
    """Bytes of all keys and values: 2 · layers · KV heads · head_dim · seq_len · batch · bytes per number.

    >>> kv_cache_bytes(num_layers=32, num_kv_heads=8, head_dim=128, seq_len=1, batch=1, bytes_per_number=2)
    131072

    Raises: ValueError if seq_len is negative, or another number is less than 1.
    Source: DeepSeek-AI 2024, "DeepSeek-V2", table 1, counts these numbers per token; the 2 is for keys and values.
    """
    check_sizes(
        num_layers=num_layers,
        num_kv_heads=num_kv_heads,
        head_dim=head_dim,
        batch=batch,
        bytes_per_number=bytes_per_number,
    )
    check_not_negative("seq_len", seq_len)
    return 2 * num_layers * num_kv_heads * head_dim * seq_len * batch * bytes_per_number


def check_heads(num_heads: int, num_kv_heads: int) -> None:
    """Raises: ValueError if a number is less than 1, or num_heads is not divisible by num_kv_heads."""
    check_sizes(num_heads=num_heads, num_kv_heads=num_kv_heads)
    check_divisible("num_heads", num_heads, "num_kv_heads", num_kv_heads)
