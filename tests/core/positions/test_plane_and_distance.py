"""Scores under RoPE: of one pair, of a whole head, and against the distance."""

import math

import pytest
import torch
from torch import Tensor

from core.positions.distance import (
    Vectors,
    draw_vectors,
    head_vectors,
    largest_score,
    profile,
    scores_by_distance,
    spread,
)
from core.positions.pairing import Pairing
from core.positions.plane import only_pair, turn_pairs
from core.positions.rope import rotate
from core.positions.scalings import Linear, Scaled, Unscaled, Yarn
from core.projections import random_head, run_head

SCALED = [Unscaled().apply(10), Linear(3.0).apply(10), Yarn(4.0, 64).apply(10)]


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_a_pair_by_hand() -> None:
    q, k = torch.tensor([[1.0, 0.0], [0.0, 2.0]], dtype=torch.float64)
    found = turn_pairs(q, k, 3, 1, Unscaled().apply(2), pairing="half_split")
    assert found.q_turned[0].tolist() == pytest.approx([math.cos(3), math.sin(3)])
    assert found.k_turned[0].tolist() == pytest.approx([-2 * math.sin(1), 2 * math.cos(1)])
    assert (float(found.q_angles), float(found.k_angles), float(found.angles_between)) == (3, 1, 2)
    assert found.score == pytest.approx(2 * math.sin(2) / math.sqrt(2))
    assert found.unturned_score == 0


@pytest.mark.parametrize("scaled", SCALED)
@pytest.mark.parametrize("pairing", Pairing)
@pytest.mark.parametrize("head_dim", [10, 13])
def test_pairs_add_up_to_the_score_of_rotated_vectors(scaled, pairing: Pairing, head_dim: int) -> None:  # type: ignore[no-untyped-def]
    q, k = random(2, head_dim)
    m, n = 29, 6.5
    found = turn_pairs(q, k, m, n, scaled, pairing=pairing)
    tables = scaled.tables(torch.tensor([m, n]))
    turned_q, turned_k = rotate(torch.stack((q, k)), tables.cos, tables.sin, pairing=pairing)
    turned_q[:10] *= scaled.attention_factor  # transformers multiplies cosines and sines by it
    turned_k[:10] *= scaled.attention_factor
    expected = float(turned_q @ turned_k) / math.sqrt(head_dim)
    assert found.score == pytest.approx(expected, abs=1e-12)
    assert float(found.pair_scores.sum()) + found.unturned_score == pytest.approx(found.score, abs=1e-12)
    assert found.q.shape == found.k_turned.shape == (5, 2)
    by_distance = scores_by_distance(q, k, torch.tensor([m - n, 0.0]), scaled, pairing=pairing)
    assert float(by_distance[0]) == pytest.approx(expected, abs=1e-12)


def test_arrows_are_the_dimensions_that_are_paired() -> None:
    q = torch.arange(4, dtype=torch.float64)
    scaled = Unscaled().apply(4)
    assert turn_pairs(q, q, 0, 0, scaled, pairing="half_split").q.tolist() == [[0, 2], [1, 3]]
    assert turn_pairs(q, q, 0, 0, scaled, pairing="interleaved").q_turned.tolist() == [[0, 1], [2, 3]]


def test_scores_of_many_vectors() -> None:
    q, k = random(2, 7, 10)
    distances = torch.arange(11)
    found = scores_by_distance(q, k, distances, SCALED[0], pairing="interleaved")
    assert found.shape == (7, 11)
    alone = scores_by_distance(q[3], k[3], distances, SCALED[0], pairing="interleaved")
    torch.testing.assert_close(found[3], alone, atol=1e-14, rtol=0)
    torch.testing.assert_close(found[:, 0], (q * k).sum(-1) / math.sqrt(10), atol=1e-14, rtol=0)


def test_profile_by_hand() -> None:
    found = profile(torch.tensor([[1.0, -3.0], [-1.0, -4.0]]), torch.tensor([0, 5]))
    assert found.mean.tolist() == [0, -3.5]
    assert found.size.tolist() == pytest.approx([1, math.sqrt(12.5)])
    assert found.negative.tolist() == [0.5, 1]


def test_vectors_are_of_their_kind() -> None:
    def draw(kind: Vectors) -> tuple[Tensor, Tensor]:
        return draw_vectors(kind, 5, 8, generator=torch.Generator().manual_seed(0))

    q, k = draw(Vectors.RANDOM)
    assert q.shape == k.shape == (5, 8)
    assert not torch.equal(q, k)
    same_q, same_k = draw(Vectors.EQUAL)
    assert torch.equal(same_q, q)
    assert torch.equal(same_k, q)
    assert torch.equal(draw(Vectors.ONE_SIGN)[1], k.abs())
    with pytest.raises(ValueError, match=r"kind \('real'\) must be one that is drawn"):
        draw(Vectors.REAL)


