"""The scalings: against transformers' ROPE_INIT_FUNCTIONS, by hand, and what each promises; and the cache of tables."""

import math
from typing import Any

import pytest
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from core.positions.extension import extend
from core.positions.rope import inverse_frequencies, rotation_tables
from core.positions.scalings import (
    DynamicNtk,
    Linear,
    Llama3,
    Method,
    Ntk,
    Scaling,
    Unscaled,
    Yarn,
    ntk_base,
    scaling_for,
)
from core.positions.tables import TableCache

ALL = [Unscaled(), Linear(3.0), Ntk(3.0), DynamicNtk(512, 3.0), Yarn(3.0, 512), Llama3(3.0, 512)]


def theirs(kind: str, *, head_dim: int, base: float, trained_len: int, seq_len: int | None, **more: Any) -> Any:
    """inv_freq and attention factor as transformers computes them, in float32."""
    config = LlamaConfig(
        head_dim=head_dim,
        max_position_embeddings=trained_len,
        rope_parameters={"rope_type": kind, "rope_theta": base, **more},
    )
    return ROPE_INIT_FUNCTIONS[kind](config, torch.device("cpu"), seq_len=seq_len)


@pytest.mark.parametrize(("head_dim", "base"), [(64, 10000.0), (128, 500000.0), (22, 100.0), (2, 10000.0)])
@pytest.mark.parametrize(
    ("kind", "scaling", "more"),
    [
        ("linear", Linear(3.0), {"factor": 3.0}),
        ("dynamic", DynamicNtk(2048, 2.0), {"factor": 2.0}),
        ("dynamic", DynamicNtk(2048), {"factor": 1.0}),
        ("yarn", Yarn(4.0, 2048), {"factor": 4.0, "original_max_position_embeddings": 2048}),
        (
            "yarn",
            Yarn(4.0, 2048, beta_fast=20.0, beta_slow=3.0, attention_factor=1.5, truncate=False),
            {
                "factor": 4.0,
                "original_max_position_embeddings": 2048,
                "beta_fast": 20.0,
                "beta_slow": 3.0,
                "attention_factor": 1.5,
                "truncate": False,
            },
        ),
        (
            "llama3",
            Llama3(8.0, 2048),
            {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 2048},
        ),
        (
            "llama3",
            Llama3(5.0, 2048, 2.0, 3.0),
            {"factor": 5.0, "low_freq_factor": 2.0, "high_freq_factor": 3.0, "original_max_position_embeddings": 2048},
        ),
    ],
)
@pytest.mark.parametrize("seq_len", [None, 100, 2048, 8192])
def test_scalings_are_those_of_transformers(
    kind: str, scaling: Scaling, more: dict[str, Any], head_dim: int, base: float, seq_len: int | None
) -> None:
    if kind == "dynamic" and head_dim == 2:
        with pytest.raises(ZeroDivisionError):
            theirs(kind, head_dim=2, base=base, trained_len=2048, seq_len=seq_len, **more)
        return
    inv_freq, attention_factor = theirs(kind, head_dim=head_dim, base=base, trained_len=2048, seq_len=seq_len, **more)
    ours = scaling.apply(head_dim, base=base, seq_len=seq_len)
    torch.testing.assert_close(ours.per_token.float(), inv_freq, atol=1e-7, rtol=1e-5)
    assert ours.attention_factor == pytest.approx(attention_factor, abs=1e-12)


@pytest.mark.parametrize("trained_len", [3, 6, 40])
def test_yarn_after_a_training_on_very_short_texts(trained_len: int) -> None:
    """Where the line over the pairs has no length (6), or no pair turned in training (3)."""
    more = {"factor": 4.0, "original_max_position_embeddings": trained_len}
    inv_freq, _ = theirs("yarn", head_dim=64, base=10000.0, trained_len=trained_len, seq_len=None, **more)
    ours = Yarn(4.0, trained_len).apply(64).per_token
    torch.testing.assert_close(ours.float(), inv_freq, atol=1e-7, rtol=1e-5)


