"""The claims about word vectors and their maps."""

import math

import pytest
import torch

from core.claims import Verdict
from core.claims.embeddings import (
    KEPT,
    SHOWN,
    MapStudy,
    SumTrial,
    always_verdict,
    distances_verdict,
    groups_verdict,
    study_maps,
    sum_verdict,
    trial_perplexities,
    try_model,
    try_table,
)
from core.embedding_maps import (
    agreement,
    fit_pca,
    group_distances,
    neighbour_sets,
    own_share,
    rank_correlation,
    run_tsne,
)
from core.embeddings import WordVectors, read_sum, toy_vectors
from core.model_words import model_words
from core.models import load_any

QUEEN = read_sum("king - man + woman = queen")


# -------------------------------------------------------------------------------------------------------------- sums


def test_the_lesson_s_queen_is_exact() -> None:
    trial = try_table(toy_vectors(), QUEEN)
    assert (trial.with_inputs, trial.without_inputs, trial.nearest, trial.num_words) == (1, 1, "queen", 14)
    assert trial.cosine == pytest.approx(1)


def test_minilm_finds_the_queen_only_without_the_inputs() -> None:
    model = load_any("minilm")
    words = model_words(model.tokenizer, model.network.get_input_embeddings().get_parameter("weight"))
    trial = try_model(words, QUEEN)
    assert (trial.with_inputs, trial.without_inputs, trial.nearest) == (2, 1, "king")
    assert 0.4 < trial.cosine < 0.6
    with pytest.raises(KeyError, match="😀"):
        try_model(words, read_sum("king - 😀 = queen"))


def test_a_trial_by_hand() -> None:
    vectors = torch.tensor([[1.0, 0.0], [1.0, 0.2], [0.0, 1.0], [-1.0, 0.1]], dtype=torch.float64)
    trial = try_table(WordVectors(("a", "b", "c", "d"), vectors, (0,) * 4, ("",)), read_sum("a + a = c"))
    assert (trial.with_inputs, trial.without_inputs, trial.nearest) == (3, 2, "a")
    assert trial.cosine == pytest.approx(0)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("king - man", ValueError, "a word must be expected"),
        ("king - emperor = queen", KeyError, "emperor"),
        ("king - man = emperor", KeyError, "emperor"),
        ("king - king = queen", ValueError, "must be longer than"),
        ("king - man = king", ValueError, r"expected \('king'\) must not be one of the inputs"),
    ],
)
def test_what_cannot_be_tried(text: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        try_table(toy_vectors(), read_sum(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [("king - man", "a word must be expected"), ("king - man = man", r"expected \('man'\) must not")],
)
def test_a_model_needs_an_expected_word_too(text: str, message: str) -> None:
    model = load_any("atlas-fr-en")
    words = model_words(model.tokenizer, model.network.get_input_embeddings().get_parameter("weight"))
    with pytest.raises(ValueError, match=message):
        try_model(words, read_sum(text))


@pytest.mark.parametrize(
    ("places", "verdict"),
    [
        ([], Verdict.UNDECIDED),
        ([(1, 1), (1, 1)], Verdict.HOLDS),
        ([(1, 1), (2, 1)], Verdict.ONLY_IF),
        ([(2, 1)], Verdict.ONLY_IF),
        ([(2, 2)], Verdict.DOES_NOT_HOLD),
        ([(1, 1), (9, 8)], Verdict.ONLY_IF),
        ([(3, 2), (9, 8)], Verdict.DOES_NOT_HOLD),
    ],
)
def test_the_verdict_on_sums(places: list[tuple[int, int]], verdict: Verdict) -> None:
    assert sum_verdict([SumTrial(*each) for each in places]) is verdict


# -------------------------------------------------------------------------------------------------------------- maps


def studied(vectors: torch.Tensor, groups: tuple[int, ...], perplexities: tuple[int, ...]) -> MapStudy:
    seen: list[tuple[int, int]] = []
    found = study_maps(
        vectors,
        groups,
        perplexities=perplexities,
        seeds=(0, 3),
        on_progress=lambda done, total: seen.append((done, total)),
        cancelled=lambda: False,
    )
    assert found is not None
    count = 2 * len(perplexities)
    assert seen == [(done, count) for done in range(count + 1)]
    return found


def test_a_study_measures_the_maps_that_it_holds() -> None:
    toy = toy_vectors()
    found = studied(toy.vectors, toy.groups, (2, 5))
    assert list(found.maps) == [(2, 0), (2, 3), (5, 0), (5, 3)]
    between = group_distances(toy.vectors, toy.groups)
    for (perplexity, seed), points in found.maps.items():
        torch.testing.assert_close(points, run_tsne(toy.vectors, components=2, perplexity=perplexity, seed=seed))
        quality = found.qualities[perplexity, seed]
        assert quality.own == own_share(points, toy.groups)
        assert quality.distances == pytest.approx(rank_correlation(group_distances(points, toy.groups), between))
    torch.testing.assert_close(found.pca_map, fit_pca(toy.vectors, 2).project(toy.vectors))
    assert found.pca.own == own_share(found.pca_map, toy.groups)
    assert found.own == own_share(toy.vectors, toy.groups) == pytest.approx(12 / 14)  # happy and sad lie apart
    assert found.seeds_neighbours[5] == agreement(found.maps[5, 0], found.maps[5, 3], 3)
    one, other = (group_distances(found.maps[2, seed], toy.groups) for seed in (0, 3))
    assert found.seeds_distances[2] == pytest.approx(rank_correlation(one, other))
    assert found.by_perplexity(lambda quality: quality.own) == {
        perplexity: (found.qualities[perplexity, 0].own, found.qualities[perplexity, 3].own) for perplexity in (2, 5)
    }


def test_too_large_a_perplexity_loses_the_groups() -> None:
    toy = toy_vectors()
    found = studied(toy.vectors, toy.groups, (5, 13))
    own = found.by_perplexity(lambda quality: quality.own)
    assert min(own[5]) >= SHOWN * found.own
    assert max(own[13]) < SHOWN * found.own
    assert groups_verdict(found.own, own) is Verdict.ONLY_IF
    assert distances_verdict(found.by_perplexity(lambda quality: quality.distances)) is Verdict.DOES_NOT_HOLD


def test_a_study_of_three_words() -> None:
    vectors = torch.tensor([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0]], dtype=torch.float64)
    found = studied(vectors, (0, 0, 1), trial_perplexities(3))
    assert list(found.seeds_distances) == [2]
    assert math.isnan(found.pca.distances)  # two groups have one distance
    assert [len(each) for each in neighbour_sets(found.maps[2, 0], 2)] == [2, 2, 2]


def test_one_seed_cannot_be_compared() -> None:
    toy = toy_vectors()
    found = study_maps(
        toy.vectors, toy.groups, perplexities=(5,), seeds=(0,), on_progress=lambda *_: None, cancelled=lambda: False
    )
    assert found is not None
    assert math.isnan(found.seeds_distances[5])


def test_a_study_can_be_stopped() -> None:
    toy = toy_vectors()
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 1

    found = study_maps(toy.vectors, toy.groups, perplexities=(2, 5), on_progress=lambda *_: None, cancelled=cancelled)
    assert found is None
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("num_words", "perplexities"),
    [(3, (2,)), (4, (2, 3)), (6, (2, 5)), (7, (2, 5, 6)), (14, (2, 5, 13)), (101, (2, 5, 100)), (2000, (2, 5, 100))],
)
def test_the_perplexities_that_are_tried(num_words: int, perplexities: tuple[int, ...]) -> None:
    assert trial_perplexities(num_words) == perplexities


