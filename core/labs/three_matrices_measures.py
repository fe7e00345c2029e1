"""What is measured of a layer that shares matrices: right answers, where it looks, and how symmetric its scores are."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from core.labs.events import JSON
from core.labs.three_matrices_model import Answered, Model, run
from core.labs.three_matrices_task import Batch
from core.sharing import asymmetry


@dataclass(frozen=True, slots=True)
class Measured:
    """Shares of the tokens of fresh sequences, and means over them."""

    accuracy: float
    loss: float  # cross-entropy in nats
    probability: float  # mean probability of the right answer: no lucky or unlucky order among equals
    looking_right: float  # share of tokens whose largest weight is at the one that they have to look at
    on_wanted: float  # mean weight there
    on_self: float  # mean weight on oneself; the same if one has to copy


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """One sequence, with its names in order."""

    scores: Tensor  # (seq_len, seq_len)
    weights: Tensor  # (seq_len, seq_len)

    def plain(self) -> dict[str, JSON]:
        """As it is told: weights in per cent."""
        return {
            "weights": (100 * self.weights).round().int().tolist(),
            "score_asymmetry": round(asymmetry(self.scores), 4),
            "weight_asymmetry": round(asymmetry(self.weights), 4),
        }


def loss_of(answered: Answered, batch: Batch) -> Tensor:
    """The mean cross-entropy of all answers, in nats; shape ()."""
    return functional.cross_entropy(answered.logits.flatten(0, 1), batch.answers.flatten())


@torch.no_grad()
def measure(model: Model, batch: Batch, *, look_at_self: bool) -> Measured:
    """Measure on sequences that the model has not seen."""
    answered = run(model, batch, look_at_self=look_at_self)
    weights = answered.trace.weights.squeeze(1)  # (batch, seq_len, seq_len)
    on_wanted = weights.gather(-1, batch.places[..., None])  # (batch, seq_len, 1)
    return Measured(
        accuracy=_share(answered.logits.argmax(dim=-1) == batch.answers),
        loss=float(loss_of(answered, batch)),
        probability=float(answered.logits.softmax(dim=-1).gather(-1, batch.answers[..., None]).mean()),
        looking_right=_share(weights.argmax(dim=-1) == batch.places),
        on_wanted=float(on_wanted.mean()),
        on_self=float(weights.diagonal(dim1=-2, dim2=-1).mean()),
    )


@torch.no_grad()
def show(model: Model, batch: Batch, *, look_at_self: bool) -> Example:
    """The attention of the first sequence of a batch."""
    trace = run(model, batch, look_at_self=look_at_self).trace
    return Example(trace.scores[0, 0], trace.weights[0, 0])


def _share(right: Tensor) -> float:
    return float(right.double().mean())
