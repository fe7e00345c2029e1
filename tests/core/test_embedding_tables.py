"""Uploaded and edited tables: every format that is read, and everything that can be wrong with one."""

import codecs

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.embedding_tables import (
    LARGEST,
    LONGEST_WORD,
    MOST_BYTES,
    MOST_DIMS,
    MOST_GROUPS,
    MOST_WORDS,
    TableError,
    TableProblem,
    read_file,
    read_rows,
)
from core.embeddings import WordVectors

WORDS = ("king", "queen", "cat")
VECTORS = [[0.5, -1.0, 2.0], [0.25, 3.0, -0.125], [1e-3, 0.0, 7.0]]


def assert_read(data: bytes, *, groups: tuple[int, ...] = (0, 0, 0), names: tuple[str, ...] = ("",)) -> None:
    found = read_file(data)
    assert found.words == WORDS
    assert found.vectors.tolist() == VECTORS
    assert (found.groups, found.group_names) == (groups, names)


def problem(data: bytes) -> TableError:
    with pytest.raises(TableError) as caught:
        read_file(data)
    return caught.value


PLAIN = "king 0.5 -1 2\nqueen 0.25 3 -0.125\ncat 0.001 0 7"


# ------------------------------------------------------------------------------------------------------ what is read


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"3 3\n{PLAIN}\n",  # word2vec
        f"{PLAIN} \n\n",  # as word2vec writes it: a space at the end
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        PLAIN.replace(" ", "\t"),
        PLAIN.replace(" ", ","),
        PLAIN.replace(" ", ", "),
        PLAIN.replace(" ", ";"),
        PLAIN.replace(" ", ",").replace("\n", ",\n"),  # a delimiter at the end of lines
        f"word,a,b,c\n{PLAIN.replace(' ', ',')}",
        f",0,1,2\n{PLAIN.replace(' ', ',')}",  # as pandas writes it
        f"Wort,x,y,z\n{PLAIN.replace(' ', ',')}",
        '"king","0.5","-1","2"\n"queen",0.25,3,-0.125\ncat,1e-3,0,7.0',
        "king;0,5;-1;2\nqueen;0,25;3;-0,125\ncat;0,001;0;7",  # a decimal comma
    ],
)
def test_formats(text: str) -> None:
    assert_read(text.encode())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(encoding: str) -> None:
    found = read_file("猫 1 2\nchien 3 4\nΣ 5 6".encode(encoding))
    assert found.words == ("猫", "chien", "Σ")


@pytest.mark.parametrize(
    "text",
    [
        "king,royal,0.5,-1,2\nqueen,royal,0.25,3,-0.125\ncat,animal,0.001,0,7",
        "king,0.5,-1,2,royal\nqueen,0.25,3,-0.125,royal\ncat,0.001,0,7,animal",
        "word,group,a,b,c\nking,royal,0.5,-1,2\nqueen,royal,0.25,3,-0.125\ncat,animal,0.001,0,7",
    ],
)
def test_groups(text: str) -> None:
    assert_read(text.encode(), groups=(0, 0, 1), names=("royal", "animal"))


def test_words_that_look_like_something_else() -> None:
    """GloVe begins with a comma and a full stop; a word may be a number, or hold what parts fields elsewhere."""
    found = read_file(b'the 0.1 0.2\n, 0.3 0.4\n. 0.5 0.6\n1999 0.7 0.8\na;b 0.9 1.0\n" 1 2')
    assert found.words == ("the", ",", ".", "1999", "a;b", '"')
    quoted = read_file(b'"a, b",1,2\nc,3,4\n"say ""x""",5,6')
    assert quoted.words == ("a, b", "c", 'say "x"')


def test_what_pandas_writes_comes_back() -> None:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(11, 7)), index=[f"w{number}" for number in range(11)])
    found = read_file(frame.to_csv().encode())
    assert found.words == tuple(frame.index)
    np.testing.assert_array_equal(found.vectors.numpy(), frame.to_numpy())


