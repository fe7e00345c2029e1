"""One word, two questions: what "bank" finds beside "river" and "account", depending on where its query points."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention import scaled_dot_product_attention

WORDS = ("river", "bank", "account")
KEYS = ((1.0, 0.0), (0.5, 0.5), (0.0, 1.0))  # along "place" and along "money"; made by hand, as in the source texts
LENGTH = 4.0  # of the query: long enough for clear weights


@dataclass(frozen=True, slots=True, eq=False)
class Senses:
    """Where the query of "bank" looks."""

    query: Tensor  # (2,): along "place", along "money"
    together: Tensor  # (3,), weights over river, bank, account
    river_bank: Tensor  # (2,), weights over river, bank: the sentence "river bank"
    bank_account: Tensor  # (2,), weights over bank, account: the sentence "bank account"


def look_around(angle: float) -> Senses:
    """Let "bank" look around with a query that points `angle` degrees from "place" (0) towards "money" (90)."""
    turn = math.radians(angle)
    query = LENGTH * torch.tensor([math.cos(turn), math.sin(turn)], dtype=torch.float64)
    keys = torch.tensor(KEYS, dtype=torch.float64)
    together, river_bank, bank_account = (
        scaled_dot_product_attention(query[None, None], seen[None], seen[None]).weights[0, 0]
        for seen in (keys, keys[:2], keys[1:])
    )
    return Senses(query, together, river_bank, bank_account)
