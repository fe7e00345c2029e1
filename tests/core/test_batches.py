"""Sentences become padded batches of tokens."""

import pytest

from core.batches import PAD, batch, tokens


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("The cat's here .", ("The", "cat's", "here", ".")),
        ("我 爱 NLP", ("我", "爱", "NLP")),
        ("我爱NLP模型", ("我", "爱", "NLP", "模", "型")),
        ("हिन्दी مرحبا 👩‍💻", ("हिन्दी", "مرحبا", "👩‍💻")),
        ("  \t ", ()),
        ("", ()),
    ],
)
def test_tokens(line: str, expected: tuple[str, ...]) -> None:
    assert tokens(line) == expected


def test_shorter_sentences_are_padded_behind() -> None:
    made = batch(["Hello world", " ", "I love AI", "Transformers"], most_sentences=4, most_tokens=7)
    assert made.lengths == (2, 3, 1)
    assert made.seq_len == 3
    assert made.padded(0) == ("Hello", "world", PAD)
    assert made.padded(2) == ("Transformers", PAD, PAD)
    assert not made.cut


@pytest.mark.parametrize(("most_sentences", "most_tokens", "lengths"), [(1, 7, (2,)), (2, 2, (2, 2)), (2, 1, (1, 1))])
def test_what_exceeds_the_bounds_is_cut_and_said(
    most_sentences: int, most_tokens: int, lengths: tuple[int, ...]
) -> None:
    made = batch(["Hello world", "I love AI"], most_sentences=most_sentences, most_tokens=most_tokens)
    assert made.lengths == lengths
    assert made.cut


def test_nothing() -> None:
    made = batch([""], most_sentences=1, most_tokens=1)
    assert (made.sentences, made.seq_len, made.cut) == ((), 0, False)


def test_bounds_are_checked() -> None:
    with pytest.raises(ValueError, match=r"most_sentences \(0\) must be at least 1"):
        batch([], most_sentences=0, most_tokens=1)
    with pytest.raises(ValueError, match=r"most_tokens \(-1\) must be at least 1"):
        batch([], most_sentences=1, most_tokens=-1)