# -------------------------------------------------------------------------------------------------------------- by hand


def test_no_scaling_changes_nothing() -> None:
    found = Unscaled().apply(14, base=700.0)
    assert torch.equal(found.per_token, inverse_frequencies(14, base=700.0))
    assert (found.position_factor, found.attention_factor, found.base) == (1.0, 1.0, 700.0)


def test_interpolated_positions_are_fractional() -> None:
    found = Linear(2.0).apply(4)
    assert found.positions(torch.arange(5)).tolist() == [0, 0.5, 1, 1.5, 2]
    assert torch.equal(found.frequencies, inverse_frequencies(4))
    expected = rotation_tables(torch.tensor([0.5, 1.5]), found.frequencies)
    assert torch.equal(found.tables(torch.tensor([1, 3])).cos, expected.cos)


def test_the_base_of_ntk() -> None:
    assert round(ntk_base(128, 2.0)) == 20221
    assert round(ntk_base(128, 4.0)) == 40890
    assert ntk_base(4, 3.0, base=100.0) == pytest.approx(900)


def test_ntk_stretches_the_slowest_pair_by_the_factor_and_leaves_the_fastest() -> None:
    slower = inverse_frequencies(22) / Ntk(5.0).apply(22).frequencies
    assert float(slower[0]) == 1
    assert float(slower[-1]) == pytest.approx(5)
    assert (slower.diff() > 0).all()


def test_dynamic_ntk_starts_where_training_ended() -> None:
    plain = inverse_frequencies(22)
    for seq_len in (None, 0, 1, 512):
        assert torch.equal(DynamicNtk(512, 3.0).apply(22, seq_len=seq_len).frequencies, plain)
    assert DynamicNtk(512).apply(22, seq_len=2048).base == pytest.approx(ntk_base(22, 4.0))
    assert DynamicNtk(512, 3.0).apply(22, seq_len=1024).base == pytest.approx(ntk_base(22, 4.0))  # 3 · 2 − 2


def test_yarn_keeps_fast_pairs_and_interpolates_slow_ones() -> None:
    found = Yarn(4.0, 2048).apply(64)
    slower = inverse_frequencies(64) / found.frequencies
    assert float(slower[0]) == 1
    assert float(slower[-1]) == pytest.approx(4)
    assert (slower.diff() >= -1e-12).all()
    assert found.attention_factor == pytest.approx(0.1 * math.log(4) + 1)


def test_llama3_keeps_short_waves_and_stretches_long_ones() -> None:
    plain = inverse_frequencies(64)
    found, lengths = Llama3(8.0, 2048).apply(64).frequencies, 2 * math.pi / plain
    torch.testing.assert_close(found[lengths < 512], plain[lengths < 512], atol=0, rtol=1e-15)
    torch.testing.assert_close(found[lengths > 2048], plain[lengths > 2048] / 8, atol=0, rtol=1e-15)
    between = (lengths > 512) & (lengths < 2048)
    assert between.any()
    assert ((found < plain) & (found > plain / 8))[between].all()


@pytest.mark.parametrize("scaling", ALL, ids=lambda scaling: scaling.method)
def test_a_factor_of_1_changes_nothing(scaling: Scaling) -> None:
    alike = scaling_for(scaling.method, factor=1.0, trained_len=512).apply(22, seq_len=512)
    torch.testing.assert_close(alike.per_token, inverse_frequencies(22), atol=0, rtol=1e-14)
    assert alike.attention_factor == 1


@pytest.mark.parametrize("method", Method)
def test_scalings_by_name(method: Method) -> None:
    scaling = scaling_for(str(method), factor=2.0, trained_len=64)
    assert scaling.method is method
    assert getattr(scaling, "factor", 2.0) == (1.0 if method is Method.DYNAMIC_NTK else 2.0)
    assert getattr(scaling, "trained_len", 64) == 64


