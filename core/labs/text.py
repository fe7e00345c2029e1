"""English to learn from: little stories written by a grammar, and the characters they are made of.

Every story has its people, things and places, and comes back to them: "mara found a small lamp near the river. she
carried the lamp to the old barn." So there is something to learn at every distance: letters within a word, words within
a sentence, and the name of the thing that was found.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.checks import check_sizes

SHE = ("mara", "ines", "clara", "ruth", "olga", "nina", "edith", "paula")
HE = ("peter", "jonas", "victor", "hugo", "simon", "albert", "milan", "oscar")
THINGS = (
    "lamp", "basket", "kettle", "letter", "blanket", "hammer", "violin", "ladder", "bottle", "candle", "mirror", "drum",
    "feather", "pillow", "rope", "shovel", "wheel", "whistle", "carpet", "bucket", "map", "clock", "jar", "stone",
)  # fmt: skip
QUALITIES = (
    "small", "old", "heavy", "broken", "yellow", "clean", "round", "strange", "quiet", "wooden", "bright", "dusty",
    "narrow", "cold", "empty", "green",
)  # fmt: skip
PLACES = (
    "river", "barn", "garden", "kitchen", "bridge", "market", "forest", "harbour", "station", "school", "cellar",
    "mill", "tower", "meadow", "stable", "bakery",
)  # fmt: skip
FINDING = ("found", "saw", "lost", "noticed", "bought", "painted", "hid", "dropped")
CARRYING = ("carried", "brought", "took", "dragged", "sent", "returned")
WHERE = ("near", "behind", "in", "under", "beside", "in front of")
WHEN = ("in the morning", "after lunch", "at night", "on monday", "in winter", "before dinner", "last year")
FEELING = ("was happy", "was tired", "laughed", "began to sing", "went home", "said nothing", "fell asleep", "smiled")

ALPHABET = "\n abcdefghijklmnopqrstuvwxyz,."
"""Every character that a story may hold; a character's number is its place here. A line break ends a story."""


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Text to learn from, and text to be judged by; no story stands in both."""

    train: Tensor  # (train_len,), int64, numbers of characters
    unseen: Tensor  # (unseen_len,)


def write_stories(count: int, *, generator: torch.Generator) -> list[str]:
    """So many stories, each of two or three sentences, ended by a line break; no two of them are the same."""
    stories: dict[str, None] = {}
    while len(stories) < count:
        stories[_story(generator)] = None
    return list(stories)


def make_texts(*, train: int, unseen: int, generator: torch.Generator) -> Texts:
    """So many stories to learn from and so many others. Raises: ValueError if one of the counts is less than 1."""
    check_sizes(train=train, unseen=unseen)
    stories = write_stories(train + unseen, generator=generator)
    return Texts(encode("".join(stories[:train])), encode("".join(stories[train:])))


def encode(text: str) -> Tensor:
    """The numbers of the characters, int64 (len(text),).

    >>> encode("a b").tolist()
    [2, 1, 3]

    Raises: ValueError if a character is not in ALPHABET.
    """
    for character in text:
        if character not in ALPHABET:
            raise ValueError(f"text ({character!r}) must hold characters of the alphabet only")
    return torch.tensor([ALPHABET.index(character) for character in text], dtype=torch.int64)


def decode(numbers: Tensor) -> str:
    """The inverse of `encode`."""
    return "".join(ALPHABET[number] for number in numbers.tolist())


def draw_batch(text: Tensor, *, batch: int, seq_len: int, generator: torch.Generator) -> Tensor:
    """Pieces of a text from anywhere in it, (batch, seq_len).

    Raises: ValueError if the text is shorter than seq_len.
    """
    if len(text) < seq_len:
        raise ValueError(f"seq_len ({seq_len}) must be at most the length of the text ({len(text)})")
    starts = torch.randint(len(text) - seq_len + 1, (batch, 1), generator=generator)
    return text[starts + torch.arange(seq_len)]  # (batch, seq_len)


def _story(generator: torch.Generator) -> str:
    def one_of(words: Sequence[str]) -> str:
        return words[int(torch.randint(len(words), (), generator=generator))]

    she = int(torch.randint(2, (), generator=generator)) == 0
    name, pronoun = (one_of(SHE), "she") if she else (one_of(HE), "he")
    other = one_of(HE) if she else one_of(SHE)
    thing, quality, place = one_of(THINGS), one_of(QUALITIES), one_of(PLACES)
    article = "an" if quality[0] in "aeiou" else "a"
    first = one_of((
        f"{name} {one_of(FINDING)} {article} {quality} {thing} {one_of(WHERE)} the {place}.",
        f"{one_of(WHEN)}, {name} {one_of(FINDING)} {article} {quality} {thing} {one_of(WHERE)} the {place}.",
        f"{article} {quality} {thing} stood {one_of(WHERE)} the {place}, and {name} {one_of(FINDING)} it.",
    ))  # fmt: skip
    second = one_of((
        f"{pronoun} {one_of(CARRYING)} the {thing} to the {one_of(PLACES)}.",
        f"{pronoun} gave the {thing} to {other}.",
        f"{pronoun} and {other} {one_of(CARRYING)} the {quality} {thing} from the {place} to the {one_of(PLACES)}.",
    ))  # fmt: skip
    third = one_of(("", f" {name} {one_of(FEELING)}.", f" then {other} {one_of(FEELING)}."))
    return f"{first} {second}{third}\n"
