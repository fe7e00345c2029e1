"""What to write over a forbidden score before the softmax, and in which type of number.

Here softmax is not guarded against what follows from the choice: numbers overflow, rows become NaN, and attention falls
on forbidden places. `core.attention` computes with the guarded form, in float32 at least.
"""

import math
from enum import StrEnum

import torch
from torch import Tensor

MINUS_1E9 = -1e9


class Fill(StrEnum):
    MINUS_INFINITY = "inf"
    MINUS_1E9 = "1e9"
    GUARDED = "guarded"  # −∞, and a row in which everything is forbidden becomes 0


class FillOverflowError(OverflowError):
    """The fill value is beyond the largest number of the type, and torch refuses to write it."""


def masked_softmax(scores: Tensor, attend_mask: Tensor, fill: Fill) -> Tensor:
    """The weights that really come out, in the type of the scores.

    Where a row permits nothing, −∞ gives NaN, −1e9 gives equal shares of what is forbidden, and GUARDED gives 0.

    Shapes: scores (…, seq_q, seq_k); attend_mask bool, True = may attend, broadcasts to it → weights (…, seq_q, seq_k).
    Raises: FillOverflowError if −1e9 does not fit into the type: float16 ends at 65504.
        ValueError if attend_mask is not bool.
    """
    if attend_mask.dtype != torch.bool:
        raise ValueError(f"attend_mask ({attend_mask.dtype}) must be bool, True = may attend")
    if fill is Fill.MINUS_1E9:
        try:
            return torch.softmax(scores.masked_fill(~attend_mask, MINUS_1E9), dim=-1)
        except RuntimeError as error:
            raise FillOverflowError(str(error)) from None
    weights = torch.softmax(scores.masked_fill(~attend_mask, -math.inf), dim=-1)  # NaN where nothing is permitted
    if fill is Fill.MINUS_INFINITY:
        return weights
    return torch.where(attend_mask, weights, 0.0)  # exactly 0 where forbidden, so that an empty row is all 0


def seen(weights: Tensor, attend_mask: Tensor) -> Tensor:
    """Where a weight is to be reckoned with: the place is permitted, or it is forbidden and yet has a share or NaN.

    Shapes: both (…, seq_q, seq_k) → bool (…, seq_q, seq_k).
    """
    return attend_mask | (weights != 0)  # NaN differs from everything
