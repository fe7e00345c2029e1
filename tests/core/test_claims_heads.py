"""Claims 24, 39 and 44: measured, and every verdict on both sides of its threshold."""

import re

import numpy as np
import pytest
import torch

from core.claims import Verdict
from core.claims.heads import (
    CLEAR,
    Labelled,
    Needless,
    count_clear,
    count_needless,
    labels_verdict,
    measure_layers,
    measure_parameters,
    needed_verdict,
    parameters_verdict,
    printed_verdict,
    told_ranks_verdict,
)
from core.decoding import translate
from core.heads import MultiHead, run_multi_head
from core.heads_as_printed import (
    MultiHeadAttention,
    PrintedRun,
    run_printed,
    swap_last_axes,
)
from core.heads_gallery import HeadName, HeadStats, Kind, Measure, attention_maps, measure_heads
from core.heads_loss import HeadCost, HeadCosts
from core.model_heads import encoder_inputs
from core.models import TranslationModel, load
from core.projections import Projection
from core.quality import read_pairs

# ------------------------------------------------------------------------------------------------------ claim 24

RAN = PrintedRun(None, (2, 8, 10, 10))
REFUSED = PrintedRun("axes don't match array", None)


def test_the_printed_attention_raises_and_the_swap_mends_it() -> None:
    assert run_printed() == REFUSED
    assert run_printed(swap_last_axes) == RAN
    assert run_printed(swap_last_axes, batch=3, seq_len=5, d_model=6, num_heads=2).weights_shape == (3, 2, 5, 5)
    assert printed_verdict(run_printed(), run_printed(swap_last_axes)) is Verdict.ONLY_IF


def test_mended_it_is_multi_head_attention() -> None:
    rng = np.random.default_rng(0)
    printed = MultiHeadAttention(6, 2, rng, swap_last_axes)
    x = rng.standard_normal((3, 5, 6))
    output, weights = printed.forward(x, x, x)
    matrices = (printed.W_Q, printed.W_K, printed.W_V, printed.W_O)
    layer = MultiHead(*(Projection(torch.from_numpy(matrix)) for matrix in matrices))
    for index in range(3):
        trace = run_multi_head(torch.from_numpy(x[index]), layer, 2)
        np.testing.assert_allclose(weights[index], trace.weights, atol=1e-14)
        np.testing.assert_allclose(output[index], trace.result, atol=1e-14)


def test_the_global_generator_is_left_alone() -> None:
    before = np.random.get_state()[1].tolist()
    run_printed(swap_last_axes)
    assert np.random.get_state()[1].tolist() == before


@pytest.mark.parametrize(
    ("as_printed", "swapped", "verdict"),
    [(RAN, RAN, Verdict.HOLDS), (REFUSED, RAN, Verdict.ONLY_IF), (REFUSED, REFUSED, Verdict.DOES_NOT_HOLD)],
)
def test_printed_verdict(as_printed: PrintedRun, swapped: PrintedRun, verdict: Verdict) -> None:
    assert printed_verdict(as_printed, swapped) is verdict


# ------------------------------------------------------------------------------------------------------ claim 39


def test_more_heads_have_no_more_parameters() -> None:
    found = measure_parameters(24, (1, 2, 3, 4, 6, 8, 12, 24))
    assert set(found.values()) == {4 * 24 * 24}
    assert parameters_verdict(found) is Verdict.DOES_NOT_HOLD
    with pytest.raises(ValueError, match=re.escape("d_model (24) must be divisible by num_heads (5)")):
        measure_parameters(24, (5,))


@pytest.mark.parametrize(
    ("parameters", "verdict"),
    [
        ({2: 11, 1: 10}, Verdict.HOLDS),
        ({1: 10, 2: 10}, Verdict.DOES_NOT_HOLD),
        ({1: 10, 2: 11, 4: 11}, Verdict.DOES_NOT_HOLD),
        ({1: 10}, Verdict.UNDECIDED),
    ],
)
def test_parameters_verdict(parameters: dict[int, int], verdict: Verdict) -> None:
    assert parameters_verdict(parameters) is verdict


# ------------------------------------------------------------------------------------------------------ claim 44


@pytest.fixture(scope="module")
def model() -> TranslationModel:
    return load("atlas-fr-en")


def stats(**shares: float) -> HeadStats:
    others = {str(measure): 0.0 for measure in Measure} | shares
    return HeadStats(HeadName(Kind.ENCODER, 0, 0), **others)


def test_a_head_has_a_target_if_most_of_its_weight_is_there() -> None:
    found = count_clear([stats(next=CLEAR), stats(next=CLEAR + 0.01), stats(first=0.6, same=0.7), stats(same=0.9)])
    assert found == Labelled(4, 3, {Measure.NEXT: 1, Measure.SAME: 2})
    assert count_clear([stats(entropy=9.0, distance=9.0)]) == Labelled(1, 0, {})


