"""The texts' multi-head attention in NumPy, kept as printed so that what is claimed of it can be tested on it.

Nothing else may use it: core.heads does what it means to do. One thing differs from the print: its random numbers come
from a generator of its own, as NumPy's global one belongs to the whole program.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def transpose_as_printed(k: Array) -> Array:
    return k.transpose(0, 2, 1)  # names three axes: right for (batch, seq_len, d_model), but split heads have four


def swap_last_axes(k: Array) -> Array:
    """What is meant: (…, seq_len, head_dim) → (…, head_dim, seq_len), however many axes come before."""
    return k.swapaxes(-1, -2)


class ScaledDotProductAttention:
    def __init__(self, d_model: int, transpose: Callable[[Array], Array] = transpose_as_printed) -> None:
        self.d_model = d_model
        self.d_k = d_model
        self.transpose = transpose

    def forward(self, q: Array, k: Array, v: Array, mask: Any = None) -> tuple[Array, Array]:
        scores = q @ self.transpose(k)
        scores = scores / np.sqrt(self.d_k)
        if mask is not None:
            scores = np.where(mask == 0, -1e9, scores)
        exp_scores = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        attention_weights = exp_scores / exp_scores.sum(axis=-1, keepdims=True)
        output = attention_weights @ v
        return output, attention_weights


class MultiHeadAttention:
    def __init__(
        self,
        d_model: int,
        num_heads: int,
        rng: np.random.Generator,
        transpose: Callable[[Array], Array] = transpose_as_printed,
    ) -> None:
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        self.W_Q, self.W_K, self.W_V, self.W_O = rng.standard_normal((4, d_model, d_model)) * 0.02
        self.attention = ScaledDotProductAttention(self.d_k, transpose)

    def _split_heads(self, x: Array) -> Array:
        batch_size, seq_len, _ = x.shape
        x = x.reshape(batch_size, seq_len, self.num_heads, self.d_k)
        return x.transpose(0, 2, 1, 3)  # (batch, num_heads, seq_len, d_k)

    def forward(self, q: Array, k: Array, v: Array, mask: Any = None) -> tuple[Array, Array]:
        batch_size = q.shape[0]
        q, k, v = q @ self.W_Q, k @ self.W_K, v @ self.W_V
        q, k, v = self._split_heads(q), self._split_heads(k), self._split_heads(v)
        attention_out, attn_weights = self.attention.forward(q, k, v, mask)
        attention_out = attention_out.transpose(0, 2, 1, 3).reshape(batch_size, -1, self.d_model)
        return attention_out @ self.W_O, attn_weights


@dataclass(frozen=True, slots=True)
class PrintedRun:
    """What came of calling it on a batch as the texts do."""

    refusal: str | None  # what NumPy said; None: it ran
    weights_shape: tuple[int, ...] | None  # (batch, num_heads, seq_len, seq_len), if it ran


def run_printed(
    transpose: Callable[[Array], Array] = transpose_as_printed,
    *,
    batch: int = 2,
    seq_len: int = 10,
    d_model: int = 64,
    num_heads: int = 8,
) -> PrintedRun:
    """Call the printed class at the sizes of the texts, with its own transposition or with another."""
    rng = np.random.default_rng(42)
    x = rng.standard_normal((batch, seq_len, d_model))
    try:
        _, weights = MultiHeadAttention(d_model, num_heads, rng, transpose).forward(x, x, x)
    except ValueError as error:
        return PrintedRun(str(error), None)
    return PrintedRun(None, weights.shape)
