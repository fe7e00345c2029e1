"""Recurrent cells against torch's layers and a NumPy line; paths through layers by hand and for every pair."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from core.recurrence import (
    RECURRENT,
    Cell,
    Layer,
    Node,
    bidirectional_states,
    edges,
    gru_step,
    lstm_step,
    moves,
    path,
    random_cell,
    rnn_step,
    sequential_steps,
    states,
)

SEQ, INPUT, HIDDEN = 7, 5, 3


def cell_and_inputs(layer: Layer) -> tuple[Cell, Tensor]:
    generator = torch.Generator().manual_seed(0)
    cell = random_cell(layer, input_dim=INPUT, hidden_dim=HIDDEN, generator=generator)
    return cell, torch.randn(SEQ, INPUT, generator=generator, dtype=torch.float64)


def torchs(cell: Cell) -> nn.Module:
    kind = {Layer.RNN: nn.RNN, Layer.LSTM: nn.LSTM, Layer.GRU: nn.GRU}[cell.layer]
    module = kind(INPUT, HIDDEN, dtype=torch.float64)
    names = {"weight_ih_l0": cell.w_x, "weight_hh_l0": cell.w_h, "bias_ih_l0": cell.bias_x, "bias_hh_l0": cell.bias_h}
    module.load_state_dict(names)
    return module


@pytest.mark.parametrize("layer", RECURRENT)
def test_states_are_those_of_torchs_layer(layer: Layer) -> None:
    cell, x = cell_and_inputs(layer)
    torch.testing.assert_close(states(cell, x), torchs(cell)(x)[0], atol=1e-12, rtol=0)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def numpys(cell: Cell) -> tuple[np.ndarray, ...]:
    return cell.w_x.numpy(), cell.w_h.numpy(), cell.bias_x.numpy(), cell.bias_h.numpy()


def test_an_rnn_step_in_numpy() -> None:
    cell, x = cell_and_inputs(Layer.RNN)
    w_x, w_h, b_x, b_h = numpys(cell)
    h = x[1, :HIDDEN].numpy()
    expected = np.tanh(w_x @ x[0].numpy() + b_x + w_h @ h + b_h)
    np.testing.assert_allclose(rnn_step(cell, x[0], x[1, :HIDDEN]), expected, atol=1e-14)


def test_an_lstm_step_in_numpy() -> None:
    cell, x = cell_and_inputs(Layer.LSTM)
    w_x, w_h, b_x, b_h = numpys(cell)
    h, c = x[1, :HIDDEN].numpy(), x[2, :HIDDEN].numpy()
    i, f, g, o = np.split(w_x @ x[0].numpy() + b_x + w_h @ h + b_h, 4)
    cell_state = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    new_h, new_c = lstm_step(cell, x[0], x[1, :HIDDEN], x[2, :HIDDEN])
    np.testing.assert_allclose(new_c, cell_state, atol=1e-14)
    np.testing.assert_allclose(new_h, sigmoid(o) * np.tanh(cell_state), atol=1e-14)


def test_a_gru_step_in_numpy() -> None:
    cell, x = cell_and_inputs(Layer.GRU)
    w_x, w_h, b_x, b_h = numpys(cell)
    h = x[1, :HIDDEN].numpy()
    (r_x, z_x, n_x), (r_h, z_h, n_h) = np.split(w_x @ x[0].numpy() + b_x, 3), np.split(w_h @ h + b_h, 3)
    z = sigmoid(z_x + z_h)
    expected = z * h + (1 - z) * np.tanh(n_x + sigmoid(r_x + r_h) * n_h)
    np.testing.assert_allclose(gru_step(cell, x[0], x[1, :HIDDEN]), expected, atol=1e-14)


def test_a_step_by_hand() -> None:
    cell = Cell(Layer.RNN, torch.tensor([[2.0]]), torch.tensor([[0.5]]), torch.tensor([1.0]), torch.tensor([-1.0]))
    assert rnn_step(cell, torch.tensor([0.25]), torch.tensor([1.0])).item() == pytest.approx(np.tanh(1.0))


@pytest.mark.parametrize("layer", RECURRENT)
def test_a_later_word_changes_no_earlier_state(layer: Layer) -> None:
    cell, x = cell_and_inputs(layer)
    other = x.clone()
    other[4] += 1
    assert torch.equal(states(cell, x)[:4], states(cell, other)[:4])
    assert (states(cell, x)[4:] != states(cell, other)[4:]).all()


def test_in_both_directions_every_state_knows_every_word() -> None:
    forwards, x = cell_and_inputs(Layer.GRU)
    found = bidirectional_states(forwards, forwards, x)
    assert found.shape == (SEQ, 2 * HIDDEN)
    torch.testing.assert_close(found[:, :HIDDEN], states(forwards, x))
    torch.testing.assert_close(found[:, HIDDEN:], states(forwards, x.flip(0)).flip(0))
    other = x.clone()
    other[3] += 1
    assert (bidirectional_states(forwards, forwards, other) != found).any(dim=1).all()


def test_no_words_give_no_states() -> None:
    cell, x = cell_and_inputs(Layer.LSTM)
    assert states(cell, x[:0]).shape == (0, HIDDEN)


def test_attention_is_no_cell() -> None:
    with pytest.raises(ValueError, match=r"layer \(attention\) must be one of RNN, LSTM, GRU"):
        random_cell(Layer.ATTENTION, input_dim=2, hidden_dim=2, generator=torch.Generator())


# ---------------------------------------------------------------------------------------------------------------- paths


def test_a_way_by_hand() -> None:
    way = path(edges(Layer.RNN, 4), 1, 3)
    assert way == (
        (Node(1, 0), Node(1, 2)),
        (Node(1, 2), Node(2, 3)),
        (Node(2, 3), Node(3, 4)),
    )
    assert moves(way) == 2
    assert path(edges(Layer.ATTENTION, 4), 1, 3) == ((Node(1, 0), Node(3, 1)),)


@given(st.integers(1, 9), st.data())
def test_attention_needs_one_move_and_recurrence_the_distance(seq_len: int, data: st.DataObject) -> None:
    source, target = (data.draw(st.integers(0, seq_len - 1)) for _ in range(2))
    attention = path(edges(Layer.ATTENTION, seq_len), source, target)
    assert attention is not None
    assert moves(attention) == (source != target)
    for layer in RECURRENT:
        way = path(edges(layer, seq_len), source, target)
        if source > target:
            assert way is None  # it reads from left to right
        else:
            assert way is not None
            assert moves(way) == target - source
            assert all(one[1] == other[0] for one, other in pairwise(way))


def test_recurrence_has_as_many_steps_as_words_and_attention_one() -> None:
    for seq_len in (1, 2, 11):
        assert [sequential_steps(edges(layer, seq_len)) for layer in RECURRENT] == [seq_len] * 3
        assert sequential_steps(edges(Layer.ATTENTION, seq_len)) == 1
    assert sequential_steps(()) == 0
