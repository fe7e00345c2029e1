"""A program that holds the open-book exam without this app, in plain PyTorch: the same text, weights and numbers."""

import inspect

from core.labs import text
from core.labs.open_book import (
    BATCH,
    EXAM_PIECES,
    LEARNING_RATE,
    NUM_HEADS,
    TRAIN_STORIES,
    UNSEEN_STORIES,
    WARM_UP,
    Settings,
)
from core.labs.open_book_exam import SEQ_LEN

_LISTS = (
    "SHE", "HE", "THINGS", "QUALITIES", "PLACES", "FINDING", "CARRYING", "WHERE", "WHEN", "FEELING", "ALPHABET",
)  # fmt: skip

_PROGRAM = '''"""The open-book exam in plain PyTorch: two twins learn to write, and one of them sees the answers."""

import copy
import math
from collections.abc import Sequence

import torch
from torch import nn

torch.set_num_threads(1)
NUM_LAYERS, D_MODEL, NUM_HEADS, STEPS, LEAK, SEED = {num_layers}, {d_model}, {num_heads}, {steps}, {leak}, {seed}
SEQ_LEN, BATCH, LEARNING_RATE, WARM_UP = {seq_len}, {batch}, {rate}, {warm_up}

# ------------------------------------------------------------------------------------------- stories from a grammar

{lists}


{functions}


def encode(text):
    return torch.tensor([ALPHABET.index(character) for character in text])


def draw(text, count):
    starts = torch.randint(len(text) - SEQ_LEN, (count, 1), generator=generator)
    return text[starts + torch.arange(SEQ_LEN + 1)]  # (count, SEQ_LEN + 1)


# ------------------------------------------------------------------------------------------------------- the model


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D_MODEL, D_MODEL) for _ in range(4))

    def forward(self, x, mask):
        q, k, v = (part(x).unflatten(-1, (NUM_HEADS, -1)).transpose(1, 2) for part in (self.q, self.k, self.v))
        output = nn.functional.scaled_dot_product_attention(turned(q), turned(k), v, attn_mask=mask)
        return self.o(output.transpose(1, 2).flatten(2))


def turned(x):  # RoPE, (batch, num_heads, seq_len, head_dim)
    seq_len, head_dim = x.shape[-2:]
    frequencies = 10000.0 ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    angles = torch.arange(seq_len)[:, None] * frequencies
    cos, sin = angles.cos().float(), angles.sin().float()
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(D_MODEL), Attention()
        self.other_norm = nn.LayerNorm(D_MODEL)
        self.feed_forward = nn.Sequential(nn.Linear(D_MODEL, 4 * D_MODEL), nn.ReLU(), nn.Linear(4 * D_MODEL, D_MODEL))

    def forward(self, x, mask):
        x = x + self.attention(self.norm(x), mask)
        return x + self.feed_forward(self.other_norm(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(len(ALPHABET), D_MODEL)
        self.layers = nn.ModuleList(Layer() for _ in range(NUM_LAYERS))
        self.norm, self.output = nn.LayerNorm(D_MODEL), nn.Linear(D_MODEL, len(ALPHABET), bias=False)
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02, generator=generator)
                if getattr(module, "bias", None) is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, characters, mask):
        x = self.embedding(characters)
        for layer in self.layers:
            x = layer(x, mask)
        return self.output(self.norm(x))


def sees(leak):  # the past, itself, and so many characters after it
    return torch.ones(SEQ_LEN + 1, SEQ_LEN + 1, dtype=torch.bool).tril(leak)


def loss_of(model, pieces, leak):
    logits = model(pieces, sees(leak))[:, :-1]
    return nn.functional.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten())


# --------------------------------------------------------------------------------------------- training, then the exam

generator = torch.Generator().manual_seed(SEED)
stories = write_stories({train} + {unseen}, generator=generator)
learnt, unseen = encode("".join(stories[:{train}])), encode("".join(stories[{train}:]))
closed = Model()
models = {{"closed book": (closed, 0), "open book": (copy.deepcopy(closed), LEAK)}}
exam = draw(unseen, {exam})
optimisers = {{name: torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE) for name, (model, _) in models.items()}}
losses = {{name: [] for name in models}}
for step in range(1, STEPS + 1):
    pieces = draw(learnt, BATCH)
    rate = LEARNING_RATE * min(1, step / WARM_UP) * (1 - 0.95 * max(0, 2 * step / STEPS - 1))
    for name, (model, leak) in models.items():
        optimisers[name].param_groups[0]["lr"] = rate
        loss = loss_of(model, pieces, leak)
        optimisers[name].zero_grad()
        loss.backward()
        optimisers[name].step()
        losses[name].append(loss.item())
    if step % 50 == 0 or step == STEPS:
        print(step, {{name: round(every[-1], 3) for name, every in losses.items()}})

honest = {{}}
for name, (model, _) in models.items():
    with torch.no_grad():
        honest[name] = loss_of(model, exam, 0).item()
    print(f"{{name}}: with only the past in sight {{honest[name]:.2f}} nats, perplexity {{math.exp(honest[name]):.1f}}")
'''


def open_book(settings: Settings) -> str:
    """Both trainings and the exam; it gives the losses of every step, and those of the exam, to rounding."""
    return _PROGRAM.format(
        num_layers=settings.num_layers,
        d_model=settings.d_model,
        num_heads=NUM_HEADS,
        steps=settings.steps,
        leak=settings.leak,
        seed=settings.seed,
        seq_len=SEQ_LEN,
        batch=BATCH,
        rate=LEARNING_RATE,
        warm_up=WARM_UP,
        lists="\n".join(f"{name} = {getattr(text, name)!r}" for name in _LISTS),
        functions="\n\n".join(_source_of(name) for name in ("write_stories", "_story")),
        train=TRAIN_STORIES,
        unseen=UNSEEN_STORIES,
        exam=EXAM_PIECES,
    )


def _source_of(name: str) -> str:
    return inspect.getsource(getattr(text, name))
