"""Sizes by hand."""

import pytest

from core.labs.learning_heads_sizes import CHANCE, bound_of_logits, head_dim_of


def test_sizes_by_hand() -> None:
    assert [head_dim_of(32, heads) for heads in (1, 2, 4, 8)] == [32, 16, 8, 4]
    assert [bound_of_logits(32, heads) for heads in (1, 2, 4, 8)] == [12, 12, 8, 4]
    assert CHANCE == 0.125


@pytest.mark.parametrize(
    ("d_model", "num_heads", "said"),
    [
        (0, 1, r"d_model \(0\) must be at least 1"),
        (8, 0, r"num_heads \(0\) must be at least 1"),
        (8, 3, r"d_model \(8\) must be divisible by num_heads \(3\)"),
    ],
)
def test_what_is_impossible(d_model: int, num_heads: int, said: str) -> None:
    for function in (head_dim_of, bound_of_logits):
        with pytest.raises(ValueError, match=said):
            function(d_model, num_heads)