def test_the_largest_table() -> None:
    text = "\n".join(f"w{number} " + " ".join(["0.5"] * (MOST_DIMS - 1)) + f" {number}" for number in range(MOST_WORDS))
    for data in (text, f"{MOST_WORDS} {MOST_DIMS}\n{text}"):
        assert read_file(data.encode()).vectors.shape == (MOST_WORDS, MOST_DIMS)


# ---------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("", TableProblem.EMPTY, 0),
        ("\n \n\t\n", TableProblem.EMPTY, 0),
        ("hello", TableProblem.NOT_A_TABLE, 1),
        ("This is a letter.\nIt has lines.", TableProblem.NOT_A_TABLE, 1),
        ("a 1 2\nb 3 4", TableProblem.TOO_FEW_WORDS, 0),
        ("3 2\na 1 2\nb 3 4", TableProblem.TOO_FEW_WORDS, 0),
        ("a 1\nb 2\nc 3", TableProblem.TOO_FEW_DIMS, 0),
        ("a 1 2\nb 3 4\nc 5", TableProblem.RAGGED, 3),
        ("a 1 2\nb 3 4 5\nc 5 6", TableProblem.RAGGED, 2),
        ("a,1,2\n,3,4\nc,5,6", TableProblem.NO_WORD, 2),
        (f"a,1,2\n{'b' * (LONGEST_WORD + 1)},3,4\nc,5,6", TableProblem.LONG_WORD, 2),
        ("a,1,2\n\u202eb,3,4\nc,5,6", TableProblem.UNPRINTABLE_WORD, 2),
        ("a,1,2\nb\x07,3,4\nc,5,6", TableProblem.UNPRINTABLE_WORD, 2),
        ("a 1 2\nb 3 4\na 5 6", TableProblem.DUPLICATE, 3),
        ("a,g,1,2\nb,,3,4\nc,g,5,6", TableProblem.NO_GROUP, 2),
        ("a,1,2\nb,x,4\nc,5,6", TableProblem.NOT_A_NUMBER, 2),
        ("a,1,2\nb,1_0,4\nc,5,6", TableProblem.NOT_A_NUMBER, 2),
        ("a,1,2\nb,,4\nc,5,6", TableProblem.NOT_A_NUMBER, 2),
        ("a,x,2,3\nb,1,2,4\nc,5,6,7", TableProblem.NOT_A_NUMBER, 1),
        ("a,1,2\nb,NaN,4\nc,5,6", TableProblem.NOT_FINITE, 2),
        ("a,1,2\nb,3,-inf\nc,5,6", TableProblem.NOT_FINITE, 2),
        ("a,1,2\nb,3,1e999\nc,5,6", TableProblem.NOT_FINITE, 2),
        (f"a,1,2\nb,3,{2 * LARGEST}\nc,5,6", TableProblem.TOO_LARGE, 2),
        ("a,1,2\nb,0,0\nc,5,6", TableProblem.ALL_ZERO, 2),
        ("a,1,2\nb,1e-200,0\nc,5,6", TableProblem.ALL_ZERO, 2),
        ("a,1,2\nb,1,2\nc,1,2", TableProblem.ALL_EQUAL, 0),
        ('a,1,2\n"b,3,4\nc,5,6', TableProblem.BROKEN_QUOTES, 2),
        ("word,a,b\n", TableProblem.NOT_A_TABLE, 1),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, kind: TableProblem, line: int) -> None:
    found = problem(text.encode())
    assert (found.problem, found.line) == (kind, line)


def test_what_a_problem_knows() -> None:
    assert (problem(b"a 1 2\nb 3 4\na 5 6").found, problem(b"a 1 2\nb 3 4\na 5 6").wanted) == ("a", "1")
    ragged = problem(b"a 1 2\nb 3 4 5\nc 5 6")
    assert (ragged.found, ragged.wanted) == ("3", "2")
    number = problem(b"a,1,2\nb,3,?\nc,5,6")
    assert (number.number, number.found) == (2, "?")
    assert "not_a_number, line 2, number 2" in str(number)


