"""How much of an early word is left in the last output: the size of ∂h_last/∂x_j, for torch's own layers.

Hochreiter 1991 and Bengio, Simard, Frasconi 1994 are the first to see it fade; Pascanu et al. 2013, section 2.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from core.recurrence import RECURRENT, Layer
from core.token_attention import token_vectors


def new_layer(
    layer: Layer, dim: int, *, generator: torch.Generator, recurrent_scale: float = 1.0, gate_bias: float = 0.0
) -> nn.Module:
    """A layer of torch.nn with dim numbers in and out, its weights started as torch does; float32, in eval mode.

    recurrent_scale: factor of the weights from state to state; attention has none.
    gate_bias: added to the bias of what keeps the old state, the LSTM's forget gate and the GRU's update gate; the
        others have no such gate. Source: Jozefowicz et al. 2015, section 2.
    """
    made = _started(layer, dim)
    if isinstance(made, nn.MultiheadAttention):
        nn.init.xavier_uniform_(made.in_proj_weight, generator=generator)
        nn.init.uniform_(made.out_proj.weight, -1 / math.sqrt(dim), 1 / math.sqrt(dim), generator=generator)
        nn.init.zeros_(made.in_proj_bias)
        nn.init.zeros_(made.out_proj.bias)
        return made.eval()
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            parameter.uniform_(-1 / math.sqrt(dim), 1 / math.sqrt(dim), generator=generator)
            if name.startswith("weight_hh"):
                parameter.mul_(recurrent_scale)
            if name.startswith("bias_ih") and layer is not Layer.RNN:
                parameter[dim : 2 * dim] += gate_bias  # second in the LSTM's i f g o, and in the GRU's r z n
    return made.eval()


def _started(layer: Layer, dim: int) -> nn.Module:
    """The layer with numbers from torch's own generator, all of which are overwritten.

    Making it without numbers, on the device "meta", would spare nothing: torch then imports half of its compiler.
    """
    if layer is Layer.ATTENTION:
        return nn.MultiheadAttention(dim, num_heads=1, batch_first=True)
    kinds: Mapping[Layer, Callable[..., nn.Module]] = {Layer.RNN: nn.RNN, Layer.LSTM: nn.LSTM, Layer.GRU: nn.GRU}
    return kinds[layer](dim, dim, batch_first=True)


def run(layer: nn.Module, x: Tensor) -> Tensor:
    """All outputs of a layer made here. Shapes: x (batch, seq_len, dim) → (batch, seq_len, dim)."""
    if isinstance(layer, nn.MultiheadAttention):
        attended: Tensor = layer(x, x, x, need_weights=True, average_attn_weights=False)[0]
        return attended
    outputs: Tensor = layer(x)[0]
    return outputs


def gradient_sizes(layer: nn.Module, x: Tensor) -> Tensor:
    """The Frobenius norm of ∂h_last/∂x_j by distance: entry d is for the input d places before the last.

    One backward pass suffices: the batch holds the sequence dim times, and copy i asks for number i of h_last.

    Shapes: x (seq_len, dim) → (seq_len,).
    """
    dim = x.shape[-1]
    copies = x.expand(dim, *x.shape).clone().requires_grad_()  # (dim, seq_len, dim)
    last = run(layer, copies)[:, -1]  # (dim, dim): copy, number of h_last
    (rows,) = torch.autograd.grad(last.diagonal().sum(), copies)  # (dim, seq_len, dim): row i of every Jacobian
    return rows.square().sum(dim=(0, 2)).sqrt().flip(0)  # (seq_len,)


def inputs(words: Sequence[str], *, length: int, dim: int, seed: int) -> Tensor:
    """The words' random vectors at the end of a sequence of `length`, with random vectors before them; float32.

    Shape: (length, dim); of more words than that, the last ones.
    """
    last = token_vectors(words[-length:], seed=seed, d_model=dim).float()  # (words, dim)
    before = torch.randn(length - len(last), dim, generator=torch.Generator().manual_seed(seed))  # (others, dim)
    return torch.cat((before, last))


def gradient_study(
    words: Sequence[str],
    *,
    length: int,
    dim: int,
    seeds: Sequence[int],
    recurrent_scale: float = 1.0,
    gate_bias: float = 0.0,
    layers: Sequence[Layer] = (*RECURRENT, Layer.ATTENTION),
) -> Mapping[Layer, Tensor]:
    """Gradient size by distance for every layer and seed; a seed gives the words' vectors and the weights.

    Shape: (num_seeds, length) each.
    Raises: ValueError if length is less than 2 or there are no seeds.
    """
    if length < 2:
        raise ValueError(f"length ({length}) must be at least 2")
    if not seeds:
        raise ValueError("seeds must hold at least one seed")
    found: dict[Layer, Tensor] = {}
    for layer in layers:
        rows = []
        for seed in seeds:
            generator = torch.Generator().manual_seed(seed)
            made = new_layer(layer, dim, generator=generator, recurrent_scale=recurrent_scale, gate_bias=gate_bias)
            rows.append(gradient_sizes(made, inputs(words, length=length, dim=dim, seed=seed)))
        found[layer] = torch.stack(rows)  # (num_seeds, length)
    return found


def kept(sizes: Tensor) -> float:
    """What is left of the gradient over the distance: its mean over the far half, as a share of that over the near one.

    Distance 0 is left out: attention reaches its own position by its query, too. The middle of the seeds is taken.

    Shape: sizes (num_seeds, length), length at least 3.
    """
    middle = sizes.median(dim=0).values[1:]  # (length − 1,)
    half = len(middle) // 2
    return float(middle[-half:].mean() / middle[:half].mean())


def through_open_gates(gate_bias: float, distance: int) -> float:
    """What a gate that only its bias sets leaves of a number after so many steps: σ(gate_bias) ** distance."""
    return (1 / (1 + math.exp(-gate_bias))) ** distance
