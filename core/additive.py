"""Attention before the Transformer: how well an encoder's state fits the state of the decoder, by five formulas.

Bahdanau, Cho, Bengio 2015 (additive), and Luong, Pham, Manning 2015 (dot, general, concat).
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import torch
from torch import Tensor


class Form(StrEnum):
    """How a decoder's state s and an encoder's state h become a score."""

    ADDITIVE = "additive"  # vᵀ tanh(W_s s + W_h h)
    DOT = "dot"  # sᵀ h
    GENERAL = "general"  # sᵀ W h
    CONCAT = "concat"  # vᵀ tanh(W [s; h])


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The weights of all forms; each form uses some of them."""

    w_s: Tensor  # (attention_dim, decoder_dim)
    w_h: Tensor  # (attention_dim, encoder_dim)
    v: Tensor  # (attention_dim,)
    w_general: Tensor  # (decoder_dim, encoder_dim)

    def scaled(self, factor: float) -> "Weights":
        """All weights times the factor."""
        return Weights(factor * self.w_s, factor * self.w_h, factor * self.v, factor * self.w_general)


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """What one look of the decoder at the encoder's states gives."""

    scores: Tensor  # (…, seq_k)
    weights: Tensor  # (…, seq_k), each row sums to 1
    context: Tensor  # (…, encoder_dim), the mean of the encoder's states under these weights


def additive_scores(state: Tensor, encoder_states: Tensor, w_s: Tensor, w_h: Tensor, v: Tensor) -> Tensor:
    """e_i = vᵀ tanh(W_s s + W_h h_i).

    Shapes: state (…, decoder_dim), encoder_states (seq_k, encoder_dim), w_s (attention_dim, decoder_dim),
        w_h (attention_dim, encoder_dim), v (attention_dim,) → (…, seq_k).
    Source: Bahdanau et al. 2015, section 3.1 and appendix A.1.2.
    """
    from_state = (state @ w_s.mT).unsqueeze(-2)  # (…, 1, attention_dim)
    from_encoder = encoder_states @ w_h.mT  # (seq_k, attention_dim): the same for every state
    return torch.tanh(from_state + from_encoder) @ v  # (…, seq_k)


def printed_scores(encoder_states: Tensor, w_h: Tensor, v: Tensor) -> Tensor:
    """e_i = vᵀ tanh(W h_i), as it is often printed: there is no state in it that could change anything.

    Shapes: encoder_states (seq_k, encoder_dim), w_h (attention_dim, encoder_dim), v (attention_dim,) → (seq_k,).
    """
    return torch.tanh(encoder_states @ w_h.mT) @ v


def dot_scores(state: Tensor, encoder_states: Tensor) -> Tensor:
    """e_i = sᵀ h_i; both must have as many numbers.

    Shapes: state (…, encoder_dim), encoder_states (seq_k, encoder_dim) → (…, seq_k).
    Source: Luong et al. 2015, section 3.1, "dot".
    """
    return state @ encoder_states.mT


def general_scores(state: Tensor, encoder_states: Tensor, w: Tensor) -> Tensor:
    """e_i = sᵀ W h_i: with W = W_qᵀ W_k this is the Transformer's score before its scaling.

    Shapes: state (…, decoder_dim), encoder_states (seq_k, encoder_dim), w (decoder_dim, encoder_dim) → (…, seq_k).
    Source: Luong et al. 2015, section 3.1, "general".
    """
    return state @ w @ encoder_states.mT


def concat_scores(state: Tensor, encoder_states: Tensor, w: Tensor, v: Tensor) -> Tensor:
    """e_i = vᵀ tanh(W [s; h_i]): the additive form, its two matrices written as one.

    Shapes: state (…, decoder_dim), encoder_states (seq_k, encoder_dim), w (attention_dim, decoder_dim + encoder_dim),
        v (attention_dim,) → (…, seq_k).
    Source: Luong et al. 2015, section 3.1, "concat".
    """
    shape = (*state.shape[:-1], encoder_states.shape[0])  # (…, seq_k)
    s = state.unsqueeze(-2).expand(*shape, -1)  # (…, seq_k, decoder_dim)
    h = encoder_states.expand(*shape, -1)  # (…, seq_k, encoder_dim)
    return torch.tanh(torch.cat((s, h), dim=-1) @ w.mT) @ v  # (…, seq_k)


