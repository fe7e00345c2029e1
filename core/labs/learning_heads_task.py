"""A task that needs several look-ups at once: every token asks for the tags of others, each by its name.

A sequence holds every name once, in any order. A token is its own name, its own tag, and the names of the tokens whose
tags it wants, the first wish, the second, …:

    name  tag  wants      answer
    C     3    A, B       5, 1
    A     5    B, C       1, 3
    B     1    C, A       3, 5

The right answer stands at another place every time. Nobody but the one who wrote the names can know it: it has to be
looked up, and the answer to the first wish must not be mixed with that to the second.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.checks import check_between, check_sizes

NAMES = 12  # tokens of a sequence, each with a name of its own
TAGS = 8
MOST_LOOK_UPS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Sequences, and what every token of them wants to know."""

    parts: Tensor  # int64 (batch, seq_len, 2 + look_ups), rows of a table: name, tag, each wanted name
    names: Tensor  # int64 (batch, seq_len)
    tags: Tensor  # int64 (batch, seq_len)
    places: Tensor  # int64 (batch, seq_len, look_ups), where the wanted names stand
    answers: Tensor  # int64 (batch, seq_len, look_ups), the tags there


def table_rows(look_ups: int) -> int:
    """How many different parts tokens have: names, tags, and names once more for every wish."""
    return NAMES + TAGS + look_ups * NAMES


def draw_batch(batch: int, look_ups: int, *, generator: torch.Generator) -> Batch:
    """Names in random order, random tags; every token wants different others, never itself.

    Raises: ValueError if batch is less than 1, or look_ups not from 1 to MOST_LOOK_UPS.
    """
    check_sizes(batch=batch)
    check_between("look_ups", look_ups, 1, MOST_LOOK_UPS)
    names = torch.rand(batch, NAMES, generator=generator).argsort(dim=-1)  # (batch, seq_len)
    tags = torch.randint(TAGS, (batch, NAMES), generator=generator)  # (batch, seq_len)
    order = torch.rand(batch, NAMES, NAMES, generator=generator)  # (batch, seq_len, seq_len)
    order = order.masked_fill(torch.eye(NAMES, dtype=torch.bool), 2.0)  # oneself comes last
    places = order.argsort(dim=-1)[..., :look_ups]  # (batch, seq_len, look_ups)
    wishes = NAMES * torch.arange(look_ups) + _at(names, places)  # (batch, seq_len, look_ups)
    parts = torch.cat([names[..., None], NAMES + tags[..., None], NAMES + TAGS + wishes], dim=-1)
    return Batch(parts, names, tags, places, _at(tags, places))


def _at(values: Tensor, places: Tensor) -> Tensor:
    """values (batch, seq_len) at places (batch, seq_len, look_ups) of the same sequence."""
    rows = values[:, None].expand(-1, places.shape[1], -1)  # (batch, seq_len, seq_len)
    return rows.gather(-1, places)  # (batch, seq_len, look_ups)
