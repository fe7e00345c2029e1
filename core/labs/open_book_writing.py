"""Both models write: after the same beginnings, greedily and by drawing, each through the mask of its training."""

import itertools
import re
from collections.abc import Set

import torch
from torch import Tensor

from core.checks import check_sizes
from core.labs.character_model import CharacterModel
from core.labs.events import JSON
from core.labs.open_book_exam import SEQ_LEN, book_mask
from core.labs.text import decode, encode

PROMPTS = ("mara found a ", "after lunch, ", "a small lamp ")  # equally long, so that they are written side by side
LENGTH = 160  # characters that are written
GRAM = 8  # characters of a phrase that may come again
DIGITS = 4


@torch.no_grad()
def write(
    model: CharacterModel, starts: Tensor, *, leak: int, length: int, generator: torch.Generator | None = None
) -> Tensor:
    """So many characters after each beginning, the most probable ones, or drawn if there is a generator.

    The model sees the last SEQ_LEN + 1 characters through its own mask; what follows is not written yet.
    Shape: starts (count, start_len) → (count, length), int64.
    Raises: ValueError if length is less than 1.
    """
    check_sizes(length=length)
    text = starts
    for _ in range(length):
        seen = text[:, -(SEQ_LEN + 1) :]  # (count, seen)
        logits = model(seen, book_mask(seen.shape[1], leak))[:, -1]  # (count, vocab_size)
        if generator is None:
            following = logits.argmax(dim=-1, keepdim=True)  # (count, 1)
        else:
            following = torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)  # (count, 1)
        text = torch.cat([text, following], dim=1)
    return text[:, starts.shape[1] :]


def compose(model: CharacterModel, learnt: Tensor, *, leak: int, seed: int) -> dict[str, JSON]:
    """What it writes after each of the PROMPTS, "greedy" and "sampled", with the measures of each text, as JSON.

    learnt: the text that it was trained on; what stands in it is a word.
    """
    starts = torch.stack([encode(prompt) for prompt in PROMPTS])  # (prompts, prompt_len)
    known = frozenset(words_of(decode(learnt)))
    ways = {"greedy": None, "sampled": torch.Generator().manual_seed(seed)}
    return {
        way: [
            measures(decode(text), known)
            for text in write(model, starts, leak=leak, length=LENGTH, generator=generator)
        ]
        for way, generator in ways.items()
    }


def measures(text: str, known: Set[str]) -> dict[str, JSON]:
    """The text with its measures: `repeated` characters, phrases written `again`, `real` words (None without any)."""
    real = real_words(text, known)
    return {
        "text": text,
        "repeated": round(repeated_characters(text), DIGITS),
        "again": round(repeated_phrases(text), DIGITS),
        "real": None if real is None else round(real, DIGITS),
    }


def repeated_characters(text: str) -> float:
    """The share of characters that are the same as the one before; the first one is not asked.

    >>> repeated_characters("aabb")
    0.6666666666666666

    Raises: ValueError if the text has fewer than two characters.
    """
    if len(text) < 2:
        raise ValueError(f"text ({len(text)} characters) must have at least 2")
    pairs = list(itertools.pairwise(text))
    return sum(one == other for one, other in pairs) / len(pairs)


def repeated_phrases(text: str, length: int = GRAM) -> float:
    """The share of phrases of so many characters that stood in the text before.

    >>> repeated_phrases("ababa", 2)
    0.5

    Raises: ValueError if the text is shorter than a phrase, or length is less than 1.
    """
    check_sizes(length=length)
    if len(text) < length:
        raise ValueError(f"text ({len(text)} characters) must have at least {length}")
    phrases = [text[start : start + length] for start in range(len(text) - length + 1)]
    return 1 - len(set(phrases)) / len(phrases)


def real_words(text: str, known: Set[str]) -> float | None:
    """The share of its words that are known; the last one, which may be cut, is left out. None without a word.

    >>> real_words("the lamp olol th", {"the", "lamp"})
    0.6666666666666666
    """
    words = words_of(re.sub("[a-z]+$", "", text))
    return sum(word in known for word in words) / len(words) if words else None


def words_of(text: str) -> list[str]:
    """Letters that stand together."""
    return re.findall("[a-z]+", text)
