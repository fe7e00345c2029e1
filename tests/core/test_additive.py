"""Additive attention and Luong's forms against NumPy lines, the lesson's own program, and each other."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from core import additive
from core.additive import Agreement, Form, Weights, align, printed_scores, scores

SEQ, ENCODER, DECODER, ATTENTION = 7, 3, 5, 11


def parts(encoder: int = ENCODER) -> tuple[Tensor, Tensor, Weights]:
    generator = torch.Generator().manual_seed(0)
    weights = additive.random_weights(
        encoder_dim=encoder, decoder_dim=DECODER, attention_dim=ATTENTION, generator=generator
    )
    state = torch.randn(DECODER, generator=generator, dtype=torch.float64)
    return state, torch.randn(SEQ, encoder, generator=generator, dtype=torch.float64), weights


def test_each_form_in_numpy() -> None:
    state, encoder_states, weights = parts(encoder=DECODER)
    s, h = state.numpy(), encoder_states.numpy()
    w_s, w_h, v, w = (tensor.numpy() for tensor in (weights.w_s, weights.w_h, weights.v, weights.w_general))
    both = np.hstack((w_s, w_h))
    expected = {
        Form.ADDITIVE: np.tanh(w_s @ s + h @ w_h.T) @ v,
        Form.DOT: h @ s,
        Form.GENERAL: h @ (w.T @ s),
        Form.CONCAT: np.array([v @ np.tanh(both @ np.concatenate((s, h_i))) for h_i in h]),
    }
    for form, numbers in expected.items():
        np.testing.assert_allclose(scores(form, state, encoder_states, weights), numbers, atol=1e-12)
    np.testing.assert_allclose(printed_scores(encoder_states, weights.w_h, weights.v), np.tanh(h @ w_h.T) @ v)


def test_a_case_by_hand() -> None:
    one = torch.tensor([[1.0]])
    found = additive.additive_scores(
        torch.tensor([0.5]), torch.tensor([[0.0], [-0.5]]), 2 * one, 2 * one, torch.tensor([3.0])
    )
    assert found.tolist() == pytest.approx([3 * np.tanh(1.0), 0.0])
    found = align(torch.tensor([math.log(3.0), 0.0]), torch.tensor([[4.0, 0.0], [0.0, 8.0]]))
    assert found.weights.tolist() == pytest.approx([0.75, 0.25])
    assert found.context.tolist() == pytest.approx([3.0, 2.0])


@pytest.mark.parametrize("form", [Form.ADDITIVE, Form.GENERAL, Form.CONCAT])
def test_many_states_at_once_are_as_one_after_the_other(form: Form) -> None:
    _, encoder_states, weights = parts()
    many = torch.randn(2, 4, DECODER, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    found = scores(form, many, encoder_states, weights)  # (2, 4, SEQ)
    alone = torch.stack([scores(form, state, encoder_states, weights) for state in many.reshape(-1, DECODER)])
    torch.testing.assert_close(found.reshape(-1, SEQ), alone, atol=1e-12, rtol=0)


def test_concat_is_additive_with_one_matrix() -> None:
    state, encoder_states, weights = parts()
    concat = scores(Form.CONCAT, state, encoder_states, weights)
    torch.testing.assert_close(concat, scores(Form.ADDITIVE, state, encoder_states, weights), atol=1e-12, rtol=0)


def test_without_a_state_additive_is_the_printed_form() -> None:
    _, encoder_states, weights = parts()
    zero = scores(Form.ADDITIVE, torch.zeros(DECODER, dtype=torch.float64), encoder_states, weights)
    torch.testing.assert_close(zero, printed_scores(encoder_states, weights.w_h, weights.v))


def test_a_straight_tanh_lets_softmax_cancel_the_state() -> None:
    state, encoder_states, weights = parts()
    moved = []
    for factor in (1e-3, 1.0):
        small = weights.scaled(factor)
        now = align(scores(Form.ADDITIVE, state, encoder_states, small), encoder_states).weights
        before = align(printed_scores(encoder_states, small.w_h, small.v), encoder_states).weights
        moved.append(float((now - before).abs().max()))
    assert moved[0] < 1e-7
    assert moved[1] > 1e-2


def test_dot_needs_states_of_one_size() -> None:
    state, encoder_states, weights = parts()
    with pytest.raises(ValueError, match=r"decoder_dim \(5\) must equal encoder_dim \(3\) for dot"):
        scores(Form.DOT, state, encoder_states, weights)


def test_the_lesson_is_the_lessons_program() -> None:
    """Its class and its run, as printed there, without the global seed."""
    numbers = np.random.RandomState(42)
    encoder_states, state = numbers.randn(12, 8), numbers.randn(8)
    w_a, v_a = numbers.randn(8, 8) * 0.1, numbers.randn(8) * 0.1
    printed = np.zeros(12)
    for i in range(12):
        printed[i] = v_a @ np.tanh(w_a.T @ encoder_states[i])
    exponentials = np.exp(printed - np.max(printed))
    weights = exponentials / exponentials.sum()

    lesson = additive.lesson()
    ours = lesson.weights.scaled(additive.LESSON_SCALE)
    found = align(printed_scores(lesson.encoder_states, ours.w_h, ours.v), lesson.encoder_states)
    np.testing.assert_allclose(lesson.state, state)
    np.testing.assert_allclose(found.weights, weights, atol=1e-12)
    np.testing.assert_allclose(found.context, weights @ encoder_states, atol=1e-12)


def test_the_lesson_leaves_the_global_generators_alone() -> None:
    np.random.seed(3)
    before = np.random.get_state()[1].tolist()
    additive.lesson()
    assert np.random.get_state()[1].tolist() == before


def test_agreement_counts_top_places_and_compares_orders() -> None:
    one = torch.tensor([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]])
    assert additive.agreement(one, 10 * one) == Agreement(1.0, 1.0)
    assert additive.agreement(one, -one) == Agreement(0.0, -1.0)
    half = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])  # the second row's ranks: 2 0 1 against 0 1 2
    assert additive.agreement(one, half) == Agreement(0.5, pytest.approx((1 - 0.5) / 2))


@pytest.mark.parametrize(("one", "other"), [((2, 3), (2, 4)), ((3,), (3,)), ((2, 1), (2, 1))])
def test_agreement_needs_two_places_of_both(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"must both be \(num_states, seq_k\), seq_k at least 2"):
        additive.agreement(torch.zeros(one), torch.zeros(other))


def test_the_largest_move_is_between_any_two_states() -> None:
    assert additive.largest_move(torch.tensor([[0.5, 0.5], [0.2, 0.8], [0.9, 0.1]])) == pytest.approx(0.7)
    assert additive.largest_move(torch.tensor([[0.3, 0.7]]).expand(5, 2)) == 0.0
