"""The small layer behind the masks page: equal tokens alike, and a gradient that ends where the mask says."""

import math

import pytest
import torch
from torch import Tensor

from core.masks import causal_mask, padding_mask, permutation_mask
from core.token_attention import D_MODEL, Layer, gradient_reach, random_layer, share_on, token_vectors, visible_context

TOKENS = ("The", "cat", "saw", "the", "cat")
MEMORY = ("Le", "chat", "a", "vu", "le", "chat", "<pad>")


def layer(scale: float = 1.6) -> Layer:
    return random_layer(torch.Generator().manual_seed(3), score_scale=scale)


def vectors(tokens: tuple[str, ...]) -> Tensor:
    return token_vectors(tokens, seed=2)


def test_equal_tokens_have_equal_vectors_whatever_stands_beside_them() -> None:
    x = vectors(TOKENS)
    assert x.shape == (5, D_MODEL)
    assert x.dtype == torch.float64
    assert torch.equal(x[1], x[4])
    assert not torch.equal(x[0], x[3])
    assert torch.equal(vectors(("cat",))[0], x[1])
    assert not torch.equal(token_vectors(("cat",), seed=3)[0], x[1])


def test_no_tokens() -> None:
    assert vectors(()).shape == (0, D_MODEL)


def test_vectors_are_standard_normal() -> None:
    x = vectors(tuple(f"token{i}" for i in range(500)))
    assert float(x.mean()) == pytest.approx(0, abs=0.05)
    assert float(x.std()) == pytest.approx(1, abs=0.05)


def test_scores_vary_by_about_the_square_of_their_factor() -> None:
    x = vectors(tuple(f"token{i}" for i in range(200)))
    assert float(layer(1.0)(x, x).scores.std()) == pytest.approx(1, abs=0.2)
    torch.testing.assert_close(layer(3.0)(x, x).scores, 3 * layer(1.0)(x, x).scores)


def test_scores_by_the_formula() -> None:
    x, memory, small = vectors(TOKENS), vectors(MEMORY), layer()
    expected = 1.6 * (x @ small.w_q) @ (memory @ small.w_k).T / math.sqrt(D_MODEL)  # (5, 7)
    torch.testing.assert_close(small(x, memory).scores[0], expected)


@pytest.mark.parametrize(
    "mask", [causal_mask(5), permutation_mask([2, 0, 3, 1, 4]), padding_mask([3], 5)[0, 0].expand(5, 5)]
)
def test_forbidden_inputs_have_a_gradient_of_exactly_zero_save_for_oneself(mask: Tensor) -> None:
    reach = gradient_reach(layer(), vectors(TOKENS), None, mask)
    away = ~torch.eye(5, dtype=torch.bool)
    assert torch.equal(reach[~mask & away], torch.zeros(int((~mask & away).sum()), dtype=torch.float64))
    assert (reach[mask] > 0).all()


def test_who_may_not_look_at_itself_depends_on_itself_by_its_query() -> None:
    reach = gradient_reach(layer(), vectors(TOKENS), None, permutation_mask([0, 1, 2, 3, 4]))
    assert (reach.diagonal() > 0).tolist() == [False, False, True, True, True]  # 0 sees nothing, 1 has only one choice


def test_gradient_against_torch() -> None:
    x, small, mask = vectors(TOKENS), layer(), causal_mask(5)
    jacobian = torch.autograd.functional.jacobian(lambda x: small(x, x, mask).output[0], x)  # (5, d, 5, d)
    expected = torch.linalg.matrix_norm(jacobian.permute(0, 2, 1, 3))  # (5, 5)
    torch.testing.assert_close(gradient_reach(small, x, None, mask), expected)


def test_gradient_of_cross_attention_is_that_of_what_is_looked_at() -> None:
    x, memory, small = vectors(TOKENS), vectors(MEMORY), layer()
    mask = padding_mask([6], 7)[0, 0].expand(5, 7)
    reach = gradient_reach(small, x, memory, mask)
    assert reach.shape == (5, 7)
    assert torch.equal(reach == 0, ~mask)
    jacobian = torch.autograd.functional.jacobian(lambda m: small(x, m, mask).output[0], memory)
    torch.testing.assert_close(reach, torch.linalg.matrix_norm(jacobian.permute(0, 2, 1, 3)))


def test_visible_context() -> None:
    assert visible_context(causal_mask(4)).tolist() == [1, 2, 3, 4]
    assert visible_context(permutation_mask([2, 0, 3, 1])).tolist() == [1, 3, 0, 2]


def test_share_on() -> None:
    weights = torch.tensor([[0.5, 0.25, 0.25], [math.nan, 1.0, 0.0]])
    assert share_on(weights, torch.tensor([False, True, True])).tolist() == [0.5, 1.0]
