"""Looking something up softly: a query is compared with the labels of all books, and each gives some of its content.

The words are those of attention: a book's label is its key, its content is its value, and what is asked is the query.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor

from core.attention import scaled_dot_product_attention
from core.checks import check_positive


class TableProblem(StrEnum):
    """What is wrong with a table of books."""

    NO_ROWS = "no_rows"
    TOO_MANY_ROWS = "too_many_rows"
    NO_TITLE = "no_title"
    EMPTY_CELL = "empty_cell"  # also where a row is shorter than the others, or holds NaN
    EXTRA_CELL = "extra_cell"
    NOT_A_NUMBER = "not_a_number"
    TOO_LARGE = "too_large"  # infinity, too


class TableError(ValueError):
    """A table of books cannot be read: what is wrong, and where (counted from 0)."""

    def __init__(
        self, problem: TableProblem, message: str, *, row: int = 0, column: int = 0, found: object = ""
    ) -> None:
        super().__init__(message)
        self.problem = problem
        self.row = row
        self.column = column  # 0 is the title
        self.found = found


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """Books with labels and contents."""

    titles: tuple[str, ...]
    keys: Tensor  # (books, features)
    values: Tensor  # (books, contents)


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a query gets from a shelf."""

    similarities: Tensor  # (books,), query · key / temperature
    shares: Tensor  # (books,), how much of each book's content is taken
    contributions: Tensor  # (books, contents), share · content
    answer: Tensor  # (contents,), their sum


def read_shelf(
    rows: Sequence[Sequence[object]], *, features: int, contents: int, most_rows: int, largest: float
) -> Shelf:
    """Read a table of books, a row each: title, features of the label, features of the content.

    Nothing is repaired in silence: an empty cell is no zero, and the text "3" is no number.
    Raises: TableError, naming the first thing that is wrong.

    >>> read_shelf([["Poems", 0, 1, 2]], features=2, contents=1, most_rows=8, largest=9).keys.tolist()
    [[0.0, 1.0]]
    """
    if not rows:
        raise TableError(TableProblem.NO_ROWS, "rows (0) must be at least 1")
    if len(rows) > most_rows:
        raise TableError(TableProblem.TOO_MANY_ROWS, f"rows ({len(rows)}) must be at most {most_rows}", found=len(rows))
    numbers = [_read_row(number, row, 1 + features + contents, largest) for number, row in enumerate(rows)]
    table = torch.tensor(numbers, dtype=torch.float64)  # (books, features + contents)
    return Shelf(tuple(str(row[0]).strip() for row in rows), table[:, :features], table[:, features:])


def _read_row(number: int, row: Sequence[object], columns: int, largest: float) -> list[float]:
    title, cells = row[0] if row else None, row[1:]
    if not isinstance(title, str) or not title.strip():
        raise TableError(TableProblem.NO_TITLE, f"row {number} must begin with a title", row=number)
    if len(row) > columns:
        message = f"row {number} ({len(row)} cells) must have {columns}"
        raise TableError(TableProblem.EXTRA_CELL, message, row=number, column=columns)
    numbers = [_read_cell(number, column, cell, largest) for column, cell in enumerate(cells, start=1)]
    if len(row) < columns:
        message = f"row {number} ({len(row)} cells) must have {columns}"
        raise TableError(TableProblem.EMPTY_CELL, message, row=number, column=len(row))
    return numbers


def _read_cell(row: int, column: int, cell: object, largest: float) -> float:
    where = f"row {row}, column {column}"
    if cell is None or (isinstance(cell, float) and math.isnan(cell)) or cell == "":
        raise TableError(TableProblem.EMPTY_CELL, f"{where} must hold a number", row=row, column=column)
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        message = f"{where} ({cell!r}) must be a number"
        raise TableError(TableProblem.NOT_A_NUMBER, message, row=row, column=column, found=cell)
    if abs(cell) > largest:
        message = f"{where} ({cell}) must lie between {-largest:g} and {largest:g}"
        raise TableError(TableProblem.TOO_LARGE, message, row=row, column=column, found=cell)
    return float(cell)


def look_up(shelf: Shelf, query: Tensor, *, temperature: float = 1.0, softmax: bool = True) -> Answer:
    """Ask a shelf: this is attention with one query, whose scores are divided by the temperature instead of √head_dim.

    softmax: False takes the similarities themselves as shares, as some texts do: they need not sum to 1.
    Shapes: query (features,).
    Raises: ValueError if the temperature is not positive, or the query does not have the shelf's features.
    """
    check_positive("temperature", temperature)
    trace = scaled_dot_product_attention(
        query[None, None], shelf.keys[None], shelf.values[None], scale=1 / temperature
    )  # scores (1, 1, books)
    similarities = trace.scores[0, 0]  # (books,)
    shares = trace.weights[0, 0] if softmax else similarities
    contributions = shares[:, None] * shelf.values  # (books, contents)
    answer = trace.output[0, 0] if softmax else contributions.sum(dim=0)
    return Answer(similarities, shares, contributions, answer)


def closest_label(shelf: Shelf, query: Tensor) -> float:
    """The largest cosine between the query and a label: 1 means that a label equals the query up to its length."""
    return float(torch.nn.functional.cosine_similarity(shelf.keys, query[None], dim=1).max())


def answer_of_labels(shelf: Shelf, answer: Answer) -> Tensor:
    """What the same shares would give if the labels were the contents, too (V = K); (features,)."""
    return answer.shares @ shelf.keys
