"""One word in two sentences: the vectors that a model makes of it, layer by layer, and how alike they are."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from core.explorer import Reading


def find_word(reading: Reading, text: str, word: str) -> tuple[int, ...]:
    """The places of the tokens that the first occurrence of a word is made of; none if it is not there.

    Letters are compared without their case. A word that the text holds only inside a longer one counts too, where the
    tokens end with it: Chinese writes no spaces.
    """
    wanted, within = word.strip().casefold(), text.casefold()
    start = within.find(wanted) if wanted and len(within) == len(text) else text.find(word.strip())
    while wanted and start >= 0:
        end = start + len(word.strip())
        places = [
            place
            for place, ((first, last), special, part) in enumerate(
                zip(reading.places, reading.special, reading.parts, strict=True)
            )
            if not special and part == 0 and first < end and last > start
        ]
        if places and _exactly(reading, text, places, start, end):
            return tuple(places)
        start = within.find(wanted, start + 1)
    return ()


def _exactly(reading: Reading, text: str, places: Sequence[int], start: int, end: int) -> bool:
    """Whether these tokens cover the word and no letter or digit beside it."""
    first, last = reading.places[places[0]][0], reading.places[places[-1]][1]
    return not any(letter.isalnum() for letter in text[first:start] + text[end:last])


def word_vectors(reading: Reading, places: Sequence[int]) -> Tensor:
    """The word's vector in every layer: the mean of its tokens' vectors.

    Shape: → (num_layers + 1, d_model); the first is what the first layer reads.
    Raises: ValueError if there are no places.
    """
    if not places:
        raise ValueError("places () must hold at least one token")
    return reading.states[:, list(places)].mean(dim=1)


def cosines(one: Tensor, other: Tensor) -> Tensor:
    """How alike two words are in every layer.

    Shapes: (num_layers + 1, d_model) each → float64 (num_layers + 1,).
    """
    return cosine_similarity(one.double(), other.double(), dim=-1)


def looks(reading: Reading, places: Sequence[int]) -> Tensor:
    """Where a word looks: the mean over its tokens.

    Shape: → (num_layers, num_heads, seq_len).
    """
    return reading.maps[0].weights[:, :, list(places)].mean(dim=2)


def most_seen(weights: Tensor, word: Sequence[int], idle: Sequence[bool]) -> int | None:
    """The token that gets the most, apart from the word's own and idle ones; None if there is no other one.

    idle: special tokens and what else tells nothing, such as full stops.

    Shape: weights (seq_len,).
    """
    allowed = torch.tensor([not out and place not in word for place, out in enumerate(idle)])
    return int(torch.where(allowed, weights, -1.0).argmax()) if bool(allowed.any()) else None
