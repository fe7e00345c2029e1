"""Longer than it was trained for: character models read texts of several times the length of their training.

One model for every way to tell positions; then RoPE's positions read in other ways, without training and after a short
one. `core.labs.longer_reading` says what is measured, `core.labs.longer_summary` what is made of it.
"""

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import torch
from torch import Generator, Tensor

from core.checks import check_between, check_divisible, check_not_negative
from core.labs.character_model import CharacterModel, ModelConfig, Positions, new_model, next_character_loss
from core.labs.events import Event, Found, Step
from core.labs.longer_reading import LONGEST, PER_LENGTH, STRIDES, loss_by_position, loss_in_windows
from core.labs.text import ALPHABET, draw_batch, make_texts
from core.masks import causal_mask
from core.positions.scalings import Method, Scaled, scaling_for

BATCH = 32  # texts of the trained length in one step; fewer where they are longer, so that characters are as many
TRAIN, UNSEEN = 2000, 600  # stories
JUDGED, GLANCED = 128, 32  # unseen texts that a model is judged by at the end, and while it is trained
GLANCES = 4  # so often, the end among them
PEAK, PEAK_AGAIN = 3e-3, 2e-3  # learning rates: of the training, and of the short one after it
SEEDS = range(5)  # of the full comparison


class Kind(StrEnum):
    """What is trained."""

    NONE = "none"
    SINUSOIDAL = "sinusoidal"
    LEARNT = "learnt"
    ROPE = "rope"
    ROPE_LONG = "rope_long"  # trained on texts as long as those that all are tested on: what could be reached

    @property
    def positions(self) -> Positions:
        return Positions.ROPE if self is Kind.ROPE_LONG else Positions(self)


METHODS = (Method.NONE, Method.LINEAR, Method.NTK, Method.YARN)
"""How RoPE's positions are read: as they are, interpolated, with NTK's base, with YaRN."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Which kinds are trained, and how; Raises: ValueError if there are none, or a number is out of its bounds.

    factor: of the scalings of RoPE; it also says how long the texts of the short training are.
    tune_steps: of the short training; 0: there is none.
    """

    none: bool = False
    sinusoidal: bool = True
    learnt: bool = False
    rope: bool = True
    rope_long: bool = False
    trained_len: int = 32
    steps: int = 600
    factor: int = 4
    tune_steps: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.kinds:
            raise ValueError(f"kinds (none) must hold at least one of {', '.join(Kind)}")
        check_between("trained_len", self.trained_len, 8, 64)
        check_divisible("trained_len", self.trained_len, "STRIDES", STRIDES)
        check_between("steps", self.steps, 1, 1000)
        check_between("factor", self.factor, 1, LONGEST)
        check_between("tune_steps", self.tune_steps, 0, 200)
        check_not_negative("seed", self.seed)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What is trained, in the order of the training."""
        return tuple(kind for kind in Kind if getattr(self, kind))

    @property
    def longest(self) -> int:
        """Characters of the texts that all are tested on."""
        return LONGEST * self.trained_len


def train(settings: Settings) -> Iterator[Event]:
    """Train every kind, and judge it; then train RoPE again with every reading.

    Curves: a kind ("rope"), and for the short training a reading ("rope.linear").
    Found, lists of losses in nats, one for each bucket of positions: of a kind "loss", and "window" (None inside the
    trained length); of a reading "before" and "after" the short training.
    """
    texts = make_texts(train=TRAIN, unseen=UNSEEN, generator=_generator(settings, 1))
    judged = draw_batch(texts.unseen, batch=JUDGED, seq_len=settings.longest + 1, generator=_generator(settings, 2))
    bucket = settings.trained_len // PER_LENGTH
    readings = METHODS if settings.rope else ()
    total = len(settings.kinds) * settings.steps + len(readings) * settings.tune_steps
    glances = {round(settings.steps * part / GLANCES) for part in range(1, GLANCES)} - {0}
    done = 0
    for kind in settings.kinds:
        trained_len = settings.longest if kind is Kind.ROPE_LONG else settings.trained_len
        read_len = settings.trained_len if kind is Kind.LEARNT else settings.longest  # no vector stands beyond
        config = ModelConfig(len(ALPHABET), positions=kind.positions, max_len=trained_len)
        model = new_model(config, generator=_generator(settings, 3))
        batches = _batches(texts.train, settings.trained_len, trained_len, _generator(settings, 4))
        for step, loss in enumerate(fit(model, batches, steps=settings.steps, peak=PEAK), start=1):
            done += 1
            yield Step(kind, step, loss, BATCH * settings.trained_len, done, total)
            if step in glances:
                yield Found(kind, "loss", loss_by_position(model, judged[:GLANCED], read_len, bucket))
        yield Found(kind, "loss", loss_by_position(model, judged, read_len, bucket))
        yield Found(kind, "window", loss_in_windows(model, judged, settings.trained_len))
        if kind is not Kind.ROPE:
            continue
        scalings = {method: _scaled(method, settings, config) for method in readings}
        for method, scaled in scalings.items():
            before = loss_by_position(model, judged, read_len, bucket, scaled=scaled)
            yield Found(reading_curve(method), "before", before)
        for method, scaled in scalings.items():
            again = copy.deepcopy(model)
            tune_len = settings.factor * settings.trained_len
            batches = _batches(texts.train, settings.trained_len, tune_len, _generator(settings, 5))
            steps = fit(again, batches, steps=settings.tune_steps, peak=PEAK_AGAIN, scaled=scaled)
            for step, loss in enumerate(steps, start=1):
                done += 1
                yield Step(reading_curve(method), step, loss, BATCH * settings.trained_len, done, total)
            if settings.tune_steps:
                after = loss_by_position(again, judged, read_len, bucket, scaled=scaled)
                yield Found(reading_curve(method), "after", after)


def comparison() -> Sequence[Settings]:
    """Every kind with every seed: a run with the kinds of the default settings, and one with the others."""
    others = {"none": True, "sinusoidal": False, "learnt": True, "rope": False, "rope_long": True}
    return [settings for seed in SEEDS for settings in (Settings(seed=seed), Settings(seed=seed, **others))]


def reading_curve(method: Method) -> str:
    """The name of a reading's curve and findings."""
    return f"{Kind.ROPE}.{method}"


