"""Words as vectors: a small example to play with, cosines, neighbours, and sums of words."""

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import torch
from torch import Tensor

SHORTEST = 1e-12  # a vector that is shorter points nowhere: it has no cosine


class Group(StrEnum):
    """The groups of the texts' words."""

    ROYALTY = "royalty"
    PLACES = "places"
    ANIMALS = "animals"
    VEHICLES = "vehicles"
    FEELINGS = "feelings"


TOY: Mapping[str, tuple[Group, tuple[float, ...]]] = {
    "king": (Group.ROYALTY, (0.8, 0.9, -0.2, 0.1, 0.3)),
    "queen": (Group.ROYALTY, (0.7, 0.8, 0.6, 0.2, 0.2)),
    "man": (Group.ROYALTY, (0.6, 0.7, -0.3, 0.1, 0.1)),
    "woman": (Group.ROYALTY, (0.5, 0.6, 0.5, 0.2, 0.0)),
    "paris": (Group.PLACES, (0.3, -0.1, 0.8, -0.6, 0.4)),
    "france": (Group.PLACES, (0.4, -0.2, 0.9, -0.5, 0.3)),
    "tokyo": (Group.PLACES, (-0.2, 0.1, 0.7, 0.8, -0.3)),
    "japan": (Group.PLACES, (-0.1, 0.0, 0.8, 0.9, -0.2)),
    "cat": (Group.ANIMALS, (-0.5, -0.3, -0.1, 0.3, 0.6)),
    "dog": (Group.ANIMALS, (-0.4, -0.2, -0.2, 0.4, 0.5)),
    "car": (Group.VEHICLES, (0.1, -0.6, 0.0, 0.5, -0.5)),
    "bicycle": (Group.VEHICLES, (0.0, -0.5, 0.1, 0.6, -0.4)),
    "happy": (Group.FEELINGS, (-0.3, 0.5, 0.2, -0.1, 0.7)),
    "sad": (Group.FEELINGS, (-0.2, -0.4, -0.1, -0.2, -0.6)),
}
"""The fourteen vectors of the texts: written by hand, five numbers each."""


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """Words, each with a vector and a group.

    Raises: ValueError if shapes do not fit, a number is not finite, a word stands twice, or a vector points nowhere.
    """

    words: tuple[str, ...]
    vectors: Tensor  # (num_words, dim), float64
    groups: tuple[int, ...]  # of each word: a place in group_names
    group_names: tuple[str, ...]

    def __post_init__(self) -> None:
        count = len(self.words)
        if self.vectors.ndim != 2 or len(self.vectors) != count or len(self.groups) != count:
            raise ValueError(
                f"words ({count}), vectors {tuple(self.vectors.shape)} and groups ({len(self.groups)}) must fit"
            )
        if len(set(self.words)) < count:
            raise ValueError(f"words ({', '.join(self.words)}) must differ")
        if not all(0 <= group < len(self.group_names) for group in self.groups):
            raise ValueError(f"groups {self.groups} must be places in group_names {self.group_names}")
        if not bool(self.vectors.isfinite().all()):
            raise ValueError("vectors must be finite")
        if count and float(self.vectors.norm(dim=1).min()) < SHORTEST:
            raise ValueError(f"vectors must be longer than {SHORTEST}")

    @property
    def dim(self) -> int:
        return self.vectors.shape[1]

    def digest(self) -> str:
        """The same for the same numbers, whatever the words are called: a key for what is computed from them alone."""
        numbers = hashlib.sha256(self.vectors.contiguous().numpy().tobytes())
        return f"{numbers.hexdigest()}{tuple(self.vectors.shape)}"


def toy_vectors() -> WordVectors:
    """The texts' example."""
    names = list(Group)
    return WordVectors(
        tuple(TOY),
        torch.tensor([numbers for _group, numbers in TOY.values()], dtype=torch.float64),
        tuple(names.index(group) for group, _numbers in TOY.values()),
        tuple(names),
    )


# ---------------------------------------------------------------------------------------------------------- neighbours


@dataclass(frozen=True, slots=True)
class Near:
    """A word, by its place, and the cosine of its angle with what is looked for."""

    index: int
    cosine: float


def cosines_to(vectors: Tensor, target: Tensor, *, lengths: Tensor | None = None) -> Tensor:
    """The cosine of each vector's angle with the target; NaN for what points nowhere.

    Shapes: vectors (num_words, dim), target (dim,), lengths (num_words,) of the vectors, if known → (num_words,).
    """
    lengths = vectors.norm(dim=1) if lengths is None else lengths
    cosines: Tensor = vectors @ target / (lengths * target.norm())  # (num_words,)
    return cosines


def nearest(
    vectors: Tensor, target: Tensor, *, count: int, without: Collection[int] = (), lengths: Tensor | None = None
) -> tuple[Near, ...]:
    """The `count` vectors that point most nearly where the target does, the nearest first; equal ones as they come.

    without: places that are left out. Shapes: as in `cosines_to`.
    Raises: ValueError if the target points nowhere.
    """
    cosines, order = _ranked(vectors, target, without, lengths)
    return tuple(Near(place, float(cosines[place])) for place in order[:count].tolist())


def nearest_others(vectors: Tensor) -> tuple[int, ...]:
    """For each vector the other one that points most nearly the same way; of equal ones the first.

    Shapes: vectors (num_words, dim), none of which points nowhere.
    Raises: ValueError if there are fewer than two.
    """
    if len(vectors) < 2:
        raise ValueError(f"num_words ({len(vectors)}) must be at least 2")
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    cosines = (unit @ unit.T).fill_diagonal_(-2.0)  # (num_words, num_words)
    return tuple(cosines.argmax(dim=1).tolist())


