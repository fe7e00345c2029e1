"""Split, attend, merge: against torch's own multi-head attention, head by head, and by hand."""

import pytest
import torch

from core.heads import (
    STEPS,
    MultiHead,
    count_parameters,
    cut_into_heads,
    merge_heads,
    random_multi_head,
    run_multi_head,
    split_heads,
)
from core.heads_examples import HAND_MADE, Idea
from core.masks import causal_mask
from core.projections import Projection, run_head

SEQ_LEN, D_MODEL, NUM_HEADS, HEAD_DIM = 7, 15, 5, 3


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(SEQ_LEN, D_MODEL, generator=seeded(1), dtype=torch.float64)


@pytest.fixture
def layer() -> MultiHead:
    return random_multi_head(D_MODEL, generator=seeded())


def with_biases(layer: MultiHead) -> MultiHead:
    biases = torch.randn(4, D_MODEL, generator=seeded(2), dtype=torch.float64)
    parts = (layer.q, layer.k, layer.v, layer.o)
    return MultiHead(*(Projection(part.weight, bias) for part, bias in zip(parts, biases, strict=True)))


def test_splitting_by_hand() -> None:
    token = torch.arange(6)
    assert split_heads(torch.stack([token, token + 10]), 3).tolist() == [
        [[0, 1], [10, 11]],
        [[2, 3], [12, 13]],
        [[4, 5], [14, 15]],
    ]


@pytest.mark.parametrize("num_heads", [1, 3, 5, 15])
def test_merging_undoes_splitting(num_heads: int) -> None:
    batch = torch.randn(2, SEQ_LEN, D_MODEL)
    split = split_heads(batch, num_heads)
    assert split.shape == (2, num_heads, SEQ_LEN, D_MODEL // num_heads)
    assert torch.equal(merge_heads(split), batch)


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_a_layer_is_torch_s_multi_head_attention(x: torch.Tensor, layer: MultiHead, biased: bool, causal: bool) -> None:
    layer = with_biases(layer) if biased else layer
    theirs = torch.nn.MultiheadAttention(D_MODEL, NUM_HEADS, bias=biased, dtype=torch.float64)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([part.weight.T for part in (layer.q, layer.k, layer.v)]))
        theirs.out_proj.weight.copy_(layer.o.weight.T)
        if biased:
            theirs.in_proj_bias.copy_(torch.cat([part.bias for part in (layer.q, layer.k, layer.v)]))
            theirs.out_proj.bias.copy_(layer.o.bias)
        mask = causal_mask(SEQ_LEN) if causal else None
        forbidden = None if mask is None else ~mask
        expected, weights = theirs(x, x, x, attn_mask=forbidden, average_attn_weights=False)
    trace = run_multi_head(x, layer, NUM_HEADS, attend_mask=mask)
    torch.testing.assert_close(trace.weights, weights, atol=1e-12, rtol=0)
    torch.testing.assert_close(trace.result, expected, atol=1e-12, rtol=0)


def test_every_step_has_its_shape(x: torch.Tensor, layer: MultiHead) -> None:
    trace = run_multi_head(x, layer, NUM_HEADS)
    whole, split, square = (SEQ_LEN, D_MODEL), (NUM_HEADS, SEQ_LEN, HEAD_DIM), (NUM_HEADS, SEQ_LEN, SEQ_LEN)
    assert {name: tuple(getattr(trace, name).shape) for name in STEPS} == {
        **dict.fromkeys(("x", "q", "k", "v", "merged", "result"), whole),
        **dict.fromkeys(("q_heads", "k_heads", "v_heads", "output"), split),
        **dict.fromkeys(("scores", "weights"), square),
    }
    assert STEPS[0] == "x"
    assert STEPS[-1] == "result"


@pytest.mark.parametrize("biased", [False, True])
def test_the_layer_is_the_sum_of_its_heads(x: torch.Tensor, layer: MultiHead, biased: bool) -> None:
    layer = with_biases(layer) if biased else layer
    whole = run_multi_head(x, layer, NUM_HEADS)
    heads = cut_into_heads(layer, NUM_HEADS)
    traces = [run_head(x, head) for head in heads]
    for index, trace in enumerate(traces):
        torch.testing.assert_close(trace.weights, whole.weights[index], atol=1e-12, rtol=0)
    shared = layer.o.bias if layer.o.bias is not None else 0.0
    torch.testing.assert_close(sum(t.result for t in traces) + shared, whole.result, atol=1e-12, rtol=0)


@pytest.mark.parametrize("num_heads", [1, 3, 15])
def test_parameters_are_those_of_torch_whatever_the_number_of_heads(layer: MultiHead, num_heads: int) -> None:
    for biased in (False, True):
        ours = with_biases(layer) if biased else layer
        theirs = torch.nn.MultiheadAttention(D_MODEL, num_heads, bias=biased)
        expected = sum(parameter.numel() for parameter in theirs.parameters())
        in_heads = count_parameters(cut_into_heads(ours, num_heads))
        assert in_heads == expected - (D_MODEL if biased else 0)  # W_O's bias belongs to no head


def test_weights_keep_the_variance() -> None:
    wide = random_multi_head(200, generator=seeded())
    tokens = torch.randn(50, 200, generator=seeded(1), dtype=torch.float64)
    for part in (wide.q, wide.k, wide.v, wide.o):
        assert float(part(tokens).std()) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(
    ("num_heads", "message"),
    [(0, r"num_heads \(0\) must be at least 1"), (4, r"d_model \(15\) must be divisible by num_heads \(4\)")],
)
def test_heads_must_divide_the_features(x: torch.Tensor, layer: MultiHead, num_heads: int, message: str) -> None:
    for act in (
        lambda: split_heads(x, num_heads),
        lambda: run_multi_head(x, layer, num_heads),
        lambda: cut_into_heads(layer, num_heads),
    ):
        with pytest.raises(ValueError, match=message):
            act()


def test_a_layer_needs_features() -> None:
    with pytest.raises(ValueError, match=r"d_model \(0\) must be at least 1"):
        random_multi_head(0, generator=seeded())


def test_the_hand_made_heads_are_weights_and_show_what_they_are_made_for() -> None:
    by_idea = {example.idea: example for example in HAND_MADE}
    assert set(by_idea) == set(Idea)
    for example in HAND_MADE:
        assert len(example.weights) == len(example.queries)
        for row in example.weights:
            assert len(row) == len(example.tokens)
            assert sum(row) == pytest.approx(1)
    grammar, meaning, pronoun = (by_idea[idea] for idea in Idea)
    strongest = {e.idea: [e.tokens[row.index(max(row))] for row in e.weights] for e in HAND_MADE}
    assert strongest[grammar.idea] == ["追逐", "小猫", "追逐"]
    assert strongest[meaning.idea] == ["小猫", "追逐", "小狗"]
    assert (pronoun.tokens[pronoun.queries[0]], strongest[pronoun.idea]) == ("他", ["小明"])
