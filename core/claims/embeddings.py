"""The claims about word vectors and their maps: one measurement and one verdict for each."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from torch import Tensor

from core.claims import Verdict
from core.embedding_maps import (
    agreement,
    fit_pca,
    group_distances,
    own_share,
    rank_correlation,
    run_tsne,
)
from core.embeddings import Sum, WordVectors, add_up, cosines_to, nearest, place_of
from core.model_words import ModelWords

# -------------------------------------------------------------------------------------- king − man + woman is queen


@dataclass(frozen=True, slots=True)
class SumTrial:
    """The place of the expected word among the neighbours of the sum, 1 for the nearest."""

    with_inputs: int
    without_inputs: int  # the words of the sum may not be the answer
    nearest: str = ""  # of all words, the inputs among them
    cosine: float = math.nan  # of the expected word with the sum
    num_words: int = 0  # that could be the answer


def try_table(table: WordVectors, asked: Sum) -> SumTrial:
    """Look for the expected word among the words of a table.

    Raises: KeyError for the first word that is not there; ValueError if no word is expected, it is one of the inputs,
        or the sum points nowhere.
    """
    places = {word: place for place, word in enumerate(table.words)}
    inputs = [places[term.word] for term in asked.terms]
    expected = places[_expected(asked)]
    target = add_up(asked.terms, {term.word: table.vectors[places[term.word]] for term in asked.terms})
    (first,) = nearest(table.vectors, target, count=1)
    return SumTrial(
        place_of(table.vectors, target, expected),
        place_of(table.vectors, target, expected, without=inputs),
        table.words[first.index],
        float(cosines_to(table.vectors[[expected]], target)),
        len(table.words),
    )


def try_model(model: ModelWords, asked: Sum) -> SumTrial:
    """Look for the expected word among the words of a model's vocabulary.

    Raises: KeyError for the first word that the model does not know; ValueError as `try_table` does.
    """
    expected, inputs = _expected(asked), [term.word for term in asked.terms]
    looked = {word: model.look_up(word) for word in (*inputs, expected)}
    vectors: dict[str, Tensor] = {}
    for word, found in looked.items():
        if found.vector is None:
            raise KeyError(word)
        vectors[word] = found.vector
    target = add_up(asked.terms, vectors)
    ((first, _cosine),) = model.nearest(target, count=1)
    place, cosine = model.place_of(looked[expected], target)
    without, _same = model.place_of(looked[expected], target, without=inputs)
    return SumTrial(place, without, first, cosine, model.num_words)


def _expected(asked: Sum) -> str:
    if asked.expected is None:
        raise ValueError("a word must be expected")
    if asked.expected in {term.word for term in asked.terms}:
        raise ValueError(f"expected ({asked.expected!r}) must not be one of the inputs")
    return asked.expected


def sum_verdict(trials: Sequence[SumTrial]) -> Verdict:
    """Judge by one trial for each table of vectors.

    HOLDS if the expected word is always the nearest of all; DOES_NOT_HOLD if it never is, not even without the inputs;
    else ONLY_IF: in some tables, or only because the inputs may not be the answer. UNDECIDED without trials.
    """
    if not trials:
        return Verdict.UNDECIDED
    if all(trial.with_inputs == 1 for trial in trials):
        return Verdict.HOLDS
    found = any(trial.without_inputs == 1 for trial in trials)
    return Verdict.ONLY_IF if found else Verdict.DOES_NOT_HOLD


# ------------------------------------------------------------------------- a t-SNE picture shows the groups, and more

SEEDS = (0, 1, 2, 3)
NEIGHBOURS = 3  # words nearest to each that are compared between two maps
LARGEST_PERPLEXITY = 100  # time grows with it


@dataclass(frozen=True, slots=True)
class MapQuality:
    """What one map keeps of the vectors."""

    own: float  # share of words whose nearest word on the map is of their own group; see `own_share`
    distances: float  # rank correlation of the distances between groups with those of the vectors


@dataclass(frozen=True, slots=True, eq=False)
class MapStudy:
    """Maps of the same words, by perplexity and seed, beside the vectors themselves and their PCA."""

    own: float  # of the vectors
    pca: MapQuality
    pca_map: Tensor  # (num_words, 2)
    maps: Mapping[tuple[int, int], Tensor]  # (num_words, 2)
    qualities: Mapping[tuple[int, int], MapQuality]
    seeds_distances: Mapping[int, float]  # by perplexity: rank correlation of group distances between two seeds, meaned
    seeds_neighbours: Mapping[int, float]  # by perplexity: agreement of neighbours between two seeds, meaned

    def by_perplexity(self, of: Callable[[MapQuality], float]) -> Mapping[int, tuple[float, ...]]:
        """One measure of all maps: perplexity → its value for each seed."""
        return {
            perplexity: tuple(of(quality) for (each, _seed), quality in self.qualities.items() if each == perplexity)
            for perplexity in self.seeds_distances
        }


def trial_perplexities(num_words: int) -> tuple[int, ...]:
    """The perplexities that are tried: small, usual, and as large as so many words allow.

    >>> trial_perplexities(14)
    (2, 5, 13)

    Raises: ValueError if there are fewer than 3 words.
    """
    if num_words < 3:
        raise ValueError(f"num_words ({num_words}) must be at least 3")
    largest = min(num_words - 1, LARGEST_PERPLEXITY)
    return tuple(sorted({min(usual, largest) for usual in (2, 5)} | {largest}))


def study_maps(
    vectors: Tensor,
    groups: Sequence[int],
    *,
    perplexities: Sequence[int],
    seeds: Sequence[int] = SEEDS,
    on_progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
) -> MapStudy | None:
    """Draw a t-SNE map for every perplexity and seed, and measure it; None if it was cancelled.

    Shapes: vectors (num_words, dim).
    Raises: ValueError as `core.embedding_maps.run_tsne` does.
    """
    maps: dict[tuple[int, int], Tensor] = {}
    settings = [(perplexity, seed) for perplexity in perplexities for seed in seeds]
    for done, (perplexity, seed) in enumerate(settings):
        on_progress(done, len(settings))
        if cancelled():
            return None
        maps[perplexity, seed] = run_tsne(vectors, components=2, perplexity=perplexity, seed=seed)
    on_progress(len(settings), len(settings))
    between = group_distances(vectors, groups)
    pca_map = fit_pca(vectors, 2).project(vectors)

    def quality(points: Tensor) -> MapQuality:
        return MapQuality(own_share(points, groups), rank_correlation(group_distances(points, groups), between))

    def over_seeds(perplexity: int, alike: Callable[[Tensor, Tensor], float]) -> float:
        pairs = list(combinations([maps[perplexity, seed] for seed in seeds], 2))
        return sum(alike(one, other) for one, other in pairs) / len(pairs) if pairs else math.nan

    def same_order(one: Tensor, other: Tensor) -> float:
        return rank_correlation(group_distances(one, groups), group_distances(other, groups))

    neighbours = min(NEIGHBOURS, len(vectors) - 1)
    return MapStudy(
        own_share(vectors, groups),
        quality(pca_map),
        pca_map,
        maps,
        {setting: quality(points) for setting, points in maps.items()},
        {perplexity: over_seeds(perplexity, same_order) for perplexity in perplexities},
        {perplexity: over_seeds(perplexity, lambda a, b: agreement(a, b, neighbours)) for perplexity in perplexities},
    )


SHOWN = 0.9


def groups_verdict(own: float, of_maps: Mapping[int, Sequence[float]], *, shown: float = SHOWN) -> Verdict:
    """Judge "a t-SNE picture shows the groups" by shares of words whose nearest word is of their own group.

    of_maps: those of all seeds, by perplexity. A map shows the groups if its share is at least `shown` of that of the
    vectors: it cannot show what is not there. UNDECIDED without maps, or if the vectors have no groups to show; else as
    `always_verdict`.
    """
    if not of_maps or not own > 0:
        return Verdict.UNDECIDED
    return always_verdict([[share >= shown * own for share in shares] for shares in of_maps.values()])


KEPT = 0.8


def distances_verdict(of_maps: Mapping[int, Sequence[float]], *, kept: float = KEPT) -> Verdict:
    """Judge "what stands far apart on a t-SNE picture differs much" by the maps' rank correlations with the vectors.

    of_maps: those of all seeds, by perplexity. A map keeps the distances if its correlation is at least `kept`: where
    it is 0.8, about four of five pairs of distances are in the right order. UNDECIDED without maps or with fewer than
    three groups; else as `always_verdict`.
    """
    if not of_maps or any(math.isnan(correlation) for each in of_maps.values() for correlation in each):
        return Verdict.UNDECIDED
    return always_verdict([[correlation >= kept for correlation in each] for each in of_maps.values()])


def always_verdict(good: Sequence[Sequence[bool]]) -> Verdict:
    """Judge maps by whether they are good: for each perplexity, those of all seeds.

    HOLDS if all are. ONLY_IF all are of at least one perplexity. DOES_NOT_HOLD if there is no such perplexity: whoever
    draws one map then cannot know whether it is a good one.
    """
    always = [all(each) for each in good]
    if all(always):
        return Verdict.HOLDS
    return Verdict.ONLY_IF if any(always) else Verdict.DOES_NOT_HOLD
