"""An experiment as small as one can be: a number is fitted to another one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from core.labs.events import Event, Found, Step


@dataclass(frozen=True, slots=True)
class Settings:
    steps: int = 5
    rate: float = 0.1
    seed: int = 0
    trouble: str = ""

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps ({self.steps}) must be at least 1")


def train(settings: Settings) -> Iterator[Event]:
    generator = torch.Generator().manual_seed(settings.seed)
    weight = torch.randn(1, generator=generator, requires_grad=True)
    optimizer = torch.optim.SGD([weight], settings.rate)
    for step in range(1, settings.steps + 1):
        loss = (weight - torch.randn(1, generator=generator)).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield Step("fit", step, loss.item(), 1, step, settings.steps)
    if settings.trouble == "memory":
        torch.zeros(2**32)
    if settings.trouble == "prints":
        print("a library says hello")
    yield Found("fit", "weight", round(weight.item(), 4))
    yield Found("fit", "threads", torch.get_num_threads())


def comparison() -> Sequence[Settings]:
    return [Settings(rate=rate, seed=seed) for rate in (0.1, 0.2) for seed in range(2)]
