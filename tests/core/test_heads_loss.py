"""The loss against transformers' own, sentence by sentence; the ranking of heads; and the bundled model's."""

import math
from typing import Any

import pytest
import torch

from core import heads_loss
from core.heads_gallery import HeadName, Kind
from core.heads_loss import HeadCosts, loss_batches, mean_loss, rank_heads
from core.heads_off import all_heads, switch_off
from core.models import TranslationModel, load
from core.models.facts import read_facts
from core.quality import MeasurementCancelledError, Pair, read_pairs
from tests.tiny import SENTENCES, tiny_marian, tiny_t5, tiny_tokenizer

PAIRS = [Pair(source, reference) for source, reference in zip(SENTENCES[:14:2], SENTENCES[1:14:2], strict=True)]


@pytest.fixture(scope="module", params=[tiny_marian, tiny_t5])
def model(request: pytest.FixtureRequest) -> TranslationModel:
    network, tokenizer = request.param(), tiny_tokenizer()
    return TranslationModel("tiny", network, tokenizer, read_facts(network, tokenizer), ())


@pytest.mark.parametrize("batch", [1, 3, 25])
def test_the_loss_is_that_of_transformers_without_padding(model: TranslationModel, batch: int) -> None:
    total, tokens = 0.0, 0
    for pair in PAIRS:
        source, labels = (model.tokenizer(t, return_tensors="pt").input_ids for t in (pair.source, pair.reference))
        with torch.inference_mode():
            total += float(model.network(input_ids=source, labels=labels).loss) * labels.shape[1]
        tokens += labels.shape[1]
    batches = loss_batches(model, PAIRS, batch=batch)
    assert sum(each.tokens for each in batches) == tokens
    assert sum(len(each.labels) for each in batches) == len(PAIRS)
    assert max(len(each.labels) for each in batches) == min(batch, len(PAIRS))
    assert mean_loss(model, batches) == pytest.approx(total / tokens, rel=1e-5)


def test_heads_are_ranked_by_what_they_cost(model: TranslationModel) -> None:
    told: list[tuple[int, int]] = []
    found = rank_heads(model, PAIRS, on_progress=lambda done, total: told.append((done, total)))
    batches = loss_batches(model, PAIRS)
    assert found.loss == mean_loss(model, batches)
    assert found.pairs == 7
    assert {each.name for each in found.heads} == set(all_heads(model))
    costs = [each.cost for each in found.heads]
    assert costs == sorted(costs, reverse=True)
    for each in (found.heads[0], found.heads[-1]):
        assert each.loss == mean_loss(switch_off(model, [each.name]), batches)
        assert each.cost == each.loss - found.loss
    total = len(all_heads(model)) + 1
    assert told == [(done, total) for done in range(1, total + 1)]


def test_a_ranking_can_be_stopped(model: TranslationModel, monkeypatch: pytest.MonkeyPatch) -> None:
    losses: list[Any] = []

    def counted(*given: Any) -> float:
        losses.append(given)
        return 1.0

    monkeypatch.setattr(heads_loss, "mean_loss", counted)
    total = len(all_heads(model)) + 1
    with pytest.raises(MeasurementCancelledError, match=f"cancelled after 2 of {total} losses"):
        rank_heads(model, PAIRS, cancelled=lambda: len(losses) == 2)
    assert len(losses) == 2


def test_there_must_be_pairs(model: TranslationModel) -> None:
    with pytest.raises(ValueError, match="pairs must hold at least one sentence pair"):
        rank_heads(model, [])
    with pytest.raises(ValueError, match=r"batch \(0\) must be at least 1"):
        loss_batches(model, PAIRS, batch=0)
    with pytest.raises(ValueError, match="batches must hold at least one batch"):
        mean_loss(model, [])


def test_the_bundled_model_needs_its_cross_attention() -> None:
    model = load("atlas-fr-en")
    batches = loss_batches(model, read_pairs()[:20])
    without = {
        kind: mean_loss(switch_off(model, [name for name in all_heads(model) if name.kind is kind]), batches)
        for kind in Kind
    }
    assert mean_loss(model, batches) < min(without.values())
    assert max(without, key=lambda kind: without[kind]) is Kind.CROSS
    assert without[Kind.CROSS] < math.log(model.facts.vocab_size)


def test_a_result_is_plain_data() -> None:
    found = HeadCosts(1, 2, 0.5, (heads_loss.HeadCost(HeadName(Kind.CROSS, 0, 1), 0.75, 0.25),))
    assert found == HeadCosts(1, 2, 0.5, found.heads)