def test_some_real_heads_have_a_target_and_most_have_none(model: TranslationModel) -> None:
    trace = translate(model, "Le chat dort dans le jardin.")
    found = count_clear([each for maps in attention_maps(trace) for each in measure_heads(maps)])
    assert found.heads == 36
    assert 0 < found.clear < 18
    assert labels_verdict(found) is Verdict.ONLY_IF


@pytest.mark.parametrize(
    ("heads", "clear", "verdict"),
    [
        (3, 3, Verdict.HOLDS),
        (3, 2, Verdict.ONLY_IF),
        (3, 1, Verdict.ONLY_IF),
        (3, 0, Verdict.DOES_NOT_HOLD),
        (0, 0, Verdict.UNDECIDED),
    ],
)
def test_labels_verdict(heads: int, clear: int, verdict: Verdict) -> None:
    assert labels_verdict(Labelled(heads, clear, {})) is verdict


def test_ranks_of_real_heads_on_a_long_text(model: TranslationModel) -> None:
    text = " ".join(pair.source for pair in read_pairs()[:14])
    read = encoder_inputs(model, text, most_tokens=128)
    seq_len = len(read.tokens)
    layers = measure_layers(model, read)
    assert [each.layer for each in layers] == [0, 1, 2]
    one = [ranks for each in layers for ranks in each.heads]
    together = [each.joined for each in layers]
    assert len(one) == 12
    assert {ranks.numerical for ranks in (*one, *together)} == {seq_len}  # full rank, all of them
    assert all(ranks.effective < seq_len / 2 for ranks in one)
    assert all(ranks.stable < 10 for ranks in one)
    by_count = [ranks.numerical for ranks in one], [ranks.numerical for ranks in together]
    assert told_ranks_verdict(seq_len, *by_count) is Verdict.DOES_NOT_HOLD
    by_weight = [ranks.effective for ranks in one], [ranks.effective for ranks in together]
    assert told_ranks_verdict(seq_len, *by_weight) is Verdict.DOES_NOT_HOLD


def test_a_tolerance_lowers_the_ranks(model: TranslationModel) -> None:
    read = encoder_inputs(model, "Le chat dort dans le jardin.", most_tokens=64)
    (layer, *_) = measure_layers(model, read, tolerance=0.5)
    (whole, *_) = measure_layers(model, read)
    assert layer.joined.numerical < whole.joined.numerical
    assert layer.heads[0].numerical < whole.heads[0].numerical


@pytest.mark.parametrize(
    ("one", "together", "verdict"),
    [
        ([8, 12], [60, 80], Verdict.HOLDS),
        ([8, 12.1], [60, 80], Verdict.ONLY_IF),
        ([8, 12], [60, 81], Verdict.ONLY_IF),
        ([7.9, 12.1], [60, 80], Verdict.DOES_NOT_HOLD),
        ([8, 12], [59, 81], Verdict.DOES_NOT_HOLD),
        ([], [60], Verdict.UNDECIDED),
        ([8], [], Verdict.UNDECIDED),
    ],
)
def test_told_ranks_verdict(one: list[float], together: list[float], verdict: Verdict) -> None:
    assert told_ranks_verdict(60, one, together) is verdict


def test_a_short_text_cannot_tell() -> None:
    assert told_ranks_verdict(59, [8], [59]) is Verdict.UNDECIDED
    assert told_ranks_verdict(60, [8], [60]) is Verdict.HOLDS


def costs(*found: float, loss: float = 2.0) -> HeadCosts:
    heads = tuple(HeadCost(HeadName(Kind.CROSS, 0, i), loss + cost, cost) for i, cost in enumerate(found))
    return HeadCosts(pairs=3, tokens=17, loss=loss, heads=heads)


def test_needless_heads_cost_less_than_a_share_of_the_loss() -> None:
    assert count_needless(costs(0.5, 0.02, 0.0199, -0.1)) == Needless(heads=4, needless=2, better=1)
    assert count_needless(costs(0.5, 0.02, 0.0199), share=0.5) == Needless(heads=3, needless=3, better=0)


@pytest.mark.parametrize(
    ("heads", "needless", "verdict"),
    [
        (0, 0, Verdict.UNDECIDED),
        (4, 0, Verdict.HOLDS),
        (4, 1, Verdict.ONLY_IF),
        (4, 2, Verdict.ONLY_IF),
        (4, 3, Verdict.DOES_NOT_HOLD),
    ],
)
def test_needed_verdict(heads: int, needless: int, verdict: Verdict) -> None:
    assert needed_verdict(Needless(heads, needless, 0)) is verdict
