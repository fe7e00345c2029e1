"""Rings of names, and what can be learnt of them at all."""

import pytest
import torch

from core.labs.three_matrices_task import NAMES, RINGS, TAGS, accuracy_of, draw_batch, most_looking_right, wanted


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("ring", RINGS.values())
def test_answers_are_the_tags_of_the_wanted_names(ring: int) -> None:
    batch = draw_batch(7, ring, generator=seeded())
    for names, tags, places, answers in zip(*(getattr(batch, n).tolist() for n in batch.__slots__), strict=True):
        assert sorted(names) == list(range(NAMES))
        for place, name in enumerate(names):
            start = name - name % ring
            successor = start + (name - start + 1) % ring
            assert names[places[place]] == successor
            assert answers[place] == tags[names.index(successor)]


def test_a_ring_comes_back_to_where_it_began() -> None:
    for ring in RINGS.values():
        name = torch.arange(NAMES)
        for _ in range(ring):
            name = wanted(ring)[name]
        assert name.tolist() == list(range(NAMES))
    assert wanted(1).tolist() == list(range(NAMES))
    assert wanted(2).tolist() == [1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10]


def test_names_in_order() -> None:
    batch = draw_batch(3, 2, generator=seeded(), in_order=True)
    assert batch.names.tolist() == [list(range(NAMES))] * 3
    assert 0 <= int(batch.tags.min()) <= int(batch.tags.max()) < TAGS


@pytest.mark.parametrize(
    ("batch", "ring", "message"),
    [
        (0, 2, r"batch \(0\) must be at least 1"),
        (1, 0, r"ring \(0\) must be at least 1"),
        (1, 5, r"NAMES \(12\) must be divisible by ring \(5\)"),
    ],
)
def test_impossible_batches_are_refused(batch: int, ring: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw_batch(batch, ring, generator=seeded())


# ------------------------------------------------------------------------------------------------ the bound


def looking_right(vectors: torch.Tensor, ring: int, *, look_at_self: bool) -> torch.Tensor:
    """The share of rows of V · Vᵀ whose largest score is at the next one in the ring."""
    scores = vectors @ vectors.mT  # (…, NAMES, NAMES)
    if not look_at_self:
        scores = scores.masked_fill(torch.eye(NAMES, dtype=torch.bool), -torch.inf)
    return (scores.argmax(dim=-1) == wanted(ring)).double().mean(dim=-1)


@pytest.mark.parametrize("ring", RINGS.values())
@pytest.mark.parametrize("look_at_self", [True, False])
@pytest.mark.parametrize("dims", [2, 5, 16])
def test_no_vectors_get_past_the_bound(ring: int, look_at_self: bool, dims: int) -> None:
    vectors = torch.randn(3000, NAMES, dims, generator=seeded(dims), dtype=torch.float64)
    vectors = vectors * torch.randn(3000, NAMES, 1, generator=seeded(), dtype=torch.float64).exp()
    bound = most_looking_right(ring, look_at_self=look_at_self, query_is_key=True)
    assert float(looking_right(vectors, ring, look_at_self=look_at_self).max()) <= bound + 1e-12


@pytest.mark.parametrize("ring", RINGS.values())
@pytest.mark.parametrize("look_at_self", [True, False])
def test_some_vectors_reach_the_bound(ring: int, look_at_self: bool) -> None:
    """Each longer than the one before, and partly in its direction: the best that can be done."""
    directions = torch.eye(NAMES + 1, dtype=torch.float64)
    lengths = 3.0 ** (torch.arange(NAMES, dtype=torch.float64) % ring)
    starts = torch.arange(NAMES) % ring == 0
    links = torch.where(starts, 0.0, 1.0).double() if ring > 1 else torch.zeros(NAMES, dtype=torch.float64)
    vectors = lengths[:, None] * (directions[1:] + links[:, None] * directions[:-1])
    bound = most_looking_right(ring, look_at_self=look_at_self, query_is_key=True)
    assert float(looking_right(vectors, ring, look_at_self=look_at_self)) == pytest.approx(bound)


def test_queries_of_their_own_can_look_anywhere_they_may() -> None:
    assert [most_looking_right(ring, look_at_self=True, query_is_key=False) for ring in RINGS.values()] == [1, 1, 1, 1]
    assert [most_looking_right(ring, look_at_self=False, query_is_key=False) for ring in RINGS.values()] == [0, 1, 1, 1]


@pytest.mark.parametrize("ring", [0, NAMES + 1])
def test_impossible_rings_are_refused(ring: int) -> None:
    with pytest.raises(ValueError, match=rf"ring \({ring}\) must be between 1 and 12"):
        most_looking_right(ring, look_at_self=True, query_is_key=True)


def test_whoever_looks_wrong_guesses() -> None:
    assert accuracy_of(1) == 1
    assert accuracy_of(0) == 1 / TAGS
    assert accuracy_of(0.5) == 0.5625
