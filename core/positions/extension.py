"""The scalings side by side: what each makes of a text that is longer than those of the training."""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.positions.checks import check_length
from core.positions.frequencies import waves
from core.positions.rope import angles, inverse_frequencies
from core.positions.scalings import Method, Scaled, scaling_for


@dataclass(frozen=True, slots=True, eq=False)
class Extended:
    """What one method does."""

    method: Method
    scaled: Scaled
    positions: Tensor  # (shown,), where the first tokens are said to stand
    last_position: float  # where the last token is said to stand
    last_angles: Tensor  # (width,), radians by which it is turned
    reach: Tensor  # (width,), the same in times of the largest angle of the training
    unseen: Tensor  # (width,), bool: pairs that leave the part of the circle that training showed

    @property
    def unseen_count(self) -> int:
        return int(self.unseen.sum())


def extend(
    head_dim: int, *, trained_len: int, target_len: int, base: float = 10000.0, shown: int = 8
) -> tuple[Extended, ...]:
    """Stretch trained_len to target_len by each method, in the order of `Method`.

    A pair that turned at least once in training has shown all its angles. One that did not goes beyond what was shown
    if the last token is turned further than trained_len positions turned it.

    Shapes: width is head_dim / 2.
    Raises: ValueError if trained_len is below 1 or above target_len, shown is negative, or head_dim or base break the
        rules of `Ntk`.
    """
    check_length("trained_len", trained_len, least=1)
    check_length("target_len", target_len, least=trained_len)
    check_length("shown", shown)
    as_trained = waves(inverse_frequencies(head_dim, base=base), trained_len)
    trained_angles = trained_len * as_trained.frequencies  # (width,), the part of the circle that training covers
    found = []
    for method in Method:
        scaling = scaling_for(method, factor=target_len / trained_len, trained_len=trained_len)
        scaled = scaling.apply(head_dim, base=base, seq_len=target_len)
        last = scaled.positions(torch.tensor([target_len - 1]))  # (1,)
        last_angles = angles(last, scaled.frequencies)[0]  # (width,)
        found.append(
            Extended(
                method,
                scaled,
                scaled.positions(torch.arange(shown)),
                float(last),
                last_angles,
                last_angles / trained_angles,
                (last_angles > trained_angles) & ~as_trained.complete,
            )
        )
    return tuple(found)
