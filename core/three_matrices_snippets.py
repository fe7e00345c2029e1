"""A program that trains the layers of the page "Three matrices" without this app, in plain PyTorch."""

from core.labs.three_matrices import BATCH, FRESH, LAST, LEARNING_RATE, MOST_SEED, Settings
from core.labs.three_matrices_task import NAMES, RINGS, TAGS

_PROGRAM = '''"""Does attention need three matrices? Trained in plain PyTorch."""

import math

import torch
from torch.nn import functional

NAMES, TAGS, RING = {names}, {tags}, {ring}  # every token has to tell the tag of the next one in its ring
LOOK_AT_SELF, SKIP = {look_at_self}, {skip}
D_MODEL, HEAD_DIM, STEPS, BATCH, FRESH, SEED = {d_model}, {head_dim}, {steps}, {batch}, {fresh}, {seed}
VARIANTS = {variants}

everyone = torch.arange(NAMES)
following = everyone // RING * RING + (everyone % RING + 1) % RING
hidden = torch.zeros(NAMES, NAMES, dtype=torch.bool) if LOOK_AT_SELF else torch.eye(NAMES, dtype=torch.bool)


def seeded(purpose):
    return torch.Generator().manual_seed({seeds} * purpose + SEED)


def draw(count, generator):
    """Sequences of all names in any order with random tags, and the right answers."""
    names = torch.rand(count, NAMES, generator=generator).argsort(-1)
    tags = torch.randint(TAGS, (count, NAMES), generator=generator)
    places = names.argsort(-1).gather(-1, following[names])  # where the one to look at stands
    return names, tags, tags.gather(-1, places)


def new(variant):
    """The weights of a layer; where matrices are shared it is the same one."""
    generator = seeded(0)

    def normal(rows, columns, fan_in):
        return (torch.randn(rows, columns, generator=generator) / math.sqrt(fan_in)).requires_grad_()

    names, tags, answer = normal(NAMES, D_MODEL, 2), normal(TAGS, D_MODEL, 2), normal(D_MODEL, TAGS, D_MODEL)
    q, k, v = (normal(D_MODEL, HEAD_DIM, D_MODEL) for _ in range(3))
    if variant == "none":
        return [names, tags, answer, normal(D_MODEL, D_MODEL, D_MODEL)]
    o = normal(HEAD_DIM, D_MODEL, HEAD_DIM)
    if variant == "query_is_key":
        k = q
    if variant == "value_is_key":
        v = k
    return [names, tags, answer, o, q, k, v]


def run(weights, names, tags):
    name_table, tag_table, answer, o, *projections = weights
    x = name_table[names] + tag_table[tags]  # (batch, NAMES, D_MODEL)
    q, k, v = (x @ each for each in projections) if projections else (x, x, x)
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(hidden, -math.inf)
    result = scores.softmax(-1) @ v @ o
    return ((result + x) if SKIP else result) @ answer  # (batch, NAMES, TAGS)


losses, accuracies = {{}}, {{}}
for variant in VARIANTS:
    weights, data, fresh = new(variant), seeded(1), draw(FRESH, seeded(2))
    trained = list({{id(each): each for each in weights}}.values())
    optimiser = torch.optim.Adam(trained)
    losses[variant] = []
    for step in range(STEPS):
        optimiser.param_groups[0]["lr"] = {rate} * (1 - {falls} * step / STEPS)
        names, tags, answers = draw(BATCH, data)
        loss = functional.cross_entropy(run(weights, names, tags).flatten(0, 1), answers.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses[variant].append(loss.item())
    with torch.no_grad():
        right = run(weights, *fresh[:2]).argmax(-1) == fresh[2]
    accuracies[variant] = right.double().mean().item()
    print(f"{{variant:13}} {{sum(each.numel() for each in trained):5}} numbers, accuracy {{accuracies[variant]:.3f}}")
'''


def training(settings: Settings) -> str:
    """The program: the same first weights and sequences, so that only rounding differs."""
    return _PROGRAM.format(
        names=NAMES,
        tags=TAGS,
        ring=RINGS[settings.task],
        look_at_self=settings.look_at_self,
        skip=settings.skip,
        d_model=settings.d_model,
        head_dim=settings.head_dim,
        steps=settings.steps,
        batch=BATCH,
        fresh=FRESH,
        seed=settings.seed,
        seeds=MOST_SEED + 1,
        variants=settings.variants,
        rate=LEARNING_RATE,
        falls=1 - LAST,
    )
