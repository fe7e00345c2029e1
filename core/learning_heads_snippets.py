"""A program that trains the layers of the learning heads page without this app, in plain PyTorch."""

from core.labs.learning_heads import (
    BATCH,
    FRESH,
    LAST,
    LEARNING_RATE,
    MOST_SEED,
    WARM_UP,
    Settings,
)
from core.labs.learning_heads_model import WIDENING
from core.labs.learning_heads_task import NAMES, TAGS

_PROGRAM = '''"""Layers of several heads learn to look {look_ups} tags up at once, in plain PyTorch."""

import math

import torch
from torch.nn import functional as F

NAMES, TAGS, LOOK_UPS = {names}, {tags}, {look_ups}
D_MODEL, MLP, STEPS, SEED = {d_model}, {mlp}, {steps}, {seed}


def draw_batch(batch, generator):
    names = torch.rand(batch, NAMES, generator=generator).argsort(dim=-1)  # (batch, seq_len)
    tags = torch.randint(TAGS, (batch, NAMES), generator=generator)
    order = torch.rand(batch, NAMES, NAMES, generator=generator)
    order = order.masked_fill(torch.eye(NAMES, dtype=torch.bool), 2.0)  # oneself comes last
    places = order.argsort(dim=-1)[..., :LOOK_UPS]  # (batch, seq_len, look_ups)

    def at(values):
        return values[:, None].expand(-1, NAMES, -1).gather(-1, places)

    wishes = NAMES * torch.arange(LOOK_UPS) + at(names)
    parts = torch.cat([names[..., None], NAMES + tags[..., None], NAMES + TAGS + wishes], dim=-1)
    return parts, at(tags)


def new_parameters(generator):
    def draw(rows, columns, fan_in):
        return (torch.randn(rows, columns, generator=generator) / math.sqrt(fan_in)).requires_grad_()

    made = [draw(NAMES + TAGS + LOOK_UPS * NAMES, D_MODEL, 2 + LOOK_UPS)]  # the vectors of all parts of tokens
    made += [draw(D_MODEL, D_MODEL, D_MODEL) for _ in range(4)]  # W_Q, W_K, W_V, W_O
    made.append(draw(D_MODEL, LOOK_UPS * TAGS, D_MODEL))
    if MLP:
        wide = {widening} * D_MODEL
        made += [draw(D_MODEL, wide, D_MODEL), torch.zeros(wide, requires_grad=True), draw(wide, D_MODEL, wide)]
    return made


def answer(parameters, parts, num_heads):
    table, w_q, w_k, w_v, w_o, w_answer, *mlp = parameters
    x = table[parts].sum(dim=-2)  # (batch, seq_len, d_model)
    q, k, v = ((x @ w).unflatten(-1, (num_heads, -1)).transpose(1, 2) for w in (w_q, w_k, w_v))
    weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=-1)  # (batch, num_heads, seq_len, seq_len)
    result = (weights @ v).transpose(1, 2).flatten(2) @ w_o  # (batch, seq_len, d_model)
    if mlp:
        up, bias, down = mlp
        result = result + (result @ up + bias).relu() @ down
    return (result @ w_answer).unflatten(-1, (LOOK_UPS, TAGS)), weights


losses, accuracies = {{}}, {{}}
for num_heads in {heads}:
    first, data, fresh = (torch.Generator().manual_seed({seeds} * purpose + SEED) for purpose in range(3))
    parameters = new_parameters(first)
    unseen, wanted = draw_batch({fresh}, fresh)
    optimiser = torch.optim.Adam(parameters)
    losses[num_heads] = []
    for step in range(1, STEPS + 1):
        falling = {last} + (1 - {last}) * (1 + math.cos(math.pi * step / STEPS)) / 2
        optimiser.param_groups[0]["lr"] = {rate} * min(1.0, step / {warm_up}) * falling
        parts, answers = draw_batch({batch}, data)
        logits, _ = answer(parameters, parts, num_heads)
        loss = F.cross_entropy(logits.flatten(0, -2), answers.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses[num_heads].append(loss.item())
    with torch.no_grad():
        logits, weights = answer(parameters, unseen, num_heads)
    accuracies[num_heads] = float((logits.argmax(dim=-1) == wanted).double().mean())
    print(f"{{num_heads}} heads: loss {{losses[num_heads][-1]:.3f}}, accuracy {{accuracies[num_heads]:.1%}}")
'''


def training(settings: Settings) -> str:
    """All layers of these settings, one after the other: their losses, and their accuracy on fresh sequences."""
    return _PROGRAM.format(
        names=NAMES,
        tags=TAGS,
        look_ups=settings.look_ups,
        d_model=settings.d_model,
        mlp=settings.mlp,
        steps=settings.steps,
        seed=settings.seed,
        heads=settings.heads,
        widening=WIDENING,
        seeds=MOST_SEED + 1,
        fresh=FRESH,
        batch=BATCH,
        rate=LEARNING_RATE,
        warm_up=WARM_UP,
        last=LAST,
    )
