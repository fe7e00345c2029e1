"""Gradients over distance against torch's own Jacobian, by hand, and where they must be zero."""

import math

import pytest
import torch

from core import long_range
from core.long_range import gradient_sizes, gradient_study, inputs, kept, new_layer, run, through_open_gates
from core.recurrence import RECURRENT, Layer

LENGTH, DIM = 7, 5
WORDS = ("the", "cat", "the")


def made(layer: Layer, **settings: float) -> torch.nn.Module:
    return new_layer(layer, DIM, generator=torch.Generator().manual_seed(0), **settings)


@pytest.mark.parametrize("layer", Layer)
def test_one_backward_pass_gives_the_norms_of_the_jacobian(layer: Layer) -> None:
    x, module = inputs(WORDS, length=LENGTH, dim=DIM, seed=3), made(layer)
    jacobian = torch.autograd.functional.jacobian(lambda x: run(module, x[None])[0, -1], x)  # (DIM, LENGTH, DIM)
    expected = jacobian.square().sum(dim=(0, 2)).sqrt().flip(0)
    torch.testing.assert_close(gradient_sizes(module, x), expected, atol=1e-6, rtol=1e-4)


def test_an_rnn_by_hand() -> None:
    rnn = torch.nn.RNN(1, 1, batch_first=True)
    with torch.no_grad():
        for parameter, value in zip(rnn.parameters(), (2.0, 0.5, 0.0, 0.0), strict=True):
            parameter.fill_(value)
    sizes = gradient_sizes(rnn, torch.zeros(3, 1))  # at zero, tanh is straight: 2 · 0.5 ** distance
    assert sizes.tolist() == pytest.approx([2.0, 1.0, 0.5])


@pytest.mark.parametrize("layer", RECURRENT)
def test_layers_start_as_torchs_do(layer: Layer) -> None:
    bound = 1 / math.sqrt(DIM)
    for parameter in made(layer).state_dict().values():
        assert float(parameter.abs().max()) <= bound
        assert float(parameter.std()) == pytest.approx(bound / math.sqrt(3), rel=0.45)


def test_the_gate_bias_opens_what_keeps_the_old_state() -> None:
    plain, opened = dict(made(Layer.LSTM).named_parameters()), dict(made(Layer.LSTM, gate_bias=2).named_parameters())
    difference = (opened["bias_ih_l0"] - plain["bias_ih_l0"]).reshape(4, DIM)
    torch.testing.assert_close(difference, torch.tensor([0.0, 2, 0, 0])[:, None].expand(4, DIM))
    for layer in (Layer.LSTM, Layer.GRU):
        open_wide = made(layer, gate_bias=50)  # the state then goes through unchanged
        x = inputs(WORDS, length=LENGTH, dim=DIM, seed=0)
        states = run(open_wide, x[None])[0].detach()
        assert float(states.abs().max()) < (1e-6 if layer is Layer.GRU else 10)
    assert all(
        torch.equal(one, other)
        for one, other in zip(made(Layer.RNN).parameters(), made(Layer.RNN, gate_bias=9).parameters(), strict=True)
    )


def test_the_recurrent_scale_touches_the_state_weights_only() -> None:
    plain, scaled = (dict(made(Layer.GRU, recurrent_scale=scale).named_parameters()) for scale in (1, 3))
    torch.testing.assert_close(scaled["weight_hh_l0"], 3 * plain["weight_hh_l0"])
    assert all(torch.equal(scaled[name], plain[name]) for name in ("weight_ih_l0", "bias_ih_l0", "bias_hh_l0"))


def test_the_words_stand_at_the_end_and_equal_words_are_equal() -> None:
    x = inputs(WORDS, length=LENGTH, dim=DIM, seed=0)
    assert x.shape == (LENGTH, DIM)
    assert torch.equal(x[-1], x[-3])
    assert not torch.equal(x[-1], x[-2])
    longer = inputs(("a", *WORDS), length=LENGTH, dim=DIM, seed=0)
    assert torch.equal(longer[-3:], x[-3:])
    assert inputs(("a",) * 9, length=LENGTH, dim=DIM, seed=0).shape == (LENGTH, DIM)


def test_a_study_measures_every_layer_with_every_seed() -> None:
    found = gradient_study(WORDS, length=LENGTH, dim=DIM, seeds=(0, 1, 2))
    assert list(found) == [*RECURRENT, Layer.ATTENTION]
    assert all(sizes.shape == (3, LENGTH) for sizes in found.values())
    again = gradient_study(WORDS, length=LENGTH, dim=DIM, seeds=(1,), layers=(Layer.GRU,))
    assert torch.equal(again[Layer.GRU][0], found[Layer.GRU][1])
    assert not torch.equal(found[Layer.GRU][0], found[Layer.GRU][1])


def test_recurrence_fades_open_gates_keep_and_attention_does_not_care() -> None:
    plain = gradient_study(WORDS, length=48, dim=16, seeds=(0, 1, 2))
    opened = gradient_study(WORDS, length=48, dim=16, seeds=(0, 1, 2), gate_bias=3, layers=(Layer.LSTM, Layer.GRU))
    assert kept(plain[Layer.RNN]) < kept(plain[Layer.LSTM]) < 1e-2
    assert kept(opened[Layer.LSTM]) > 0.1
    assert 1 / 3 < kept(plain[Layer.ATTENTION]) < 3


def test_a_study_needs_a_distance_and_a_seed() -> None:
    with pytest.raises(ValueError, match=r"length \(1\) must be at least 2"):
        gradient_study(WORDS, length=1, dim=DIM, seeds=(0,))
    with pytest.raises(ValueError, match="seeds must hold at least one seed"):
        gradient_study(WORDS, length=4, dim=DIM, seeds=())


def test_what_is_kept_by_hand() -> None:
    sizes = torch.tensor([[9.0, 4.0, 2.0, 1.0, 0.5], [9.0, 4.0, 2.0, 1.0, 0.5], [0.0, 99.0, 0.0, 0.0, 0.0]])
    assert kept(sizes) == pytest.approx((1.0 + 0.5) / (4.0 + 2.0))  # distance 0 and the odd seed out count for nothing


def test_open_gates_by_hand() -> None:
    assert through_open_gates(0.0, 3) == pytest.approx(0.125)
    assert through_open_gates(100.0, 47) == pytest.approx(1.0)


def test_all_randomness_comes_from_the_generator() -> None:
    one, other = (made(Layer.ATTENTION), made(Layer.ATTENTION))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert long_range.RECURRENT == RECURRENT
