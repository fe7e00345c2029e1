"""Which heads are decomposed, how often, and what comes out: against torch, matrix by matrix."""

import math

import pytest
import torch

from core import rank, rank_heads
from core.heads import merge_heads
from core.masks import causal_mask
from core.model_heads import encoder_head, encoder_inputs
from core.models import TranslationModel, load
from core.projections import run_head
from core.rank_heads import (
    Heads,
    attend,
    head_spectra,
    layer_spectra,
    model_heads,
    random_heads,
    random_w_o,
    sweep_head_dims,
    sweep_outputs,
)

NUM_HEADS, SEQ_LEN, HEAD_DIM = 3, 11, 5


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def heads() -> Heads:
    return random_heads(NUM_HEADS, SEQ_LEN, HEAD_DIM, generator=seeded())


def test_larger_heads_begin_with_the_features_of_smaller_ones(heads: Heads) -> None:
    larger = random_heads(NUM_HEADS, SEQ_LEN, HEAD_DIM + 2, generator=seeded())
    for name in ("q", "k", "v"):
        assert getattr(heads, name).shape == (NUM_HEADS, SEQ_LEN, HEAD_DIM)
        assert getattr(heads, name).dtype == torch.float64
        assert torch.equal(getattr(larger, name)[..., :HEAD_DIM], getattr(heads, name))


