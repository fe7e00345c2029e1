"""Which query may look at which key.

Every mask is a bool tensor, True = may attend; rows are queries, columns are keys. Sizes may be 0.
"""

import functools
from collections.abc import Sequence

import torch
from torch import Tensor

from core.checks import whole


def causal_mask(seq_q: int, seq_k: int | None = None, *, offset: int = 0) -> Tensor:
    """Every position sees itself and what came before it.

    offset: the number of keys before the first query, as with a KV cache: query i stands at position offset + i.
    seq_k is seq_q + offset by default.

    >>> causal_mask(2, offset=1).int().tolist()
    [[1, 1, 0], [1, 1, 1]]

    Shape: (seq_q, seq_k).
    Raises: ValueError if a size or the offset is negative.
    Source: Vaswani et al. 2017, section 3.2.3.
    """
    return _distances(seq_q, seq_k, offset) <= 0


def padding_mask(lengths: Sequence[int] | Tensor, seq_len: int) -> Tensor:
    """Hide the padded keys of a batch of sequences, each with its own length.

    It hides keys only: the rows of padded queries stay, and mean nothing.

    >>> padding_mask([3, 1], 3).int().tolist()
    [[[[1, 1, 1]]], [[[1, 0, 0]]]]

    Shape: (batch, 1, 1, seq_len), for every head and query alike.
    Raises: ValueError if lengths is not a list of whole numbers from 0 to seq_len, or seq_len is negative.
    """
    seq_len = _count("seq_len", seq_len)
    counts = _counts("lengths", lengths)
    for index, length in enumerate(counts):
        if length > seq_len:
            raise ValueError(f"lengths[{index}] ({length}) must be at most seq_len ({seq_len})")
    visible = torch.arange(seq_len) < torch.tensor(counts, dtype=torch.int64)[:, None]  # (batch, seq_len)
    return visible[:, None, None, :]  # (batch, 1, 1, seq_len)


def sliding_window_mask(seq_q: int, seq_k: int | None = None, *, left: int, right: int = 0, offset: int = 0) -> Tensor:
    """Every position sees itself, `left` positions before it and `right` after it.

    offset and seq_k are those of `causal_mask`.

    >>> sliding_window_mask(3, left=1).int().tolist()
    [[1, 0, 0], [1, 1, 0], [0, 1, 1]]

    Shape: (seq_q, seq_k).
    Raises: ValueError if a size, left, right or the offset is negative.
    Source: Beltagy et al. 2020, "Longformer", section 3.1; causal as in Jiang et al. 2023, "Mistral 7B", section 2.
    """
    left, right = _count("left", left), _count("right", right)
    distances = _distances(seq_q, seq_k, offset)
    return (distances >= -left) & (distances <= right)


def prefix_mask(seq_len: int, prefix_len: int) -> Tensor:
    """The first prefix_len positions see the whole prefix; later ones see it and are causal.

    >>> prefix_mask(3, 2).int().tolist()
    [[1, 1, 0], [1, 1, 0], [1, 1, 1]]

    Shape: (seq_len, seq_len).
    Raises: ValueError if seq_len is negative or prefix_len is not from 0 to seq_len.
    Source: Raffel et al. 2020, "T5", section 3.2.1, "causal with prefix".
    """
    seq_len, prefix_len = _count("seq_len", seq_len), _count("prefix_len", prefix_len)
    if prefix_len > seq_len:
        raise ValueError(f"prefix_len ({prefix_len}) must be at most seq_len ({seq_len})")
    return causal_mask(seq_len) | (torch.arange(seq_len) < prefix_len)


def permutation_mask(order: Sequence[int] | Tensor, *, include_self: bool = False) -> Tensor:
    """Every position sees those that are predicted before it; `order` lists the positions in the order of prediction.

    include_self: whether a position sees itself, as in XLNet's content stream; its query stream does not.

    >>> permutation_mask([2, 0, 3, 1]).int().tolist()
    [[0, 0, 1, 0], [1, 0, 1, 1], [0, 0, 0, 0], [1, 0, 1, 0]]

    Shape: (seq_len, seq_len), where seq_len is the length of order.
    Raises: ValueError if order does not hold each position 0 … seq_len − 1 once.
    Source: Yang et al. 2019, "XLNet", section 2.3.
    """
    positions = _counts("order", order)
    if sorted(positions) != list(range(len(positions))):
        raise ValueError(f"order ({positions}) must hold each position from 0 to {len(positions) - 1} once")
    turn = torch.argsort(torch.tensor(positions, dtype=torch.int64))  # (seq_len,), when each position has its turn
    return turn <= turn[:, None] if include_self else turn < turn[:, None]


def combine(*masks: Tensor) -> Tensor:
    """What every one of the masks permits.

    Shape: that of the masks broadcast together.
    Raises: ValueError if there is no mask, one is not bool, or they do not broadcast.
    """
    if not masks:
        raise ValueError("masks (0) must be at least 1")
    for index, mask in enumerate(masks):
        if mask.dtype != torch.bool:
            raise ValueError(f"masks[{index}] ({mask.dtype}) must be bool, True = may attend")
    try:
        return functools.reduce(torch.logical_and, masks, torch.tensor(True))
    except RuntimeError:
        shapes = ", ".join(str(tuple(mask.shape)) for mask in masks)
        raise ValueError(f"masks (shapes {shapes}) must broadcast together") from None


def _distances(seq_q: int, seq_k: int | None, offset: int) -> Tensor:
    """How far each key stands after each query, negative if before it: (seq_q, seq_k)."""
    seq_q, offset = _count("seq_q", seq_q), _count("offset", offset)
    seq_k = seq_q + offset if seq_k is None else _count("seq_k", seq_k)
    return torch.arange(seq_k) - (offset + torch.arange(seq_q))[:, None]


def _count(name: str, value: int) -> int:
    number = whole(name, value)
    if number < 0:
        raise ValueError(f"{name} ({number}) must be at least 0")
    return number


def _counts(name: str, values: Sequence[int] | Tensor) -> list[int]:
    if isinstance(values, Tensor) and values.ndim != 1:
        raise ValueError(f"{name} (shape {tuple(values.shape)}) must have one dimension")
    numbers = values.tolist() if isinstance(values, Tensor) else values
    return [_count(f"{name}[{index}]", number) for index, number in enumerate(numbers)]
