"""The probabilities that are drawn from, against the logits processors of transformers."""

import itertools
from types import SimpleNamespace

import pytest
import torch
from transformers import LogitsProcessorList, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from core.decoding import Sampling, translate
from core.decoding.sampling import draw, warp
from tests.tiny import tiny_marian, tiny_tokenizer


def scores(seed: int = 0, vocab_size: int = 101) -> torch.Tensor:
    return (3 * torch.randn(vocab_size, generator=torch.Generator().manual_seed(seed))).log_softmax(-1)


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    list(itertools.product([0.1, 0.7, 1.0, 2.5], [0, 1, 7, 100, 1000], [1e-6, 0.3, 0.9, 0.999, 1.0])),
)
def test_as_transformers_does(temperature: float, top_k: int, top_p: float) -> None:
    processors = LogitsProcessorList([TemperatureLogitsWarper(temperature)])
    if top_k:
        processors.append(TopKLogitsWarper(top_k))
    if top_p < 1:
        processors.append(TopPLogitsWarper(top_p))
    for seed in range(10):
        log_probs = scores(seed)
        expected = processors(torch.zeros(1, 1, dtype=torch.long), log_probs[None])[0].softmax(-1)
        ours = warp(log_probs, Sampling(temperature, top_k, top_p))
        assert torch.equal(ours == 0, expected == 0)
        torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-7)


def test_by_hand() -> None:
    log_probs = torch.tensor([0.5, 0.2, 0.2, 0.1]).log()
    for sampling, expected in [
        (Sampling(), [0.5, 0.2, 0.2, 0.1]),
        (Sampling(temperature=0.5), [25 / 34, 4 / 34, 4 / 34, 1 / 34]),
        (Sampling(top_k=1), [1.0, 0, 0, 0]),
        (Sampling(top_k=2), [5 / 9, 2 / 9, 2 / 9, 0]),  # the two in the second place are equal: both stay
        (Sampling(top_p=0.6), [5 / 7, 2 / 7, 0, 0]),  # 0.5 is not enough; with one more it is
        (Sampling(top_p=0.4), [1.0, 0, 0, 0]),
        (Sampling(top_k=3, top_p=0.95), [5 / 9, 2 / 9, 2 / 9, 0]),
    ]:
        torch.testing.assert_close(warp(log_probs, sampling), torch.tensor(expected))


def test_what_is_forbidden_stays_forbidden() -> None:
    log_probs = torch.tensor([-torch.inf, -1.0, -torch.inf, -2.0])
    for sampling in (Sampling(), Sampling(2.0, 3, 0.99), Sampling(top_k=4), Sampling(top_p=0.1)):
        assert warp(log_probs, sampling)[[0, 2]].tolist() == [0, 0]


def test_the_input_is_left_alone() -> None:
    log_probs = scores()
    before = log_probs.clone()
    warp(log_probs, Sampling(1.0, 3, 0.5))
    assert torch.equal(log_probs, before)


def test_draws_follow_the_probabilities() -> None:
    log_probs, sampling, generator = scores(vocab_size=7), Sampling(1.4, 5, 0.9), torch.Generator().manual_seed(0)
    drawn = torch.tensor([draw(log_probs, sampling, generator) for _ in range(5000)]).bincount(minlength=7) / 5000
    probabilities = warp(log_probs, sampling)
    error = (probabilities * (1 - probabilities) / 5000).sqrt()
    assert ((drawn - probabilities).abs() <= 4 * error).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"temperature": 0.0}, r"temperature \(0.0\) must be a finite number above 0"),
        ({"temperature": float("inf")}, r"temperature \(inf\) must be a finite number above 0"),
        ({"temperature": float("nan")}, r"temperature \(nan\) must be a finite number above 0"),
        ({"top_k": -1}, r"top_k \(-1\) must be 0 \(all tokens\) or more"),
        ({"top_p": 0.0}, r"top_p \(0.0\) must be above 0 and at most 1"),
        ({"top_p": 1.01}, r"top_p \(1.01\) must be above 0 and at most 1"),
    ],
)
def test_bad_settings(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sampling(**arguments)


def test_a_trace_says_what_each_token_was_drawn_with() -> None:
    model = SimpleNamespace(network=tiny_marian().eval(), tokenizer=tiny_tokenizer())
    sampling = Sampling(temperature=0.7, top_k=5)
    drawn = translate(model, "le chat dort", sampling=sampling, generator=torch.Generator().manual_seed(3))
    for step in drawn.steps:
        shares = [candidate.drawn for candidate in step.candidates if candidate.drawn]
        assert len(shares) == 5
        assert sum(shares) == pytest.approx(1, abs=1e-5)
        best, second = step.candidates[:2]
        assert best.drawn is not None
        assert second.drawn is not None
        ratio = (best.probability / second.probability) ** (1 / sampling.temperature)
        assert best.drawn / second.drawn == pytest.approx(ratio, rel=1e-3)
        assert step.chosen.drawn
    greedy = translate(model, "le chat dort")
    assert {candidate.drawn for step in greedy.steps for candidate in step.candidates} == {None}