def test_random_heads_are_standard_normal_and_independent() -> None:
    drawn = random_heads(4, 100, 50, generator=seeded())
    together = torch.stack([drawn.q, drawn.k, drawn.v]).flatten(1)  # (3, 20 000)
    assert together.mean(dim=1).abs().max() < 0.03
    assert (together.std(dim=1) - 1).abs().max() < 0.03
    assert (together.corrcoef() - torch.eye(3)).abs().max() < 0.03


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_attention_is_that_of_torch(heads: Heads, temperature: float) -> None:
    trace = attend(heads, temperature=temperature, attend_mask=causal_mask(SEQ_LEN))
    expected = torch.nn.functional.scaled_dot_product_attention(
        heads.q, heads.k, heads.v, is_causal=True, scale=1 / (temperature * math.sqrt(HEAD_DIM))
    )
    torch.testing.assert_close(trace.output, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("head", range(NUM_HEADS))
def test_spectra_are_those_of_the_matrices_they_name(heads: Heads, head: int) -> None:
    trace = attend(heads)
    one = head_spectra(trace, head)
    every = layer_spectra(trace, one)
    torch.testing.assert_close(one.logits, torch.linalg.svdvals(trace.scores[head]), atol=1e-12, rtol=0)
    torch.testing.assert_close(every.weights, torch.linalg.svdvals(trace.weights), atol=1e-12, rtol=0)
    torch.testing.assert_close(rank.reconstruct(one.weights, SEQ_LEN), trace.weights[head], atol=1e-12, rtol=0)
    outputs = torch.cat([*trace.output], dim=1)  # head by head, side by side
    torch.testing.assert_close(every.joined, torch.linalg.svdvals(outputs), atol=1e-12, rtol=0)


def test_a_single_head_has_no_others() -> None:
    trace = attend(random_heads(1, 7, 3, generator=seeded()))
    every = layer_spectra(trace, head_spectra(trace, 0))
    assert every.weights.shape == (1, 7)
    assert every.joined.shape == (3,)


def test_logits_of_masked_heads_are_those_before_the_mask(heads: Heads) -> None:
    masked = head_spectra(attend(heads, attend_mask=causal_mask(SEQ_LEN)), 1)
    torch.testing.assert_close(masked.logits, head_spectra(attend(heads), 1).logits)


def test_a_layer_is_decomposed_once(heads: Heads, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every matrix in one call or another, none in two, and vectors for one of them only."""
    only_values: list[tuple[int, ...]] = []
    in_full: list[tuple[int, ...]] = []
    svdvals, svd = torch.linalg.svdvals, torch.linalg.svd

    def count_values(matrix: torch.Tensor) -> torch.Tensor:
        only_values.append(tuple(matrix.shape))
        return svdvals(matrix)

    def count_full(matrix: torch.Tensor, full_matrices: bool) -> tuple[torch.Tensor, ...]:
        in_full.append(tuple(matrix.shape))
        return svd(matrix, full_matrices=full_matrices)

    monkeypatch.setattr(torch.linalg, "svdvals", count_values)
    monkeypatch.setattr(torch.linalg, "svd", count_full)
    trace = attend(heads)
    one = head_spectra(trace, 1)
    every = layer_spectra(trace, one)
    rank.ranks_of(every.weights, tolerance=1e-12)
    rank.reconstruct(one.weights, 2)
    rank.reconstruction_errors(one.weights.values)
    assert in_full == [(SEQ_LEN, SEQ_LEN)]
    joined = (SEQ_LEN, NUM_HEADS * HEAD_DIM)
    assert only_values == [(SEQ_LEN, SEQ_LEN), (1, SEQ_LEN, SEQ_LEN), (1, SEQ_LEN, SEQ_LEN), joined]  # head 1 of 3


def test_a_sweep_passes_the_head_itself(heads: Heads) -> None:
    mask = causal_mask(SEQ_LEN)
    found = sweep_head_dims(heads, 2, (1, 3, HEAD_DIM), temperature=0.7, attend_mask=mask)
    assert found.head_dims == (1, 3, HEAD_DIM)
    for row, head_dim in enumerate(found.head_dims):
        small = random_heads(NUM_HEADS, SEQ_LEN, head_dim, generator=seeded())
        expected = head_spectra(attend(small, temperature=0.7, attend_mask=mask), 2)
        torch.testing.assert_close(found.logits[row], expected.logits, atol=1e-12, rtol=0)
        torch.testing.assert_close(found.weights[row], expected.weights.values, atol=1e-12, rtol=0)


def test_the_default_sweep_fits_the_default_features() -> None:
    wide = random_heads(2, 7, rank_heads.HEAD_DIMS[-1], generator=seeded())
    assert sweep_head_dims(wide, 0).weights.shape == (len(rank_heads.HEAD_DIMS), 7)


def test_an_output_projection_keeps_the_variance() -> None:
    many = random_heads(5, 3, 40, generator=seeded())
    w_o = random_w_o(many, generator=seeded(1))
    assert w_o.shape == (200, 200)
    assert float((merge_heads(many.v) @ w_o).std()) == pytest.approx(1, abs=0.1)


# ---------------------------------------------------------------------------------------------------- a real layer


@pytest.fixture(scope="module")
def model() -> TranslationModel:
    return load("atlas-fr-en")


def test_the_heads_of_a_real_layer(model: TranslationModel) -> None:
    read = encoder_inputs(model, "Le chat dort dans le jardin.", most_tokens=64)
    trace = attend(model_heads(model, read, 1))
    for head in range(model.facts.num_heads):
        expected = run_head(read.states[1], encoder_head(model, 1, head))
        torch.testing.assert_close(trace.weights[head], expected.weights, atol=1e-12, rtol=0)
    layer = [encoder_head(model, 1, head) for head in range(model.facts.num_heads)]
    w_o = torch.cat([head.o.weight for head in layer])  # (num_heads · head_dim, d_model)
    parts = [run_head(read.states[1], head).result for head in layer]
    torch.testing.assert_close(merge_heads(trace.output) @ w_o, sum(parts), atol=1e-11, rtol=0)


# ------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("name", ["num_heads", "seq_len", "head_dim"])
def test_sizes_must_be_positive(name: str) -> None:
    sizes = {"num_heads": 2, "seq_len": 3, "head_dim": 5, name: 0}
    with pytest.raises(ValueError, match=rf"{name} \(0\) must be at least 1"):
        random_heads(**sizes, generator=seeded())


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.inf, math.nan])
def test_a_temperature_is_positive(heads: Heads, temperature: float) -> None:
    with pytest.raises(ValueError, match=r"temperature \(.*\) must be positive and finite"):
        attend(heads, temperature=temperature)


@pytest.mark.parametrize("head", [-1, NUM_HEADS])
def test_there_must_be_such_a_head(heads: Heads, head: int) -> None:
    message = rf"head \({head}\) must be between 0 and 2"
    with pytest.raises(ValueError, match=message):
        head_spectra(attend(heads), head)
    with pytest.raises(ValueError, match=message):
        sweep_head_dims(heads, head, (1,))


@pytest.mark.parametrize("head_dim", [0, HEAD_DIM + 1])
def test_a_sweep_needs_the_features(heads: Heads, head_dim: int) -> None:
    with pytest.raises(ValueError, match=rf"head_dims \({head_dim}\) must be between 1 and 5"):
        sweep_head_dims(heads, 0, (1, head_dim))


def test_without_a_known_head_all_are_decomposed(heads: Heads) -> None:
    trace = attend(heads)
    alone, after = layer_spectra(trace), layer_spectra(trace, head_spectra(trace, 1))
    torch.testing.assert_close(alone.weights, after.weights, atol=1e-12, rtol=0)
    assert torch.equal(alone.joined, after.joined)


def test_a_sweep_of_outputs_passes_the_layer_itself(heads: Heads) -> None:
    mask = causal_mask(SEQ_LEN)
    found = sweep_outputs(heads, (1, HEAD_DIM), temperature=0.7, attend_mask=mask)
    assert [len(values) for values in found] == [NUM_HEADS, SEQ_LEN]
    whole = attend(heads, temperature=0.7, attend_mask=mask)
    torch.testing.assert_close(found[1], torch.linalg.svdvals(merge_heads(whole.output)), atol=1e-12, rtol=0)
    narrow = attend(random_heads(NUM_HEADS, SEQ_LEN, 1, generator=seeded()), temperature=0.7, attend_mask=mask)
    torch.testing.assert_close(found[0], torch.linalg.svdvals(merge_heads(narrow.output)), atol=1e-12, rtol=0)


@pytest.mark.parametrize("head_dim", [0, HEAD_DIM + 1])
def test_a_sweep_of_outputs_needs_the_features(heads: Heads, head_dim: int) -> None:
    with pytest.raises(ValueError, match=rf"head_dims \({head_dim}\) must be between 1 and {HEAD_DIM}"):
        sweep_outputs(heads, (1, head_dim))
