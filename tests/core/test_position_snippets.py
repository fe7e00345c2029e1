"""What the pages on positions offer to take along runs, and gives the numbers that the pages show."""

from typing import Any

import pytest
import torch

from core import position_snippets
from core.model_embeddings import embed, encoder_layers
from core.models import CATALOGUE, TranslationModel, load
from core.positions.distance import scores_by_distance
from core.positions.order import Layer, order_trials, random_layers, reversed_but_last
from core.positions.plane import turn_pairs
from core.positions.scalings import DynamicNtk, Linear, Llama3, Ntk, Scaling, Unscaled, Yarn
from core.positions.sinusoidal import printed_frequencies, shift, similarities, sinusoidal_encoding

SENTENCE = "L'été, le chat dort."


def executed(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(program, "snippet", "exec"), names)  # exactly what a student would run
    return names


def test_sinusoidal_positions(capsys: pytest.CaptureFixture[str]) -> None:
    names = executed(position_snippets.sinusoidal(seq_len=11, d_model=14, base=500.0, position=2, offset=3))
    encoding = sinusoidal_encoding(11, 14, base=500.0)
    torch.testing.assert_close(names["encoding"], encoding, atol=1e-14, rtol=0)
    torch.testing.assert_close(names["similarity"], similarities(encoding), atol=1e-13, rtol=0)
    seen = shift(torch.tensor([2]), 14, 3, base=500.0)
    torch.testing.assert_close(names["shift"], seen.matrix, atol=1e-14, rtol=0)
    assert names["residual"] == pytest.approx(seen.residual, abs=1e-14)
    torch.testing.assert_close(names["printed"], printed_frequencies(14, base=500.0), atol=1e-14, rtol=0)
    assert "position 5 seen from 2" in capsys.readouterr().out


@pytest.fixture(scope="module")
def model() -> TranslationModel:
    return load("atlas-fr-en")


@pytest.mark.parametrize("seed", [None, 3])
def test_the_order_of_words(model: TranslationModel, seed: int | None, capsys: pytest.CaptureFixture[str]) -> None:
    sentence = embed(model, SENTENCE, most_tokens=7)
    order = reversed_but_last(7)
    sizes = {"num_heads": 3, "head_dim": 5}
    layers: tuple[Layer, ...] = encoder_layers(model)
    if seed is not None:
        layers = random_layers(2, d_model=256, generator=torch.Generator().manual_seed(seed), **sizes)
    names = executed(
        position_snippets.order(
            folder=str(CATALOGUE["atlas-fr-en"].folder), text=SENTENCE, order=order, seed=seed, **sizes
        )
    )
    for trial in order_trials(sentence.words, sentence.positions, order, layers):
        assert names["changes"][trial.setting] == pytest.approx(trial.change, abs=1e-6)
    assert "with_positions" in capsys.readouterr().out


@pytest.mark.parametrize("pairing", ["half_split", "interleaved"])
@pytest.mark.parametrize(
    "scaling",
    [
        Unscaled(),
        Linear(3.0),
        Ntk(3.0),
        DynamicNtk(64, 2.0),
        Yarn(4.0, 64),
        Yarn(4.0, 64, 20.0, 3.0, 1.5, truncate=False),
        Llama3(4.0, 64),
    ],
)
def test_rotary_positions(scaling: Scaling, pairing: str, capsys: pytest.CaptureFixture[str]) -> None:
    q, k = torch.randn(2, 14, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    distances = [0, 1, 2.5, 300]
    program = position_snippets.rope(
        q=q, k=k, m=9, n=4, distances=distances, pairing=pairing, base=700.0, scaling=scaling, seq_len=256
    )
    names = executed(program)
    scaled = scaling.apply(14, base=700.0, seq_len=256)
    expected = scores_by_distance(q, k, torch.tensor(distances), scaled, pairing=pairing)
    assert names["scores"] == pytest.approx(expected.tolist(), abs=1e-12)
    assert names["score"](9, 4) == pytest.approx(turn_pairs(q, k, 9, 4, scaled, pairing=pairing).score, abs=1e-12)
    torch.testing.assert_close(
        names["frequencies"] * names["positions_per_token"], scaled.per_token, atol=1e-14, rtol=0
    )
    assert "query at 9, key at 4" in capsys.readouterr().out


def test_any_sentence_can_be_taken_along() -> None:
    program = position_snippets.order(folder="C:\\x'", text='"""\n\\ {x} 猫', order=[0], seed=None)
    compile(program, "snippet", "exec")


def test_there_must_be_such_a_pairing() -> None:
    one = torch.ones(2)
    with pytest.raises(ValueError, match=r"pairing \('x'\) must be one of"):
        position_snippets.rope(
            q=one, k=one, m=0, n=0, distances=[], pairing="x", base=10.0, scaling=Unscaled(), seq_len=1
        )
