"""Measures of rank against torch, NumPy and matrices whose singular values are known."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from core.rank import (
    Ranks,
    decompose,
    default_tolerance,
    effective_rank,
    energy_rank,
    numerical_rank,
    ranks_of,
    reconstruct,
    reconstruction_errors,
    singular_values,
    stable_rank,
    terms_needed,
)


def values(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_singular_values_of_every_matrix_are_those_of_numpy() -> None:
    matrices = random(3, 5, 7)
    expected = np.stack([np.linalg.svd(m, compute_uv=False) for m in matrices.numpy()])
    np.testing.assert_allclose(singular_values(matrices).numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("rank", [1, 2, 4, 5])
def test_numerical_rank_is_that_of_torch_with_its_own_tolerance(rank: int) -> None:
    matrix = random(13, rank) @ random(rank, 7, seed=1)
    found = numerical_rank(singular_values(matrix), tolerance=default_tolerance(13, 7))
    assert int(found) == int(torch.linalg.matrix_rank(matrix)) == rank


@pytest.mark.parametrize(("tolerance", "rank"), [(0.0, 3), (0.24, 3), (0.25, 2), (0.5, 1), (0.99, 1)])
def test_the_tolerance_is_relative_and_excludes_what_equals_it(tolerance: float, rank: int) -> None:
    assert int(numerical_rank(values(8, 4, 2, 0), tolerance=tolerance)) == rank


def test_measures_by_hand() -> None:
    spectrum = values(3, 1, 0)
    assert float(effective_rank(spectrum)) == pytest.approx(math.exp(0.75 * math.log(4 / 3) + 0.25 * math.log(4)))
    assert float(stable_rank(spectrum)) == pytest.approx(10 / 9)
    assert [int(energy_rank(spectrum, share=share)) for share in (0.5, 0.9, 0.91, 0.99)] == [1, 1, 2, 2]


def test_equal_singular_values_have_one_rank_whatever_the_measure() -> None:
    assert ranks_of(values(2, 2, 2, 2, 2)[None], tolerance=1e-9, share=0.99) == (
        Ranks(5, pytest.approx(5), pytest.approx(5), 5),
    )


def test_a_matrix_of_zeros_has_rank_zero() -> None:
    assert ranks_of(values(0, 0, 0)[None], tolerance=0.0) == (Ranks(0, 0.0, 0.0, 0),)
    assert reconstruction_errors(values(0, 0)).tolist() == [0, 0, 0]


@given(
    st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=9).map(lambda found: sorted(found, reverse=True)),
    st.floats(1e-3, 1e3),
)
def test_no_measure_exceeds_the_rank_or_depends_on_the_scale(found: list[float], factor: float) -> None:
    (ranks,) = ranks_of(values(*found)[None], tolerance=1e-12)
    assert ranks.numerical == len(found)
    assert 1 <= ranks.stable <= ranks.numerical * (1 + 1e-12)
    assert 1 - 1e-12 <= ranks.effective <= ranks.numerical * (1 + 1e-12)
    assert 1 <= ranks.energy <= ranks.numerical
    (scaled,) = ranks_of(factor * values(*found)[None], tolerance=1e-12)
    assert scaled.effective == pytest.approx(ranks.effective)
    assert scaled.stable == pytest.approx(ranks.stable)


def test_every_matrix_of_a_batch_is_measured_for_itself() -> None:
    spectra = torch.stack([values(3, 1, 0), values(5, 5, 5)])
    assert ranks_of(spectra, tolerance=1e-9) == tuple(ranks_of(s[None], tolerance=1e-9)[0] for s in spectra)


# ------------------------------------------------------------------------------------------------ reconstruction


def test_the_decomposition_gives_the_matrix_back() -> None:
    matrix = random(7, 5)
    found = decompose(matrix)
    torch.testing.assert_close(reconstruct(found, 5), matrix, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(found.values, singular_values(matrix), rtol=1e-12, atol=0)
    assert not reconstruct(found, 0).any()


def test_a_reconstruction_has_its_rank_and_the_error_that_is_told() -> None:
    matrix = random(7, 5)
    found = decompose(matrix)
    errors = reconstruction_errors(found.values)
    assert len(errors) == 6
    for k in range(6):
        rebuilt = reconstruct(found, k)
        assert int(torch.linalg.matrix_rank(rebuilt)) == k
        assert float((matrix - rebuilt).norm() / matrix.norm()) == pytest.approx(float(errors[k]), abs=1e-12)


def test_no_other_matrix_of_that_rank_comes_nearer() -> None:
    matrix = random(7, 5)
    nearest = float((matrix - reconstruct(decompose(matrix), 2)).norm())
    for seed in range(20):
        basis = torch.linalg.qr(random(7, 2, seed=seed)).Q
        other = basis @ (basis.T @ matrix)  # the best with these two columns
        assert float((matrix - other).norm()) > nearest


@pytest.mark.parametrize("error", [0.02, 0.3, 0.9])
def test_as_few_terms_as_an_error_allows(error: float) -> None:
    spectrum = torch.tensor([11, 7, 5, 3, 2, 1], dtype=torch.float64)
    errors = [math.sqrt(float(spectrum[k:].square().sum() / spectrum.square().sum())) for k in range(7)]
    count = int(terms_needed(spectrum, error=error))
    assert errors[count] <= error < errors[count - 1]


@pytest.mark.parametrize("error", [0.0, 1.0, -0.1, math.nan])
def test_an_error_lies_between_nothing_and_everything(error: float) -> None:
    with pytest.raises(ValueError, match=r"error \(.*\) must be above 0 and below 1"):
        terms_needed(values(1), error=error)


def test_the_energy_rank_rebuilds_as_well_as_it_promises() -> None:
    spectrum = singular_values(random(11, 11))
    count = int(energy_rank(spectrum, share=0.9))
    errors = reconstruction_errors(spectrum)
    assert float(errors[count]) <= math.sqrt(0.1) < float(errors[count - 1])


# ------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("act", [singular_values, decompose])
def test_single_precision_is_refused(act) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=r"matrix \(torch.float32\) must be float64"):
        act(torch.eye(3))


@pytest.mark.parametrize("act", [effective_rank, stable_rank, reconstruction_errors])
def test_values_must_be_float64_and_there(act) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=r"values \(torch.float32\) must be float64"):
        act(torch.ones(3))
    with pytest.raises(ValueError, match=r"values \(shape \(0,\)\) must hold at least one singular value"):
        act(values())


@pytest.mark.parametrize("tolerance", [-0.1, 1.0, math.nan])
def test_a_tolerance_is_a_share(tolerance: float) -> None:
    with pytest.raises(ValueError, match=rf"tolerance \({tolerance}\) must be at least 0 and below 1"):
        numerical_rank(values(1), tolerance=tolerance)


@pytest.mark.parametrize("share", [0.0, 1.0, math.nan])
def test_a_share_is_a_share(share: float) -> None:
    with pytest.raises(ValueError, match=rf"share \({share}\) must be above 0 and below 1"):
        energy_rank(values(1), share=share)


@pytest.mark.parametrize("k", [-1, 6])
def test_no_more_terms_than_there_are(k: int) -> None:
    with pytest.raises(ValueError, match=rf"k \({k}\) must be between 0 and 5"):
        reconstruct(decompose(random(7, 5)), k)
