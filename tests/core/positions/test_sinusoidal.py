"""Sinusoidal positions: against NumPy and Marian's own table, and what follows from their being waves."""

import math

import numpy as np
import pytest
import torch

from core.positions.frequencies import pair_frequencies, wavelengths, waves
from core.positions.pairing import to_pairing
from core.positions.sinusoidal import (
    dimension_frequencies,
    encode,
    measured_frequencies,
    printed_frequencies,
    shift,
    shift_matrix,
    similarities,
    similarity_by_distance,
    sinusoidal_encoding,
)


def test_the_encoding_is_that_of_the_paper() -> None:
    expected = np.empty((11, 14))
    for pos in range(11):
        for j in range(7):
            expected[pos, 2 * j] = math.sin(pos / 500 ** (2 * j / 14))
            expected[pos, 2 * j + 1] = math.cos(pos / 500 ** (2 * j / 14))
    np.testing.assert_allclose(sinusoidal_encoding(11, 14, base=500.0).numpy(), expected, atol=1e-14)


def test_by_hand() -> None:
    expected = [[0, 1, 0, 1], [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]]
    assert sinusoidal_encoding(2, 4).tolist() == [pytest.approx(row, abs=1e-15) for row in expected]


def test_marian_has_all_sines_first() -> None:
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

    table = MarianSinusoidalPositionalEmbedding(13, 22).create_weight()
    ours = to_pairing(sinusoidal_encoding(13, 22), source="interleaved", target="half_split")
    torch.testing.assert_close(ours.float(), table, atol=1e-6, rtol=0)


def test_no_positions_are_a_legal_number_of_positions() -> None:
    assert sinusoidal_encoding(0, 6).shape == (0, 6)


def test_positions_may_lie_between_the_whole_ones() -> None:
    between = encode(torch.tensor([[2.5], [-1.0]]), 6)
    assert between.shape == (2, 1, 6)
    assert between[0, 0, 0] == math.sin(2.5)
    assert between[1, 0, 0] == -math.sin(1)


@pytest.mark.parametrize("offset", [3, -7, 0, 0.5])
def test_the_matrix_moves_every_position(offset: float) -> None:
    for pos in (0, 1, 17, 4096):
        here, there = encode(torch.tensor([pos, pos + offset]), 10)
        torch.testing.assert_close(shift_matrix(10, offset) @ here, there, atol=1e-11, rtol=0)


def test_the_matrix_by_hand() -> None:
    c, s = math.cos(2), math.sin(2)
    expected = torch.tensor([[c, s], [-s, c]], dtype=torch.float64)
    torch.testing.assert_close(shift_matrix(2, 2), expected, atol=1e-15, rtol=0)


def test_the_matrix_rotates() -> None:
    matrix = shift_matrix(14, 5)
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(14, dtype=torch.float64), atol=1e-14, rtol=0)
    torch.testing.assert_close(matrix @ shift_matrix(14, 4), shift_matrix(14, 9), atol=1e-14, rtol=0)


def test_position_5_seen_from_position_2() -> None:
    seen = shift(torch.tensor([2]), 12, 3)
    torch.testing.assert_close(seen.shifted[0], sinusoidal_encoding(6, 12)[5], atol=1e-14, rtol=0)
    assert seen.residual < 1e-13
    assert shift(torch.tensor([], dtype=torch.int64), 12, 3).residual == 0


def test_residuals_tell_a_wrong_matrix() -> None:
    seen = shift(torch.arange(5), 12, 3)
    wrong = type(seen)(seen.matrix, seen.positions, seen.shifted.roll(1, dims=0), seen.encoded)
    assert seen.residuals.shape == (5,)
    assert wrong.residual > 0.1


def test_dot_products_see_the_distance_alone() -> None:
    found = similarities(sinusoidal_encoding(19, 26))
    by_distance = similarity_by_distance(torch.arange(19), 26)
    for m in range(19):
        for n in range(19):
            assert float(found[m, n]) == pytest.approx(float(by_distance[abs(m - n)]), abs=1e-12)
    assert by_distance[0] == 13


def test_two_dimensions_share_a_frequency() -> None:
    right, printed = dimension_frequencies(6, base=1000.0), printed_frequencies(6, base=1000.0)
    assert right.tolist() == pytest.approx([1, 1, 0.1, 0.1, 0.01, 0.01])
    assert printed.tolist() == pytest.approx([1000 ** (-i / 6) for i in range(6)])
    measured = measured_frequencies(sinusoidal_encoding(2, 6, base=1000.0))
    torch.testing.assert_close(measured, right, atol=0, rtol=1e-13)


def test_wavelengths_start_at_one_turn_and_stay_below_the_base() -> None:
    lengths = wavelengths(pair_frequencies(8, base=10000.0, name="d_model"))
    assert lengths.tolist() == pytest.approx([2 * math.pi * 10**j for j in range(4)])


def test_turns_in_training() -> None:
    found = waves(torch.tensor([2 * math.pi / 10, 2 * math.pi / 100, 2 * math.pi / 101]), 100)
    assert found.turns.tolist() == pytest.approx([10, 1, 100 / 101])
    assert found.complete.tolist()[::2] == [True, False]
    assert waves(torch.tensor([1.0, 1e-3]), 100).incomplete_count == 1
    assert waves(torch.tensor([1.0, 0.1, 1e-3]), 100).boundary == 1.5  # pairs 0 and 1 turn, pair 2 does not
    with pytest.raises(ValueError, match=r"trained_len \(0\) must be at least 1"):
        waves(torch.ones(1), 0)


@pytest.mark.parametrize("make", [dimension_frequencies, printed_frequencies, lambda d, **o: shift_matrix(d, 1, **o)])
@pytest.mark.parametrize("size", [7, 0, -2, 1])
def test_sizes_are_even(make, size: int) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=rf"d_model \({size}\) must be even and at least 2"):
        make(size)


@pytest.mark.parametrize("make", [dimension_frequencies, printed_frequencies, lambda d, **o: shift_matrix(d, 1, **o)])
@pytest.mark.parametrize("base", [1.0, 0.5, -3.0, math.inf, math.nan])
def test_bases_are_above_1(make, base: float) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=r"base \(.+\) must be greater than 1 and finite"):
        make(4, base=base)


def test_other_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match=r"seq_len \(-1\) must be at least 0"):
        sinusoidal_encoding(-1, 4)
    with pytest.raises(ValueError, match=r"seq_len \(1.5\) must be a whole number"):
        sinusoidal_encoding(1.5, 4)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"d_model \(5\) must be even"):
        sinusoidal_encoding(3, 5)
    with pytest.raises(ValueError, match=r"offset \(inf\) must be finite"):
        shift_matrix(4, math.inf)
    with pytest.raises(ValueError, match=r"seq_len \(1\) must be at least 2"):
        measured_frequencies(sinusoidal_encoding(1, 4))
