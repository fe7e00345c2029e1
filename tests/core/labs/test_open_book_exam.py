"""The exam: what a model may look at while it is asked, and where its heads look."""

import pytest
import torch
from torch import Tensor

from core.labs.character_model import CharacterModel, ModelConfig, Positions, new_model
from core.labs.open_book_exam import (
    GUESSING,
    REACH,
    SEQ_LEN,
    SO_FAR,
    Score,
    answers,
    attention_by_distance,
    book_mask,
    honest,
    sit,
    so_far,
)
from core.labs.text import ALPHABET


@pytest.fixture
def model() -> CharacterModel:
    config = ModelConfig(len(ALPHABET), num_layers=2, d_model=24, num_heads=3, positions=Positions.ROPE)
    model = new_model(config, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        for weight in model.parameters():  # large: with small weights every mask gives nearly the same
            weight.normal_(std=0.4, generator=torch.Generator().manual_seed(1))
    return model


def pieces(batch: int = 5, length: int = SEQ_LEN + 1) -> Tensor:
    return torch.randint(len(ALPHABET), (batch, length), generator=torch.Generator().manual_seed(2))


def test_the_masks() -> None:
    assert torch.equal(book_mask(4, 0), torch.ones(4, 4, dtype=torch.bool).tril())
    assert torch.equal(book_mask(4, 2), torch.ones(4, 4, dtype=torch.bool).tril(2))
    assert book_mask(4, 4).all()
    with pytest.raises(ValueError, match="offset"):
        book_mask(4, -1)


def test_answers_are_those_of_the_model(model: CharacterModel) -> None:
    text = pieces(length=11)
    losses, right = answers(model, text, leak=2)
    logits = model(text, book_mask(11, 2))
    assert losses.shape == right.shape == (5, 10)
    assert losses[3, 4] == pytest.approx(-logits[3, 4].log_softmax(0)[text[3, 5]].item(), abs=1e-5)
    assert right[3, 4] == (logits[3, 4].argmax() == text[3, 5])


def test_an_honest_exam_shows_no_later_character(model: CharacterModel) -> None:
    text = pieces(length=11)
    other = text.clone()
    other[:, 7] = (other[:, 7] + 1) % len(ALPHABET)
    before, after = (answers(model, each, leak=0)[0] for each in (text, other))
    assert torch.equal(before[:, :6], after[:, :6])
    opened = [answers(model, each, leak=1)[0] for each in (text, other)]
    assert not torch.equal(opened[0][:, :6], opened[1][:, :6])


def test_honest_is_the_mean_over_all_questions(model: CharacterModel) -> None:
    losses, right = answers(model, pieces(), leak=0)
    score = honest(model, pieces())
    assert score.loss == pytest.approx(losses.mean().item())
    assert score.accuracy == pytest.approx(right.float().mean().item())


def test_what_is_written_so_far_ends_where_the_question_is_asked(model: CharacterModel) -> None:
    text, losses = pieces(), []
    for length in SO_FAR:
        logits = model(text[:, :length], torch.ones(length, length, dtype=torch.bool))[:, -1].log_softmax(dim=-1)
        losses.append(-logits[range(5), text[:, length]].mean().item())
    assert so_far(model, text, leak=SEQ_LEN).loss == pytest.approx(sum(losses) / len(SO_FAR), abs=1e-5)


def test_without_a_leak_both_ways_to_be_honest_agree(model: CharacterModel) -> None:
    losses, _ = answers(model, pieces(), leak=0)
    expected = losses[:, [length - 1 for length in SO_FAR]].mean().item()
    assert so_far(model, pieces(), leak=0).loss == pytest.approx(expected, abs=1e-5)


def test_the_whole_exam(model: CharacterModel) -> None:
    found = sit(model, pieces(), leak=3)
    assert set(found) == {"honest", "so_far", "open", "by_place"}
    assert found["honest"]["loss"] == pytest.approx(honest(model, pieces()).loss, abs=1e-4)
    assert found["open"]["loss"] == pytest.approx(answers(model, pieces(), leak=3)[0].mean().item(), abs=1e-4)
    assert found["so_far"]["accuracy"] == pytest.approx(so_far(model, pieces(), leak=3).accuracy, abs=1e-4)
    assert len(found["by_place"]) == SEQ_LEN
    assert sum(found["by_place"]) / SEQ_LEN == pytest.approx(found["honest"]["loss"], abs=1e-3)


def test_who_guesses_chooses_among_all_characters() -> None:
    assert Score(GUESSING, 0.0).perplexity == pytest.approx(len(ALPHABET))
    assert Score(0.0, 1.0).perplexity == 1


@pytest.mark.parametrize("leak", [0, 1, SEQ_LEN])
def test_heads_by_distance(model: CharacterModel, leak: int) -> None:
    text = pieces(batch=3, length=23)
    found = attention_by_distance(model, text, leak=leak)
    assert found.shape == (2, 3, 2 * REACH + 1)
    x = model.layers[0].attention.norm(model.embedding(text))
    from core.labs.character_model import Turns
    from core.positions.scalings import Unscaled

    turns = Turns.of(Unscaled().apply(8), 23)
    weights = model.layers[0].attention.block.trace(x, book_mask(23, leak), turns).weights  # (3, heads, 23, 23)
    for distance in (-8, -1, 0, 1, 8):
        expected = sum(weights[:, :, q, q + distance].mean(dim=0) for q in range(8, 15)) / 7
        torch.testing.assert_close(found[0, :, distance + REACH], expected)
    assert (found[..., REACH + 1 + leak :] == 0).all()
    assert (found[..., : REACH + 1] > 0).all()


def test_hooks_are_gone_afterwards(model: CharacterModel) -> None:
    attention_by_distance(model, pieces(), leak=0)
    assert not any(module._forward_hooks for module in model.modules())


def test_a_short_piece_has_no_query_with_neighbours_on_both_sides(model: CharacterModel) -> None:
    with pytest.raises(ValueError, match=r"seq_len \(16\) must be more than 2 · REACH \(16\)"):
        attention_by_distance(model, pieces(length=16), leak=0)
