"""The exam: next characters of unseen text, with the book open as in training, and with only the past to look at."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from core.attention import AttentionTrace
from core.labs.character_model import CharacterModel, SelfAttention, Turns, next_character_loss
from core.labs.events import JSON
from core.labs.text import ALPHABET
from core.masks import causal_mask

CLOSED, OPEN = "closed", "open"  # the two models: curves of a record
SEQ_LEN = 64  # questions about a piece of text, which is one character longer
REACH = 8  # characters to either side that the picture of the attention shows
SO_FAR = (16, 32, 48, 64)  # lengths of a text that has been written so far
GUESSING = math.log(len(ALPHABET))  # nats: the loss of who thinks every character equally probable
DIGITS = 4


@dataclass(frozen=True, slots=True)
class Score:
    """How well questions were answered."""

    loss: float  # cross-entropy, nats for a character
    accuracy: float  # share of questions whose most probable answer is right

    @property
    def perplexity(self) -> float:
        """Of how many equally probable characters one would have to choose to be as surprised."""
        return math.exp(self.loss)


def book_mask(seq_len: int, leak: int) -> Tensor:
    """Every position sees the past, itself, and `leak` characters after it; 0 is a causal mask.

    >>> book_mask(3, 1).int().tolist()
    [[1, 1, 0], [1, 1, 1], [1, 1, 1]]

    Shape: (seq_len, seq_len). Raises: ValueError if one of the numbers is negative.
    """
    return causal_mask(seq_len, seq_len, offset=leak)


@torch.no_grad()
def answers(model: CharacterModel, pieces: Tensor, *, leak: int) -> tuple[Tensor, Tensor]:
    """The loss of every question, and whether the most probable answer is right; both (batch, seq_len).

    leak: what the model may look at now, whatever it was trained with.
    Shape: pieces (batch, seq_len + 1).
    """
    logits = model(pieces, book_mask(pieces.shape[1], leak))[:, :-1]  # (batch, seq_len, vocab_size)
    targets = pieces[:, 1:]  # (batch, seq_len)
    return next_character_loss(logits, targets), logits.argmax(dim=-1) == targets


def honest(model: CharacterModel, pieces: Tensor) -> Score:
    """The score with a causal mask: nothing but the past can be seen, by no position and in no layer."""
    return _score(*answers(model, pieces, leak=0))


@torch.no_grad()
def so_far(model: CharacterModel, pieces: Tensor, *, leak: int) -> Score:
    """The score with the model's own mask on a text that ends where the question is asked.

    Its earlier characters see what follows them, as they did in training; the answer is not there yet. This is what a
    model meets that writes.
    """
    losses, right = [], []
    for length in SO_FAR:
        logits = model(pieces[:, :length], book_mask(length, leak))[:, -1:]  # (batch, 1, vocab_size)
        target = pieces[:, length : length + 1]
        losses.append(next_character_loss(logits, target))
        right.append(logits.argmax(dim=-1) == target)
    return _score(torch.cat(losses), torch.cat(right))


def sit(model: CharacterModel, pieces: Tensor, *, leak: int) -> dict[str, JSON]:
    """The whole exam, as JSON: `honest`, `so_far` and `open` (its own mask, the answers in sight), a loss and an
    accuracy each, and `by_place`: the honest loss of the first question of a piece, the second, …

    leak: that of the model's training. Shape: pieces (batch, SEQ_LEN + 1).
    """
    losses, right = answers(model, pieces, leak=0)
    scores = {
        "honest": _score(losses, right),
        "so_far": so_far(model, pieces, leak=leak),
        "open": _score(*answers(model, pieces, leak=leak)),
    }
    plain: dict[str, JSON] = {
        name: {"loss": round(score.loss, DIGITS), "accuracy": round(score.accuracy, DIGITS)}
        for name, score in scores.items()
    }
    return plain | {"by_place": [round(loss, 3) for loss in losses.mean(dim=0).tolist()]}


@torch.no_grad()
def attention_by_distance(model: CharacterModel, pieces: Tensor, *, leak: int) -> Tensor:
    """The mean weight that every head gives to a character REACH before, …, to itself, …, REACH after.

    Only queries with REACH characters on both sides count.
    Shape: pieces (batch, seq_len) → (num_layers, num_heads, 2 · REACH + 1).
    Raises: ValueError if seq_len is not more than 2 · REACH.
    """
    seq_len = pieces.shape[1]
    if seq_len <= 2 * REACH:
        raise ValueError(f"seq_len ({seq_len}) must be more than 2 · REACH ({2 * REACH})")
    queries = torch.arange(REACH, seq_len - REACH)[:, None]  # (queries, 1)
    keys = queries + torch.arange(-REACH, REACH + 1)  # (queries, distances)
    means: list[Tensor] = []

    def look(
        attention: SelfAttention, arguments: tuple[Tensor, Tensor, Turns | None], _output: Tensor
    ) -> None:  # called for every layer, in their order
        trace: AttentionTrace = attention.trace(*arguments)
        means.append(trace.weights[:, :, queries, keys].mean(dim=(0, 2)))  # (num_heads, distances)

    hooks: list[RemovableHandle] = [
        part.register_forward_hook(look) for part in model.modules() if isinstance(part, SelfAttention)
    ]
    try:
        model(pieces, book_mask(seq_len, leak))
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(means)  # (num_layers, num_heads, distances)


def _score(losses: Tensor, right: Tensor) -> Score:
    return Score(losses.mean().item(), right.float().mean().item())
