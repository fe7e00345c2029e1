"""What follows from the sizes of a layer alone, before anything is trained."""

from core.checks import check_divisible, check_sizes
from core.labs.learning_heads_task import NAMES, TAGS

CHANCE = 1 / TAGS
"""The accuracy of guessing."""


def head_dim_of(d_model: int, num_heads: int) -> int:
    """Features of one head.

    Raises: ValueError if a size is less than 1, or d_model is not a multiple of num_heads.
    """
    check_sizes(d_model=d_model, num_heads=num_heads)
    check_divisible("d_model", d_model, "num_heads", num_heads)
    return d_model // num_heads


def bound_of_logits(d_model: int, num_heads: int) -> int:
    """The largest rank that the logits of a head can have on a sequence: QKᵀ has head_dim columns in its middle.

    Raises: ValueError as `head_dim_of`.
    """
    return min(NAMES, head_dim_of(d_model, num_heads))
