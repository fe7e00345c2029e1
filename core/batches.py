"""Sentences as a padded batch of tokens.

A token is what stands between spaces; a Chinese or Japanese character is one by itself.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.checks import check_sizes

PAD = "<pad>"

_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences of one length: the shorter ones are filled up with PAD behind their last token."""

    sentences: tuple[tuple[str, ...], ...]  # without padding
    cut: bool  # whether some of the text had no room

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(map(len, self.sentences))

    @property
    def seq_len(self) -> int:
        return max(self.lengths, default=0)

    def padded(self, index: int) -> tuple[str, ...]:
        """Sentence `index` with its padding, `seq_len` tokens."""
        sentence = self.sentences[index]
        return sentence + (PAD,) * (self.seq_len - len(sentence))


def tokens(line: str) -> tuple[str, ...]:
    """The tokens of a line.

    >>> tokens("我 爱NLP !")
    ('我', '爱', 'NLP', '!')
    """
    return tuple(_TOKEN.findall(line))


def batch(lines: Sequence[str], *, most_sentences: int, most_tokens: int) -> Batch:
    """A batch of the lines that hold anything; what exceeds the bounds is cut off.

    >>> batch(["Hello world", "", "I love AI"], most_sentences=4, most_tokens=9).padded(0)
    ('Hello', 'world', '<pad>')

    Raises: ValueError if a bound is below 1.
    """
    check_sizes(most_sentences=most_sentences, most_tokens=most_tokens)
    found = [sentence for sentence in map(tokens, lines) if sentence]
    kept = tuple(sentence[:most_tokens] for sentence in found[:most_sentences])
    return Batch(kept, cut=sum(map(len, found)) > sum(map(len, kept)))
