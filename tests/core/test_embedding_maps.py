"""PCA, t-SNE, and what a map keeps of vectors."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from torch import Tensor

from core.embedding_maps import (
    Start,
    agreement,
    are_equal,
    distances,
    fit_pca,
    group_distances,
    nearest_points,
    neighbour_sets,
    own_share,
    rank_correlation,
    run_tsne,
    turned,
)
from core.embeddings import toy_vectors


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# ---------------------------------------------------------------------------------------------------------------- PCA


@pytest.mark.parametrize("components", [1, 2, 3])
@pytest.mark.parametrize("vectors", [toy_vectors().vectors, random(7, 11), random(23, 5)], ids=["toy", "wide", "high"])
def test_pca_is_that_of_scikit_learn(vectors: Tensor, components: int) -> None:
    reference = PCA(components).fit(vectors.numpy())
    ours = fit_pca(vectors, components)
    np.testing.assert_allclose(ours.project(vectors).numpy(), reference.transform(vectors.numpy()), atol=1e-12)
    np.testing.assert_allclose(ours.shares, reference.explained_variance_ratio_, atol=1e-12)
    np.testing.assert_allclose(ours.axes.numpy(), reference.components_, atol=1e-12)


def test_pca_by_hand() -> None:
    ours = fit_pca(torch.tensor([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]], dtype=torch.float64), 2)
    assert ours.mean.tolist() == [3, 4]
    assert ours.axes[0].tolist() == pytest.approx([0.6, 0.8])
    assert ours.shares == pytest.approx((1, 0))


def test_what_was_not_fitted_can_be_projected() -> None:
    vectors = random(13, 5)
    ours = fit_pca(vectors, 2)
    step = random(5, seed=1)
    moved = ours.project(vectors[3] + step) - ours.project(vectors[3])
    torch.testing.assert_close(moved, ours.axes @ step)  # the same step everywhere: arrows of a sum are parallel


def test_directions_that_are_not_there_are_zero() -> None:
    ours = fit_pca(torch.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=torch.float64), 3)
    assert ours.axes.shape == (3, 2)
    assert ours.axes[2].tolist() == [0, 0]
    assert ours.shares == pytest.approx((1, 0, 0))
    assert fit_pca(torch.ones(4, 3, dtype=torch.float64), 2).shares == (0, 0)


@pytest.mark.parametrize(("shape", "components"), [((0, 3), 1), ((3, 3), 0)])
def test_pca_needs_vectors_and_components(shape: tuple[int, int], components: int) -> None:
    with pytest.raises(
        ValueError, match=rf"components \({components}\) and num_words \({shape[0]}\) must be at least 1"
    ):
        fit_pca(torch.zeros(shape, dtype=torch.float64), components)


# -------------------------------------------------------------------------------------------------------------- t-SNE


@pytest.mark.parametrize(("components", "start"), [(2, Start.RANDOM), (3, Start.RANDOM), (2, Start.PCA)])
def test_tsne_is_the_bare_call(components: int, start: Start) -> None:
    vectors = toy_vectors().vectors
    ours = run_tsne(vectors, components=components, perplexity=5, seed=42, start=start)
    bare = TSNE(n_components=components, perplexity=5, init=start.value, random_state=42).fit_transform(vectors.numpy())
    np.testing.assert_array_equal(ours.numpy(), bare.astype(np.float64))


def test_the_seed_counts_from_random_places_only() -> None:
    vectors = toy_vectors().vectors
    maps = {
        (start, seed): run_tsne(vectors, components=2, perplexity=5, seed=seed, start=start)
        for start in Start
        for seed in (0, 1)
    }
    assert not torch.allclose(maps[Start.RANDOM, 0], maps[Start.RANDOM, 1], atol=1)
    torch.testing.assert_close(maps[Start.PCA, 0], maps[Start.PCA, 1])


@pytest.mark.parametrize(
    ("vectors", "arguments", "message"),
    [
        (random(5, 4), {"components": 4}, r"components \(4\) must be 2 or 3"),
        (random(5, 4), {"perplexity": 5}, r"perplexity \(5\) must be above 0 and below num_words \(5\)"),
        (random(5, 4), {"perplexity": 0}, r"perplexity \(0\) must be above 0"),
        (torch.ones(5, 4, dtype=torch.float64), {}, "vectors must differ"),
        (
            random(5, 2),
            {"components": 3, "start": Start.PCA},
            r"components \(3\) must be at most num_words \(5\) and dim",
        ),
    ],
)
def test_what_tsne_cannot_do(vectors: Tensor, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_tsne(vectors, **{"components": 2, "perplexity": 2, "seed": 0, **arguments})  # type: ignore[arg-type]


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_equal_vectors(offset: float) -> None:
    same = torch.full((3, 2), 0.1 + offset, dtype=torch.float64)
    assert are_equal(same)
    same[1, 0] += 1
    assert not are_equal(same)


# -------------------------------------------------------------------------------------------------------------- space


def test_a_quarter_of_a_turn() -> None:
    points = torch.eye(3, dtype=torch.float64)
    right, up, near = turned(points, turn=90, tilt=0)
    assert right.tolist() == pytest.approx([0, 0, -1])  # what was at the right goes away from the eye
    assert up.tolist() == pytest.approx([0, 1, 0])
    assert near.tolist() == pytest.approx([1, 0, 0])
    _right, up, near = turned(points, turn=0, tilt=90)
    assert up.tolist() == pytest.approx([0, 0, 1])
    assert near.tolist() == pytest.approx([0, -1, 0])


@given(turn=st.floats(-180, 180), tilt=st.floats(-90, 90))
@settings(deadline=None, max_examples=40)
def test_turning_keeps_distances(turn: float, tilt: float) -> None:
    points = random(7, 3)
    torch.testing.assert_close(distances(turned(points, turn=turn, tilt=tilt)), distances(points))


def test_only_space_can_be_turned() -> None:
    with pytest.raises(ValueError, match=r"points \(5, 2\) must have 3 coordinates"):
        turned(random(5, 2), turn=0, tilt=0)


# ------------------------------------------------------------------------------------------------- what a map keeps


LINE = torch.tensor([[0.0], [1.0], [3.0], [7.0], [7.5]], dtype=torch.float64)


def test_neighbours_by_hand() -> None:
    assert neighbour_sets(LINE, 2) == ({1, 2}, {0, 2}, {0, 1}, {4, 2}, {3, 2})
    assert [nearest_points(LINE, index, 2) for index in range(5)] == list(neighbour_sets(LINE, 2))
    assert neighbour_sets(torch.zeros(3, 2), 1) == ({1}, {0}, {0})  # equal distances: the first


@pytest.mark.parametrize("count", [0, 5])
def test_how_many_neighbours_there_can_be(count: int) -> None:
    with pytest.raises(ValueError, match=rf"count \({count}\) must be at least 1 and below num_words \(5\)"):
        neighbour_sets(LINE, count)


def test_agreement() -> None:
    assert agreement(LINE, 3 * LINE + 1, 2) == 1
    swapped = LINE[[4, 1, 2, 3, 0]]  # the two ends have changed places
    expected = [len(a & b) / 2 for a, b in zip(neighbour_sets(LINE, 2), neighbour_sets(swapped, 2), strict=True)]
    assert agreement(LINE, swapped, 2) == pytest.approx(sum(expected) / 5)
    assert agreement(LINE, swapped, 2) < 1
    with pytest.raises(ValueError, match="maps must be of the same words: 5 and 4"):
        agreement(LINE, LINE[:4], 2)


def test_agreement_without_any_order_is_chance() -> None:
    assert agreement(random(200, 2), random(200, 2, seed=1), 20) == pytest.approx(20 / 199, abs=0.03)


def test_own_share() -> None:
    assert own_share(LINE, (0, 0, 0, 1, 1)) == 1
    assert own_share(LINE, (0, 1, 0, 1, 2)) == 0  # the single word of group 2 does not count
    assert own_share(LINE, (0, 0, 1, 1, 1)) == pytest.approx(4 / 5)  # 3 is nearest to 1
    assert math.isnan(own_share(LINE, (0, 1, 2, 3, 4)))


def test_group_distances_by_hand() -> None:
    found = group_distances(LINE, (2, 2, 0, 1, 1))  # middles 3, 7.25, 0.5
    assert found.tolist() == pytest.approx([4.25, 2.5, 6.75])


@pytest.mark.parametrize("ties", [False, True])
def test_rank_correlation_is_that_of_scipy(ties: bool) -> None:
    one, other = random(17), random(17, seed=1)
    if ties:
        one, other = (2 * one).round(), (2 * other).round()
    assert rank_correlation(one, other) == pytest.approx(spearmanr(one.numpy(), other.numpy()).statistic)


def test_rank_correlation_at_its_ends() -> None:
    one = random(7)
    assert rank_correlation(one, one.exp()) == pytest.approx(1)
    assert rank_correlation(one, -one) == pytest.approx(-1)
    assert math.isnan(rank_correlation(one[:2], one[:2]))
    assert math.isnan(rank_correlation(one, torch.ones(7)))
