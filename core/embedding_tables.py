"""Tables of word vectors that people bring along: CSV, or the text files of GloVe and word2vec.

Whatever is wrong with a file is found here and told by a TableError: nothing is repaired in silence.

    read_file    the bytes of a file → words, vectors and, if there is such a column, groups
    read_rows    the rows of an edited table → the same
"""

import csv
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import torch

from core.embeddings import SHORTEST, WordVectors

FEWEST_WORDS, MOST_WORDS = 3, 2000
FEWEST_DIMS, MOST_DIMS = 2, 300
MOST_BYTES = 20_000_000  # 2,000 × 300 numbers of 30 characters
MOST_GROUPS = 8  # each has a shape of its own in a picture
LARGEST = 1e6
LONGEST_WORD = 60  # characters
SAMPLE = 20  # lines that tell what stands between the fields
WORD_COLUMN = ("", "word", "words", "token")  # what the first column may be called in a header
JOINERS = "\u200c\u200d"  # Persian and emoji are spelled with them


class TableProblem(StrEnum):
    EMPTY = "empty"
    TOO_LARGE_A_FILE = "too_large_a_file"
    NOT_TEXT = "not_text"
    NOT_UTF8 = "not_utf8"
    NOT_A_TABLE = "not_a_table"  # a line without numbers behind its word
    BROKEN_QUOTES = "broken_quotes"
    TOO_FEW_WORDS = "too_few_words"
    TOO_MANY_WORDS = "too_many_words"
    TOO_FEW_DIMS = "too_few_dims"
    TOO_MANY_DIMS = "too_many_dims"
    RAGGED = "ragged"
    NO_WORD = "no_word"
    LONG_WORD = "long_word"
    UNPRINTABLE_WORD = "unprintable_word"
    DUPLICATE = "duplicate"
    NO_GROUP = "no_group"
    TOO_MANY_GROUPS = "too_many_groups"
    NOT_A_NUMBER = "not_a_number"
    NOT_FINITE = "not_finite"
    TOO_LARGE = "too_large"
    ALL_ZERO = "all_zero"
    ALL_EQUAL = "all_equal"


class TableError(ValueError):
    """What is wrong with a table, and where: lines and numbers are counted from 1, 0 where there is no such place."""

    def __init__(
        self, problem: TableProblem, *, line: int = 0, number: int = 0, found: object = "", wanted: object = ""
    ) -> None:
        super().__init__(f"table: {problem}, line {line}, number {number}: found {found!r}, wanted {wanted!r}")
        self.problem, self.line, self.number = problem, line, number
        self.found, self.wanted = str(found), str(wanted)


@dataclass(frozen=True, slots=True)
class _Row:
    line: int  # of the file, counted from 1
    word: str
    group: str | None
    numbers: tuple[str, ...]


def read_file(data: bytes) -> WordVectors:
    """Read an uploaded file. A line is a word and its numbers, and perhaps, right behind the word or last, a group.

    Between them stand commas, semicolons, tabs or spaces. A first line with names of columns, or with the two counts
    of word2vec, is left out. With semicolons, numbers may have a decimal comma.
    Raises: TableError.
    """
    text = _decoded(data)
    lines = [(number, line) for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1) if line.strip()]
    if not lines:
        raise TableError(TableProblem.EMPTY)
    if len(lines) > MOST_WORDS + 1:  # one may be a header
        raise TableError(TableProblem.TOO_MANY_WORDS, found=len(lines), wanted=MOST_WORDS)
    delimiter = _delimiter([line for _number, line in lines[:SAMPLE]])
    is_number = _numbers_between(delimiter)
    fields = _split(lines, delimiter)
    if _is_header(fields, is_number, delimiter):
        fields = fields[1:]
    if not fields:
        raise TableError(TableProblem.EMPTY)
    rows = _rows(fields, is_number)
    if delimiter == ";":
        rows = [_Row(r.line, r.word, r.group, tuple(n.replace(",", ".") for n in r.numbers)) for r in rows]
    return _checked(rows)


def read_rows(rows: Sequence[Sequence[Any]], *, most_words: int = MOST_WORDS, largest: float = LARGEST) -> WordVectors:
    """Read an edited table: each row is a word, a group and numbers; an empty cell is None.

    Raises: TableError.
    """
    found = [
        _Row(line, _text(word), _text(group), tuple(_text(number) for number in numbers))
        for line, (word, group, *numbers) in enumerate(rows, start=1)
    ]
    return _checked(found, most_words=most_words, largest=largest)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


# ------------------------------------------------------------------------------------------------ from bytes to fields


def _decoded(data: bytes) -> str:
    if len(data) > MOST_BYTES:
        raise TableError(TableProblem.TOO_LARGE_A_FILE, found=len(data), wanted=MOST_BYTES)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"  # as Excel writes "Unicode text"
    elif b"\0" in data:
        raise TableError(TableProblem.NOT_TEXT)
    else:
        encoding = "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise TableError(TableProblem.NOT_UTF8, line=line) from error


def _delimiter(lines: Sequence[str]) -> str:
    """What stands between the fields: what makes most of them numbers. A word may itself be a comma."""

    def numbers(sign: str) -> int:
        is_number = _numbers_between(sign)
        return sum(is_number(field.strip(' "')) for line in lines for field in line.split(sign))

    return max("\t;, ", key=numbers)


