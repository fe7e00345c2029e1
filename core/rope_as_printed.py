"""RoPE as the source texts print it, kept as it is so that what is claimed of it can be tested on it.

Nothing else may use it: core.positions does what it means to do.
"""

from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor


def precompute_freqs_cis(dim: int, end: int, theta: float = 10000.0) -> Tensor:
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    t = torch.arange(end, device=freqs.device)
    freqs = torch.outer(t, freqs).float()
    freqs_cis = torch.polar(torch.ones_like(freqs), freqs)
    return freqs_cis


def apply_rotary_emb(xq: Tensor, xk: Tensor, freqs_cis: Tensor) -> tuple[Tensor, Tensor]:
    xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    xk_ = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
    xq_out = torch.view_as_real(xq_ * freqs_cis).flatten(3)
    xk_out = torch.view_as_real(xk_ * freqs_cis).flatten(3)
    return xq_out.type_as(xq), xk_out.type_as(xk)


def position_interpolation(position_ids: Tensor, max_train_len: int, current_len: int) -> Tensor:
    scale = max_train_len / current_len
    return (position_ids.float() * scale).long()


class Outcome(StrEnum):
    """What comes of the printed complex form."""

    RIGHT = "right"
    RAISES = "raises"
    WRONG_SHAPE = "wrong_shape"  # in silence
    WRONG_NUMBERS = "wrong_numbers"  # in silence, and in the right shape


@dataclass(frozen=True, slots=True)
class ComplexTrial:
    """The printed complex form, called with an input of the shape that the texts state."""

    shape: tuple[int, int, int, int]  # (batch, seq_len, num_heads, head_dim)
    outcome: Outcome
    returned: tuple[int, ...] | None  # the shape that comes out; None if it raises
    difference: float | None  # largest, from the same numbers multiplied along the right axis; None if shapes differ
    error: str | None  # what torch says


ROUNDING = 1e-5  # float32


def try_complex(
    batch: int, seq_len: int, num_heads: int, head_dim: int, *, generator: torch.Generator, rounding: float = ROUNDING
) -> ComplexTrial:
    """Call it with random numbers, and compare with the rotation of every head by its own position.

    The factors have the shape (seq_len, head_dim / 2) and so meet the axis of the heads: head h is turned as position h
    should be. It raises unless seq_len or num_heads is 1, or both are the same. (In Meta's code, which it resembles, a
    line before the product puts the factors along the right axis: `reshape_for_broadcast` in llama/model.py.)
    """
    shape = (batch, seq_len, num_heads, head_dim)
    x = torch.randn(shape, generator=generator)
    freqs_cis = precompute_freqs_cis(head_dim, seq_len)
    right = apply_rotary_emb(x, x, freqs_cis[:, None, :])[0]  # (batch, seq_len, num_heads, head_dim)
    try:
        found = apply_rotary_emb(x, x, freqs_cis)[0]
    except RuntimeError as error:
        return ComplexTrial(shape, Outcome.RAISES, None, None, str(error))
    returned = tuple(found.shape)
    if returned != shape:
        return ComplexTrial(shape, Outcome.WRONG_SHAPE, returned, None, None)
    difference = float((found - right).abs().max())
    outcome = Outcome.RIGHT if difference <= rounding else Outcome.WRONG_NUMBERS
    return ComplexTrial(shape, outcome, returned, difference, None)
