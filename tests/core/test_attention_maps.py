"""Looking at attention weights."""

import math

import pytest
import torch

from core.attention_maps import coarsen, describe, pick


@pytest.fixture
def attention() -> torch.Tensor:
    return torch.rand(2, 3, 5, 7, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)


def test_one_layer_and_head(attention: torch.Tensor) -> None:
    torch.testing.assert_close(pick(attention, layer=1, head=2), attention[1, 2])


def test_means_over_what_is_not_chosen(attention: torch.Tensor) -> None:
    torch.testing.assert_close(pick(attention), attention.mean(dim=(0, 1)))
    torch.testing.assert_close(pick(attention, layer=0), attention[0].mean(dim=0))
    torch.testing.assert_close(pick(attention, head=0), attention[:, 0].mean(dim=0))


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"layer": 2}, r"layer \(2\) must be between 0 and 1"),
        ({"layer": -1}, r"layer \(-1\) must be between 0 and 1"),
        ({"head": 3}, r"head \(3\) must be between 0 and 2"),
    ],
)
def test_refuses_what_is_not_there(attention: torch.Tensor, place: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pick(attention, **place)


def test_describes_a_row_worked_by_hand() -> None:
    row = describe(torch.tensor([0.25, 0.5, 0.25, 0.0]))
    assert (row.strongest, row.weight) == (1, 0.5)
    assert row.entropy == pytest.approx(1.5)
    assert row.most == pytest.approx(2.0)


def test_all_weight_on_one_key_has_no_entropy_and_no_sign() -> None:
    assert str(describe(torch.tensor([1.0])).entropy) == "0.0"
    assert str(describe(torch.tensor([0.0, 1.0, 0.0])).entropy) == "0.0"


def test_refuses_an_empty_row() -> None:
    with pytest.raises(ValueError, match=r"seq_k \(0\) must be at least 1"):
        describe(torch.zeros(0))


def test_entropy_at_its_ends() -> None:
    assert describe(torch.tensor([0.0, 1.0, 0.0])).entropy == 0
    assert describe(torch.full((7,), 1 / 7)).entropy == pytest.approx(math.log2(7), abs=1e-5)


def test_a_coarser_map_worked_by_hand() -> None:
    attention = torch.tensor([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]])
    found, size = coarsen(attention, 2)
    assert size == 2
    assert found.tolist() == [[0.625, 0.375], [1.0, 0.0]]


@pytest.mark.parametrize(("tokens", "size"), [(7, 1), (8, 2), (14, 2), (15, 3)])
def test_a_coarser_map_keeps_the_sums_of_rows(tokens: int, size: int) -> None:
    attention = torch.rand(tokens, tokens, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)
    found, used = coarsen(attention, 7)
    assert used == size
    assert max(found.shape) <= 7
    torch.testing.assert_close(found.sum(dim=1), torch.ones(len(found)))


def test_a_coarser_map_has_cells() -> None:
    with pytest.raises(ValueError, match=r"most \(0\) must be at least 1"):
        coarsen(torch.eye(3), 0)
