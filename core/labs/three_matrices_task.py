"""A family of look-ups: whose tag a token has to tell decides which matrices it needs.

A sequence holds every name once, in any order, each with a random tag. The names stand in rings of a fixed length, and
every token has to tell the tag of the next one in its ring. With rings of three, A → B → C → A:

    name  tag  answer
    C     3    5  (of A)
    A     5    1  (of B)
    B     1    3  (of C)

A ring of one is a copy: one's own tag. A ring of two makes partners, a look-up without a direction. One ring of all
names is a look-up of one's successor.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Tensor

from core.checks import check_between, check_divisible, check_sizes

NAMES = 12  # tokens of a sequence, each with a name of its own
TAGS = 8
RINGS: Mapping[str, int] = MappingProxyType({"copy": 1, "partner": 2, "three": 3, "successor": NAMES})
"""task → names in a ring"""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Sequences, and what every token of them has to tell."""

    names: Tensor  # int64 (batch, seq_len)
    tags: Tensor  # int64 (batch, seq_len)
    places: Tensor  # int64 (batch, seq_len), where the wanted name stands
    answers: Tensor  # int64 (batch, seq_len), the tag there


def draw_batch(batch: int, ring: int, *, generator: torch.Generator, in_order: bool = False) -> Batch:
    """Names in random order, random tags.

    in_order: names from the first to the last, so that a picture of their attention is easy to read. Without positions
        a model cannot tell the difference.
    Raises: ValueError if batch or ring is less than 1, or ring does not divide the number of names.
    """
    check_sizes(batch=batch, ring=ring)
    check_divisible("NAMES", NAMES, "ring", ring)
    names = torch.rand(batch, NAMES, generator=generator).argsort(dim=-1)  # (batch, seq_len)
    tags = torch.randint(TAGS, (batch, NAMES), generator=generator)  # (batch, seq_len)
    if in_order:
        names = torch.arange(NAMES).expand(batch, -1)  # (batch, seq_len)
    places = names.argsort(dim=-1).gather(-1, wanted(ring)[names])  # (batch, seq_len)
    return Batch(names, tags, places, tags.gather(-1, places))


def wanted(ring: int) -> Tensor:
    """For every name the next one in its ring, (NAMES,).

    >>> wanted(3).tolist()
    [1, 2, 0, 4, 5, 3, 7, 8, 6, 10, 11, 9]
    """
    names = torch.arange(NAMES)
    return names // ring * ring + (names % ring + 1) % ring


def most_looking_right(ring: int, *, look_at_self: bool, query_is_key: bool) -> float:
    """The largest share of tokens that can look most at the one they have to, whatever is learnt.

    With queries of their own: all. If a token's query is its key, the score of two tokens is the product of their
    vectors, the same both ways, and in every ring of more than one at least one token fails:
    that with the longest vector, whose product with itself is the largest of its row; and if nobody may look at
    himself, a ring of three or more, as otherwise every score along it would be larger than the one before, all the way
    round to the first. Partners who may not look at themselves do not fail.
    Nobody in a ring of one can look at the right token, itself, where that is forbidden.

    Raises: ValueError if ring is not from 1 to NAMES.
    """
    check_between("ring", ring, 1, NAMES)
    if ring == 1:
        return 1.0 if look_at_self else 0.0
    if not query_is_key or (ring == 2 and not look_at_self):
        return 1.0
    return 1 - 1 / ring


def accuracy_of(looking_right: float) -> float:
    """The share of right answers if whoever looks at the wrong token tells its tag, which is right once in TAGS.

    It is no bound: a query knows its token's own tag, and where it looks can tell it.
    """
    return looking_right + (1 - looking_right) / TAGS
