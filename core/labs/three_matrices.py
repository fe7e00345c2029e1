"""Experiment: does attention need three matrices? Its own for each, V = K, Q = K, or none, on look-ups.

The layers of one run begin with the same numbers where they have the same matrices, see the same sequences, and are
measured on the same fresh ones. Every sequence is new, so nothing can be memorised.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import torch

from core.checks import check_between
from core.labs.events import Event, Found, Step
from core.labs.three_matrices_measures import loss_of, measure, show
from core.labs.three_matrices_model import Model, new_model, run
from core.labs.three_matrices_task import NAMES, RINGS, draw_batch
from core.projections import Sharing

VARIANTS = (Sharing.SEPARATE.value, Sharing.VALUE_IS_KEY.value, Sharing.QUERY_IS_KEY.value, Sharing.NONE.value)
LEAST_D_MODEL, MOST_D_MODEL, MOST_HEAD_DIM = 8, 64, 32
FEWEST_STEPS, MOST_STEPS, MOST_SEED = 100, 3000, 99
BATCH, FRESH = 64, 512  # sequences: of a step, and of a measurement
MOMENTS = 10  # at which is measured
LEARNING_RATE, LAST = 1e-2, 0.05  # of Adam; the share of it at the end
SEEDS = 5  # of the comparison
NARROW = (2, 3, 4)  # head_dims at which keys and values compete


@dataclass(frozen=True, slots=True)
class Settings:
    """One run. Raises: ValueError if a value is not possible."""

    task: str = "partner"
    look_at_self: bool = True  # whether a token may
    skip: bool = False  # whether the token is added to what it has fetched
    variants: tuple[str, ...] = VARIANTS  # which layers are trained, one after the other
    d_model: int = 32
    head_dim: int = 32
    steps: int = 800  # of every layer
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "variants", tuple(self.variants))  # JSON knows only lists
        if self.task not in RINGS:
            raise ValueError(f"task ({self.task!r}) must be one of {', '.join(RINGS)}")
        if not self.variants or self.variants != tuple(name for name in VARIANTS if name in self.variants):
            raise ValueError(f"variants ({self.variants}) must be some of {VARIANTS}, in this order")
        check_between("d_model", self.d_model, LEAST_D_MODEL, MOST_D_MODEL)
        check_between("head_dim", self.head_dim, 1, MOST_HEAD_DIM)
        check_between("steps", self.steps, FEWEST_STEPS, MOST_STEPS)
        check_between("seed", self.seed, 0, MOST_SEED)


def cases() -> Sequence[Settings]:
    """What is compared, with the first seed: every task with and without the look at oneself, partners also with a
    skip connection, successors also in narrow heads."""
    return [
        *(Settings(task=task, look_at_self=look_at_self) for task in RINGS for look_at_self in (True, False)),
        Settings(skip=True),
        *(Settings(task="successor", head_dim=head_dim) for head_dim in NARROW),
    ]


def comparison() -> Sequence[Settings]:
    """What ships: every case with every seed."""
    return [Settings(**{**asdict(case), "seed": seed}) for case in cases() for seed in range(SEEDS)]


def train(settings: Settings) -> Iterator[Event]:
    """Train one layer after the other; a curve is called after its variant.

    Found of each at every moment: "measured" (accuracy, loss, …), "accuracies" (step and accuracy, up to now), and
    "example" (weights in per cent, and how far scores and weights are from symmetric).
    Found once: "projections" and "parameters" (how many numbers are trained: of W_Q, W_K and W_V, and in all), and
    "tags" (of the example, whose names stand in order).
    """
    total = settings.steps * len(settings.variants)
    for before, variant in enumerate(settings.variants):
        yield from _train_one(settings, Sharing(variant), done=before * settings.steps, total=total)


def _train_one(settings: Settings, sharing: Sharing, *, done: int, total: int) -> Iterator[Event]:
    curve, ring = sharing.value, RINGS[settings.task]
    first, data, fresh = (_generator(settings.seed, purpose) for purpose in range(3))
    model = new_model(sharing, settings.d_model, settings.head_dim, skip=settings.skip, generator=first)
    unseen, example = draw_batch(FRESH, ring, generator=fresh), draw_batch(1, ring, generator=fresh, in_order=True)
    accuracies: list[list[float]] = []

    def measured(step: int) -> Iterator[Event]:
        now = measure(model, unseen, look_at_self=settings.look_at_self)
        accuracies.append([step, round(now.accuracy, 4)])
        yield Found(curve, "measured", {name: round(value, 4) for name, value in asdict(now).items()})
        yield Found(curve, "accuracies", list(accuracies))
        yield Found(curve, "example", show(model, example, look_at_self=settings.look_at_self).plain())

    yield Found(curve, "projections", _count(model.projections))
    yield Found(curve, "parameters", _count(model.parameters))
    yield Found(curve, "tags", example.tags[0].tolist())
    yield from measured(0)
    optimiser = torch.optim.Adam(model.parameters, lr=LEARNING_RATE)
    moments = {settings.steps * number // MOMENTS for number in range(1, MOMENTS + 1)}
    for step in range(1, settings.steps + 1):
        optimiser.param_groups[0]["lr"] = learning_rate(step, settings.steps)
        loss = _step(model, optimiser, settings, ring, data)
        yield Step(curve, step, round(loss, 4), BATCH * NAMES, done + step, total)
        if step in moments:
            yield from measured(step)


def _step(
    model: Model, optimiser: torch.optim.Optimizer, settings: Settings, ring: int, data: torch.Generator
) -> float:
    batch = draw_batch(BATCH, ring, generator=data)
    loss = loss_of(run(model, batch, look_at_self=settings.look_at_self), batch)
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    return loss.item()


def learning_rate(step: int, steps: int) -> float:
    """It falls in a straight line to LAST of what it is at the first step."""
    return LEARNING_RATE * (1 - (1 - LAST) * (step - 1) / steps)


def _count(tensors: Sequence[torch.Tensor]) -> int:
    return sum(tensor.numel() for tensor in tensors)


def _generator(seed: int, purpose: int) -> torch.Generator:
    return torch.Generator().manual_seed((MOST_SEED + 1) * purpose + seed)
