"""The claims of the GQA page: measured, and verdicts on both sides of every threshold."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
import torch

from core.cached_decoding import CacheDifference, measure_cache
from core.claims import Verdict
from core.claims.gqa import (
    A_LOT,
    AS_GOOD,
    FASTER,
    ROUNDINGS,
    TOLD_D_MODEL,
    TOLD_HEADS,
    TOLD_PARAMETERS,
    cache_verdict,
    computing_saved,
    computing_verdict,
    count_parameters,
    free_verdict,
    mean_verdict,
    parameters_verdict,
    pooling_errors,
    shrink_verdict,
    speed_verdict,
    speedups,
)
from core.gqa_conversion import ConversionError, Pooling, measure_encoder
from core.gqa_costs import attention_cost
from core.gqa_presets import MODELS, Saving, saving
from core.gqa_times import DecodingTime
from core.models import load

LESS, MORE = 1 - 1e-9, 1 + 1e-9


def test_the_parameters_are_as_told() -> None:
    assert count_parameters() == {8: 1_048_576, 2: 655_360, 1: 589_824}
    assert parameters_verdict(count_parameters()) is Verdict.HOLDS
    assert (TOLD_D_MODEL, TOLD_HEADS) == (512, 8)


def test_with_biases_there_are_more() -> None:
    assert count_parameters(bias=True)[2] == 655_360 + 512 + 128 + 128 + 512
    assert parameters_verdict(count_parameters(bias=True)) is Verdict.DOES_NOT_HOLD


def test_one_wrong_or_missing_number_refutes() -> None:
    assert parameters_verdict(TOLD_PARAMETERS | {1: 589_825}) is Verdict.DOES_NOT_HOLD
    assert parameters_verdict({8: 1_048_576}) is Verdict.DOES_NOT_HOLD


def test_a_cache_changes_nothing() -> None:
    generator = torch.Generator().manual_seed(0)
    found = measure_cache(d_model=512, num_heads=8, num_kv_heads=2, seq_len=24, generator=generator)
    assert cache_verdict(found) is Verdict.HOLDS


@pytest.mark.parametrize(("factor", "verdict"), [(LESS, Verdict.HOLDS), (MORE, Verdict.DOES_NOT_HOLD)])
@pytest.mark.parametrize("off", [torch.float32, torch.float64])
def test_differences_are_judged_by_their_types_rounding(off: torch.dtype, factor: float, verdict: Verdict) -> None:
    found = []
    for dtype in (torch.float32, torch.float64):
        eps = torch.finfo(dtype).eps
        found.append(CacheDifference(dtype, ROUNDINGS * eps * factor if dtype == off else 0.0, eps))
    assert cache_verdict(found) is verdict


def test_no_published_model_shrinks_a_lot() -> None:
    savings = [saving(model) for model in MODELS]
    assert shrink_verdict(savings) is Verdict.DOES_NOT_HOLD
    assert all(each.cache > 4 * each.weights for each in savings if each.cache > 0)  # the larger saving


@pytest.mark.parametrize(
    ("weights", "verdict"),
    [
        ((A_LOT, A_LOT), Verdict.HOLDS),
        ((A_LOT, A_LOT * LESS), Verdict.ONLY_IF),
        ((A_LOT * LESS, 0.01), Verdict.DOES_NOT_HOLD),
        ((), Verdict.UNDECIDED),
    ],
)
def test_shrinking(weights: Sequence[float], verdict: Verdict) -> None:
    mha = Saving("MHA", 0.0, 0.0)  # shares nothing: no case
    assert shrink_verdict([mha, *(Saving("", share, 0.5) for share in weights)]) is verdict


def test_computing_is_saved_at_short_contexts_only() -> None:
    sizes = {"d_model": 4096, "num_heads": 32, "head_dim": 128, "num_layers": 32, "batch": 1, "bytes_per_number": 2}

    def saved(seq_len: int) -> float:
        mha, mqa = (attention_cost(**sizes, num_kv_heads=heads, seq_len=seq_len) for heads in (32, 1))
        return computing_saved(mha, mqa)

    assert saved(128) == pytest.approx(31 / 64 * 4 * 4096 / (4 * 4096 + 2 * 128))
    assert computing_verdict([saved(128), saved(65536)]) is Verdict.ONLY_IF


@pytest.mark.parametrize(
    ("saved", "verdict"),
    [
        ([A_LOT], Verdict.HOLDS),
        ([A_LOT, A_LOT * LESS], Verdict.ONLY_IF),
        ([A_LOT * LESS], Verdict.DOES_NOT_HOLD),
        ([], Verdict.UNDECIDED),
    ],
)
def test_computing(saved: Sequence[float], verdict: Verdict) -> None:
    assert computing_verdict(saved) is verdict


def timed(num_kv_heads: int, seq_len: int, seconds: float) -> DecodingTime:
    return DecodingTime(num_kv_heads, seq_len, 0, 0, seconds, None)


def test_speedups_compare_as_many_kv_heads_as_query_heads_with_one() -> None:
    times = [timed(1, 8, 2.0), timed(2, 8, 3.0), timed(4, 8, 5.0), timed(1, 64, 3.0), timed(4, 64, 12.0)]
    assert speedups([*times, timed(1, 512, 9.0), timed(4, 600, 9.0)], 4) == {8: 2.5, 64: 4.0}
    assert speedups(times, 8) == speedups([], 4) == {}  # MHA, with 8 KV heads, was not measured


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ({8: FASTER, 64: 4.0}, Verdict.HOLDS),
        ({8: FASTER * LESS, 64: 4.0}, Verdict.ONLY_IF),
        ({8: FASTER * LESS}, Verdict.DOES_NOT_HOLD),
        ({}, Verdict.UNDECIDED),
        (None, Verdict.UNDECIDED),
    ],
)
def test_speed(ratios: dict[int, float] | None, verdict: Verdict) -> None:
    assert speed_verdict(ratios) is verdict


def test_the_mean_of_real_heads_is_not_for_free() -> None:
    layers = measure_encoder(load("atlas-fr-en"), "Le chat dort dans le jardin.", most_tokens=64)
    assert free_verdict(pooling_errors(layers, num_kv_heads=4)) is Verdict.HOLDS  # as many as before
    for num_kv_heads in (2, 1):
        pairs = pooling_errors(layers, num_kv_heads=num_kv_heads)
        assert len(pairs) == len(layers)
        assert free_verdict(pairs) is Verdict.DOES_NOT_HOLD


@dataclass(frozen=True)
class Named:
    num_kv_heads: int
    pooling: str
    error: float


def test_errors_are_paired_by_layer() -> None:
    layers = [
        [ConversionError(2, Pooling.FIRST, 0.4), ConversionError(2, Pooling.MEAN, 0.3), Named(1, "mean", 0.9)],
        [Named(2, "mean", 0.2), Named(2, "first", 0.1)],
    ]
    assert pooling_errors(layers, num_kv_heads=2) == ((0.3, 0.4), (0.2, 0.1))
    with pytest.raises(ValueError, match=r"num_kv_heads \(1\) must have been measured"):
        pooling_errors(layers, num_kv_heads=1)


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        ((AS_GOOD, 0.0), Verdict.HOLDS),
        ((AS_GOOD, AS_GOOD * MORE), Verdict.ONLY_IF),
        ((AS_GOOD * MORE,), Verdict.DOES_NOT_HOLD),
        ((), Verdict.UNDECIDED),
    ],
)
def test_for_free(means: Sequence[float], verdict: Verdict) -> None:
    assert free_verdict([(mean, 1.0) for mean in means]) is verdict


@pytest.mark.parametrize(
    ("pairs", "verdict"),
    [
        ([(0.3, 0.4), (0.1, 0.2)], Verdict.HOLDS),
        ([(0.3, 0.4), (0.2, 0.1)], Verdict.ONLY_IF),
        ([(0.2, 0.1)], Verdict.DOES_NOT_HOLD),
        ([(0.3, 0.4), (0.2, 0.2)], Verdict.HOLDS),
        ([(0.2, 0.2)], Verdict.UNDECIDED),
        ([], Verdict.UNDECIDED),
    ],
)
def test_the_mean_against_the_first(pairs: Sequence[tuple[float, float]], verdict: Verdict) -> None:
    assert mean_verdict(pairs) is verdict


def test_without_a_measurement_nothing_is_said_of_the_cache() -> None:
    assert cache_verdict([]) is Verdict.UNDECIDED