def test_two_words_have_no_map() -> None:
    with pytest.raises(ValueError, match=r"num_words \(2\) must be at least 3"):
        trial_perplexities(2)


@pytest.mark.parametrize(
    ("good", "verdict"),
    [
        ([[True, True], [True]], Verdict.HOLDS),
        ([[True, True], [True, False]], Verdict.ONLY_IF),
        ([[True, False], [False, True]], Verdict.DOES_NOT_HOLD),
    ],
)
def test_the_verdict_on_maps(good: list[list[bool]], verdict: Verdict) -> None:
    assert always_verdict(good) is verdict


def test_groups_at_the_threshold() -> None:
    assert groups_verdict(0.5, {2: [0.5 * SHOWN], 5: [0.5]}) is Verdict.HOLDS
    assert groups_verdict(0.5, {2: [0.5 * SHOWN - 1e-9], 5: [0.5]}) is Verdict.ONLY_IF
    assert groups_verdict(0.5, {2: [0.1], 5: [0.5, 0.1]}) is Verdict.DOES_NOT_HOLD
    for own, maps in ((0.0, {2: [0.0]}), (math.nan, {2: [math.nan]}), (0.5, {})):
        assert groups_verdict(own, maps) is Verdict.UNDECIDED


def test_distances_at_the_threshold() -> None:
    assert distances_verdict({2: [KEPT, 1.0]}) is Verdict.HOLDS
    assert distances_verdict({2: [KEPT - 1e-9], 5: [KEPT]}) is Verdict.ONLY_IF
    assert distances_verdict({2: [KEPT - 1e-9, 1.0]}) is Verdict.DOES_NOT_HOLD
    assert distances_verdict({}) is Verdict.UNDECIDED
    assert distances_verdict({2: [math.nan]}) is Verdict.UNDECIDED
