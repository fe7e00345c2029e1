"""One layer in all variants: against torch's own attention, and with the same numbers where matrices are the same."""

import math

import pytest
import torch
from torch.nn import functional

from core.labs.three_matrices_measures import loss_of, measure, show
from core.labs.three_matrices_model import Model, new_model, run, sizes
from core.labs.three_matrices_task import NAMES, TAGS, draw_batch
from core.projections import Sharing


def model_of(sharing: Sharing = Sharing.SEPARATE, *, skip: bool = False) -> Model:
    return new_model(sharing, 11, 5, skip=skip, generator=torch.Generator().manual_seed(3))


BATCH = draw_batch(7, 3, generator=torch.Generator().manual_seed(4))


@pytest.mark.parametrize("sharing", Sharing)
@pytest.mark.parametrize("look_at_self", [True, False])
@pytest.mark.parametrize("skip", [True, False])
def test_it_is_torchs_own_attention(sharing: Sharing, look_at_self: bool, skip: bool) -> None:
    model = model_of(sharing, skip=skip)
    x = model.names[BATCH.names] + model.tags[BATCH.tags]
    q, k, v = (x if each is None else x @ each for each in (model.q, model.k, model.v))
    mask = torch.ones(NAMES, NAMES, dtype=torch.bool) if look_at_self else ~torch.eye(NAMES, dtype=torch.bool)
    fetched = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask) @ model.o
    expected = (fetched + x if skip else fetched) @ model.answer
    answered = run(model, BATCH, look_at_self=look_at_self)
    assert answered.logits.shape == (7, NAMES, TAGS)
    torch.testing.assert_close(answered.logits, expected, atol=1e-5, rtol=1e-5)
    diagonal = answered.trace.weights.diagonal(dim1=-2, dim2=-1)
    assert bool((diagonal > 0).all()) is look_at_self


def test_variants_begin_alike() -> None:
    every = {sharing: model_of(sharing) for sharing in Sharing}
    separate = every[Sharing.SEPARATE]
    for model in every.values():
        assert torch.equal(model.names, separate.names)
        assert torch.equal(model.answer, separate.answer)
    shared = every[Sharing.QUERY_IS_KEY]
    assert shared.q is shared.k
    assert torch.equal(shared.q, separate.q)  # type: ignore[arg-type]
    assert torch.equal(shared.v, separate.v)  # type: ignore[arg-type]
    assert torch.equal(shared.o, separate.o)
    assert every[Sharing.VALUE_IS_KEY].v is every[Sharing.VALUE_IS_KEY].k
    assert [len(model.projections) for model in every.values()] == [3, 2, 2, 1, 0]


def test_sizes_by_hand() -> None:
    tables = (NAMES + TAGS + TAGS) * 11
    assert sizes(Sharing.SEPARATE, 11, 5) == (3 * 55, tables + 3 * 55 + 5 * 11)
    assert sizes(Sharing.VALUE_IS_KEY, 11, 5) == sizes(Sharing.QUERY_IS_KEY, 11, 5) == (2 * 55, tables + 2 * 55 + 55)
    assert sizes(Sharing.NONE, 11, 5) == (0, tables + 11 * 11)


def test_weights_keep_the_variance() -> None:
    wide = new_model(Sharing.SEPARATE, 400, 300, skip=False, generator=torch.Generator().manual_seed(0))
    assert wide.k is not None
    names, tags, k, o = (float(each.detach().var()) for each in (wide.names, wide.tags, wide.k, wide.o))
    assert names + tags == pytest.approx(1, rel=0.05)
    assert k == pytest.approx(1 / 400, rel=0.05)
    assert o == pytest.approx(1 / 300, rel=0.05)


@pytest.mark.parametrize(("d_model", "head_dim"), [(0, 3), (3, 0)])
def test_impossible_sizes_are_refused(d_model: int, head_dim: int) -> None:
    with pytest.raises(ValueError, match=r"\(0\) must be at least 1"):
        new_model(Sharing.SEPARATE, d_model, head_dim, skip=False, generator=torch.Generator())


def test_measures_of_a_model_that_always_says_the_same() -> None:
    model = model_of()
    zero = torch.zeros(11, 5)
    still = Model(model.names, model.tags, zero, zero, zero, model.o, model.answer, skip=False)
    measured = measure(still, BATCH, look_at_self=True)  # every score is 0, and so is every logit
    assert measured.loss == pytest.approx(math.log(TAGS))
    assert measured.probability == pytest.approx(1 / TAGS)
    assert measured.on_wanted == pytest.approx(1 / NAMES)
    assert measured.on_self == pytest.approx(1 / NAMES)
    assert measured.accuracy == pytest.approx(float((BATCH.answers == 0).double().mean()))
    assert measured.looking_right == pytest.approx(float((BATCH.places == 0).double().mean()))
    torch.testing.assert_close(loss_of(run(still, BATCH, look_at_self=True), BATCH), torch.tensor(math.log(TAGS)))


def test_the_example_in_per_cent() -> None:
    shown = show(model_of(Sharing.QUERY_IS_KEY), BATCH, look_at_self=False)
    plain = shown.plain()
    assert plain["weights"] == (100 * shown.weights).round().int().tolist()
    assert [row[place] for place, row in enumerate(plain["weights"])] == [0] * NAMES
    assert plain["score_asymmetry"] == pytest.approx(0, abs=1e-3)
    assert plain["weight_asymmetry"] > 0.01
