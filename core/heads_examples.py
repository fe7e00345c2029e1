"""Attention weights that the source texts made by hand, to explain what heads might do. No model gave them."""

from dataclasses import dataclass
from enum import StrEnum


class Idea(StrEnum):
    """What the texts want a head to show."""

    GRAMMAR = "grammar"  # subject and object look at the verb
    MEANING = "meaning"  # words of one kind look at each other
    PRONOUN = "pronoun"  # a pronoun looks at the name that it stands for


@dataclass(frozen=True, slots=True)
class HandMade:
    """Weights as printed: a row for each of `queries`, a column for each token."""

    idea: Idea
    tokens: tuple[str, ...]
    queries: tuple[int, ...]  # which tokens look, counted from 0
    weights: tuple[tuple[float, ...], ...]


ANIMALS = ("小狗", "追逐", "小猫")

HAND_MADE = (
    HandMade(Idea.GRAMMAR, ANIMALS, (0, 1, 2), ((0.1, 0.8, 0.1), (0.4, 0.1, 0.5), (0.1, 0.8, 0.1))),
    HandMade(Idea.MEANING, ANIMALS, (0, 1, 2), ((0.2, 0.1, 0.7), (0.3, 0.4, 0.3), (0.7, 0.1, 0.2))),
    HandMade(
        Idea.PRONOUN,
        ("小明", "很", "聪明", "，", "他", "考了", "满", "分"),
        (4,),
        ((0.85, 0.02, 0.05, 0.01, 0.03, 0.02, 0.01, 0.01),),
    ),
)
