"""A cache of rotation tables."""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.positions.checks import check_length
from core.positions.rope import RotationTables, rotation_tables
from core.positions.scalings import Scaling, Unscaled


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    frequencies: Tensor  # (width,), what the tables were made with
    tables: RotationTables  # (longest, width)


class TableCache:
    """Keeps the tables of the positions 0, 1, 2, …, as far as they were asked for; whoever makes one owns it.

    There is one table for each head_dim, base, scaling, type and device. Where the length of the text changes the
    frequencies (dynamic NTK beyond trained_len), the table is made anew, for it would be wrong from the first row on.

    >>> cache = TableCache()
    >>> cache.tables(5, 64).cos.shape, len(cache)
    (torch.Size([5, 32]), 1)
    """

    def __init__(self) -> None:
        self._held: dict[tuple[object, ...], _Held] = {}

    def __len__(self) -> int:
        return len(self._held)

    def tables(
        self,
        seq_len: int,
        head_dim: int,
        *,
        base: float = 10000.0,
        scaling: Scaling | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> RotationTables:
        """The tables of the positions 0 … seq_len − 1; angles are float64, whatever the type of the tables.

        Without the attention factor. What is returned is a view of what is kept: do not write into it.
        Shape: (seq_len, head_dim / 2).
        Raises: ValueError if seq_len is negative, dtype is not floating-point, or as the scaling's `apply` does.
        """
        check_length("seq_len", seq_len)
        if not dtype.is_floating_point:
            raise ValueError(f"dtype ({dtype}) must be floating-point")
        scaling = scaling or Unscaled()
        scaled = scaling.apply(head_dim, base=base, seq_len=seq_len)
        key = (head_dim, base, scaling, dtype, torch.device(device))
        held = self._held.get(key)
        if held is not None and not torch.equal(held.frequencies, scaled.frequencies):
            held = None
        longest = 0 if held is None else held.tables.cos.shape[0]
        if held is None or longest < seq_len:
            new = rotation_tables(scaled.positions(torch.arange(longest, seq_len)), scaled.frequencies)
            added = [table.to(device=device, dtype=dtype) for table in (new.cos, new.sin)]  # (seq_len − longest, width)
            if held is not None:
                added = [torch.cat(both) for both in zip((held.tables.cos, held.tables.sin), added, strict=True)]
            held = _Held(scaled.frequencies, RotationTables(*added))
            self._held[key] = held
        return RotationTables(held.tables.cos[:seq_len], held.tables.sin[:seq_len])
