"""What a person writes down of a mask: an order of prediction, and cells that are closed."""

import re
from enum import StrEnum

import torch
from torch import Tensor


class OrderProblem(StrEnum):
    NOT_NUMBERS = "not_numbers"
    TWICE = "twice"
    OUT_OF_RANGE = "out_of_range"


class OrderError(ValueError):
    """The text is not an order of the positions; `problem` says why, and `culprit` is the part to blame."""

    def __init__(self, problem: OrderProblem, culprit: str, seq_len: int) -> None:
        rules = {
            OrderProblem.NOT_NUMBERS: "must be a whole number",
            OrderProblem.TWICE: "must stand there once",
            OrderProblem.OUT_OF_RANGE: f"must be between 1 and {seq_len}",
        }
        super().__init__(f"order ({culprit}) {rules[problem]}")
        self.problem = problem
        self.culprit = culprit


def read_order(text: str, seq_len: int) -> tuple[int, ...]:
    """The order of prediction that a text names, with positions counted from 1 there, and from 0 in the result.

    Positions that it leaves out follow at the end, in the order of reading.

    >>> read_order("3 1, 4", 5)
    (2, 0, 3, 1, 4)

    Raises: OrderError if a part is no whole number, stands there twice, or is not between 1 and seq_len.
    """
    named: list[int] = []
    for part in re.split(r"[\s,;，、；→>]+", text.strip(" \t,;[]()")):
        if not part:
            continue
        if not (part.isdecimal() and len(part) < 10):
            raise OrderError(OrderProblem.NOT_NUMBERS, part, seq_len)
        position = int(part) - 1
        if not 0 <= position < seq_len:
            raise OrderError(OrderProblem.OUT_OF_RANGE, part, seq_len)
        if position in named:
            raise OrderError(OrderProblem.TWICE, part, seq_len)
        named.append(position)
    return (*named, *(position for position in range(seq_len) if position not in named))


def shuffled_order(seq_len: int, generator: torch.Generator) -> tuple[int, ...]:
    """A random order of the positions 0 … seq_len − 1.

    Raises: ValueError if seq_len is negative.
    """
    if seq_len < 0:
        raise ValueError(f"seq_len ({seq_len}) must be at least 0")
    return tuple(torch.randperm(seq_len, generator=generator).tolist())


def read_closed(text: str, seq_q: int, seq_k: int) -> Tensor:
    """The mask in which the cells are closed that a text names; all others are open.

    The text has a hexadecimal number for each row, joined by "-"; bit k of a row is set if key k is closed. Rows and
    bits that the mask has no room for count for nothing; rows that are missing are open.

    >>> read_closed("2-0", 2, 3).int().tolist()
    [[1, 0, 1], [1, 1, 1]]

    Shape: (seq_q, seq_k), bool, True = may attend.
    Raises: ValueError if a part is not a hexadecimal number.
    """
    rows = [int(part, 16) for part in text.split("-")[:seq_q]] if text else []
    rows += [0] * (seq_q - len(rows))
    open_cells = [[not row >> key & 1 for key in range(seq_k)] for row in rows]
    return torch.tensor(open_cells, dtype=torch.bool).reshape(seq_q, seq_k)


def write_closed(attend_mask: Tensor) -> str:
    """The text that `read_closed` reads; "" if all is open.

    Shape: attend_mask (seq_q, seq_k), bool, True = may attend.
    """
    rows = [sum(1 << key for key, may in enumerate(row) if not may) for row in attend_mask.tolist()]
    return "-".join(f"{row:x}" for row in rows) if any(rows) else ""