def scores(form: Form, state: Tensor, encoder_states: Tensor, weights: Weights) -> Tensor:
    """The scores of any form. Shapes: state (…, decoder_dim), encoder_states (seq_k, encoder_dim) → (…, seq_k).

    Raises: ValueError if the form is dot and the two kinds of state differ in size.
    """
    if form is Form.ADDITIVE:
        return additive_scores(state, encoder_states, weights.w_s, weights.w_h, weights.v)
    if form is Form.CONCAT:
        both = torch.cat((weights.w_s, weights.w_h), dim=-1)  # (attention_dim, decoder_dim + encoder_dim)
        return concat_scores(state, encoder_states, both, weights.v)
    if form is Form.GENERAL:
        return general_scores(state, encoder_states, weights.w_general)
    if state.shape[-1] != encoder_states.shape[-1]:
        raise ValueError(f"decoder_dim ({state.shape[-1]}) must equal encoder_dim ({encoder_states.shape[-1]}) for dot")
    return dot_scores(state, encoder_states)


def align(scores: Tensor, encoder_states: Tensor) -> Alignment:
    """Softmax over the encoder's states, and their mean under these weights.

    Shapes: scores (…, seq_k), encoder_states (seq_k, encoder_dim).
    """
    weights = torch.softmax(scores, dim=-1)  # (…, seq_k)
    return Alignment(scores, weights, weights @ encoder_states)


def random_weights(*, encoder_dim: int, decoder_dim: int, attention_dim: int, generator: torch.Generator) -> Weights:
    """Standard normal weights, float64."""

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    return Weights(
        w_s=normal(attention_dim, decoder_dim),
        w_h=normal(attention_dim, encoder_dim),
        v=normal(attention_dim),
        w_general=normal(decoder_dim, encoder_dim),
    )


# --------------------------------------------------------------------------------------------------- the lesson's run

LESSON_SEED = 42
LESSON_SCALE = 0.1  # of its random weights


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """What the lesson's program draws: 12 encoder states and a decoder state of 8 numbers each, and the weights."""

    encoder_states: Tensor  # (12, 8)
    state: Tensor  # (8,)
    weights: Weights  # before they are scaled by LESSON_SCALE; it has no w_s and no w_general, they are drawn after it


def lesson() -> Lesson:
    """The lesson's numbers, in the order in which its program draws them."""
    numbers = np.random.RandomState(LESSON_SEED)

    def normal(*shape: int) -> Tensor:
        return torch.from_numpy(np.asarray(numbers.randn(*shape)))

    encoder_states, state = normal(12, 8), normal(8)
    w_a, v = normal(8, 8), normal(8)  # w_a is (encoder_dim, attention_dim): it is used transposed
    return Lesson(encoder_states, state, Weights(w_s=normal(8, 8), w_h=w_a.mT, v=v, w_general=normal(8, 8)))


# ------------------------------------------------------------------------------------------------------- comparisons


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two forms look at the same places, over many decoder states."""

    same_strongest: float  # share of the states for which both look most at the same place, 0 to 1
    rank_correlation: float  # Spearman's, mean over the states, −1 to 1


def agreement(one: Tensor, other: Tensor) -> Agreement:
    """Compare two forms' scores, (num_states, seq_k) each.

    Raises: ValueError if the shapes differ, or seq_k is below 2: a single place has no order.
    """
    if one.shape != other.shape or one.ndim != 2 or one.shape[1] < 2:
        shapes = f"one {tuple(one.shape)} and other {tuple(other.shape)}"
        raise ValueError(f"{shapes} must both be (num_states, seq_k), seq_k at least 2")
    ranks = [scores.argsort(dim=1).argsort(dim=1).double() for scores in (one, other)]  # (num_states, seq_k)
    centred = [rank - rank.mean(dim=1, keepdim=True) for rank in ranks]
    together = (centred[0] * centred[1]).sum(dim=1) / centred[0].square().sum(dim=1)  # (num_states,)
    same = (one.argmax(dim=1) == other.argmax(dim=1)).double()  # (num_states,)
    return Agreement(float(same.mean()), float(together.mean()))


def largest_move(weights: Tensor) -> float:
    """By how much a place's weight differs at most between any two states. Shape: weights (num_states, seq_k)."""
    return float((weights.amax(dim=0) - weights.amin(dim=0)).max())
