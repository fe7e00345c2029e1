"""Which two dimensions turn together: two conventions that differ by the order of the dimensions."""

from enum import StrEnum

import torch
from torch import Tensor

from core.checks import check_even


class Pairing(StrEnum):
    HALF_SPLIT = "half_split"  # (x_i, x_{i + width}), as in Llama (transformers) and GPT-NeoX
    INTERLEAVED = "interleaved"  # (x_{2i}, x_{2i + 1}), as in RoFormer and GPT-J


def read_pairing(name: str, value: str) -> Pairing:
    """Raises: ValueError if there is no such pairing."""
    try:
        return Pairing(value)
    except ValueError:
        raise ValueError(f"{name} ({value!r}) must be one of {', '.join(Pairing)}") from None


def split_pairs(x: Tensor, width: int, pairing: Pairing) -> tuple[Tensor, Tensor]:
    """The first and the second members of the pairs.

    Shapes: x (…, head_dim), head_dim at least 2 · width → twice (…, width).
    """
    if pairing is Pairing.HALF_SPLIT:
        return x[..., :width], x[..., width : 2 * width]
    return x[..., 0 : 2 * width : 2], x[..., 1 : 2 * width : 2]


def join_pairs(first: Tensor, second: Tensor, pairing: Pairing) -> Tensor:
    """What `split_pairs` took apart.

    Shapes: twice (…, width) → (…, 2 · width).
    """
    if pairing is Pairing.HALF_SPLIT:
        return torch.cat((first, second), dim=-1)
    return torch.stack((first, second), dim=-1).flatten(-2)


def to_pairing(x: Tensor, *, source: str, target: str, width: int | None = None) -> Tensor:
    """Reorder the dimensions so that what turns together under `source` turns together under `target`.

    width: how many pairs there are, all of head_dim by default; dimensions beyond 2 · width stay where they are.

    >>> to_pairing(torch.tensor([0, 1, 2, 3]), source="half_split", target="interleaved").tolist()
    [0, 2, 1, 3]

    Shape: x (…, head_dim), and so the result.
    Raises: ValueError if there is no such pairing, head_dim is odd or 0 and no width is given, width is negative, or
        2 · width exceeds head_dim.
    """
    start, end = read_pairing("source", source), read_pairing("target", target)
    head_dim = x.shape[-1]
    if width is None:
        check_even("head_dim", head_dim)
        width = head_dim // 2
    if not 0 <= 2 * width <= head_dim:
        raise ValueError(f"width ({width}) must be at least 0 and at most half of head_dim ({head_dim})")
    first, second = split_pairs(x, width, start)
    return torch.cat((join_pairs(first, second, end), x[..., 2 * width :]), dim=-1)  # (…, head_dim)
