"""How losses by position are measured."""

import math

import pytest
import torch
from torch import Tensor, nn

from core.labs.character_model import CharacterModel, ModelConfig, Positions, new_model, next_character_loss
from core.labs.longer_reading import loss_by_position, loss_in_windows
from core.masks import causal_mask
from core.positions.scalings import Ntk

VOCAB = 7


def model_of(positions: Positions = Positions.ROPE, max_len: int = 64) -> CharacterModel:
    config = ModelConfig(VOCAB, num_layers=2, d_model=12, num_heads=3, positions=positions, max_len=max_len)
    model = new_model(config, generator=torch.Generator().manual_seed(1))
    for parameter in model.parameters():
        parameter.data *= 5  # so that what a model sees matters
    return model


def texts_of(batch: int, length: int) -> Tensor:
    return torch.randint(VOCAB, (batch, length), generator=torch.Generator().manual_seed(2))


class Echo(nn.Module):
    """Says the character that it reads, without any doubt, at odd positions (counted from 0); else it says nothing."""

    def forward(self, characters: Tensor, attend_mask: Tensor, *, scaled: object = None) -> Tensor:
        logits = 100.0 * nn.functional.one_hot(characters, VOCAB)  # (batch, seq_len, VOCAB)
        logits[:, ::2] = 0
        return logits


def test_buckets_are_means_over_texts_and_positions() -> None:
    same = torch.full((3, 9), 4)
    assert loss_by_position(Echo(), same, 8, 2) == [round(math.log(VOCAB) / 2, 4)] * 4  # type: ignore[arg-type]
    assert loss_by_position(Echo(), same, 4, 1) == [round(math.log(VOCAB), 4), 0.0] * 2  # type: ignore[arg-type]


def test_it_is_the_loss_of_the_model() -> None:
    model, texts, scaled = model_of(), texts_of(5, 25), Ntk(4).apply(4)
    losses = next_character_loss(model(texts[:, :-1], causal_mask(24), scaled=scaled), texts[:, 1:])
    expected = [losses[:, start : start + 3].mean().item() for start in range(0, 24, 3)]
    assert loss_by_position(model, texts, 24, 3, scaled=scaled) == pytest.approx(expected, abs=6e-5)
    assert loss_by_position(model, texts, 24, 3) != loss_by_position(model, texts, 24, 3, scaled=scaled)


def test_what_comes_later_changes_nothing_before() -> None:
    model, texts = model_of(), texts_of(5, 25)
    assert loss_by_position(model, texts, 24, 3)[:4] == pytest.approx(loss_by_position(model, texts, 12, 3), abs=1e-4)


def test_many_texts_are_read_in_several_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    model, texts = model_of(), texts_of(5, 25)
    whole = loss_by_position(model, texts, 24, 3)
    monkeypatch.setattr("core.labs.longer_reading.AT_ONCE", 50)
    assert loss_by_position(model, texts, 24, 3) == pytest.approx(whole, abs=1e-4)


@pytest.mark.parametrize("trained_len", [8, 16])
def test_windows_predict_every_later_character_once_from_the_last_ones(trained_len: int) -> None:
    model, texts = model_of(), texts_of(3, 8 * trained_len + 1)
    stride, bucket = trained_len // 8, trained_len // 4
    by_hand = []
    for first in range(trained_len, 8 * trained_len, stride):  # positions that one window predicts, counted from 0
        start = first + stride - trained_len
        window = texts[:, start : start + trained_len]
        targets = texts[:, start + 1 : start + trained_len + 1]
        losses = next_character_loss(model(window, causal_mask(trained_len)), targets)
        by_hand.append(losses[:, -stride:])
    every = torch.cat(by_hand, dim=1)  # (texts, 7 · trained_len)
    expected = every.view(3, -1, bucket).mean(dim=(0, 2)).tolist()
    found = loss_in_windows(model, texts, trained_len)
    assert found[:4] == [None] * 4
    assert found[4:] == pytest.approx(expected, abs=1e-4)


def test_windows_ask_for_no_position_beyond_the_training() -> None:
    model, texts = model_of(Positions.LEARNT, max_len=8), texts_of(3, 65)
    assert len(loss_in_windows(model, texts, 8)) == 32
    with pytest.raises(ValueError, match="max_len"):
        loss_by_position(model, texts, 16, 2)


def test_lengths_must_fit() -> None:
    with pytest.raises(ValueError, match=r"seq_len \(9\) must be divisible by bucket \(2\)"):
        loss_by_position(model_of(), texts_of(1, 10), 9, 2)
    with pytest.raises(ValueError, match=r"trained_len \(12\) must be divisible by STRIDES \(8\)"):
        loss_in_windows(model_of(), texts_of(1, 97), 12)
