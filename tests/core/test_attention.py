"""Attention: against torch and NumPy, by hand, by its properties, beside inf and NaN, and every error."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention as by_torch

from core.attention import AttentionTrace, scaled_dot_product_attention
from core.masks import causal_mask, combine, padding_mask, permutation_mask, prefix_mask, sliding_window_mask

PROPERTY = settings(deadline=None, max_examples=40, derandomize=True)
FIELDS = ("scores", "masked_scores", "weights", "output")
BATCH, SEQ_Q, SEQ_K, HEAD_DIM, V_DIM = 2, 5, 7, 11, 13


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def qkv(
    num_heads: int = 3,
    num_kv_heads: int = 3,
    seq_q: int = SEQ_Q,
    seq_k: int = SEQ_K,
    *,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
) -> tuple[Tensor, Tensor, Tensor]:
    return (
        normal(BATCH, num_heads, seq_q, HEAD_DIM, seed=seed, dtype=dtype),
        normal(BATCH, num_kv_heads, seq_k, HEAD_DIM, seed=seed + 1, dtype=dtype),
        normal(BATCH, num_kv_heads, seq_k, V_DIM, seed=seed + 2, dtype=dtype),
    )


def assert_close(actual: Tensor, expected: Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


# ---- against other implementations


def masks_for(seq_q: int, seq_k: int) -> dict[str, Tensor | None]:
    """Masks under which every query sees something: torch disagrees with itself about rows that see nothing."""
    lengths = padding_mask([seq_k, 1], seq_k)
    offset = max(seq_k - seq_q, 0)
    return {
        "none": None,
        "causal": causal_mask(seq_q, seq_k, offset=offset),
        "padding": lengths,
        "window": combine(sliding_window_mask(seq_q, seq_k, left=2, right=1), causal_mask(seq_q, seq_k)).logical_or(
            torch.arange(seq_k) == 0
        ),
        "both": combine(lengths, causal_mask(seq_q, seq_k, offset=offset)),
        "keys": torch.arange(seq_k) % 2 == 0,
    }


@pytest.mark.parametrize(("num_heads", "num_kv_heads"), [(1, 1), (3, 3), (6, 3), (6, 2), (5, 1)])
@pytest.mark.parametrize("mask_name", list(masks_for(1, 1)))
@pytest.mark.parametrize("scale", [None, 0.7, 0.0, -0.3])
def test_equals_torch(num_heads: int, num_kv_heads: int, mask_name: str, scale: float | None) -> None:
    for (seq_q, seq_k), (dtype, tolerance) in itertools.product(
        [(1, 1), (5, 7), (7, 5), (11, 11), (1, 17)], [(torch.float32, 1e-6), (torch.float64, 1e-14)]
    ):
        q, k, v = qkv(num_heads, num_kv_heads, seq_q, seq_k, dtype=dtype)
        mask = masks_for(seq_q, seq_k)[mask_name]
        full_mask = None if mask is None else mask.expand(BATCH, num_heads, seq_q, seq_k)
        expected = by_torch(q, k, v, attn_mask=full_mask, scale=scale, enable_gqa=True)
        output = scaled_dot_product_attention(q, k, v, attend_mask=mask, scale=scale).output
        assert output.dtype == dtype
        assert_close(output, expected, tolerance)


def test_bias_equals_torch() -> None:
    q, k, v = qkv(6, 2, dtype=torch.float32)
    for shape in [(BATCH, 6, SEQ_Q, SEQ_K), (6, SEQ_Q, SEQ_K), (6, 1, SEQ_K), (SEQ_Q, 1), (SEQ_K,)]:
        bias = normal(*shape, dtype=torch.float32)
        expected = by_torch(q, k, v, attn_mask=bias.expand(BATCH, 6, SEQ_Q, SEQ_K), enable_gqa=True)
        assert_close(scaled_dot_product_attention(q, k, v, bias=bias).output, expected, 1e-6)


def test_gradients_equal_torch() -> None:
    ours, theirs = ([t.requires_grad_() for t in qkv(6, 2)] for _ in range(2))
    mask = causal_mask(SEQ_Q, offset=SEQ_K - SEQ_Q)
    scaled_dot_product_attention(*ours, attend_mask=mask).output.square().sum().backward()
    by_torch(*theirs, attn_mask=mask, enable_gqa=True).square().sum().backward()
    for a, b in zip(ours, theirs, strict=True):
        assert a.grad is not None
        assert b.grad is not None
        assert_close(a.grad, b.grad)


def test_gradients_equal_finite_differences() -> None:
    tensors = [t[:1, ..., :2].clone().requires_grad_() for t in qkv(2, 1, 3, 5)]
    mask = permutation_mask([2, 0, 1])[:, [0, 1, 2, 0, 1]]  # query 2 sees nothing
    bias = normal(3, 5, seed=9).requires_grad_()

    def output(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
        return scaled_dot_product_attention(q, k, v, attend_mask=mask, bias=bias, softcap=1.5).output

    assert torch.autograd.gradcheck(output, (*tensors, bias))


def test_every_field_equals_numpy() -> None:
    q, k, v = qkv(6, 2)
    bias = normal(6, SEQ_Q, SEQ_K, seed=9)
    mask = causal_mask(SEQ_Q, SEQ_K)
    trace = scaled_dot_product_attention(q, k, v, attend_mask=mask, bias=bias, scale=0.9, softcap=1.3)
    keys, values = (np.repeat(t.numpy(), 3, axis=1) for t in (k, v))
    scores = 1.3 * np.tanh(0.9 * np.einsum("bhqd,bhkd->bhqk", q.numpy(), keys) / 1.3)
    masked_scores = np.where(mask.numpy(), scores + bias.numpy(), -np.inf)
    weights = np.exp(masked_scores) / np.exp(masked_scores).sum(-1, keepdims=True)
    output = np.einsum("bhqk,bhkv->bhqv", weights, values)
    for name, expected in zip(FIELDS, (scores, masked_scores, weights, output), strict=True):
        np.testing.assert_allclose(getattr(trace, name).numpy(), expected, rtol=0, atol=1e-13, err_msg=name)


# ---- by hand


def by_hand(**options: Any) -> AttentionTrace:
    """Two queries, 1 and 2, over two keys, ln 1 and ln 3, that hold 0 and 4."""
    q = torch.tensor([[[1.0], [2.0]]], dtype=torch.float64)
    k = torch.tensor([[[0.0], [math.log(3)]]], dtype=torch.float64)
    v = torch.tensor([[[0.0], [4.0]]], dtype=torch.float64)
    return scaled_dot_product_attention(q, k, v, **options)


def test_by_hand() -> None:
    trace = by_hand()  # head_dim is 1, so is the scale
    assert_close(trace.scores, torch.tensor([[[0, math.log(3)], [0, math.log(9)]]], dtype=torch.float64))
    assert trace.masked_scores.equal(trace.scores)
    assert_close(trace.weights, torch.tensor([[[0.25, 0.75], [0.1, 0.9]]], dtype=torch.float64))
    assert_close(trace.output, torch.tensor([[[3.0], [3.6]]], dtype=torch.float64))


def test_mask_by_hand() -> None:
    trace = by_hand(attend_mask=causal_mask(2))
    assert trace.masked_scores[0, 0].tolist() == [0, -math.inf]
    assert trace.weights[0, 0].tolist() == [1, 0]
    assert_close(trace.output, torch.tensor([[[0.0], [3.6]]], dtype=torch.float64))


def test_bias_by_hand() -> None:
    trace = by_hand(bias=torch.tensor([math.log(3), 0.0], dtype=torch.float64))  # 3 : 3 and 3 : 9
    assert_close(trace.weights, torch.tensor([[[0.5, 0.5], [0.25, 0.75]]], dtype=torch.float64))


def test_scale_comes_before_softcap_and_bias_after() -> None:
    trace = by_hand(scale=2.0, softcap=1.0, bias=torch.tensor([0.0, 5.0], dtype=torch.float64))
    capped = math.tanh(2 * math.log(3))  # = (9² − 1) / (9² + 1)
    assert capped == pytest.approx(80 / 82)
    assert_close(trace.scores[0, 0], torch.tensor([0, capped], dtype=torch.float64))
    assert_close(trace.masked_scores[0, 0], torch.tensor([0, capped + 5], dtype=torch.float64))


def test_scale_is_one_over_root_head_dim_by_default() -> None:
    q, k, v = qkv()
    default = scaled_dot_product_attention(q, k, v)
    assert_close(default.scores, scaled_dot_product_attention(q, k, v, scale=1.0).scores / math.sqrt(HEAD_DIM))


def test_scale_zero_is_uniform_attention() -> None:
    trace = scaled_dot_product_attention(*qkv(), scale=0.0)
    assert_close(trace.weights, torch.full_like(trace.weights, 1 / SEQ_K))


# ---- shapes


def test_trace_shapes() -> None:
    trace = scaled_dot_product_attention(*qkv(6, 2))
    for name, last in zip(FIELDS, (SEQ_K, SEQ_K, SEQ_K, V_DIM), strict=True):
        assert getattr(trace, name).shape == (BATCH, 6, SEQ_Q, last)


def test_leading_dimensions_broadcast() -> None:
    q, k, v = normal(17, 1, 6, SEQ_Q, HEAD_DIM), normal(BATCH, 2, SEQ_K, HEAD_DIM, seed=1), normal(2, SEQ_K, V_DIM)
    mask = padding_mask([SEQ_K, 3], SEQ_K)
    output = scaled_dot_product_attention(q, k, v, attend_mask=mask).output
    assert output.shape == (17, BATCH, 6, SEQ_Q, V_DIM)
    for i, j in itertools.product(range(17), range(BATCH)):
        one = scaled_dot_product_attention(q[i, 0], k[j], v, attend_mask=mask[j])
        assert_close(output[i, j], one.output)


def test_values_and_mask_may_bring_the_batch() -> None:
    q, k, v = normal(3, SEQ_Q, HEAD_DIM), normal(3, SEQ_K, HEAD_DIM), normal(BATCH, 3, SEQ_K, V_DIM)
    mask = padding_mask([SEQ_K, 3], SEQ_K)
    output = scaled_dot_product_attention(q, k, v, attend_mask=mask).output
    for j in range(BATCH):
        assert_close(output[j], scaled_dot_product_attention(q, k, v[j], attend_mask=mask[j]).output)


def test_shared_kv_heads_equal_repeated_ones() -> None:
    q, k, v = qkv(6, 2)
    shared = scaled_dot_product_attention(q, k, v)
    repeated = scaled_dot_product_attention(q, k.repeat_interleave(3, dim=1), v.repeat_interleave(3, dim=1))
    for name in FIELDS:
        assert_close(getattr(shared, name), getattr(repeated, name))


def test_as_many_kv_heads_as_heads_is_one_attention_per_head() -> None:
    q, k, v = qkv(3, 3)
    trace = scaled_dot_product_attention(q, k, v)
    for h in range(3):
        one = scaled_dot_product_attention(*(t[:, h : h + 1] for t in (q, k, v)))
        assert_close(trace.output[:, h : h + 1], one.output)


def test_layout_in_memory_does_not_matter() -> None:
    q, k, v = qkv(6, 2)
    strided = [t.transpose(1, 2).contiguous().transpose(1, 2) for t in (q, k, v)]
    assert_close(scaled_dot_product_attention(*strided).output, scaled_dot_product_attention(q, k, v).output)


def test_inputs_stay_as_they_were() -> None:
    tensors = [*qkv(), normal(SEQ_Q, SEQ_K)]
    tensors[2][..., -1, :] = math.nan
    before = [t.clone() for t in tensors]
    scaled_dot_product_attention(*tensors[:3], bias=tensors[3], attend_mask=causal_mask(SEQ_Q, SEQ_K), softcap=2.0)
    for now, then in zip(tensors, before, strict=True):
        torch.testing.assert_close(now, then, rtol=0, atol=0, equal_nan=True)


def test_nothing_to_look_at_and_nobody_who_looks() -> None:
    nothing = scaled_dot_product_attention(*qkv(seq_k=0))
    assert nothing.weights.shape == (BATCH, 3, SEQ_Q, 0)
    assert nothing.output.equal(torch.zeros(BATCH, 3, SEQ_Q, V_DIM, dtype=torch.float64))
    assert scaled_dot_product_attention(*qkv(seq_q=0)).output.shape == (BATCH, 3, 0, V_DIM)


# ---- properties


@st.composite
def cases(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    num_kv_heads, per_kv_head, seq_q, seq_k = (draw(st.integers(1, n)) for n in (3, 3, 6, 6))
    q, k, v = qkv(num_kv_heads * per_kv_head, num_kv_heads, seq_q, seq_k, seed=draw(st.integers(0, 999)))
    visible = draw(st.lists(st.booleans(), min_size=seq_q * seq_k, max_size=seq_q * seq_k))
    return q * draw(st.sampled_from([0.1, 1.0, 30.0])), k, v, torch.tensor(visible).reshape(seq_q, seq_k)


@PROPERTY
@given(cases())
def test_rows_sum_to_one_or_are_zero(case: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    q, k, v, mask = case
    trace = scaled_dot_product_attention(q, k, v, attend_mask=mask)
    sees = mask.any(-1)
    assert_close(trace.weights.sum(-1), sees.double().expand(trace.weights.shape[:-1]))
    assert (trace.weights >= 0).all()
    assert not trace.weights[..., ~mask].any()
    assert trace.masked_scores.isneginf().equal(~mask.expand_as(trace.masked_scores))
    assert not trace.output[..., ~sees, :].any()


@PROPERTY
@given(cases(), st.randoms(use_true_random=False))
def test_keys_have_no_order(case: tuple[Tensor, Tensor, Tensor, Tensor], random: Any) -> None:
    q, k, v, mask = case
    order = random.sample(range(k.shape[-2]), k.shape[-2])
    output = scaled_dot_product_attention(q, k, v, attend_mask=mask).output
    shuffled = scaled_dot_product_attention(q, k[..., order, :], v[..., order, :], attend_mask=mask[:, order]).output
    assert_close(shuffled, output)


@PROPERTY
@given(st.integers(1, 7), st.integers(0, 6), st.sampled_from([1e3, math.inf, -math.inf, math.nan]))
def test_the_future_never_changes_the_past(seq_len: int, now: int, number: float) -> None:
    q, k, v = qkv(6, 2, seq_len, seq_len)
    mask = causal_mask(seq_len)
    before = scaled_dot_product_attention(q, k, v, attend_mask=mask).output
    for t in (q, k, v):
        t[..., now + 1 :, :] = number
    after = scaled_dot_product_attention(q, k, v, attend_mask=mask).output
    assert after[..., : now + 1, :].equal(before[..., : now + 1, :])


@PROPERTY
@given(cases())
def test_a_mask_is_a_bias_of_zero_and_minus_infinity(case: tuple[Tensor, Tensor, Tensor, Tensor]) -> None:
    q, k, v, mask = case
    by_mask = scaled_dot_product_attention(q, k, v, attend_mask=mask)
    by_bias = scaled_dot_product_attention(q, k, v, bias=torch.zeros(mask.shape).masked_fill(~mask, -math.inf))
    for name in FIELDS:
        assert getattr(by_bias, name).equal(getattr(by_mask, name)), name


@PROPERTY
@given(cases(), st.floats(0.01, 100))
def test_softcap_bounds_the_scores_and_keeps_their_order(
    case: tuple[Tensor, Tensor, Tensor, Tensor], softcap: float
) -> None:
    q, k, v, _ = case
    free, capped = (scaled_dot_product_attention(q, k, v, softcap=cap).scores for cap in (None, softcap))
    assert (capped.abs() <= softcap).all()
    assert (capped.abs() <= free.abs() + 1e-12).all()
    assert (capped.gather(-1, free.argsort(-1)).diff(dim=-1) >= 0).all()


# ---- queries that may look at nothing


@pytest.mark.filterwarnings("ignore:Anomaly Detection")  # it raises at the first NaN on the way back
@pytest.mark.parametrize("how", ["mask", "bias", "together"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_a_query_left_with_nothing_gets_exactly_zero(how: str, dtype: torch.dtype) -> None:
    """Query 1 sees nothing; mask and bias may each leave it something and take it all together."""
    mask = torch.ones(SEQ_Q, SEQ_K, dtype=torch.bool)
    bias = torch.zeros(SEQ_Q, SEQ_K, dtype=dtype)
    if how in ("mask", "together"):
        mask[1, 0 if how == "mask" else 3 :] = False
    if how in ("bias", "together"):
        bias[1, : 3 if how == "together" else SEQ_K] = -math.inf
    q, k, v = (t.requires_grad_() for t in qkv(6, 2, dtype=dtype))
    with torch.autograd.detect_anomaly():
        trace = scaled_dot_product_attention(q, k, v, attend_mask=mask, bias=bias)
        trace.output.sum().backward()
    assert trace.masked_scores[..., 1, :].isneginf().all()
    assert not trace.weights[..., 1, :].any()
    assert not trace.output[..., 1, :].any()
    assert trace.output.isfinite().all()
    assert trace.weights[..., [0, 2, 3, 4], :].all()
    for t in (q, k, v):
        assert t.grad is not None
        assert t.grad.isfinite().all()
    assert q.grad is not None
    assert not q.grad[..., 1, :].any()


# ---- inf and NaN

NOT_FINITE = [math.nan, math.inf, -math.inf]


def assert_isolated(q: Tensor, k: Tensor, v: Tensor, clean: tuple[Tensor, ...], mask: Tensor, rows: Tensor) -> None:
    """Those rows, and all gradients from them, are what they are when q, k and v are clean."""
    results = []
    for tensors in ((q, k, v), clean):
        leaves = [t.clone().requires_grad_() for t in tensors]
        trace = scaled_dot_product_attention(*leaves, attend_mask=mask, softcap=5.0)
        trace.output[..., rows, :].square().sum().backward()
        results.append((trace.weights[..., rows, :], trace.output[..., rows, :], *(t.grad for t in leaves)))
    for actual, expected in zip(*results, strict=True):
        assert actual is not None
        assert expected is not None
        assert actual.isfinite().all()
        assert_close(actual, expected)


@pytest.mark.parametrize("number", NOT_FINITE)
@pytest.mark.parametrize("where", ["k", "v", "k and v", "one number of k", "one number of v", "q, k and v"])
def test_earlier_rows_and_their_gradients_stay_clean(number: float, where: str) -> None:
    clean = qkv(6, 2, SEQ_K, SEQ_K)
    q, k, v = (t.clone() for t in clean)
    columns = slice(2, 3) if "one" in where else slice(None)
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if name in where.split(" "):
            tensor[..., -1, columns] = number
    rows = torch.arange(SEQ_K - 1)
    assert_isolated(q, k, v, clean, causal_mask(SEQ_K), rows)


@pytest.mark.parametrize("number", NOT_FINITE)
def test_padding_may_hold_anything(number: float) -> None:
    clean = qkv(6, 2, SEQ_K, SEQ_K)
    q, k, v = (t.clone() for t in clean)
    for t in (k, v):
        t[0, :, 4:] = number
        t[1] = number
    mask = padding_mask([4, 0], SEQ_K)
    trace = scaled_dot_product_attention(q, k, v, attend_mask=mask)
    assert not trace.weights[1].any()
    assert not trace.output[1].any()
    assert_isolated(q, k, v, clean, mask, torch.arange(SEQ_K))


@pytest.mark.parametrize("number", NOT_FINITE)
def test_a_query_that_sees_nothing_may_itself_be_anything(number: float) -> None:
    clean = qkv(6, 2)
    q = clean[0].clone()
    q[..., 2, :] = number
    mask = torch.arange(SEQ_Q)[:, None] != 2
    assert_isolated(q, clean[1], clean[2], clean, mask, torch.arange(SEQ_Q))


@PROPERTY
@given(cases(), st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9999), st.sampled_from(NOT_FINITE)), max_size=6))
def test_forbidding_a_key_is_deleting_it(
    case: tuple[Tensor, Tensor, Tensor, Tensor], spots: list[tuple[int, int, float]]
) -> None:
    """Whatever stands where, each query gets what it would get alone with its permitted keys."""
    *tensors, mask = case
    for which, index, number in spots:
        tensors[which].view(-1)[index % tensors[which].numel()] = number
    q, k, v = tensors
    output = scaled_dot_product_attention(q, k, v, attend_mask=mask).output
    for i, sees in enumerate(mask):
        alone = scaled_dot_product_attention(q[..., i : i + 1, :], k[..., sees, :], v[..., sees, :]).output
        torch.testing.assert_close(output[..., i : i + 1, :], alone, rtol=0, atol=1e-12, equal_nan=True)


def test_a_minus_infinite_bias_isolates_as_a_mask_does() -> None:
    q, k, v = qkv()
    expected = scaled_dot_product_attention(q, k[..., :-1, :], v[..., :-1, :]).output
    k[..., -1, :], v[..., -1, :] = math.nan, math.inf
    bias = torch.zeros(SEQ_K).masked_fill(torch.arange(SEQ_K) == SEQ_K - 1, -math.inf)
    assert_close(scaled_dot_product_attention(q, k, v, bias=bias).output, expected)


def test_a_bias_counts_for_nothing_where_the_mask_forbids() -> None:
    q, k, v = qkv()
    mask = torch.arange(SEQ_K) < 4
    bias = torch.zeros(SEQ_K)
    bias[4:] = torch.tensor([math.nan, math.inf, 1e30])
    assert_close(
        scaled_dot_product_attention(q, k, v, attend_mask=mask, bias=bias).output,
        scaled_dot_product_attention(q, k, v, attend_mask=mask).output,
    )


def test_what_a_query_may_look_at_shows() -> None:
    """No repair: NaN and inf reach the queries that may look at them, as plain products would have it."""
    q, k, v = qkv()
    v[..., 3, 0], v[..., 3, 1], v[..., 3, 2] = math.nan, math.inf, -math.inf
    v[..., 4, 1], v[..., 4, 3] = -math.inf, math.inf
    mask = causal_mask(SEQ_Q, SEQ_K)
    output = scaled_dot_product_attention(q, k, v, attend_mask=mask).output
    expected = torch.einsum("bhqk,bhkv->bhqkv", scaled_dot_product_attention(q, k, v, attend_mask=mask).weights, v)
    expected = expected.masked_fill(~mask[..., None], 0.0).sum(-2)
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-12, equal_nan=True)
    assert output[0, 0, 3, :4].isnan().tolist() == [True, False, False, False]
    assert output[0, 0, 4, :4].isnan().tolist() == [True, True, False, False]
    assert output[0, 0, 4, 2:4].tolist() == [-math.inf, math.inf]


def test_a_permitted_value_counts_even_where_its_weight_rounds_to_zero() -> None:
    v = torch.tensor([[[1.0], [math.inf]]])
    trace = scaled_dot_product_attention(torch.ones(1, 1, 1), torch.tensor([[[0.0], [-1000.0]]]), v)
    assert trace.weights.tolist() == [[[1.0, 0.0]]]
    assert trace.output.item() == math.inf


def test_a_permitted_key_that_is_nan_spoils_the_row_but_no_forbidden_weight() -> None:
    q, k, v = qkv(1, 1)
    k[..., 3, 0] = math.nan
    trace = scaled_dot_product_attention(q, k, v, attend_mask=causal_mask(SEQ_Q, SEQ_K))
    assert trace.scores[..., 3].isnan().all()
    assert trace.weights.isfinite().all(-1)[0, 0].tolist() == [True, True, True, False, False]
    assert trace.output.isnan().all(-1)[0, 0].tolist() == [False, False, False, True, True]
    assert not trace.weights.masked_select(~causal_mask(SEQ_Q, SEQ_K)).any()


def test_a_permitted_key_at_minus_infinity_gets_no_weight() -> None:
    q, k, v = (t.abs() for t in qkv())
    expected = scaled_dot_product_attention(q, k[..., 1:, :], v[..., 1:, :]).output
    k[..., 0, :] = -math.inf
    q.requires_grad_()
    output = scaled_dot_product_attention(q, k, v).output
    assert_close(output, expected)
    output.sum().backward()
    assert q.grad is not None
    assert q.grad.isfinite().all()


def test_scores_too_large_for_the_type_are_no_accident_where_forbidden() -> None:
    clean = qkv(dtype=torch.float32)
    k = clean[1].clone()
    k[..., -1, :] = 3e38
    q, v = clean[0] * 10, clean[2]
    mask = torch.arange(SEQ_K) < SEQ_K - 1
    assert_isolated(q, k, v, (q, clean[1], v), mask, torch.arange(SEQ_Q))


# ---- half precision


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32_and_rounded_once(dtype: torch.dtype) -> None:
    q, k, v = qkv(6, 2, dtype=dtype)
    options: dict[str, Any] = {
        "attend_mask": prefix_mask(SEQ_K, 3)[:SEQ_Q],
        "bias": normal(SEQ_Q, SEQ_K, dtype=torch.float32),
        "softcap": 3.0,
    }
    half = scaled_dot_product_attention(q, k, v, **options)
    full = scaled_dot_product_attention(q.float(), k.float(), v.float(), **options)
    for name in FIELDS:
        assert getattr(half, name).dtype == dtype
        assert getattr(half, name).equal(getattr(full, name).to(dtype)), name


def test_half_precision_survives_products_beyond_its_range() -> None:
    q, k, v = (300 * t for t in qkv(dtype=torch.float16))
    assert (q.float() @ k.float().mT).abs().max() > torch.finfo(torch.float16).max
    assert scaled_dot_product_attention(q, k, v).output.isfinite().all()


# ---- errors

ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"q": torch.zeros(5, 7)}, "q (shape (5, 7)) must have the shape (…, num_heads, seq_q, head_dim)"),
    ({"k": torch.zeros(7)}, "k (shape (7,)) must have the shape (…, num_kv_heads, seq_k, head_dim)"),
    ({"v": torch.zeros(5, 7)}, "v (shape (5, 7)) must have the shape (…, num_kv_heads, seq_k, v_dim)"),
    (
        {"q": torch.zeros(6, 5, 11, dtype=torch.int64)},
        "q (torch.int64) must be one of torch.float16, torch.bfloat16, torch.float32, torch.float64",
    ),
    (
        {"v": torch.zeros(2, 7, 13, dtype=torch.complex64)},
        "v (torch.complex64) must be one of torch.float16, torch.bfloat16, torch.float32, torch.float64",
    ),
    (
        {"k": torch.zeros(2, 7, 11, dtype=torch.float64)},
        "k (torch.float64) must have the type of q (torch.float32)",
    ),
    ({"q": torch.zeros(6, 5, 0), "k": torch.zeros(2, 7, 0)}, "head_dim (0) must be at least 1"),
    ({"k": torch.zeros(2, 7, 3)}, "head_dim of k (3) must equal head_dim of q (11)"),
    ({"v": torch.zeros(3, 7, 13)}, "num_kv_heads of v (3) must equal num_kv_heads of k (2)"),
    ({"v": torch.zeros(2, 5, 13)}, "seq_k of v (5) must equal seq_k of k (7)"),
    ({"k": torch.zeros(0, 7, 11), "v": torch.zeros(0, 7, 13)}, "num_kv_heads (0) must be at least 1"),
    (
        {"k": torch.zeros(4, 7, 11), "v": torch.zeros(4, 7, 13)},
        "num_heads (6) must be divisible by num_kv_heads (4)",
    ),
    (
        {"q": torch.zeros(3, 6, 5, 11), "k": torch.zeros(2, 2, 7, 11)},
        "leading dimensions of q (3,), k (2,) and v () must broadcast",
    ),
    ({"attend_mask": torch.zeros(5, 7)}, "attend_mask (torch.float32) must be bool, True = may attend"),
    (
        {"attend_mask": causal_mask(5)},
        "attend_mask (shape (5, 5)) must broadcast to (…, num_heads, seq_q, seq_k) = (6, 5, 7)",
    ),
    (
        {"attend_mask": padding_mask([7, 7], 7)},
        "attend_mask (shape (2, 1, 1, 7)) must broadcast to (…, num_heads, seq_q, seq_k) = (6, 5, 7)",
    ),
    ({"bias": causal_mask(5, 7)}, "bias (torch.bool) must be floating-point"),
    (
        {"bias": torch.zeros(3, 5, 7)},
        "bias (shape (3, 5, 7)) must broadcast to (…, num_heads, seq_q, seq_k) = (6, 5, 7)",
    ),
    ({"scale": math.nan}, "scale (nan) must be finite"),
    ({"scale": math.inf}, "scale (inf) must be finite"),
    ({"softcap": 0.0}, "softcap (0.0) must be positive and finite"),
    ({"softcap": -2.0}, "softcap (-2.0) must be positive and finite"),
    ({"softcap": math.inf}, "softcap (inf) must be positive and finite"),
    ({"softcap": math.nan}, "softcap (nan) must be positive and finite"),
]


@pytest.mark.parametrize(("change", "message"), ERRORS, ids=[message for _, message in ERRORS])
def test_errors_name_parameter_value_and_rule(change: dict[str, Any], message: str) -> None:
    arguments = {"q": torch.zeros(6, 5, 11), "k": torch.zeros(2, 7, 11), "v": torch.zeros(2, 7, 13), **change}
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared
        scaled_dot_product_attention(**arguments)
    assert str(error.value) == message
