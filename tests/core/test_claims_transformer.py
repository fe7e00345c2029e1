"""The verdicts of the page on the whole Transformer, on both sides of every threshold."""

import pytest

from core.batch_reading import PaddedRows
from core.claims import Verdict
from core.claims.transformer import (
    Additions,
    Likeness,
    bounds_verdict,
    important_verdict,
    little_verdict,
    mostly_attention_verdict,
    padded_rows_verdict,
    positions_verdict,
    quadratic_verdict,
    tying_verdict,
    vanishing_verdict,
)

HOLDS, ONLY_IF, NOT, UNDECIDED = Verdict.HOLDS, Verdict.ONLY_IF, Verdict.DOES_NOT_HOLD, Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("shares", "verdict"), [((0.51, 0.6), HOLDS), ((0.5, 0.51), ONLY_IF), ((0.51, 0.5), ONLY_IF), ((0.5, 0.3), NOT)]
)
def test_mostly_attention(shares: tuple[float, float], verdict: Verdict) -> None:
    assert mostly_attention_verdict(shares) is verdict


def test_quadratic() -> None:
    assert quadratic_verdict(100, 100.0) is HOLDS
    assert quadratic_verdict(100, 100.1) is ONLY_IF


@pytest.mark.parametrize(
    ("encoder", "decoder", "verdict"),
    [(3.0, 3.0, HOLDS), (2.9, 3.0, ONLY_IF), (3.0, 2.9, ONLY_IF), (2.9, 2.9, NOT), (0.1, 1, NOT)],
)
def test_vanishing(encoder: float, decoder: float, verdict: Verdict) -> None:
    assert vanishing_verdict({"encoder": encoder, "decoder": decoder}) is verdict


@pytest.mark.parametrize(
    ("post", "pre", "verdict"), [(1, 1.5, HOLDS), (0.7, 1.6, ONLY_IF), (0.6, 1.6, NOT), (1.6, 0.6, NOT)]
)
def test_bounds(post: float, pre: float, verdict: Verdict) -> None:
    assert bounds_verdict({"post": post, "pre": pre}) is verdict


def test_tying() -> None:
    assert tying_verdict(0.1) is HOLDS
    assert tying_verdict(0.099) is ONLY_IF


def test_positions() -> None:
    knows, not_yet = Likeness(0.9, 0.5), Likeness(0.02, 0.0)
    barely, hardly = Likeness(0.6, 0.5), Likeness(0.59, 0.5)
    assert positions_verdict(knows, not_yet, knows) is HOLDS
    assert positions_verdict(knows, not_yet, Likeness(0.625, 0.5)) is HOLDS
    assert positions_verdict(knows, not_yet, hardly) is NOT
    assert positions_verdict(hardly, not_yet, knows) is NOT
    assert positions_verdict(knows, knows, knows) is NOT
    assert positions_verdict(knows, not_yet, None) is UNDECIDED
    assert barely.knows_distance == pytest.approx(0.1)


def test_little() -> None:
    assert little_verdict(Additions((0.1, 0.5))) is HOLDS
    assert little_verdict(Additions((0.1, 0.51))) is ONLY_IF
    assert little_verdict(Additions((0.6, 0.51))) is NOT
    found = Additions((0.6, 0.2, 1.4))
    assert (found.smallest, found.largest, found.little) == (0.2, 1.4, 1)


@pytest.mark.parametrize(
    ("correlations", "verdict"),
    [((), UNDECIDED), ((0.7,), HOLDS), ((0.1, 0.69, 0.9), ONLY_IF), ((0.3,), ONLY_IF), ((0.29, -0.5, 0.9), NOT)],
)
def test_important(correlations: tuple[float, ...], verdict: Verdict) -> None:
    assert important_verdict(correlations) is verdict


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        (PaddedRows(0, 0, 0, 0), UNDECIDED),
        (PaddedRows(3, 0, 3, 3), ONLY_IF),
        (PaddedRows(3, 0, 3, 0), HOLDS),
        (PaddedRows(3, 1, 3, 3), NOT),
    ],
)
def test_padded_rows(rows: PaddedRows, verdict: Verdict) -> None:
    assert padded_rows_verdict(rows) is verdict
