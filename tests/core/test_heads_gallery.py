"""What heads look at: by hand, on maps whose answer is known, and on a real translation."""

import math
from types import SimpleNamespace

import pytest
import torch

from core.decoding import DecodingTrace, translate
from core.heads_gallery import (
    TARGETS,
    HeadName,
    HeadStats,
    Kind,
    Maps,
    Measure,
    attention_maps,
    filled_bar,
    is_punctuation,
    main_target,
    measure_heads,
    sort_heads,
    strongest_head,
)
from tests.tiny import tiny_marian, tiny_tokenizer

KEYS = ("▁Oui", "▁,", "▁moi", ".")


def maps(*heads: torch.Tensor, keys: tuple[str, ...] = KEYS) -> Maps:
    """One layer with these heads."""
    return Maps(Kind.ENCODER, keys, keys, torch.stack(heads)[None])


def stats_of(weights: torch.Tensor) -> HeadStats:
    return measure_heads(maps(weights))[0]


def test_a_head_that_looks_at_itself() -> None:
    found = stats_of(torch.eye(4))
    assert found == HeadStats(HeadName(Kind.ENCODER, 0, 0), 0, 0, 0, 0, same=1, first=0.25, punctuation=0.5)
    assert main_target(found) == (Measure.SAME, 1)


def test_a_head_that_looks_back() -> None:
    weights = torch.eye(4).roll(-1, dims=1)  # the first query, with nobody before it, looks at the last
    found = stats_of(weights)
    assert (found.previous, found.next, found.same) == (1, 0, 0)
    assert found.distance == (1 + 1 + 1 + 3) / 4
    assert main_target(found) == (Measure.PREVIOUS, 1)


def test_a_head_that_looks_ahead_is_its_mirror_image() -> None:
    weights = torch.eye(4).roll(1, dims=1)
    found = stats_of(weights)
    assert (found.previous, found.next, found.same) == (0, 1, 0)
    assert main_target(found) == (Measure.NEXT, 1)


def test_a_head_that_looks_everywhere_alike() -> None:
    found = stats_of(torch.full((4, 4), 0.25))
    assert found.entropy == pytest.approx(2)
    assert found.distance == pytest.approx((6 + 4 + 4 + 6) / 16)
    assert [getattr(found, target) for target in TARGETS] == pytest.approx([0.25, 0.25, 0.25, 0.25, 0.5])


def test_numbers_by_hand() -> None:
    weights = torch.tensor([[0.5, 0.5, 0, 0], [0.2, 0.3, 0.5, 0], [0, 0, 1, 0], [0.1, 0.2, 0.3, 0.4]])
    found = stats_of(weights)
    rows = [math.log2(2), -sum(p * math.log2(p) for p in (0.2, 0.3, 0.5)), 0, None]
    rows[3] = -sum(p * math.log2(p) for p in (0.1, 0.2, 0.3, 0.4))
    assert found.entropy == pytest.approx(sum(rows) / 4, rel=1e-6)
    assert found.distance == pytest.approx((0.5 + 0.2 + 0.5 + 0 + 0.3 + 0.4 + 0.3) / 4)
    assert found.previous == pytest.approx((0.2 + 0 + 0.3) / 3)
    assert found.next == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert found.same == pytest.approx((0.5 + 0.3 + 1 + 0.4) / 4)
    assert found.first == pytest.approx((0.5 + 0.2 + 0 + 0.1) / 4)
    assert found.punctuation == pytest.approx((0.5 + 0.3 + 0 + 0.6) / 4)


def test_more_queries_than_keys() -> None:
    """Cross-attention: only the first two queries have a key at their place, only the second and third one before."""
    weights = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    (found,) = measure_heads(Maps(Kind.CROSS, ("a", "b", "c"), ("x", "y"), weights[None, None]))
    assert (found.same, found.previous, found.next) == (0.5, 1, 0)


def test_a_single_token_has_no_neighbours() -> None:
    (found,) = measure_heads(maps(torch.ones(1, 1), keys=("▁Oui",)))
    assert (found.previous, found.next, found.same, found.entropy) == (0, 0, 1, 0)


