"""Stacks of attention: by hand, against plain products, and as the theory says."""

import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from core.rank_depth import Stack, random_stack, random_tokens, rank_one_residual, residuals

SEQ_LEN, D_MODEL, NUM_HEADS = 13, 15, 3
ROUNDING = 1e-14


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def case(num_layers: int, seed: int = 0) -> tuple[Tensor, Stack]:
    generator = seeded(seed)
    x = random_tokens(SEQ_LEN, D_MODEL, generator=generator)
    return x, random_stack(num_layers, D_MODEL, NUM_HEADS, generator=generator)


def test_residual_by_hand() -> None:
    assert rank_one_residual(torch.tensor([[3.0], [1.0]])) == pytest.approx(math.sqrt(2 / 10))
    assert rank_one_residual(torch.ones(4, 3)) == 0
    assert rank_one_residual(torch.zeros(4, 3)) == 0
    assert rank_one_residual(torch.tensor([[1.0, 2.0], [2.0, 4.0]])) > 0  # rank 1, but the tokens differ


def test_a_deeper_stack_begins_with_a_shallower_one() -> None:
    x, deep = case(5)
    _, shallow = case(3)
    assert deep.up.shape == (5, D_MODEL, 4 * D_MODEL)
    assert deep.down.shape == (5, 4 * D_MODEL, D_MODEL)
    assert torch.equal(deep.o[:3], shallow.o)
    every = residuals(x, deep, scale=1.0, skip=True, mlp=True)
    assert len(every) == 6
    assert every[:4] == residuals(x, shallow, scale=1.0, skip=True, mlp=True)


def test_one_layer_by_plain_products() -> None:
    x, stack = case(1)
    parts = []
    for head in range(NUM_HEADS):
        mine = slice(head * 5, head * 5 + 5)
        q, k, v = (x @ (2 * weight[0][:, mine]) for weight in (stack.q, stack.k, stack.v))
        parts.append((q @ k.T / math.sqrt(5)).softmax(dim=-1) @ v)
    attended = torch.cat(parts, dim=1) @ (2 * stack.o[0])
    added = x + attended
    mlp = torch.relu(added @ (2 * stack.up[0])) @ (2 * stack.down[0])
    expected = {(False, False): attended, (True, False): added, (True, True): added + mlp}
    for (skip, with_mlp), output in expected.items():
        before, after = residuals(x, stack, scale=2.0, skip=skip, mlp=with_mlp)
        assert before == rank_one_residual(x)
        assert after == pytest.approx(rank_one_residual(output), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_small_weights_lose_the_tokens_faster_and_faster(seed: int) -> None:
    x, stack = case(6, seed)
    found = residuals(x, stack, scale=0.7, skip=False, mlp=False)
    falling = [value for value in found if value > ROUNDING]
    assert len(falling) < len(found)
    orders = [math.log(after / before) for before, after in pairwise(falling)]
    assert orders == sorted(orders, reverse=True)  # doubly exponential: each layer takes more orders of magnitude
    assert found[-1] < ROUNDING


@pytest.mark.parametrize("seed", range(3))
def test_skip_connections_keep_the_tokens_apart(seed: int) -> None:
    x, stack = case(6, seed)
    pure = residuals(x, stack, scale=0.7, skip=False, mlp=False)
    skips = residuals(x, stack, scale=0.7, skip=True, mlp=False)
    assert skips[-1] > 0.1 > pure[-1]


def test_tokens_that_are_equal_stay_equal() -> None:
    _, stack = case(2)
    same = torch.ones(SEQ_LEN, D_MODEL, dtype=torch.float64)
    assert max(residuals(same, stack, scale=1.0, skip=True, mlp=True)) < ROUNDING


def test_weights_keep_the_variance() -> None:
    stack = random_stack(2, 40, 5, generator=seeded())
    x = random_tokens(50, 40, generator=seeded(1))
    for weight in (stack.q, stack.k, stack.v, stack.o, stack.up):
        assert float((x @ weight[1]).std()) == pytest.approx(1, abs=0.1)
    wide = random_tokens(50, 160, generator=seeded(1))
    assert float((wide @ stack.down[1]).std()) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("name", ["num_layers", "d_model", "num_heads"])
def test_sizes_must_be_positive(name: str) -> None:
    sizes = {"num_layers": 2, "d_model": 6, "num_heads": 3, name: 0}
    with pytest.raises(ValueError, match=rf"{name} \(0\) must be at least 1"):
        random_stack(**sizes, generator=seeded())


@pytest.mark.parametrize(("seq_len", "d_model", "name"), [(0, 3, "seq_len"), (3, 0, "d_model")])
def test_there_must_be_tokens(seq_len: int, d_model: int, name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} \(0\) must be at least 1"):
        random_tokens(seq_len, d_model, generator=seeded())


def test_heads_must_divide_the_model() -> None:
    with pytest.raises(ValueError, match=r"d_model \(7\) must be divisible by num_heads \(2\)"):
        random_stack(1, 7, 2, generator=seeded())


def test_tokens_must_fit_the_stack() -> None:
    with pytest.raises(ValueError, match=r"d_model of x \(14\) must equal d_model of the stack \(15\)"):
        residuals(torch.zeros(3, 14), case(1)[1], scale=1.0, skip=False, mlp=False)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf])
def test_a_scale_is_positive(scale: float) -> None:
    x, stack = case(1)
    with pytest.raises(ValueError, match=rf"scale \({scale}\) must be positive and finite"):
        residuals(x, stack, scale=scale, skip=False, mlp=False)
