"""Stories by a grammar: nothing twice, nothing outside the alphabet, the same from the same generator."""

import pytest
import torch

from core.labs.text import ALPHABET, HE, SHE, decode, draw_batch, encode, make_texts, write_stories


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_stories_are_different_and_end_with_a_line_break() -> None:
    stories = write_stories(300, generator=seeded(0))
    assert len(stories) == len(set(stories)) == 300
    assert all(story.count("\n") == 1 and story.endswith(".\n") for story in stories)
    assert set("".join(stories)) <= set(ALPHABET)


def test_a_story_comes_back_to_its_people() -> None:
    for story in write_stories(200, generator=seeded(1)):
        assert any(name in story for name in (*SHE, *HE))
        first, second = story.split(". ")[:2]
        pronoun = second.split()[0]
        assert pronoun in ("she", "he")
        assert any(name in first for name in (SHE if pronoun == "she" else HE))


def test_articles_fit_the_words_that_follow() -> None:
    text = "".join(write_stories(400, generator=seeded(2)))
    for right, wrong in (("an old", " a old"), ("a small", " an small")):
        assert right in text
        assert wrong not in text


def test_the_same_generator_writes_the_same() -> None:
    assert write_stories(20, generator=seeded(3)) == write_stories(20, generator=seeded(3))
    assert write_stories(20, generator=seeded(3)) != write_stories(20, generator=seeded(4))


def test_no_story_stands_in_both_texts() -> None:
    texts = make_texts(train=50, unseen=20, generator=seeded(0))
    train, unseen = (decode(text).splitlines() for text in (texts.train, texts.unseen))
    assert (len(train), len(unseen)) == (50, 20)
    assert not set(train) & set(unseen)


@pytest.mark.parametrize("counts", [(0, 1), (1, 0), (-1, 5)])
def test_texts_have_at_least_one_story(counts: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        make_texts(train=counts[0], unseen=counts[1], generator=seeded(0))


def test_decode_is_the_inverse_of_encode() -> None:
    numbers = encode(ALPHABET)
    assert numbers.tolist() == list(range(len(ALPHABET)))
    assert numbers.dtype == torch.int64
    assert decode(numbers) == ALPHABET
    assert encode("").tolist() == []


@pytest.mark.parametrize("text", ["A", "a1", "é"])
def test_other_characters_have_no_number(text: str) -> None:
    with pytest.raises(ValueError, match="must hold characters of the alphabet only"):
        encode(text)


def test_a_batch_holds_pieces_of_the_text() -> None:
    text = torch.arange(11)
    batch = draw_batch(text, batch=200, seq_len=3, generator=seeded(0))
    assert batch.shape == (200, 3)
    assert (batch[:, 1:] - batch[:, :-1] == 1).all()
    assert set(batch[:, 0].tolist()) == set(range(9))  # the last piece, too, is drawn


def test_a_batch_may_be_the_whole_text_and_no_more() -> None:
    text = torch.arange(5)
    assert draw_batch(text, batch=1, seq_len=5, generator=seeded(0)).tolist() == [[0, 1, 2, 3, 4]]
    with pytest.raises(ValueError, match=r"seq_len \(6\) must be at most the length of the text \(5\)"):
        draw_batch(text, batch=1, seq_len=6, generator=seeded(0))
