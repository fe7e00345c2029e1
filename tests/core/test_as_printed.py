"""The source texts' modules as they print them, and what they print as having come out of them."""

import pytest
import torch

from core import as_printed
from core.as_printed import Outcome, SelfAttention


def test_three_variants_raise_and_the_fourth_returns_nothing() -> None:
    assert as_printed.try_variants() == {
        "StandardAttention": Outcome.RAISES,
        "SharedKV": Outcome.RAISES,
        "SharedQK": Outcome.RAISES,
        "NoProjection": Outcome.RETURNS_NOTHING,
    }


def test_the_error_is_the_one_of_a_missing_super_init() -> None:
    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__\(\) call"):
        as_printed.SharedKV(4, 2)


def test_the_printed_module_is_attention() -> None:
    x = torch.randn(2, 5, 11, generator=torch.Generator().manual_seed(0))
    module = SelfAttention(11, 3)
    output, weights = module(x)
    expected = torch.nn.functional.scaled_dot_product_attention(module.W_q(x), module.W_k(x), module.W_v(x))
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 5))


def test_printed_rows_sum_to_one_but_are_far_too_even() -> None:
    assert [sum(row) for row in as_printed.PRINTED_WEIGHTS] == pytest.approx([1] * 5, abs=1e-4)
    spreads = as_printed.weight_spreads(50)
    assert len(spreads) == 50
    assert as_printed.printed_spread() == pytest.approx(0.010, abs=5e-4)
    assert min(spreads) > 3 * as_printed.printed_spread()


def test_the_global_generator_is_left_as_it_was() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    as_printed.weight_spreads(2)
    assert torch.equal(torch.rand(2), expected)


def test_seeds_are_reproducible() -> None:
    assert as_printed.weight_spreads(2) == as_printed.weight_spreads(3)[:2]
