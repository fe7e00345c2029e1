"""Words as vectors: the texts' example, cosines, neighbours and sums."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from core.embeddings import (
    MOST_TERMS,
    TOY,
    Group,
    Sum,
    SumError,
    SumProblem,
    Term,
    WordVectors,
    add_up,
    cosines_to,
    nearest,
    nearest_others,
    place_of,
    read_sum,
    steps_of,
    toy_vectors,
    words_in,
)


def table(*rows: tuple[float, ...]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


# ------------------------------------------------------------------------------------------------------- the vectors


def test_the_toy_vectors_are_those_of_the_texts() -> None:
    toy = toy_vectors()
    assert len(toy.words) == 14
    assert toy.dim == 5
    assert toy.vectors[toy.words.index("bicycle")].tolist() == [0.0, -0.5, 0.1, 0.6, -0.4]
    assert [toy.groups.count(group) for group in range(5)] == [4, 4, 2, 2, 2]
    assert toy.group_names == tuple(Group)
    assert TOY["sad"][0] is Group.FEELINGS


def test_the_digest_knows_the_numbers_and_not_the_names() -> None:
    one = WordVectors(("a", "b"), table((1, 2, 3), (4, 5, 6)), (0, 0), ("g",))
    renamed = WordVectors(("c", "d"), table((1, 2, 3), (4, 5, 6)), (0, 1), ("g", "h"))
    reshaped = WordVectors(("a", "b", "c"), table((1, 2), (3, 4), (5, 6)), (0, 0, 0), ("g",))
    moved = WordVectors(("a", "b"), table((1, 2, 3), (4, 5, 6.0000001)), (0, 0), ("g",))
    assert one.digest() == renamed.digest()
    assert len({one.digest(), reshaped.digest(), moved.digest()}) == 3


@pytest.mark.parametrize(
    ("words", "vectors", "groups", "names", "message"),
    [
        (("a",), table((1, 2), (3, 4)), (0, 0), ("g",), r"words \(1\), vectors \(2, 2\) and groups \(2\) must fit"),
        (("a", "b"), table((1, 2), (3, 4)), (0,), ("g",), r"groups \(1\) must fit"),
        (("a", "a"), table((1, 2), (3, 4)), (0, 0), ("g",), r"words \(a, a\) must differ"),
        (("a", "b"), table((1, 2), (3, 4)), (0, 1), ("g",), r"groups \(0, 1\) must be places in group_names"),
        (("a", "b"), table((1, 2), (3, math.nan)), (0, 0), ("g",), "vectors must be finite"),
        (("a", "b"), table((1, 2), (0, 0)), (0, 0), ("g",), "vectors must be longer than 1e-12"),
    ],
)
def test_what_cannot_be_a_table(
    words: tuple[str, ...], vectors: Tensor, groups: tuple[int, ...], names: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        WordVectors(words, vectors, groups, names)


# -------------------------------------------------------------------------------------------------------- neighbours


def test_cosines_are_those_of_numpy() -> None:
    generator = torch.Generator().manual_seed(0)
    vectors, target = torch.randn(7, 5, generator=generator), torch.randn(5, generator=generator)
    array = target.numpy()
    expected = [float(np.dot(v, array) / (np.linalg.norm(v) * np.linalg.norm(array))) for v in vectors.numpy()]
    np.testing.assert_allclose(cosines_to(vectors, target).numpy(), expected, rtol=1e-5)
    known = cosines_to(vectors, target, lengths=vectors.norm(dim=1))
    torch.testing.assert_close(known, cosines_to(vectors, target))


def test_neighbours_by_hand() -> None:
    vectors = table((1, 0), (0, 2), (3, 3), (-1, 0), (0, 0))
    found = nearest(vectors, table((1, 0))[0], count=9)
    assert [each.index for each in found] == [0, 2, 1, 3]  # what points nowhere is nobody's neighbour
    assert [each.cosine for each in found] == pytest.approx([1, 0.5**0.5, 0, -1])
    assert [each.index for each in nearest(vectors, table((1, 0))[0], count=2, without={0})] == [2, 1]


def test_equal_neighbours_stand_as_they_come() -> None:
    found = nearest(table((0, 1), (2, 0), (1, 0), (3, 0)), table((1, 0))[0], count=3)
    assert [each.index for each in found] == [1, 2, 3]


def test_the_place_of_a_word() -> None:
    vectors = table((1, 0), (0, 2), (3, 3), (-1, 0))
    assert [place_of(vectors, table((1, 0.1))[0], index) for index in range(4)] == [1, 3, 2, 4]
    assert place_of(vectors, table((1, 0.1))[0], 1, without=[0, 2]) == 1


def test_there_is_nothing_near_nowhere() -> None:
    for call in (
        lambda: nearest(table((1, 0)), table((0, 0))[0], count=1),
        lambda: place_of(table((1, 0)), table((0, 0))[0], 0),
    ):
        with pytest.raises(ValueError, match=r"target \(length 0\) must be longer than 1e-12"):
            call()
    with pytest.raises(ValueError, match=r"index \(0\) must not be among those that are left out"):
        place_of(table((1, 0)), table((1, 0))[0], 0, without=[0])


def test_the_nearest_other_of_each() -> None:
    assert nearest_others(table((1, 0), (5, 1), (0, 1), (-1, 9))) == (1, 0, 3, 2)
    with pytest.raises(ValueError, match=r"num_words \(1\) must be at least 2"):
        nearest_others(table((1, 0)))


# -------------------------------------------------------------------------------------------------------------- sums


def test_king_man_woman_queen() -> None:
    toy = toy_vectors()
    vectors = dict(zip(toy.words, toy.vectors, strict=True))
    asked = read_sum("king - man + woman = queen")
    target = add_up(asked.terms, vectors)
    torch.testing.assert_close(target, vectors["queen"])
    (first,) = nearest(toy.vectors, target, count=1)
    assert toy.words[first.index] == asked.expected == "queen"
    assert first.cosine == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "terms", "expected"),
    [
        ("king - man + woman", [(1, "king"), (-1, "man"), (1, "woman")], None),
        ("- a + b", [(-1, "a"), (1, "b")], None),
        ("a−b", [(1, "a−b")], None),  # without spaces it is one word
        ("a − b – c", [(1, "a"), (-1, "b"), (-1, "c")], None),
        ("国王 － 男人 ＋ 女人＝女王", [(1, "国王"), (-1, "男人"), (1, "女人")], "女王"),
        ("well-known=known", [(1, "well-known")], "known"),
        ("a =", [(1, "a")], None),
        ("  a   +  a ", [(1, "a"), (1, "a")], None),
    ],
)
def test_sums_are_read(text: str, terms: list[tuple[int, str]], expected: str | None) -> None:
    assert read_sum(text) == Sum(tuple(Term(*term) for term in terms), expected)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", SumProblem.EMPTY),
        (" \t ", SumProblem.EMPTY),
        ("= queen", SumProblem.EMPTY),
        ("king man", SumProblem.NOT_A_SUM),
        ("king -", SumProblem.NOT_A_SUM),
        ("king + - man", SumProblem.NOT_A_SUM),
        ("+", SumProblem.NOT_A_SUM),
        ("king = a b", SumProblem.NOT_A_SUM),
        ("king = = a", SumProblem.NOT_A_SUM),
        ("king = =", SumProblem.NOT_A_SUM),
        (" + ".join("abcdefg"), SumProblem.TOO_LONG),
    ],
)
def test_what_is_no_sum(text: str, problem: SumProblem) -> None:
    with pytest.raises(SumError) as caught:
        read_sum(text)
    assert caught.value.problem is problem


def test_the_longest_sum() -> None:
    assert len(read_sum(" + ".join("abcdef")).terms) == MOST_TERMS


def test_a_sum_needs_a_term() -> None:
    with pytest.raises(ValueError, match=r"terms \(0\) must hold at least one"):
        add_up((), {})


@pytest.mark.parametrize("text", ["a - b + c", "a + c - b", "- b + a + c"])
def test_the_same_step_twice(text: str) -> None:
    vectors = {"a": table((5, 1))[0], "b": table((2, 0))[0], "c": table((2, 7))[0]}
    arrows = steps_of(read_sum(text).terms, vectors)
    assert arrows.tolist() == [[[2, 0], [5, 1]], [[2, 7], [5, 8]]]


def test_other_sums_go_from_word_to_word() -> None:
    vectors = {"a": table((5, 1))[0], "b": table((2, 0))[0], "c": table((2, 7))[0]}
    assert steps_of(read_sum("a - b").terms, vectors).tolist() == [[[5, 1], [3, 1]]]
    assert steps_of(read_sum("a + b + c").terms, vectors).tolist() == [[[5, 1], [7, 1]], [[7, 1], [9, 8]]]
    assert steps_of(read_sum("a").terms, vectors).shape == (0, 2, 2)


# ------------------------------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("", ()),
        (" ,\n:\n", ()),
        ("cat dog", ((("cat", "dog"), None),)),
        ("pets: cat, dog\n\ncar cat", ((("cat", "dog"), "pets"), (("car",), None))),
        ("动物：猫、狗；车", ((("猫", "狗"), "动物"), (("车",), None))),
        (": cat", ((("cat",), None),)),
        ("a: b: c", ((("b:", "c"), "a"),)),
    ],
)
def test_words_in_groups(text: str, groups: tuple[tuple[tuple[str, ...], str | None], ...]) -> None:
    assert words_in(text) == groups