def place_of(
    vectors: Tensor, target: Tensor, index: int, *, without: Collection[int] = (), lengths: Tensor | None = None
) -> int:
    """The place of one vector among the neighbours of the target: 1 for the nearest.

    Raises: ValueError as `nearest` does, or if the vector is among those that are left out.
    """
    if index in without:
        raise ValueError(f"index ({index}) must not be among those that are left out")
    _cosines, order = _ranked(vectors, target, without, lengths)
    return 1 + int((order == index).nonzero())


def _ranked(vectors: Tensor, target: Tensor, without: Collection[int], lengths: Tensor | None) -> tuple[Tensor, Tensor]:
    """The cosines of all vectors (num_words,), and the places of those that count, the nearest first."""
    if float(target.norm()) < SHORTEST:
        raise ValueError(f"target (length {float(target.norm()):g}) must be longer than {SHORTEST}")
    cosines = cosines_to(vectors, target, lengths=lengths)
    counts = ~cosines.isnan()
    counts[list(without)] = False
    order = cosines.nan_to_num(-2.0).sort(descending=True, stable=True).indices
    return cosines, order[counts[order]]


# -------------------------------------------------------------------------------------------------------- sums of words


class SumProblem(StrEnum):
    EMPTY = "empty"
    NOT_A_SUM = "not_a_sum"  # a word is missing between two signs, or a sign between two words
    TOO_LONG = "too_long"


class SumError(ValueError):
    """A text that is no sum of words."""

    def __init__(self, problem: SumProblem) -> None:
        super().__init__(f"sum: {problem}")
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Term:
    sign: int  # 1 or -1
    word: str


@dataclass(frozen=True, slots=True)
class Sum:
    """king − man + woman, and the word that is expected, if one is named behind an equals sign."""

    terms: tuple[Term, ...]
    expected: str | None = None


MOST_TERMS = 6
_SIGNS = {"+": 1, "-": -1, "−": -1, "–": -1, "＋": 1, "－": -1}


def read_sum(text: str) -> Sum:
    """Read what somebody typed. Signs stand alone, so that a word may hold a hyphen.

    >>> read_sum("king - man + woman = queen").expected
    'queen'

    Raises: SumError.
    """
    parts = text.replace("=", " = ").replace("＝", " = ").split()
    expected = None
    if "=" in parts:
        equals = parts.index("=")
        parts, behind = parts[:equals], parts[equals + 1 :]
        if len(behind) > 1 or behind == ["="]:
            raise SumError(SumProblem.NOT_A_SUM)
        expected = behind[0] if behind else None
    if not parts:
        raise SumError(SumProblem.EMPTY)
    if parts[0] not in _SIGNS:
        parts = ["+", *parts]
    signs, words = parts[0::2], parts[1::2]
    if len(signs) != len(words) or any(word in _SIGNS for word in words) or any(sign not in _SIGNS for sign in signs):
        raise SumError(SumProblem.NOT_A_SUM)
    if len(words) > MOST_TERMS:
        raise SumError(SumProblem.TOO_LONG)
    return Sum(tuple(Term(_SIGNS[sign], word) for sign, word in zip(signs, words, strict=True)), expected)


def add_up(terms: Sequence[Term], vectors: Mapping[str, Tensor]) -> Tensor:
    """The sum of the words' vectors, each with its sign, (dim,).

    Raises: ValueError if there are no terms.
    """
    if not terms:
        raise ValueError("terms (0) must hold at least one")
    return torch.stack([term.sign * vectors[term.word] for term in terms]).sum(dim=0)


def steps_of(terms: Sequence[Term], vectors: Mapping[str, Tensor]) -> Tensor:
    """A sum as arrows, each from where to where: (num_arrows, 2, dim); the last one ends at the sum.

    Of a − b + c, in whatever order, two arrows are one and the same step: from b to a, and from c to the sum. Of other
    sums, each arrow adds or takes away one word, from the first on.
    Raises: ValueError if there are no terms.
    """
    total = add_up(terms, vectors)
    plus = [vectors[term.word] for term in terms if term.sign > 0]
    minus = [vectors[term.word] for term in terms if term.sign < 0]
    if len(plus) == 2 and len(minus) == 1:
        return torch.stack([torch.stack([minus[0], plus[0]]), torch.stack([plus[1], total])])  # (2, 2, dim)
    stops = [add_up(terms[:count], vectors) for count in range(1, len(terms) + 1)]
    arrows = [torch.stack([one, other]) for one, other in pairwise(stops)]
    return torch.stack(arrows) if arrows else total.new_zeros(0, 2, len(total))  # (num_terms - 1, 2, dim)


def words_in(text: str) -> tuple[tuple[tuple[str, ...], str | None], ...]:
    """Words in groups, as somebody typed them: a line is a group, which may have a name before a colon.

    A word that stands there twice is kept where it stands first.

    >>> words_in("pets: cat, dog\\ncar cat")
    ((('cat', 'dog'), 'pets'), (('car',), None))
    """
    seen: set[str] = set()
    found = []
    for line in re.split(r"[\r\n;；]+", text):
        name, colon, rest = line.replace("：", ":").partition(":")
        words = []
        for word in re.split(r"[\s,，、]+", rest if colon else line):
            if word and word not in seen:
                seen.add(word)
                words.append(word)
        if words:
            found.append((tuple(words), name.strip() or None if colon else None))
    return tuple(found)
