"""What it changes if a head's matrices are shared."""

import pytest
import torch

from core.projections import Head, Projection, Sharing, random_head
from core.senses import look_around
from core.sharing import Structure, asymmetry, measure_ranks, measure_structure, self_share, stacked_rank

SHARED_QUERIES = (Sharing.QUERY_IS_KEY, Sharing.ONE, Sharing.NONE)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def measured(sharing: Sharing, seed: int = 0) -> Structure:
    return measure_structure(sharing, d_model=48, head_dim=16, seq_len=11, trials=13, generator=generator(seed))


@pytest.mark.parametrize(
    ("sharing", "parameters", "rank"),
    [
        (Sharing.SEPARATE, 3 * 48 * 16, 48),
        (Sharing.VALUE_IS_KEY, 2 * 48 * 16, 32),
        (Sharing.QUERY_IS_KEY, 2 * 48 * 16, 32),
        (Sharing.ONE, 48 * 16, 16),
        (Sharing.NONE, 0, 48),
    ],
)
def test_parameters_and_rank(sharing: Sharing, parameters: int, rank: int) -> None:
    found = measured(sharing)
    assert (found.sharing, found.parameters, found.rank) == (sharing, parameters, rank)


@pytest.mark.parametrize("sharing", list(Sharing))
def test_shared_queries_and_keys_make_the_scores_symmetric_and_not_the_weights(sharing: Sharing) -> None:
    found = measured(sharing)
    assert (found.score_asymmetry < 1e-12) is (sharing in SHARED_QUERIES)
    assert found.weight_asymmetry > 1e-6


@pytest.mark.parametrize("sharing", list(Sharing))
def test_shared_queries_and_keys_make_a_token_look_at_itself(sharing: Sharing) -> None:
    found = measured(sharing)
    assert found.self_share > 0.9 if sharing in SHARED_QUERIES else found.self_share < 0.3


def test_asymmetry_by_hand() -> None:
    assert asymmetry(torch.tensor([[1.0, 2.0], [2.0, 5.0]])) == 0
    assert asymmetry(torch.tensor([[0.0, 3.0], [-1.0, 0.0]])) == pytest.approx(4 / 3)


def test_self_share_by_hand() -> None:
    assert self_share(torch.tensor([[3.0, 1.0], [2.0, 1.0]])) == 0.5


def test_the_rank_is_bounded_by_the_input() -> None:
    assert measure_ranks(Sharing.SEPARATE, (5, 12, 13), 4, generator=generator()) == (5, 12, 12)


def test_single_precision_is_refused() -> None:
    head = random_head(5, 3, generator=generator())
    coarse = Head(*(Projection(p.weight.float()) for p in (head.q, head.k, head.v, head.o)))
    with pytest.raises(ValueError, match=r"weights \(torch.float32\) must be float64"):
        stacked_rank(coarse)


def test_a_query_finds_what_it_points_at() -> None:
    place, money = look_around(0), look_around(90)
    assert int(place.together.argmax()) == 0
    assert int(money.together.argmax()) == 2
    assert place.together.tolist() == pytest.approx(money.together.flip(0).tolist())
    assert float(look_around(45).together.max() - look_around(45).together.min()) < 1e-12
    for senses in (place, money):
        assert [float(w.sum()) for w in (senses.river_bank, senses.bank_account)] == pytest.approx([1, 1])


def test_the_same_question_looks_elsewhere_in_another_sentence() -> None:
    assert float(look_around(90).bank_account[1]) > 0.75  # "account" is there
    assert float(look_around(90).river_bank[0]) < 0.25  # only "river" is: it gets little