def test_too_many() -> None:
    rows = [f"w{number} 1 {number}" for number in range(MOST_WORDS + 2)]
    found = problem("\n".join(rows[:-1]).encode())
    assert (found.problem, found.found, found.wanted) == (TableProblem.TOO_MANY_WORDS, "2001", "2000")
    assert problem("\n".join(rows).encode()).problem is TableProblem.TOO_MANY_WORDS
    wide = "\n".join(f"{word} " + " ".join(["1"] * (MOST_DIMS + 1)) for word in "abc")
    assert problem(wide.encode()).problem is TableProblem.TOO_MANY_DIMS
    groups = "\n".join(f"w{number},g{number},1,{number}" for number in range(MOST_GROUPS + 1))
    assert problem(groups.encode()).problem is TableProblem.TOO_MANY_GROUPS
    assert problem(b"a" * (MOST_BYTES + 1)).problem is TableProblem.TOO_LARGE_A_FILE


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"a 1 2\nb 3 4\n\xff\xe9 5 6", TableProblem.NOT_UTF8),
        ("café 1 2\nb 3 4\nc 5 6".encode("latin-1"), TableProblem.NOT_UTF8),
        (codecs.BOM_UTF16_LE + b"a", TableProblem.NOT_UTF8),
        (b"\x93NUMPY\x01\x00v\x00", TableProblem.NOT_TEXT),
        (b"PK\x03\x04\x00\x00", TableProblem.NOT_TEXT),  # an Excel file
    ],
)
def test_what_is_no_text(data: bytes, kind: TableProblem) -> None:
    assert problem(data).problem is kind


def test_where_the_encoding_goes_wrong() -> None:
    assert problem(b"a 1 2\nb 3 4\n\xe9 5 6").line == 3


@given(data=st.one_of(st.binary(max_size=200), st.text(alphabet='ab1,;\t "\n.-ne0', max_size=80).map(str.encode)))
@settings(deadline=None, max_examples=300)
def test_any_file_is_read_or_refused(data: bytes) -> None:
    try:
        found = read_file(data)
    except TableError:
        return
    assert isinstance(found, WordVectors)
    assert len(found.words) >= 3
    assert found.dim >= 2


# ----------------------------------------------------------------------------------------------------- edited tables


def test_rows() -> None:
    found = read_rows([["king", "g", 1.0, 2], [" cat ", "h", 3, 4.5], ["猫", "h", 0, -1]])
    assert found.words == ("king", "cat", "猫")
    assert found.vectors.tolist() == [[1, 2], [3, 4.5], [0, -1]]
    assert (found.groups, found.group_names) == ((0, 1, 1), ("g", "h"))


@pytest.mark.parametrize(
    ("row", "kind", "number"),
    [
        ([None, "g", 1, 2], TableProblem.NO_WORD, 0),
        (["x", None, 1, 2], TableProblem.NO_GROUP, 0),
        (["x", "g", None, 2], TableProblem.NOT_A_NUMBER, 1),
        (["x", "g", 1, 2e9], TableProblem.TOO_LARGE, 2),
        (["x", "g", 1, 9.5], TableProblem.TOO_LARGE, 2),
        (["x", "g", 1, float("nan")], TableProblem.NOT_FINITE, 2),
        (["a", "g", 1, 2], TableProblem.DUPLICATE, 0),
    ],
)
def test_rows_that_are_wrong(row: list[object], kind: TableProblem, number: int) -> None:
    with pytest.raises(TableError) as caught:
        read_rows([["a", "g", 1, 2], ["b", "g", 3, 4], row], largest=9.0)
    assert (caught.value.problem, caught.value.line) == (kind, 3)
    assert caught.value.number == number


def test_how_many_rows_there_may_be() -> None:
    rows = [[f"w{number}", "g", 1, number] for number in range(6)]
    assert len(read_rows(rows, most_words=6).words) == 6
    with pytest.raises(TableError) as caught:
        read_rows(rows, most_words=5)
    assert (caught.value.problem, caught.value.found, caught.value.wanted) == (TableProblem.TOO_MANY_WORDS, "6", "5")
