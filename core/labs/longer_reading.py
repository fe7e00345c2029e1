"""How well a model predicts the characters of texts that are longer than those of its training, by their positions.

Two things happen at a late position: there is more text before it, and its place is one that the model never saw. So
the same characters are also predicted from windows: only as many characters as in training, read as if nothing stood
before them. What lies above that loss is what strange places cost; what lies below it, what more context is worth.
"""

import torch
from torch import Tensor

from core.checks import check_divisible
from core.labs.character_model import CharacterModel, next_character_loss
from core.masks import causal_mask
from core.positions.scalings import Scaled

LONGEST = 8  # texts are so many times as long as those of the training
PER_LENGTH = 4  # buckets of positions in one trained length
STRIDES = 8  # windows that end in one trained length
DIGITS = 4
AT_ONCE = 1024  # characters that a model reads at once: attention needs memory, and with much of it is slower


def loss_by_position(
    model: CharacterModel, texts: Tensor, seq_len: int, bucket: int, *, scaled: Scaled | None = None
) -> list[float]:
    """The mean loss of the predictions at positions 1 to bucket, bucket + 1 to 2 · bucket, … seq_len, in nats.

    Shape: texts int64 (batch, at least seq_len + 1), of which the first seq_len characters are read.
    Raises: ValueError if seq_len is not a multiple of bucket; and what the model raises.
    """
    check_divisible("seq_len", seq_len, "bucket", bucket)
    losses = _losses(model, texts[:, : seq_len + 1], scaled)  # (batch, seq_len)
    means = losses.view(len(texts), -1, bucket).mean(dim=(0, 2))  # (seq_len / bucket,)
    return [round(loss, DIGITS) for loss in means.tolist()]


def loss_in_windows(model: CharacterModel, texts: Tensor, trained_len: int) -> list[float | None]:
    """The mean loss where predictions see no more than the last trained_len characters before them, in nats.

    Windows of trained_len characters, each trained_len / STRIDES further than the one before it; each predicts only the
    characters that the one before it could not: they have at least trained_len · (1 − 1 / STRIDES) before them.
    Shape: texts int64 (batch, at least LONGEST · trained_len + 1).
    Returns: one mean for each bucket of trained_len / PER_LENGTH positions; None for those inside the trained length.
    Raises: ValueError if trained_len is not a multiple of STRIDES.
    """
    check_divisible("trained_len", trained_len, "STRIDES", STRIDES)
    stride = trained_len // STRIDES
    windows = texts[:, stride : LONGEST * trained_len + 1].unfold(1, trained_len + 1, stride)
    # (batch, windows, trained_len + 1): what the first one predicts last is `stride` beyond the trained length
    losses = _losses(model, windows.flatten(0, 1), None)[:, -stride:].reshape(len(texts), -1)  # (batch, beyond)
    means = losses.view(len(texts), -1, trained_len // PER_LENGTH).mean(dim=(0, 2))  # (buckets beyond,)
    return [None] * PER_LENGTH + [round(loss, DIGITS) for loss in means.tolist()]


@torch.no_grad()
def _losses(model: CharacterModel, texts: Tensor, scaled: Scaled | None) -> Tensor:
    """The loss of every prediction: (batch, seq_len + 1) → (batch, seq_len)."""
    seq_len = texts.shape[1] - 1
    mask = causal_mask(seq_len)
    return torch.cat(
        [
            next_character_loss(model(some[:, :-1], mask, scaled=scaled), some[:, 1:])
            for some in torch.split(texts, max(1, AT_ONCE // seq_len))
        ]
    )
