"""Experiment: a layer that has to look several things up at once, with 1, 2, 4 and 8 heads of equal size together.

The layers of one run begin with the same numbers and see the same sequences: they differ in how their matrices are cut
into heads, head_dim = d_model / num_heads, and in nothing else. Every sequence is new, so nothing can be memorised.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from core.checks import check_between
from core.labs.events import Event, Found, Step
from core.labs.learning_heads_measures import History, attention_percent, loss_of, measure
from core.labs.learning_heads_model import Model, new_model, run
from core.labs.learning_heads_task import MOST_LOOK_UPS, Batch, draw_batch

HEADS = (1, 2, 4, 8)
WIDTHS = (16, 32, 48, 64)
FEWEST_STEPS, MOST_STEPS, MOST_SEED = 100, 3000, 99
BATCH, FRESH = 32, 256  # sequences: of a step, and of a measurement
MOMENTS = 10  # at which is measured, besides the one before the first step
LEARNING_RATE, WARM_UP, LAST = 4e-3, 50, 0.1  # of Adam; steps in which it rises; its share at the end
SEEDS = 5  # of the comparison


@dataclass(frozen=True, slots=True)
class Settings:
    """One run. Raises: ValueError if a value is not possible."""

    look_ups: int = 2  # wishes of every token
    heads: tuple[int, ...] = HEADS  # which layers are trained, one after the other
    d_model: int = 32
    mlp: bool = False  # behind the attention
    steps: int = 1000  # of every layer
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "heads", tuple(self.heads))  # JSON knows only lists
        check_between("look_ups", self.look_ups, 1, MOST_LOOK_UPS)
        if not self.heads or self.heads != tuple(number for number in HEADS if number in self.heads):
            raise ValueError(f"heads ({self.heads}) must be some of {HEADS}, in this order")
        if self.d_model not in WIDTHS:
            raise ValueError(f"d_model ({self.d_model}) must be one of {WIDTHS}")
        check_between("steps", self.steps, FEWEST_STEPS, MOST_STEPS)
        check_between("seed", self.seed, 0, MOST_SEED)


def comparison() -> Sequence[Settings]:
    """What ships: 1 to 4 look-ups; two of them also in a layer with an MLP behind it, and in a narrow one.

    The smallest heads of the narrow one learn slowly: they are trained for longer, too.
    """
    return [
        *(Settings(look_ups=look_ups, seed=seed) for look_ups in range(1, MOST_LOOK_UPS + 1) for seed in range(SEEDS)),
        *(Settings(d_model=WIDTHS[0], seed=seed) for seed in range(SEEDS)),
        *(Settings(mlp=True, seed=seed) for seed in range(SEEDS)),
        *(Settings(heads=HEADS[-1:], d_model=WIDTHS[0], steps=MOST_STEPS, seed=seed) for seed in range(SEEDS)),
    ]


def train(settings: Settings) -> Iterator[Event]:
    """Train one layer after the other; a curve is called after its number of heads.

    Found of each at every moment: "history", "by_look_up", "focus", and "attention" (of the example, in per cent).
    Found once: "parameters", and "example" (names, tags, and the places of what every token wants).
    """
    total = settings.steps * len(settings.heads)
    for before, num_heads in enumerate(settings.heads):
        yield from _train_one(settings, num_heads, done=before * settings.steps, total=total)


def _train_one(settings: Settings, num_heads: int, *, done: int, total: int) -> Iterator[Event]:
    curve, look_ups = str(num_heads), settings.look_ups
    first, data, fresh = (_generator(settings.seed, purpose) for purpose in range(3))
    model = new_model(settings.d_model, num_heads, look_ups, mlp=settings.mlp, generator=first)
    unseen = draw_batch(FRESH, look_ups, generator=fresh)
    history, moments = History(), set(moments_of(settings.steps))
    yield Found(curve, "parameters", model.size)
    yield Found(curve, "example", _example(unseen))
    yield from _measured(curve, 0, model, unseen, history)

    optimiser = torch.optim.Adam(model.parameters, lr=LEARNING_RATE)
    for step in range(1, settings.steps + 1):
        optimiser.param_groups[0]["lr"] = learning_rate(step, settings.steps)
        batch = draw_batch(BATCH, look_ups, generator=data)
        loss = loss_of(run(model, batch.parts), batch)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        yield Step(curve, step, round(loss.item(), 3), batch.answers.numel(), done + step, total)
        if step in moments:
            yield from _measured(curve, step, model, unseen, history)


def _measured(curve: str, step: int, model: Model, unseen: Batch, history: History) -> Iterator[Event]:
    now = measure(model, unseen)
    history.add(step, now)
    yield Found(curve, "history", history.plain())
    yield Found(curve, "by_look_up", [round(share, 3) for share in now.by_look_up])
    yield Found(curve, "focus", [[round(share, 3) for share in head] for head in now.focus])
    yield Found(curve, "attention", attention_percent(model, unseen))


def moments_of(steps: int) -> tuple[int, ...]:
    """After which steps is measured: more often at first, when most happens, and after the last one."""
    return tuple(-(-steps * number**2 // MOMENTS**2) for number in range(1, MOMENTS + 1))


def learning_rate(step: int, steps: int) -> float:
    """It rises for WARM_UP steps, and falls along a cosine to LAST of what it was."""
    falling = LAST + (1 - LAST) * (1 + math.cos(math.pi * step / steps)) / 2
    return LEARNING_RATE * min(1.0, step / WARM_UP) * falling


def _example(batch: Batch) -> dict[str, list[object]]:
    """The first sequence, as the heads' attention is shown on it."""
    return {name: getattr(batch, name)[0].tolist() for name in ("names", "tags", "places")}


def _generator(seed: int, purpose: int) -> torch.Generator:
    return torch.Generator().manual_seed((MOST_SEED + 1) * purpose + seed)