def fit(
    model: CharacterModel, batches: Iterator[Tensor], *, steps: int, peak: float, scaled: Scaled | None = None
) -> Iterator[float]:
    """Train a model in place with Adam; yields the loss of every step.

    batches: characters, int64 (batch, seq_len + 1): each but the last predicts the next. peak: of the learning rate.
    """
    optimiser = torch.optim.Adam(model.parameters(), lr=peak)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = peak * rate(step, steps)
        characters = next(batches)
        logits = model(characters[:, :-1], causal_mask(characters.shape[1] - 1), scaled=scaled)
        loss: Any = next_character_loss(logits, characters[:, 1:]).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        yield float(loss.detach())


def rate(step: int, steps: int) -> float:
    """The share of the peak learning rate: it rises during the first tenth of the steps, and falls to a tenth.

    >>> [round(rate(step, 100), 2) for step in (0, 9, 50, 99)]
    [0.1, 0.98, 0.55, 0.1]
    """
    rising = min(1.0, 10 * (step + 1) / steps)
    falling = 0.1 + 0.45 * (1 + math.cos(math.pi * step / steps))
    return rising * falling


def _batches(text: Tensor, trained_len: int, seq_len: int, generator: Generator) -> Iterator[Tensor]:
    """Batches of BATCH · trained_len characters, in pieces of seq_len."""
    batch = max(1, BATCH * trained_len // seq_len)
    while True:
        yield draw_batch(text, batch=batch, seq_len=seq_len + 1, generator=generator)


def _scaled(method: Method, settings: Settings, config: ModelConfig) -> Scaled:
    scaling = scaling_for(method, factor=settings.factor, trained_len=settings.trained_len)
    return scaling.apply(config.head_dim, base=config.rope_base)


def _generator(settings: Settings, purpose: int) -> Generator:
    """The same numbers for all kinds, other ones for every purpose."""
    return Generator().manual_seed(10 * settings.seed + purpose)