def test_every_head_is_measured_in_its_place() -> None:
    generator = torch.Generator().manual_seed(0)
    weights = torch.rand(2, 3, 5, 5, generator=generator).softmax(dim=-1)
    tokens = tuple("ab,cd")
    found = measure_heads(Maps(Kind.ENCODER, tokens, tokens, weights))
    assert [each.name for each in found] == [HeadName(Kind.ENCODER, i, j) for i in range(2) for j in range(3)]
    assert found[4].same == pytest.approx(float(weights[1, 1].diagonal().mean()))


@pytest.mark.parametrize(
    ("token", "mark"),
    [("▁,", True), ("...", True), ("¿", True), ("。", True), ("▁", False), ("", False), ("t'", False), ("</s>", False)],
)
def test_punctuation(token: str, mark: bool) -> None:
    assert is_punctuation(token) is mark


@pytest.mark.parametrize(("seq_k", "entropy", "distance"), [(1, 1, 0.5), (2, 1, 0.5), (8, 3, 3.5)])
def test_what_fills_a_bar(seq_k: int, entropy: float, distance: float) -> None:
    assert filled_bar(Measure.ENTROPY, seq_k) == entropy
    assert filled_bar(Measure.DISTANCE, seq_k) == distance
    assert {filled_bar(target, seq_k) for target in TARGETS} == {1.0}


@pytest.mark.parametrize("measure", list(Measure))
def test_heads_are_sorted_by_any_measure(measure: Measure) -> None:
    generator = torch.Generator().manual_seed(0)
    found = measure_heads(maps(*(3 * torch.rand(6, 4, 4, generator=generator)).softmax(dim=-1)))
    down, up = sort_heads(found, measure), sort_heads(found, measure, largest_first=False)
    values = [getattr(each, measure) for each in down]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 6
    assert up == down[::-1]
    assert sort_heads(found[:1] * 2, measure) == found[:1] * 2


# ------------------------------------------------------------------------------------------------ a translation


@pytest.fixture(scope="module")
def trace() -> DecodingTrace:
    model = SimpleNamespace(network=tiny_marian(), tokenizer=tiny_tokenizer())
    return translate(model, "Le chat noir dort.")


def test_a_translation_has_three_kinds_of_maps(trace: DecodingTrace) -> None:
    encoder, decoder, cross = attention_maps(trace)
    assert [each.kind for each in (encoder, decoder, cross)] == list(Kind)
    assert encoder.queries == encoder.keys == cross.keys == trace.source_tokens
    assert decoder.queries == decoder.keys == cross.queries == ("<pad>", *trace.tokens[:-1])
    for each, layers in ((encoder, 2), (decoder, 3), (cross, 3)):
        assert each.weights.shape == (layers, 3, len(each.queries), len(each.keys))
        torch.testing.assert_close(each.weights.sum(dim=-1), torch.ones(each.weights.shape[:-1]))
    assert not any(each.next for each in measure_heads(decoder))  # the mask forbids it


def test_an_empty_translation_has_none() -> None:
    model = SimpleNamespace(network=tiny_marian(), tokenizer=tiny_tokenizer())
    assert attention_maps(translate(model, " ")) == ()


def test_the_head_that_looks_most_from_here_to_there() -> None:
    weights = torch.zeros(2, 3, 4, 5)  # layers, heads, queries, keys
    weights[0, 2, 3, 1] = 0.5
    weights[1, 0, 3, 1] = 0.75
    weights[1, 2, 1, 3] = 1.0
    found = Maps(Kind.CROSS, ("a",) * 4, ("b",) * 5, weights)
    assert strongest_head(found, 3, 1) == (HeadName(Kind.CROSS, 1, 0), 0.75)
    assert strongest_head(found, 1, 3) == (HeadName(Kind.CROSS, 1, 2), 1.0)
    with pytest.raises(IndexError):
        strongest_head(found, 4, 0)
