"""Settings as plain values."""

import math
from dataclasses import dataclass

import pytest

from core.labs.settings import plain


@dataclass(frozen=True)
class Chosen:
    kinds: tuple[str, ...] = ("causal", "open")
    rate: float = 0.5


def test_tuples_are_lists() -> None:
    assert plain(Chosen()) == {"kinds": ["causal", "open"], "rate": 0.5}


def test_what_is_no_dataclass() -> None:
    with pytest.raises(TypeError, match="dataclass"):
        plain({"rate": 0.5})


def test_what_json_does_not_know() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        plain(Chosen(kinds=(object(),)))  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [math.nan, math.inf])
def test_what_is_no_number(rate: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        plain(Chosen(rate=rate))
