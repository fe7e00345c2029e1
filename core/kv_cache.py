"""A KV cache: the keys and values of the tokens read so far, kept so that no token is projected twice."""

import torch
from torch import Tensor


class KVCache:
    """Room for the keys and values of one layer, filled from the front. For reading only: it passes no gradient on."""

    def __init__(self, k: Tensor, v: Tensor, *, length: int = 0) -> None:
        """Keep keys and values in k and v, of which the first `length` tokens are filled already.

        Shapes: k and v (batch, num_kv_heads, max_len, head_dim).
        Raises: ValueError if the two differ in shape or type, or length does not lie within them.
        """
        if k.ndim != 4:
            raise ValueError(f"k (shape {tuple(k.shape)}) must have the shape (batch, num_kv_heads, max_len, head_dim)")
        if v.shape != k.shape or v.dtype != k.dtype:
            raise ValueError(
                f"v (shape {tuple(v.shape)}, {v.dtype}) must be like k (shape {tuple(k.shape)}, {k.dtype})"
            )
        if not 0 <= length <= k.shape[2]:
            raise ValueError(f"length ({length}) must be between 0 and max_len ({k.shape[2]})")
        self._k, self._v, self.length = k, v, length

    @classmethod
    def empty(
        cls, *, batch: int, num_kv_heads: int, max_len: int, head_dim: int, dtype: torch.dtype = torch.float64
    ) -> "KVCache":
        """An empty cache with room for max_len tokens."""
        k, v = (torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype) for _ in range(2))
        return cls(k, v)

    @property
    def max_len(self) -> int:
        return self._k.shape[2]

    @property
    def nbytes(self) -> int:
        """Bytes that are taken, whether filled or not."""
        return self._k.nbytes + self._v.nbytes

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add new tokens; return the keys and values of all tokens so far, as views of the cache.

        Shapes: k and v (batch, num_kv_heads, seq_new, head_dim) → (batch, num_kv_heads, length, head_dim).
        Raises: ValueError if they do not fit, or there is no room for them.
        """
        batch, num_kv_heads, max_len, head_dim = self._k.shape
        for name, new in (("k", k), ("v", v)):
            if new.ndim != 4 or (*new.shape[:2], new.shape[3]) != (batch, num_kv_heads, head_dim):
                expected = f"({batch}, {num_kv_heads}, seq_new, {head_dim})"
                raise ValueError(f"{name} (shape {tuple(new.shape)}) must have the shape {expected} of the cache")
            if new.dtype != self._k.dtype:
                raise ValueError(f"{name} ({new.dtype}) must have the type of the cache ({self._k.dtype})")
        seq_new, end = k.shape[2], self.length + k.shape[2]
        if v.shape[2] != seq_new:
            raise ValueError(f"seq_new of v ({v.shape[2]}) must equal seq_new of k ({seq_new})")
        if end > max_len:
            raise ValueError(f"length ({self.length}) + seq_new ({seq_new}) must be at most max_len ({max_len})")
        self._k[:, :, self.length : end] = k.detach()
        self._v[:, :, self.length : end] = v.detach()
        self.length = end
        return self._k[:, :, :end], self._v[:, :, :end]

    def forget(self, count: int) -> None:
        """Drop the newest `count` tokens.

        Raises: ValueError if there are fewer.
        """
        if not 0 <= count <= self.length:
            raise ValueError(f"count ({count}) must be between 0 and length ({self.length})")
        self.length -= count
