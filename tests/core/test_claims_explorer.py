"""The verdicts of the attention explorer, on both sides of every threshold, and what MiniLM says of them."""

import pytest
import torch

from core import models
from core.claims import Verdict
from core.claims.explorer import (
    PRONOUNS,
    Importance,
    Pronoun,
    PronounHead,
    Sense,
    SinkShare,
    TwoSenses,
    importance_verdict,
    measure_importance,
    measure_pronouns,
    measure_senses,
    pronoun_verdict,
    senses_verdict,
    sinks_verdict,
)
from core.models import AnyModel


@pytest.fixture(scope="module")
def minilm() -> AnyModel:
    return models.load_any("minilm")


@pytest.mark.parametrize(
    ("weight", "first", "verdict"),
    [
        (0.85, 8, Verdict.HOLDS),
        (0.8499, 8, Verdict.ONLY_IF),
        (0.4, 5, Verdict.ONLY_IF),
        (0.4, 4, Verdict.DOES_NOT_HOLD),
    ],
)
def test_pronouns(weight: float, first: int, verdict: Verdict) -> None:
    assert pronoun_verdict(PronounHead(8, 1, 2, weight, first, 0.5)) is verdict
    assert pronoun_verdict(None) is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("together", "even", "verdict"),
    [
        (0.51, 0.1, Verdict.DOES_NOT_HOLD),
        (0.5, 0.1, Verdict.ONLY_IF),
        (0.1, 0.1, Verdict.HOLDS),
        (0.11, 0.1, Verdict.ONLY_IF),
    ],
)
def test_sinks(together: float, even: float, verdict: Verdict) -> None:
    assert sinks_verdict(SinkShare(together, even, 0.9)) is verdict


@pytest.mark.parametrize(
    ("within", "across", "verdict"),
    [
        ([0.8, 0.9], [0.7, 0.79], Verdict.HOLDS),
        ([0.8, 0.9], [0.7, 0.8], Verdict.ONLY_IF),
        ([0.7, 0.8], [0.75, 0.76], Verdict.DOES_NOT_HOLD),
    ],
)
def test_senses(within: list[float], across: list[float], verdict: Verdict) -> None:
    """Only the last layer counts."""
    first = torch.tensor([[0.0], [0.0]])
    one, other = (torch.cat([first, torch.tensor(each)[:, None]], dim=1) for each in (within, across))
    assert senses_verdict(TwoSenses(one, other, 0.1, 0.5)) is verdict
    assert senses_verdict(None) is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("correlations", "verdict"),
    [
        ((0.9, 0.9), Verdict.HOLDS),
        ((0.89, 0.9), Verdict.ONLY_IF),
        ((0.3, 0.3), Verdict.ONLY_IF),
        ((0.29, 0.3), Verdict.DOES_NOT_HOLD),
    ],
)
def test_importance(correlations: tuple[float, ...], verdict: Verdict) -> None:
    assert importance_verdict(Importance(correlations, 1)) is verdict
    assert importance_verdict(None) is Verdict.UNDECIDED


def test_no_head_of_minilm_gives_names_what_is_told(minilm: AnyModel) -> None:
    found = measure_pronouns(minilm)
    assert found is not None
    assert found.sentences == len(PRONOUNS)
    assert 0.2 < found.weight < 0.85
    assert found.sinks > 0.25
    assert pronoun_verdict(found) is Verdict.ONLY_IF


def test_sentences_that_cannot_be_used_are_left_out(minilm: AnyModel) -> None:
    assert measure_pronouns(minilm, [Pronoun("", "he", "John"), Pronoun("He ran.", "he", "John")]) is None
    one = measure_pronouns(minilm, [PRONOUNS[0], Pronoun("He ran.", "he", "John")])
    assert one is not None
    assert one.sentences == 1


def test_minilm_tells_the_senses_of_a_word_apart(minilm: AnyModel) -> None:
    found = measure_senses(minilm)
    assert found is not None
    assert (len(found.within), len(found.across)) == (6, 9)
    assert found.within.shape[1] == 7
    assert senses_verdict(found) is Verdict.HOLDS
    assert abs(float(found.within[:, 0].mean() - found.across[:, 0].mean())) < 0.02  # not yet below the first layer
    assert measure_senses(minilm, senses=[Sense(("No such word.",), ("such",))]) is None


def test_with_minilm_attention_and_importance_go_together_as_a_tendency(minilm: AnyModel) -> None:
    found = measure_importance(minilm)
    assert found is not None
    assert len(found.correlations) == 8
    assert importance_verdict(found) is Verdict.ONLY_IF
    assert measure_importance(minilm, [""]) is None
    assert measure_importance(minilm, ["Cat"]) is None