# ------------------------------------------------------------------------------------------------------------ extension


def test_the_scalings_side_by_side() -> None:
    rows = {row.method: row for row in extend(64, trained_len=512, target_len=2048, shown=3)}
    assert list(rows) == list(Method)
    assert rows[Method.LINEAR].positions.tolist() == [0, 0.25, 0.5]
    assert rows[Method.LINEAR].last_position == 2047 / 4
    assert rows[Method.NTK].positions.tolist() == [0, 1, 2]
    assert rows[Method.NTK].scaled.base == pytest.approx(ntk_base(64, 4.0))
    assert rows[Method.DYNAMIC_NTK].scaled.base == pytest.approx(ntk_base(64, 4.0))
    torch.testing.assert_close(rows[Method.NONE].last_angles, 2047 * inverse_frequencies(64), atol=0, rtol=1e-15)
    incomplete = int((512 * inverse_frequencies(64) < 2 * math.pi).sum())
    assert rows[Method.NONE].unseen_count == incomplete
    for method in (Method.LINEAR, Method.YARN, Method.LLAMA3):
        assert rows[method].unseen_count == 0
    assert 0 < rows[Method.NTK].unseen_count < incomplete  # the slowest pair is stretched enough, those before it not
    assert not rows[Method.NTK].unseen[-1]


def test_how_far_the_last_token_goes_beyond_the_training() -> None:
    rows = {row.method: row for row in extend(22, trained_len=500, target_len=2000)}
    torch.testing.assert_close(rows[Method.NONE].reach, torch.full((11,), 1999 / 500, dtype=torch.float64))
    torch.testing.assert_close(rows[Method.LINEAR].reach, torch.full((11,), 1999 / 4 / 500, dtype=torch.float64))
    ntk = rows[Method.NTK].reach
    assert (ntk.diff() < 0).all()
    assert (float(ntk[0]), float(ntk[-1])) == (pytest.approx(1999 / 500), pytest.approx(1999 / 2000))


def test_nothing_is_unseen_at_the_trained_length() -> None:
    assert [row.unseen_count for row in extend(16, trained_len=100, target_len=100)] == [0] * 6


# ---------------------------------------------------------------------------------------------------------------- cache


@pytest.mark.parametrize("scaling", ALL, ids=lambda scaling: scaling.method)
def test_the_cache_gives_what_would_be_computed(scaling: Scaling) -> None:
    cache = TableCache()
    for seq_len in (5, 2, 11, 0, 700, 3, 900, 5):  # 512 is the trained length
        found = cache.tables(seq_len, 22, base=700.0, scaling=scaling)
        expected = scaling.apply(22, base=700.0, seq_len=seq_len).tables(torch.arange(seq_len))
        assert torch.equal(found.cos, expected.cos.float())
        assert torch.equal(found.sin, expected.sin.float())
    assert len(cache) == 1


def test_the_cache_keeps_the_longest() -> None:
    cache = TableCache()
    long = cache.tables(11, 8)
    assert cache.tables(3, 8).cos.data_ptr() == long.cos.data_ptr()
    assert cache.tables(12, 8).cos.data_ptr() != long.cos.data_ptr()
    assert TableCache().tables(11, 8).cos.data_ptr() != long.cos.data_ptr()


def test_whatever_changes_a_table_has_its_own() -> None:
    cache = TableCache()
    kinds: list[dict[str, Any]] = [
        {"head_dim": 8},
        {"head_dim": 10},
        {"head_dim": 8, "base": 500.0},
        {"head_dim": 8, "scaling": Linear(2.0)},
        {"head_dim": 8, "scaling": Linear(4.0)},
        {"head_dim": 8, "scaling": Ntk(2.0)},
        {"head_dim": 8, "dtype": torch.float64},
        {"head_dim": 8, "device": "meta"},
    ]
    for _ in range(2):
        tables = [cache.tables(7, **kind).cos for kind in kinds]
    assert len(cache) == len(kinds)
    assert tables[6].dtype == torch.float64
    assert tables[7].device.type == "meta"
    on_cpu = [tuple(table.flatten().tolist()) for table in tables[:7]]
    assert len(set(on_cpu)) == 7


