"""Programs that reproduce the numbers of the page on recurrence without this app."""

from collections.abc import Sequence

from torch import Tensor

from core.additive import Form, Weights

LAYERS = '''"""How much of an early input is left in the last output: RNN, LSTM, GRU and attention in plain PyTorch."""

import math
import zlib

import torch
from torch import nn

WORDS = {words!r}
LENGTH, DIM = {length}, {dim}
SEEDS = {seeds!r}
RECURRENT_SCALE, GATE_BIAS = {recurrent_scale!r}, {gate_bias!r}
LAYERS = {{"RNN": nn.RNN, "LSTM": nn.LSTM, "GRU": nn.GRU, "attention": nn.MultiheadAttention}}


def inputs(seed):
    """Random vectors, the last of them those of the words; equal words have equal vectors."""
    last = []
    for word in WORDS[-LENGTH:]:
        of_the_word = zlib.crc32(f"{{seed}}:{{word}}".encode("utf-8", "surrogatepass"))
        generator = torch.Generator().manual_seed(of_the_word)
        last.append(torch.randn(DIM, generator=generator, dtype=torch.float64).float())
    before = torch.randn(LENGTH - len(last), DIM, generator=torch.Generator().manual_seed(seed))
    return torch.cat((before, torch.stack(last)))  # (LENGTH, DIM)


def new_layer(name, seed):
    generator = torch.Generator().manual_seed(seed)
    bound = 1 / math.sqrt(DIM)
    if name == "attention":
        layer = nn.MultiheadAttention(DIM, num_heads=1, batch_first=True)
        nn.init.xavier_uniform_(layer.in_proj_weight, generator=generator)
        nn.init.uniform_(layer.out_proj.weight, -bound, bound, generator=generator)
        return layer.eval()
    layer = LAYERS[name](DIM, DIM, batch_first=True)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.uniform_(-bound, bound, generator=generator)
        layer.weight_hh_l0 *= RECURRENT_SCALE
        if name != "RNN":
            layer.bias_ih_l0[DIM : 2 * DIM] += GATE_BIAS  # the LSTM's forget gate, the GRU's update gate
    return layer.eval()


def gradient_sizes(name, seed):
    """Entry d: the Frobenius norm of the last output's gradient by the input d places before it."""
    layer = new_layer(name, seed)
    x = inputs(seed).expand(DIM, LENGTH, DIM).clone().requires_grad_()  # copy i asks for number i of the output
    output = layer(x, x, x)[0] if name == "attention" else layer(x)[0]
    (gradient,) = torch.autograd.grad(output[:, -1].diagonal().sum(), x)
    return gradient.square().sum(dim=(0, 2)).sqrt().flip(0)


sizes = {{name: torch.stack([gradient_sizes(name, seed) for seed in SEEDS]) for name in LAYERS}}
print("distance ", *(f"{{name:>10}}" for name in sizes))
for distance in range(0, LENGTH, 4):
    print(f"{{distance:8}} ", *(f"{{found[:, distance].median():10.1e}}" for found in sizes.values()))
'''

SCORES = {
    Form.ADDITIVE: ("torch.tanh(W_s @ s + h @ W_h.T) @ v", "np.tanh(W_s @ s + h @ W_h.T) @ v"),
    Form.DOT: ("h @ s", "h @ s"),
    Form.GENERAL: ("h @ (s @ W)", "h @ (s @ W)"),
    Form.CONCAT: (
        "torch.tanh(torch.cat((s.expand(len(h), -1), h), dim=1) @ torch.cat((W_s, W_h), dim=1).T) @ v",
        "np.tanh(np.hstack((np.tile(s, (len(h), 1)), h)) @ np.hstack((W_s, W_h)).T) @ v",
    ),
}

ALIGNMENT = '''"""One look of a decoder at an encoder's states: in plain PyTorch, and once more in NumPy."""

import numpy as np
import torch

WORDS = {words!r}
NUMBERS = {{
    "h": {h},  # the encoder's states, (seq_k, encoder_dim)
    "s": {s},  # the decoder's state
    "W_s": {w_s},
    "W_h": {w_h},
    "v": {v},
    "W": {w},  # of Luong's general form
}}

h, s, W_s, W_h, v, W = (torch.tensor(numbers, dtype=torch.float64) for numbers in NUMBERS.values())
scores = {torch_scores}
weights = torch.softmax(scores, dim=0)
context = weights @ h
printed_weights = torch.softmax(torch.tanh(h @ W_h.T) @ v, dim=0)  # without s: no state can change them

h, s, W_s, W_h, v, W = (np.array(numbers) for numbers in NUMBERS.values())
numpy_scores = {numpy_scores}
numpy_weights = np.exp(numpy_scores - numpy_scores.max()) / np.exp(numpy_scores - numpy_scores.max()).sum()
numpy_context = numpy_weights @ h

for word, score, weight, printed in zip(WORDS, scores, weights, printed_weights):
    print(f"{{word:>14}}  score {{score:7.3f}}  weight {{weight:.4f}}  without s {{printed:.4f}}")
print("context", [round(number, 4) for number in context.tolist()])
print("PyTorch and NumPy differ by at most", float(np.abs(weights.numpy() - numpy_weights).max()))
'''


def layers(
    *, words: Sequence[str], length: int, dim: int, seeds: Sequence[int], recurrent_scale: float, gate_bias: float
) -> str:
    """Gradient size against distance, for the same seeds and settings as on the page."""
    return LAYERS.format(
        words=list(words),
        length=length,
        dim=dim,
        seeds=list(seeds),
        recurrent_scale=recurrent_scale,
        gate_bias=gate_bias,
    )


def alignment(*, words: Sequence[str], form: Form, state: Tensor, encoder_states: Tensor, weights: Weights) -> str:
    """Scores, weights and context of one decoder state, from the very numbers of the page.

    Shapes: state (decoder_dim,), encoder_states (seq_k, encoder_dim).
    """
    torch_scores, numpy_scores = SCORES[form]
    return ALIGNMENT.format(
        words=list(words),
        h=encoder_states.tolist(),
        s=state.tolist(),
        w_s=weights.w_s.tolist(),
        w_h=weights.w_h.tolist(),
        v=weights.v.tolist(),
        w=weights.w_general.tolist(),
        torch_scores=torch_scores,
        numpy_scores=numpy_scores,
    )
