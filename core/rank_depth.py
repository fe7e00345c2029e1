"""What depth does to the tokens: a stack of attention layers, and how far its tokens still differ, layer by layer.

Dong, Cordonnier & Loukas 2021, "Attention is not all you need: pure attention loses rank doubly exponentially with
depth": without skip connections and MLPs, all tokens become one and the same vector, a matrix of rank 1. Computed in
float64; below ROUNDING a residual is rounding, and may come out as 0.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention import scaled_dot_product_attention
from core.checks import check_divisible, check_positive, check_sizes
from core.heads import merge_heads, split_heads

ROUNDING = 1e-16  # of a residual in float64
WIDENING = 4  # how many times as wide as the tokens an MLP is inside


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Weights of all layers, drawn so that a product with them keeps the variance; float64."""

    num_heads: int
    q: Tensor  # (num_layers, d_model, d_model), as are k, v and o
    k: Tensor
    v: Tensor
    o: Tensor
    up: Tensor  # (num_layers, d_model, d_ff)
    down: Tensor  # (num_layers, d_ff, d_model)


def random_stack(num_layers: int, d_model: int, num_heads: int, *, generator: torch.Generator) -> Stack:
    """Draw a stack, layer by layer: with the same seed, a deeper stack begins with the layers of a shallower one.

    Raises: ValueError if a size is less than 1 or d_model is not a multiple of num_heads.
    """
    check_sizes(num_layers=num_layers, d_model=d_model, num_heads=num_heads)
    check_divisible("d_model", d_model, "num_heads", num_heads)
    d_ff = WIDENING * d_model
    shapes = [(d_model, d_model)] * 4 + [(d_model, d_ff), (d_ff, d_model)]
    layers = [[_random(*shape, generator) for shape in shapes] for _ in range(num_layers)]
    return Stack(num_heads, *(torch.stack(each) for each in zip(*layers, strict=True)))


def _random(d_in: int, d_out: int, generator: torch.Generator) -> Tensor:
    return torch.randn(d_in, d_out, generator=generator, dtype=torch.float64) / math.sqrt(d_in)


def random_tokens(seq_len: int, d_model: int, *, generator: torch.Generator) -> Tensor:
    """Standard normal tokens, (seq_len, d_model), float64. From one generator, draw the tokens before the stack.

    Raises: ValueError if a size is less than 1.
    """
    check_sizes(seq_len=seq_len, d_model=d_model)
    return torch.randn(seq_len, d_model, generator=generator, dtype=torch.float64)


def residuals(x: Tensor, stack: Stack, *, scale: float, skip: bool, mlp: bool) -> tuple[float, ...]:
    """Send tokens through the stack; how far they differ before the first layer, and after every layer.

    scale: a factor of all weights. skip: whether each block adds to what it gets (x + attention(x), x + MLP(x)).
    mlp: whether an MLP (a ReLU between two products) follows each attention.

    Shapes: x (seq_len, d_model) → (num_layers + 1) numbers.
    Raises: ValueError if d_model of x is not that of the stack, or scale is not positive and finite.
    Source: Dong et al. 2021, who study each of these.
    """
    d_model = stack.q.shape[1]
    if x.shape[-1] != d_model:
        raise ValueError(f"d_model of x ({x.shape[-1]}) must equal d_model of the stack ({d_model})")
    check_positive("scale", scale)
    measured = [rank_one_residual(x)]
    for layer in range(len(stack.q)):
        block = _attend(x, stack, layer, scale)
        x = x + block if skip else block
        if mlp:
            block = (x @ (scale * stack.up[layer])).relu() @ (scale * stack.down[layer])  # (seq_len, d_model)
            x = x + block if skip else block
        measured.append(rank_one_residual(x))
    return tuple(measured)


def _attend(x: Tensor, stack: Stack, layer: int, scale: float) -> Tensor:
    """One layer of multi-head attention, (seq_len, d_model)."""
    q, k, v = (
        split_heads(x @ (scale * weight[layer]), stack.num_heads) for weight in (stack.q, stack.k, stack.v)
    )  # (num_heads, seq_len, head_dim) each
    output = merge_heads(scaled_dot_product_attention(q, k, v).output)  # (seq_len, d_model)
    return output @ (scale * stack.o[layer])  # (seq_len, d_model)


def rank_one_residual(x: Tensor) -> float:
    """How far the tokens differ: ‖x − 1·mean‖ / ‖x‖, Frobenius norms; 0 = all tokens are equal, or all are 0.

    1·mean is the matrix nearest to x whose rows are all equal (its rank is 1).
    Shape: x (seq_len, d_model).
    Source: Dong et al. 2021, res(X) = X − 1·xᵀ; there in another norm, whose nearest x is not the mean.
    """
    norm = float(torch.linalg.matrix_norm(x))
    return float(torch.linalg.matrix_norm(x - x.mean(dim=0))) / norm if norm > 0 else 0.0
