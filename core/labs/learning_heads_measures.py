"""What is measured of a model that learns to look things up: its answers, where its heads look, and their ranks."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from core.labs.events import JSON
from core.labs.learning_heads_model import Answered, Model, run
from core.labs.learning_heads_task import Batch
from core.rank import default_tolerance, effective_rank, numerical_rank, singular_values, stable_rank

RANKED = 16  # sequences whose matrices are decomposed
MATRICES = ("logits", "weights")
"""Of every head, (seq_len, seq_len) each: the scores, before softmax, and the weights, after it."""
RANKS = ("numerical", "effective", "stable")


@dataclass(frozen=True, slots=True)
class Measured:
    """A model at one moment, on fresh sequences."""

    loss: float  # mean cross-entropy of all answers, in nats
    accuracy: float  # share of right answers
    by_look_up: tuple[float, ...]  # the same for the first wish, the second, …
    focus: tuple[tuple[float, ...], ...]  # head → wish → mean weight at the place where that wish's answer stands
    ranks: dict[str, dict[str, float]]  # matrix → measure → mean over heads and sequences


def measure(model: Model, batch: Batch) -> Measured:
    """Let the model answer a batch, in float64: in less precision rounding looks like rank."""
    with torch.no_grad():
        answered = run(model.double(), batch.parts)
    right = (answered.logits.argmax(dim=-1) == batch.answers).double()  # (batch, seq_len, look_ups)
    return Measured(
        loss=float(loss_of(answered, batch)),
        accuracy=float(right.mean()),
        by_look_up=tuple(right.mean(dim=(0, 1)).tolist()),
        focus=tuple(map(tuple, _focus(answered.trace.weights, batch.places).tolist())),
        ranks={
            "logits": mean_ranks(answered.trace.scores[:RANKED]),
            "weights": mean_ranks(answered.trace.weights[:RANKED]),
        },
    )


def loss_of(answered: Answered, batch: Batch) -> Tensor:
    """Mean cross-entropy of all answers to all wishes, in nats; a scalar."""
    loss: Tensor = torch.nn.functional.cross_entropy(answered.logits.flatten(0, -2), batch.answers.flatten())
    return loss


def _focus(weights: Tensor, places: Tensor) -> Tensor:
    """Weights (batch, num_heads, seq_len, seq_len) at places (batch, seq_len, look_ups) → (num_heads, look_ups)."""
    wanted = places[:, None].expand(-1, weights.shape[1], -1, -1)  # (batch, num_heads, seq_len, look_ups)
    return weights.gather(-1, wanted).mean(dim=(0, 2))  # (num_heads, look_ups)


def mean_ranks(matrices: Tensor) -> dict[str, float]:
    """Three measures of the rank of every matrix, each one's mean; matrices (…, rows, columns), float64.

    Raises: ValueError if they are not float64.
    """
    values = singular_values(matrices)  # (…, min(rows, columns))
    tolerance = default_tolerance(*matrices.shape[-2:])
    return {
        "numerical": float(numerical_rank(values, tolerance=tolerance).double().mean()),
        "effective": float(effective_rank(values).mean()),
        "stable": float(stable_rank(values).mean()),
    }


def attention_percent(model: Model, batch: Batch) -> list[list[list[int]]]:
    """Where each head looks in the first sequence of a batch, in whole per cent: head → query → key."""
    with torch.no_grad():
        weights = run(model, batch.parts[:1]).trace.weights[0]  # (num_heads, seq_len, seq_len)
    percent: list[list[list[int]]] = (100 * weights).round().int().tolist()
    return percent


@dataclass(slots=True, eq=False)
class History:
    """What was measured from moment to moment of one training."""

    steps: list[int] = field(default_factory=list)
    moments: list[Measured] = field(default_factory=list)

    def add(self, step: int, measured: Measured) -> None:
        self.steps.append(step)
        self.moments.append(measured)

    def plain(self) -> dict[str, JSON]:
        """As JSON, rounded: a list for steps, accuracy and loss, and for every measure of every matrix."""
        return {
            "steps": list(self.steps),
            "accuracy": [round(moment.accuracy, 3) for moment in self.moments],
            "loss": [round(moment.loss, 3) for moment in self.moments],
            **{
                matrix: {
                    name: [round(moment.ranks[matrix][name], 2) for moment in self.moments] for name in RANKS
                }
                for matrix in MATRICES
            },
        }  # fmt: skip
