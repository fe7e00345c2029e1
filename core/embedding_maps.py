"""Many dimensions drawn in two or three: PCA, t-SNE, and what such a map keeps of the vectors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor

FLAT = 1e-9  # vectors that differ by less than this share of their size are equal


@dataclass(frozen=True, slots=True, eq=False)
class Pca:
    """The directions in which vectors differ most."""

    mean: Tensor  # (dim,)
    axes: Tensor  # (components, dim), of length 1 and at right angles; zero where there is no such direction
    shares: tuple[float, ...]  # of the variance, along each axis; the rest lies in directions that are not drawn

    def project(self, vectors: Tensor) -> Tensor:
        """Where vectors lie along the axes: (…, dim) → (…, components)."""
        return (vectors - self.mean) @ self.axes.T  # (…, components)


def fit_pca(vectors: Tensor, components: int) -> Pca:
    """Principal component analysis, by the singular value decomposition of the centred vectors.

    An axis may point either way; here its largest number is positive. Shapes: vectors (num_words, dim).
    Raises: ValueError if components is less than 1, or there are no vectors.
    Source: Pearson 1901; Jolliffe 2002, section 3.5.
    """
    num_words, dim = vectors.shape
    if components < 1 or num_words < 1:
        raise ValueError(f"components ({components}) and num_words ({num_words}) must be at least 1")
    mean = vectors.mean(dim=0)
    _left, sizes, axes = torch.linalg.svd(vectors - mean, full_matrices=False)  # axes (min(num_words, dim), dim)
    largest = axes.gather(1, axes.abs().argmax(dim=1, keepdim=True))  # (…, 1)
    axes = axes * largest.sign()
    variances = sizes.square()
    total = float(variances.sum())
    shares = [float(variance) / total if total > 0 else 0.0 for variance in variances[:components]]
    missing = components - len(shares)
    kept = torch.cat([axes[:components], torch.zeros(max(missing, 0), dim, dtype=axes.dtype)])
    return Pca(mean, kept, (*shares, *[0.0] * missing))


class Start(StrEnum):
    """Where t-SNE puts the words before it moves them."""

    RANDOM = "random"
    PCA = "pca"


def are_equal(vectors: Tensor) -> bool:
    """Whether all vectors are one and the same: there is nothing to draw then."""
    return float((vectors - vectors.mean(dim=0)).abs().max()) <= FLAT * float(vectors.abs().max())


def run_tsne(vectors: Tensor, *, components: int, perplexity: float, seed: int, start: Start = Start.RANDOM) -> Tensor:
    """t-SNE by scikit-learn: words that are neighbours as vectors shall be neighbours on the map.

    scikit-learn is imported here, at the first call: it takes a second.
    Shapes: vectors (num_words, dim) → (num_words, components).
    Raises: ValueError if perplexity is not below num_words, components not 2 or 3, all vectors are equal, or there are
        fewer directions than components to start from.
    Source: van der Maaten and Hinton 2008.
    """
    num_words, dim = vectors.shape
    if components not in (2, 3):
        raise ValueError(f"components ({components}) must be 2 or 3")
    if not 0 < perplexity < num_words:
        raise ValueError(f"perplexity ({perplexity}) must be above 0 and below num_words ({num_words})")
    if are_equal(vectors):
        raise ValueError("vectors must differ")
    if start is Start.PCA and components > min(num_words, dim):
        raise ValueError(f"components ({components}) must be at most num_words ({num_words}) and dim ({dim})")
    from sklearn.manifold import TSNE

    tsne = TSNE(n_components=components, perplexity=perplexity, init=start.value, random_state=seed)
    return torch.from_numpy(tsne.fit_transform(vectors.numpy())).double()


def turned(points: Tensor, *, turn: float, tilt: float) -> Tensor:
    """Points in space as they are seen: turned about the upright axis, then tilted towards the eye, in degrees.

    Shapes: points (num_words, 3) → (num_words, 3): to the right, up, and towards the eye.
    Raises: ValueError if points have not three coordinates.
    """
    if points.shape[-1] != 3:
        raise ValueError(f"points {tuple(points.shape)} must have 3 coordinates")
    a, b = math.radians(turn), math.radians(tilt)
    about = [[math.cos(a), 0.0, math.sin(a)], [0.0, 1.0, 0.0], [-math.sin(a), 0.0, math.cos(a)]]
    over = [[1.0, 0.0, 0.0], [0.0, math.cos(b), -math.sin(b)], [0.0, math.sin(b), math.cos(b)]]
    spin = torch.tensor(over, dtype=points.dtype) @ torch.tensor(about, dtype=points.dtype)  # (3, 3)
    return points @ spin.T  # (num_words, 3)


# ----------------------------------------------------------------------------------------------- what a map keeps


def distances(points: Tensor) -> Tensor:
    """From each point to each other: (num_words, dim) → (num_words, num_words).

    By products of matrices, which is many times as fast as one difference after the other; centred, to lose no digits.
    """
    centred = points - points.mean(dim=0)
    return torch.cdist(centred, centred, compute_mode="use_mm_for_euclid_dist")


def neighbour_sets(points: Tensor, count: int) -> tuple[frozenset[int], ...]:
    """The `count` nearest other points of each point.

    Raises: ValueError if count is not between 1 and the number of other points.
    """
    if not 1 <= count < len(points):
        raise ValueError(f"count ({count}) must be at least 1 and below num_words ({len(points)})")
    far = distances(points).fill_diagonal_(math.inf)
    return tuple(frozenset(row) for row in far.sort(dim=1, stable=True).indices[:, :count].tolist())


def nearest_points(points: Tensor, index: int, count: int) -> frozenset[int]:
    """The `count` nearest other points of one point: as `neighbour_sets` says it. Shapes: points (num_words, dim)."""
    far = (points - points[index]).norm(dim=1)
    far[index] = math.inf
    return frozenset(far.sort(stable=True).indices[:count].tolist())


def agreement(one: Tensor, other: Tensor, count: int) -> float:
    """The share of each point's `count` neighbours on one map that are its neighbours on the other, on average.

    Raises: ValueError as `neighbour_sets` does, or if the maps are not of the same words.
    """
    if len(one) != len(other):
        raise ValueError(f"maps must be of the same words: {len(one)} and {len(other)}")
    pairs = zip(neighbour_sets(one, count), neighbour_sets(other, count), strict=True)
    return sum(len(a & b) for a, b in pairs) / (count * len(one))


def own_share(points: Tensor, groups: Sequence[int]) -> float:
    """The share of the points whose nearest point is of their own group, among those that have company in it.

    NaN if no group has two members.
    """
    kept = [place for place, group in enumerate(groups) if groups.count(group) > 1]
    if not kept:
        return math.nan
    nearest = neighbour_sets(points, 1)
    return sum(groups[next(iter(nearest[place]))] == groups[place] for place in kept) / len(kept)


def group_distances(points: Tensor, groups: Sequence[int]) -> Tensor:
    """The distances between the groups' middles, one for each pair of groups: (num_groups · (num_groups − 1) / 2,)."""
    of = torch.tensor(groups)
    middles = torch.stack([points[of == group].mean(dim=0) for group in sorted(set(groups))])  # (num_groups, dim)
    rows, columns = torch.triu_indices(len(middles), len(middles), offset=1)
    return distances(middles)[rows, columns]


def rank_correlation(one: Tensor, other: Tensor) -> float:
    """Spearman's: 1 if both put things into the same order, −1 if into the opposite one, about 0 if it is chance.

    NaN if there are fewer than 3 things, or all are alike in one of them. Equal values share their mean rank.
    """
    if len(one) < 3:
        return math.nan
    a, b = (_ranks(values) for values in (one, other))
    a, b = a - a.mean(), b - b.mean()
    size = float(a.norm() * b.norm())
    return float(a @ b) / size if size > 0 else math.nan


def _ranks(values: Tensor) -> Tensor:
    """The mean rank of each value: (n,)."""
    below = (values[:, None] > values[None, :]).sum(dim=1)
    equal = (values[:, None] == values[None, :]).sum(dim=1)
    return below.double() + (equal.double() - 1) / 2
