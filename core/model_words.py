"""The table in which a model looks its words up: one vector for each piece of its vocabulary.

Nothing of the model runs here: these are its input embeddings, the same whatever stands around a word.
"""

from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from core.embeddings import SHORTEST, cosines_to, nearest
from core.tokens import WORD_MARK

CONTINUES = "##"  # WordPiece's mark of a piece that goes on with the word before it


@dataclass(frozen=True, slots=True, eq=False)
class Looked:
    """A word as a model sees it."""

    word: str
    pieces: tuple[str, ...]  # of the vocabulary, as they are written there
    vector: Tensor | None  # (dim,), float64: the mean of its pieces; None if the model knows none of it


@dataclass(frozen=True, slots=True, eq=False)
class ModelWords:
    """A model's input embeddings, and which of its pieces are words of their own. Many threads may use one."""

    tokenizer: PreTrainedTokenizerFast
    table: Tensor  # (vocab_size, dim), float32: the model's own weights
    lengths: Tensor  # (vocab_size,)
    words: tuple[str, ...]  # what piece number i is as a word
    is_word: Tensor  # (vocab_size,), bool: a word of letters, and no part of one

    def look_up(self, word: str) -> Looked:
        """The pieces of a word and the mean of their vectors."""
        ids = self.tokenizer(word, add_special_tokens=False).input_ids
        names = tuple(self.tokenizer.convert_ids_to_tokens(ids))
        known = bool(ids) and self.tokenizer.unk_token_id not in ids
        return Looked(word, names, self.table[ids].double().mean(dim=0) if known else None)  # (dim,)

    def nearest(self, target: Tensor, *, count: int, without: Collection[str] = ()) -> tuple[tuple[str, float], ...]:
        """The words of the vocabulary that point most nearly where the target (dim,) does, with their cosines.

        without: words that are left out. Raises: ValueError if the target points nowhere.
        """
        found = nearest(self.table, target.float(), count=count, without=self._left_out(without), lengths=self.lengths)
        return tuple((self.words[near.index], near.cosine) for near in found)

    def place_of(self, word: Looked, target: Tensor, *, without: Collection[str] = ()) -> tuple[int, float]:
        """The place of a word among the neighbours of the target, 1 for the nearest, and its cosine.

        A word of several pieces gets the place that it would have among the others.
        Raises: ValueError if the target points nowhere, or the model does not know the word.
        """
        if word.vector is None:
            raise ValueError(f"word ({word.word!r}) must be known to the model")
        (itself,) = nearest(word.vector[None], target, count=1)
        cosines = cosines_to(self.table, target.float(), lengths=self.lengths)
        cosines[list(self._left_out((*without, word.word)))] = -2.0
        return 1 + int((cosines > itself.cosine).sum()), itself.cosine

    @property
    def num_words(self) -> int:
        """How many words stand in the vocabulary as one piece."""
        return int(self.is_word.sum())

    def _ids(self, word: str) -> int | None:
        """The number of a word that is one whole piece."""
        ids = self.tokenizer(word, add_special_tokens=False).input_ids
        return ids[0] if len(ids) == 1 and bool(self.is_word[ids[0]]) else None

    def _left_out(self, words: Collection[str]) -> Collection[int]:
        """What is not ranked: parts of words, signs, and these words."""
        parts = (~self.is_word).nonzero().flatten().tolist()
        return {*parts, *(number for word in words if (number := self._ids(word)) is not None)}


def model_words(tokenizer: PreTrainedTokenizerFast, table: Tensor) -> ModelWords:
    """From a tokenizer and the model's table of input embeddings, (vocab_size, dim).

    Vocabularies mark either the piece that begins a word (sentencepiece) or the one that goes on with it (WordPiece).
    """
    pieces = tokenizer.convert_ids_to_tokens(list(range(len(table))))
    marked = any(piece is not None and piece.startswith(WORD_MARK) for piece in pieces)
    words = tuple(_as_word(piece or "", marked) for piece in pieces)
    weights = table.detach()
    lengths = weights.norm(dim=1)
    is_word = torch.tensor([bool(word) for word in words]) & (lengths >= SHORTEST)
    return ModelWords(tokenizer, weights, lengths, words, is_word)


def _as_word(piece: str, marked: bool) -> str:
    """The word that a piece is; nothing if it is a sign, or a part of a word."""
    if marked:
        word = piece.removeprefix(WORD_MARK) if piece.startswith(WORD_MARK) else ""
    else:
        word = "" if piece.startswith(CONTINUES) else piece
    return word if word.replace("-", "").replace("'", "").isalpha() else ""
