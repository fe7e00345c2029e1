"""Rules that sizes and places obey: what passes, what does not, and in which words."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from core import checks


@pytest.mark.parametrize(
    "check",
    [
        lambda: checks.check_sizes(d_model=1, num_heads=7),
        lambda: checks.check_divisible("num_heads", 6, "num_kv_heads", 3),
        lambda: checks.check_even("d_model", 2),
        lambda: checks.check_between("head", 0, 0, 3),
        lambda: checks.check_between("head", 3, 0, 3),
        lambda: checks.check_positive("scale", 1e-300),
        lambda: checks.check_not_negative("seq_len", 0),
    ],
)
def test_what_obeys_passes(check: Callable[[], None]) -> None:
    check()


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: checks.check_sizes(d_model=1, num_heads=0), "num_heads (0) must be at least 1"),
        (
            lambda: checks.check_divisible("num_heads", 6, "num_kv_heads", 4),
            "num_heads (6) must be divisible by num_kv_heads (4)",
        ),
        (lambda: checks.check_even("d_model", 7), "d_model (7) must be even and at least 2"),
        (lambda: checks.check_even("d_model", 0), "d_model (0) must be even and at least 2"),
        (lambda: checks.check_even("d_model", 2.0), "d_model (2.0) must be a whole number"),  # type: ignore[arg-type]
        (lambda: checks.check_between("head", -1, 0, 3), "head (-1) must be between 0 and 3"),
        (lambda: checks.check_between("head", 4, 0, 3), "head (4) must be between 0 and 3"),
        (lambda: checks.check_positive("scale", 0.0), "scale (0.0) must be positive and finite"),
        (lambda: checks.check_positive("scale", math.inf), "scale (inf) must be positive and finite"),
        (lambda: checks.check_positive("scale", math.nan), "scale (nan) must be positive and finite"),
        (lambda: checks.check_not_negative("seq_len", -1), "seq_len (-1) must not be negative"),
    ],
)
def test_what_does_not_is_named_with_its_value_and_the_rule(check: Callable[[], None], message: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 the whole message is compared below
        check()
    assert str(error.value) == message


@pytest.mark.parametrize("value", [5, np.int16(5), torch.tensor(5)])
def test_whole_numbers_of_every_library_become_pythons(value: int) -> None:
    assert type(checks.whole("seq_len", value)) is int
    assert checks.whole("seq_len", value) == 5


@pytest.mark.parametrize("value", [5.0, "5", None])
def test_whole_numbers_are_not_made_from_others(value: int) -> None:
    with pytest.raises(ValueError, match=r"seq_len \(.*\) must be a whole number"):
        checks.whole("seq_len", value)