# --------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Linear(0.5), r"factor \(0.5\) must be at least 1 and finite"),
        (lambda: Ntk(math.inf), r"factor \(inf\) must be at least 1 and finite"),
        (lambda: DynamicNtk(0), r"trained_len \(0\) must be at least 1"),
        (lambda: DynamicNtk(8, 0.0), r"factor \(0.0\) must be"),
        (lambda: Yarn(math.nan, 8), r"factor \(nan\) must be"),
        (lambda: Yarn(2.0, -8), r"trained_len \(-8\) must be at least 1"),
        (lambda: Yarn(2.0, 8, beta_fast=1.0), r"beta_slow \(1.0\) must be above 0 and below beta_fast \(1.0\)"),
        (lambda: Llama3(0.0), r"factor \(0.0\) must be"),
        (lambda: Llama3(2.0, 0), r"trained_len \(0\) must be"),
        (lambda: Llama3(2.0, 8, 4.0, 4.0), r"low_freq_factor \(4.0\) must be above 0 and below high_freq_factor"),
        (lambda: Ntk(2.0).apply(2), r"head_dim \(2\) must be at least 4 for NTK"),
        (lambda: DynamicNtk(8).apply(2), r"head_dim \(2\) must be at least 4 for NTK"),
        (lambda: DynamicNtk(8).apply(4, seq_len=-1), r"seq_len \(-1\) must be at least 0"),
        (lambda: ntk_base(7, 2.0), r"head_dim \(7\) must be even"),
        (lambda: ntk_base(8, 2.0, base=1.0), r"base \(1.0\) must be greater than 1"),
        (lambda: ntk_base(8, 0.9), r"factor \(0.9\) must be at least 1"),
        (lambda: ntk_base(4, 1e300), r"factor \(1e\+300\) must be smaller for head_dim \(4\)"),
        (lambda: ntk_base(4, 1e153), r"factor \(1e\+153\) must be smaller"),  # the power is finite, the product is not
        (lambda: Unscaled().apply(5), r"head_dim \(5\) must be even"),
        (lambda: Linear(2.0).apply(5), r"head_dim \(5\) must be even"),
        (lambda: Yarn(2.0, 8).apply(8, base=0.0), r"base \(0.0\) must be greater than 1"),
        (lambda: Llama3(2.0).apply(8, base=-1.0), r"base \(-1.0\) must be greater than 1"),
        (lambda: scaling_for("cubic", factor=2.0, trained_len=8), r"method \('cubic'\) must be one of none, linear"),
        (lambda: scaling_for("none", factor=0.5, trained_len=8), r"factor \(0.5\) must be"),
        (lambda: scaling_for("ntk", factor=2.0, trained_len=0), r"trained_len \(0\) must be"),
        (lambda: extend(8, trained_len=9, target_len=8), r"target_len \(8\) must be at least 9"),
        (lambda: extend(8, trained_len=0, target_len=8), r"trained_len \(0\) must be at least 1"),
        (lambda: extend(8, trained_len=4, target_len=8, shown=-1), r"shown \(-1\) must be at least 0"),
        (lambda: extend(2, trained_len=1, target_len=8), r"head_dim \(2\) must be at least 4"),
        (lambda: TableCache().tables(-1, 8), r"seq_len \(-1\) must be at least 0"),
        (lambda: TableCache().tables(2, 8, dtype=torch.int32), r"dtype \(torch.int32\) must be floating-point"),
        (lambda: TableCache().tables(2, 7), r"head_dim \(7\) must be even"),
    ],
)
def test_what_is_refused(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        call()