def test_all_queries_of_a_head_meet_all_its_keys() -> None:
    head = random_head(7, 10, generator=torch.Generator().manual_seed(0))
    states = random(3, 7)
    q, k = head_vectors(states, head)
    scores = scores_by_distance(q, k, torch.tensor([0]), SCALED[0], pairing="half_split")
    torch.testing.assert_close(scores.reshape(3, 3), run_head(states, head).scores, atol=1e-14, rtol=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: turn_pairs(random(10), random(9), 1, 2, SCALED[0], pairing="half_split"),
            r"q \(shape \(10,\)\) and k",
        ),
        (lambda: turn_pairs(random(2, 10), random(2, 10), 1, 2, SCALED[0], pairing="half_split"), r"must both be"),
        (lambda: turn_pairs(random(9), random(9), 1, 2, SCALED[0], pairing="half_split"), r"at most half as wide"),
        (lambda: turn_pairs(random(10), random(10), 1, 2, SCALED[0], pairing="both"), r"pairing \('both'\)"),
        (
            lambda: scores_by_distance(random(9), random(9), torch.arange(2), SCALED[0], pairing="half_split"),
            r"width \(5",
        ),
        (
            lambda: scores_by_distance(random(10), random(10), torch.arange(2), SCALED[0], pairing="x"),
            r"pairing \('x'\)",
        ),
    ],
)
def test_what_is_refused(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        call()


# ------------------------------------------------------------------------------------------------- what the page needs


@pytest.mark.parametrize("pairing", Pairing)
def test_a_pair_alone_makes_its_own_part_of_the_score(pairing: Pairing) -> None:
    q, k = torch.randn(2, 14, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    scaled = Unscaled().apply(14)
    turned = turn_pairs(q, k, 5, 2, scaled, pairing=pairing)
    for pair in range(7):
        alone = only_pair(q, pair, pairing=pairing)
        assert int((alone != 0).sum()) == 2
        score = scores_by_distance(alone, k, torch.tensor([3]), scaled, pairing=pairing)
        assert float(score) == pytest.approx(float(turned.pair_scores[pair]), abs=1e-14)


def test_the_dimensions_of_a_pair() -> None:
    x = torch.arange(1.0, 7.0)
    assert only_pair(x, 1, pairing="half_split").tolist() == [0, 2, 0, 0, 5, 0]
    assert only_pair(x, 1, pairing="interleaved").tolist() == [0, 0, 3, 4, 0, 0]


@pytest.mark.parametrize(
    ("size", "pair", "pairing", "message"),
    [
        (5, 0, "half_split", r"head_dim \(5\) must be even"),
        (6, 3, "half_split", r"pair \(3\) must be between 0 and 2"),
        (6, -1, "half_split", r"pair \(-1\) must be between 0 and 2"),
        (6, 0, "other", "pairing"),
    ],
)
def test_there_must_be_such_a_pair(size: int, pair: int, pairing: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        only_pair(torch.ones(size), pair, pairing=pairing)


def test_the_largest_score() -> None:
    q, k = torch.tensor([[3.0, 0.0], [1.0, 0.0]]).double(), torch.tensor([[1.0, 1.0], [-2.0, -5.0]]).double()
    one, sharper = (Scaled(torch.tensor([math.pi / 2]).double(), 1.0, factor, 10.0) for factor in (1.0, 3.0))
    here, turned = torch.tensor([0]), torch.tensor([0, 1])
    assert largest_score(q, k, here, one, pairing=Pairing.HALF_SPLIT) == pytest.approx(3 / math.sqrt(2))
    assert largest_score(q, k, turned, one, pairing=Pairing.HALF_SPLIT) == pytest.approx(5 / math.sqrt(2))
    assert largest_score(q, k, turned, sharper, pairing=Pairing.HALF_SPLIT) == pytest.approx(45 / math.sqrt(2))
    with pytest.raises(ValueError, match=r"width \(1\) must be at most half of head_dim \(1\)"):
        largest_score(q[:, :1], k[:, :1], here, one, pairing=Pairing.HALF_SPLIT)


def test_numbers_spread_on_a_logarithmic_axis() -> None:
    assert spread(1000, 4).tolist() == [1, 10, 100, 1000]
    many = spread(1000, 90)
    assert many[0] == 1
    assert many[-1] == 1000
    assert (many.diff() >= 1).all()
    assert len(many) < 90  # those between 1 and 2 fall together
    assert spread(1, 2).tolist() == [1]
    with pytest.raises(ValueError, match=r"last \(0\) must be at least 1"):
        spread(0, 5)
    with pytest.raises(ValueError, match=r"count \(1\) must be at least 2"):
        spread(7, 1)
