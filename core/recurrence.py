"""Recurrent layers written out step by step, and how far information has to travel in them.

Elman 1990; Hochreiter and Schmidhuber 1997; Cho et al. 2014. Layout and names of the weights are those of torch.nn.
"""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import torch
from torch import Tensor


class Layer(StrEnum):
    """What turns a sequence into a sequence."""

    RNN = "RNN"
    LSTM = "LSTM"
    GRU = "GRU"
    ATTENTION = "attention"


RECURRENT = (Layer.RNN, Layer.LSTM, Layer.GRU)
GATES = {Layer.RNN: 1, Layer.LSTM: 4, Layer.GRU: 3}  # blocks of hidden_dim rows in each weight


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """The weights of one recurrent layer, its gates' blocks one below the other in torch's order."""

    layer: Layer
    w_x: Tensor  # (gates · hidden_dim, input_dim)
    w_h: Tensor  # (gates · hidden_dim, hidden_dim)
    bias_x: Tensor  # (gates · hidden_dim,)
    bias_h: Tensor  # (gates · hidden_dim,)

    @property
    def hidden_dim(self) -> int:
        return self.w_h.shape[-1]


def random_cell(layer: Layer, *, input_dim: int, hidden_dim: int, generator: torch.Generator) -> Cell:
    """A cell as torch.nn starts it: every number uniform in ±1/√hidden_dim; float64.

    Raises: ValueError if the layer is not recurrent.
    """
    if layer not in GATES:
        raise ValueError(f"layer ({layer}) must be one of {', '.join(GATES)}")
    rows, bound = GATES[layer] * hidden_dim, 1 / math.sqrt(hidden_dim)

    def uniform(*shape: int) -> Tensor:
        return torch.empty(*shape, dtype=torch.float64).uniform_(-bound, bound, generator=generator)

    return Cell(layer, uniform(rows, input_dim), uniform(rows, hidden_dim), uniform(rows), uniform(rows))


def rnn_step(cell: Cell, x: Tensor, h: Tensor) -> Tensor:
    """h' = tanh(W_x x + b_x + W_h h + b_h). Shapes: x (input_dim,), h (hidden_dim,) → (hidden_dim,)."""
    return torch.tanh(cell.w_x @ x + cell.bias_x + cell.w_h @ h + cell.bias_h)


def lstm_step(cell: Cell, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """c' = f ⊙ c + i ⊙ g, h' = o ⊙ tanh(c'): what f lets through reaches c' unchanged.

    Shapes: x (input_dim,), h and c (hidden_dim,) → h', c' (hidden_dim,).
    """
    i, f, g, o = (cell.w_x @ x + cell.bias_x + cell.w_h @ h + cell.bias_h).chunk(4)  # (hidden_dim,) each
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def gru_step(cell: Cell, x: Tensor, h: Tensor) -> Tensor:
    """h' = z ⊙ h + (1 − z) ⊙ n, where r decides how much of h enters n.

    Shapes: x (input_dim,), h (hidden_dim,) → (hidden_dim,). As in torch.nn.GRU, z near 1 keeps the old state; in Cho
    et al. r is applied to h itself, before W_h.
    """
    r_x, z_x, n_x = (cell.w_x @ x + cell.bias_x).chunk(3)  # (hidden_dim,) each
    r_h, z_h, n_h = (cell.w_h @ h + cell.bias_h).chunk(3)  # (hidden_dim,) each
    z = torch.sigmoid(z_x + z_h)
    n = torch.tanh(n_x + torch.sigmoid(r_x + r_h) * n_h)
    return z * h + (1 - z) * n


def states(cell: Cell, x: Tensor) -> Tensor:
    """All hidden states of a sequence; each step waits for the one before it.

    Shapes: x (seq_len, input_dim) → (seq_len, hidden_dim).
    """
    h = c = torch.zeros(cell.hidden_dim, dtype=x.dtype)
    found = []
    for token in x:
        if cell.layer is Layer.LSTM:
            h, c = lstm_step(cell, token, h, c)
        else:
            h = rnn_step(cell, token, h) if cell.layer is Layer.RNN else gru_step(cell, token, h)
        found.append(h)
    return torch.stack(found) if found else torch.empty(0, cell.hidden_dim, dtype=x.dtype)  # (seq_len, hidden_dim)


def bidirectional_states(forwards: Cell, backwards: Cell, x: Tensor) -> Tensor:
    """What an encoder hands to attention: each word's state with all before it, beside that with all behind it.

    Shapes: x (seq_len, input_dim) → (seq_len, 2 · hidden_dim).
    Source: Bahdanau et al. 2015, section 3.2.
    """
    return torch.cat((states(forwards, x), states(backwards, x.flip(0)).flip(0)), dim=-1)  # (seq_len, 2 · hidden_dim)


# ------------------------------------------------------------------------------------------ who must wait for whom


@dataclass(frozen=True, slots=True)
class Node:
    """A vector in the layer: the input at a position (step 0), or the output there, ready after `step` steps."""

    position: int
    step: int


Edge = tuple[Node, Node]


def edges(layer: Layer, seq_len: int) -> tuple[Edge, ...]:
    """Which vectors are computed from which, in one layer over seq_len positions.

    Recurrent: the output at a position needs its input and the output before it, so it is ready one step later.
    Attention: every output needs all inputs and no other output, so all are ready after one step.
    """
    inputs = [Node(position, 0) for position in range(seq_len)]
    if layer is Layer.ATTENTION:
        return tuple((x, Node(position, 1)) for position in range(seq_len) for x in inputs)
    outputs = [Node(position, position + 1) for position in range(seq_len)]
    return (*zip(inputs, outputs, strict=True), *pairwise(outputs))


def path(graph: Sequence[Edge], source: int, target: int) -> tuple[Edge, ...] | None:
    """A shortest way from the input at `source` to the output at `target`, found by breadth-first search.

    Returns: its edges in order, or None if nothing of the source reaches the target.
    """
    following: dict[Node, list[Edge]] = {}
    for edge in graph:
        following.setdefault(edge[0], []).append(edge)
    start = Node(source, 0)
    reached_by: dict[Node, Edge] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        if node.position == target and node.step > 0:
            return _back(reached_by, start, node)
        for edge in following.get(node, []):
            if edge[1] not in reached_by:
                reached_by[edge[1]] = edge
                waiting.append(edge[1])
    return None


def _back(reached_by: dict[Node, Edge], start: Node, node: Node) -> tuple[Edge, ...]:
    found: list[Edge] = []
    while node != start:
        found.append(reached_by[node])
        node = reached_by[node][0]
    return tuple(reversed(found))


def moves(way: Sequence[Edge]) -> int:
    """How often a way goes from one position to another: the path length of which textbooks speak."""
    return sum(one.position != other.position for one, other in way)


def sequential_steps(graph: Sequence[Edge]) -> int:
    """How many steps have to follow one another until all outputs are there."""
    return max((node.step for edge in graph for node in edge), default=0)
