"""Writing, and what is counted in a text."""

import pytest
import torch
from torch import Tensor

from core.labs.character_model import CharacterModel, ModelConfig, Positions, new_model
from core.labs.open_book_exam import SEQ_LEN, book_mask
from core.labs.open_book_writing import (
    LENGTH,
    PROMPTS,
    compose,
    measures,
    real_words,
    repeated_characters,
    repeated_phrases,
    words_of,
    write,
)
from core.labs.text import ALPHABET, encode


@pytest.fixture
def model() -> CharacterModel:
    config = ModelConfig(len(ALPHABET), num_layers=1, d_model=16, num_heads=2, positions=Positions.ROPE)
    model = new_model(config, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.5, generator=torch.Generator().manual_seed(1))
    return model


def starts() -> Tensor:
    return torch.stack([encode("a lamp"), encode("the ol")])


@pytest.mark.parametrize("leak", [0, SEQ_LEN])
def test_greedy_writing_takes_the_most_probable_character(model: CharacterModel, leak: int) -> None:
    written = write(model, starts(), leak=leak, length=80, generator=None)
    assert written.shape == (2, 80)
    text = torch.cat([starts(), written], dim=1)
    for end in (6, 7, 40, 85):  # at 85 only the last 65 characters are seen
        seen = text[:, max(0, end - SEQ_LEN - 1) : end]
        logits = model(seen, book_mask(seen.shape[1], leak))[:, -1]
        assert torch.equal(text[:, end], logits.argmax(dim=-1))


def test_drawing_follows_the_generator(model: CharacterModel) -> None:
    one, same, other = (
        write(model, starts(), leak=0, length=30, generator=torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)
    )
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_nothing_to_write(model: CharacterModel) -> None:
    with pytest.raises(ValueError, match="length"):
        write(model, starts(), leak=0, length=0)


def test_compositions(model: CharacterModel) -> None:
    found = compose(model, encode("the lamp"), leak=2, seed=0)
    assert set(found) == {"greedy", "sampled"}
    for texts in found.values():
        assert [len(text["text"]) for text in texts] == [LENGTH] * len(PROMPTS)
    assert found == compose(model, encode("the lamp"), leak=2, seed=0)
    assert found["sampled"] != compose(model, encode("the lamp"), leak=2, seed=1)["sampled"]


def test_prompts_are_equally_long() -> None:
    assert len({len(prompt) for prompt in PROMPTS}) == 1


def test_measures() -> None:
    found = measures("aabcabc the lamp oo", frozenset({"the"}))
    assert found == {
        "text": "aabcabc the lamp oo",
        "repeated": pytest.approx(2 / 18, abs=1e-4),
        "again": 0.0,
        "real": pytest.approx(1 / 3, abs=1e-4),
    }
    assert measures("        ", frozenset())["real"] is None


@pytest.mark.parametrize(("text", "share"), [("ab", 0), ("aa", 1), ("aab", 0.5), ("    ", 1)])
def test_repeated_characters(text: str, share: float) -> None:
    assert repeated_characters(text) == share


@pytest.mark.parametrize(
    ("text", "length", "share"), [("abc", 2, 0), ("aaaa", 2, 2 / 3), ("abab", 4, 0), ("aa", 1, 0.5)]
)
def test_repeated_phrases(text: str, length: int, share: float) -> None:
    assert repeated_phrases(text, length) == pytest.approx(share)


def test_texts_that_are_too_short() -> None:
    with pytest.raises(ValueError, match=r"text \(1 characters\) must have at least 2"):
        repeated_characters("a")
    with pytest.raises(ValueError, match=r"text \(2 characters\) must have at least 3"):
        repeated_phrases("ab", 3)
    with pytest.raises(ValueError, match=r"length \(0\)"):
        repeated_phrases("ab", 0)


@pytest.mark.parametrize(
    ("text", "share"),
    [("the lamp", 1), ("the olol the", 0.5), ("the, the.", 1), ("th", None), (" ,\n", None), ("xx ", 0)],
)
def test_real_words(text: str, share: float | None) -> None:
    assert real_words(text, {"the"}) == share


def test_words_are_letters_that_stand_together() -> None:
    assert words_of("on monday, mara\nsaw.") == ["on", "monday", "mara", "saw"]
