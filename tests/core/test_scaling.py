"""Why scores are divided by √head_dim."""

import math

import pytest
import torch

from core.claims import Verdict
from core.claims.qkv import scaling_verdict
from core.scaling import entropies, measure_scaling, softmax_gradients

HEAD_DIMS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("seed", range(12))
def test_variance_is_head_dim_without_the_scaling_and_one_with_it(seed: int) -> None:
    bare, scaled = (measure_scaling(HEAD_DIMS, scaled=s, generator=generator(seed)) for s in (False, True))
    assert [m.head_dim for m in bare] == list(HEAD_DIMS)
    for one, other in zip(bare, scaled, strict=True):
        assert one.variance == pytest.approx(one.head_dim, rel=0.25)
        assert other.variance == pytest.approx(1, rel=0.25)
    assert bare[-1].entropy < 1 < 4 < scaled[-1].entropy
    assert bare[-1].gradient < max(m.gradient for m in bare)  # saturated: less is learned than with smaller scores
    assert scaling_verdict(bare, scaled) is Verdict.HOLDS


def test_entropy_by_hand() -> None:
    weights = torch.tensor([[0.5, 0.25, 0.25, 0.0], [1.0, 0.0, 0.0, 0.0], [0.25] * 4])
    assert entropies(weights).tolist() == pytest.approx([1.5, 0, 2])
    assert not math.copysign(1, float(entropies(weights)[1])) < 0  # no −0.0


def test_the_gradient_is_that_of_autograd() -> None:
    scores = torch.randn(3, 7, generator=generator(0), dtype=torch.float64)
    for row, size in zip(scores, softmax_gradients(scores.softmax(-1)), strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), row)
        assert float(size) == pytest.approx(float(jacobian.norm()), abs=1e-12)


def test_no_gradient_where_all_weight_is_on_one_key() -> None:
    assert softmax_gradients(torch.tensor([[1.0, 0.0, 0.0]])).tolist() == [0]
