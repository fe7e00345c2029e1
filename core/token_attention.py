"""A small attention layer with random weights over the tokens of a sentence: enough to see what a mask does.

Nothing here is trained. Equal tokens have equal vectors, so that a word that is repeated behaves alike.
"""

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention import AttentionTrace, scaled_dot_product_attention

D_MODEL = 16


def token_vectors(tokens: Sequence[str], *, seed: int, d_model: int = D_MODEL) -> Tensor:
    """A vector of standard normal numbers for every token, float64.

    Each token has a generator of its own, made from the seed and its letters: changing one word then leaves the vectors
    of all others as they are, which one generator for all could not.

    Shape: (seq_len, d_model).
    """
    vectors = [
        torch.randn(d_model, generator=_generator(f"{seed}:{token}"), dtype=torch.float64)  # (d_model,)
        for token in tokens
    ]
    return torch.stack(vectors) if vectors else torch.empty(0, d_model, dtype=torch.float64)  # (seq_len, d_model)


def _generator(text: str) -> torch.Generator:
    return torch.Generator().manual_seed(zlib.crc32(text.encode()))


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One head of attention: projections, and a factor for the scores on top of 1/√d_model."""

    w_q: Tensor  # (d_model, d_model), as are the others
    w_k: Tensor
    w_v: Tensor
    score_scale: float

    def __call__(self, x: Tensor, memory: Tensor, attend_mask: Tensor | None = None) -> AttentionTrace:
        """Let the tokens of x look at those of memory; x itself for self-attention.

        Shapes: x (seq_q, d_model), memory (seq_k, d_model), attend_mask (seq_q, seq_k); in the trace num_heads is 1.
        """
        q, k, v = x @ self.w_q, memory @ self.w_k, memory @ self.w_v  # (seq, d_model) each
        scale = self.score_scale / math.sqrt(q.shape[-1])
        return scaled_dot_product_attention(q[None], k[None], v[None], attend_mask=attend_mask, scale=scale)


def random_layer(generator: torch.Generator, *, score_scale: float = 1.0, d_model: int = D_MODEL) -> Layer:
    """Random projections that keep the variance of what comes in; with a score_scale of 1, scores vary by about 1."""
    w_q, w_k, w_v = torch.randn(3, d_model, d_model, generator=generator, dtype=torch.float64) / math.sqrt(d_model)
    return Layer(w_q, w_k, w_v, score_scale)


def gradient_reach(layer: Layer, x: Tensor, memory: Tensor | None, attend_mask: Tensor | None) -> Tensor:
    """How strongly each output depends on each input: the Frobenius norm of ∂output_i/∂x_j, by autograd.

    memory: whose gradient is taken in cross-attention; None for self-attention, where x is asked and answers.

    Shapes: x (seq_q, d_model), memory (seq_k, d_model), attend_mask (seq_q, seq_k) → (seq_q, seq_k).
    """
    asked = (x if memory is None else memory).detach().requires_grad_()
    queries = asked if memory is None else x
    output = layer(queries, asked, attend_mask).output[0]  # (seq_q, d_model)
    numbers = output.numel()  # seq_q · d_model
    one_each = torch.eye(numbers, dtype=output.dtype).reshape(-1, *output.shape)  # (numbers, seq_q, d_model)
    (rows,) = torch.autograd.grad(output, asked, one_each, is_grads_batched=True)  # (numbers, seq_k, d_model)
    jacobian = rows.reshape(*output.shape, *asked.shape)  # (seq_q, d_model, seq_k, d_model)
    return jacobian.square().sum(dim=(1, 3)).sqrt()  # (seq_q, seq_k)


def visible_context(attend_mask: Tensor) -> Tensor:
    """How many keys each query may look at.

    Shape: (…, seq_q, seq_k) → int64 (…, seq_q).
    """
    return attend_mask.sum(dim=-1)


def share_on(weights: Tensor, places: Tensor) -> Tensor:
    """The part of each query's weight that lies on some keys.

    Shapes: weights (…, seq_q, seq_k), places bool, broadcasts to it → (…, seq_q).
    """
    return torch.where(places, weights, 0.0).sum(dim=-1)