def _split(lines: Sequence[tuple[int, str]], delimiter: str) -> list[tuple[int, list[str]]]:
    if delimiter == " ":
        return [(number, line.split()) for number, line in lines]
    found = []
    for number, line in lines:
        try:
            (fields,) = csv.reader([line], delimiter=delimiter, strict=True)
        except csv.Error as error:
            raise TableError(TableProblem.BROKEN_QUOTES, line=number) from error
        while len(fields) > 2 and not fields[-1].strip():  # a line may end with a delimiter
            fields.pop()
        found.append((number, [field.strip() for field in fields]))
    return found


def _numbers_between(delimiter: str) -> Callable[[str], bool]:
    """What counts as a number there: where semicolons part them, also one with a decimal comma."""
    return _is_decimal_comma if delimiter == ";" else _is_number


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # Python's own spelling of a million


def _is_decimal_comma(text: str) -> bool:
    return _is_number(text.replace(",", ".", 1))


def _is_header(fields: Sequence[tuple[int, list[str]]], is_number: Callable[[str], bool], delimiter: str) -> bool:
    """Whether the first line holds names of columns, or word2vec's number of words and of dimensions."""
    first = fields[0][1]
    if delimiter == " " and len(first) == 2 and all(text.isdecimal() for text in first):
        return len(fields) == 1 or len(fields[1][1]) != 2
    if len(fields) == 1 or len(first) < 2:
        return False
    if first[0].casefold() in WORD_COLUMN:
        return True
    numbers = [is_number(text) for text in first[1:]]
    return not any(numbers) and any(is_number(text) for text in fields[1][1][1:])


def _rows(fields: Sequence[tuple[int, list[str]]], is_number: Callable[[str], bool]) -> list[_Row]:
    """Words, groups and numbers; the first line says whether there is a group, and where."""
    line, first = fields[0]
    if len(first) < 2:
        raise TableError(TableProblem.NOT_A_TABLE, line=line, found=first[0] if first else "")
    texts = [place for place, text in enumerate(first) if place and text and not is_number(text)]
    places = [place for place in texts if place in (1, len(first) - 1)]
    place = next((p for p in places if not any(is_number(found[p]) for _line, found in fields if p < len(found))), None)
    rows = []
    for line, found in fields:
        if len(found) != len(first):
            raise TableError(TableProblem.RAGGED, line=line, found=len(found) - 1, wanted=len(first) - 1)
        numbers = tuple(text for number, text in enumerate(found) if number not in (0, place))
        rows.append(_Row(line, found[0], None if place is None else found[place], numbers))
    return rows


# ------------------------------------------------------------------------------------------------ from rows to vectors


def _checked(rows: Sequence[_Row], *, most_words: int = MOST_WORDS, largest: float = LARGEST) -> WordVectors:
    if len(rows) > most_words:
        raise TableError(TableProblem.TOO_MANY_WORDS, found=len(rows), wanted=most_words)
    if len(rows) < FEWEST_WORDS:
        raise TableError(TableProblem.TOO_FEW_WORDS, found=len(rows), wanted=FEWEST_WORDS)
    dim = len(rows[0].numbers)
    if dim > MOST_DIMS:
        raise TableError(TableProblem.TOO_MANY_DIMS, found=dim, wanted=MOST_DIMS)
    if dim < FEWEST_DIMS:
        raise TableError(TableProblem.TOO_FEW_DIMS, found=dim, wanted=FEWEST_DIMS)
    lines: dict[str, int] = {}
    for row in rows:
        _check_word(row)
        if row.word in lines:
            raise TableError(TableProblem.DUPLICATE, line=row.line, found=row.word, wanted=lines[row.word])
        lines[row.word] = row.line
    vectors = torch.tensor([_numbers(row, largest) for row in rows], dtype=torch.float64)
    if float((vectors - vectors[0]).abs().max()) < SHORTEST:
        raise TableError(TableProblem.ALL_EQUAL)
    names = list(dict.fromkeys(row.group for row in rows if row.group is not None))
    if len(names) > MOST_GROUPS:
        raise TableError(TableProblem.TOO_MANY_GROUPS, found=len(names), wanted=MOST_GROUPS)
    groups = tuple(names.index(row.group) if row.group is not None else 0 for row in rows)
    return WordVectors(tuple(lines), vectors, groups, tuple(names) or ("",))


def _check_word(row: _Row) -> None:
    for text, missing in ((row.word, TableProblem.NO_WORD), (row.group, TableProblem.NO_GROUP)):
        if text == "":
            raise TableError(missing, line=row.line)
        if text is not None and len(text) > LONGEST_WORD:
            raise TableError(TableProblem.LONG_WORD, line=row.line, found=text, wanted=LONGEST_WORD)
        if text is not None and not all(sign.isprintable() or sign in JOINERS for sign in text):
            raise TableError(TableProblem.UNPRINTABLE_WORD, line=row.line, found=text)


def _numbers(row: _Row, largest: float) -> list[float]:
    numbers = []
    for place, text in enumerate(row.numbers, start=1):
        if not _is_number(text):
            raise TableError(TableProblem.NOT_A_NUMBER, line=row.line, number=place, found=text)
        number = float(text)
        if not math.isfinite(number):
            raise TableError(TableProblem.NOT_FINITE, line=row.line, number=place, found=text)
        if abs(number) > largest:
            raise TableError(TableProblem.TOO_LARGE, line=row.line, number=place, found=text, wanted=f"{largest:g}")
        numbers.append(number)
    if math.hypot(*numbers) < 10 * SHORTEST:
        raise TableError(TableProblem.ALL_ZERO, line=row.line, found=row.word)
    return numbers
