"""The texts' complex form and their interpolation, as they print them."""

import pytest
import torch

from core.positions.rope import inverse_frequencies, rotate_complex, rotation_tables
from core.rope_as_printed import (
    Outcome,
    apply_rotary_emb,
    position_interpolation,
    precompute_freqs_cis,
    try_complex,
)


@pytest.mark.parametrize(
    ("batch", "seq_len", "heads", "outcome", "returned"),
    [
        (2, 7, 3, Outcome.RAISES, None),
        (2, 7, 1, Outcome.WRONG_SHAPE, (2, 7, 7, 8)),
        (2, 7, 7, Outcome.WRONG_NUMBERS, (2, 7, 7, 8)),
        (2, 1, 3, Outcome.RIGHT, (2, 1, 3, 8)),
    ],
)
def test_what_comes_of_it(
    batch: int, seq_len: int, heads: int, outcome: Outcome, returned: tuple[int, ...] | None
) -> None:
    trial = try_complex(batch, seq_len, heads, 8, generator=torch.Generator().manual_seed(0))
    assert (trial.outcome, trial.returned) == (outcome, returned)
    assert (trial.error is not None) == (outcome is Outcome.RAISES)


def test_the_error_is_about_the_axis_of_the_heads() -> None:
    error = try_complex(2, 7, 3, 8, generator=torch.Generator().manual_seed(0)).error
    assert error is not None
    assert "size of tensor a (3) must match the size of tensor b (7)" in error


def test_what_it_is_compared_with_is_right() -> None:
    x = torch.randn(2, 7, 3, 8, generator=torch.Generator().manual_seed(0))
    found = apply_rotary_emb(x, x, precompute_freqs_cis(8, 7)[:, None])[1]
    tables = rotation_tables(torch.arange(7), inverse_frequencies(8))
    expected = rotate_complex(x.transpose(1, 2), tables.cos, tables.sin).transpose(1, 2)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def test_the_printed_interpolation_makes_neighbours_share() -> None:
    assert position_interpolation(torch.arange(8), 2048, 4096).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
