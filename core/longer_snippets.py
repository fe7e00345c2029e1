"""A program that trains and measures what the page of longer texts shows, without this app, in plain PyTorch."""

import inspect

from core.checks import check_sizes
from core.labs import longer, text
from core.labs.character_model import STD, ModelConfig
from core.labs.longer import Kind, Settings
from core.labs.longer_reading import LONGEST, PER_LENGTH, STRIDES
from core.positions.scalings import scaling_for

_IMPORTED = "from core.checks import check_sizes\n"  # by the module that writes stories

_PROGRAM = """
# ------------------------------------------------------------------------------------- the model, and its training

SEED, KIND, TRAINED_LEN, TRAIN_LEN, TEST_LEN = {seed}, {kind!r}, {trained_len}, {train_len}, {test_len}
STEPS, STEPS_AGAIN, LEN_AGAIN, CHARACTERS = {steps}, {tune_steps}, {tune_len}, {characters}
READINGS = {readings}  # of RoPE: radians per position, and a factor of what is turned


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear({d}, {d}) for _ in range(4))
        self.up, self.down = nn.Linear({d}, 4 * {d}), nn.Linear(4 * {d}, {d})
        self.norm_1, self.norm_2 = nn.LayerNorm({d}), nn.LayerNorm({d})

    def forward(self, x, turn):
        y = self.norm_1(x)
        q, k, v = (part(y).unflatten(-1, ({heads}, -1)).transpose(1, 2) for part in (self.q, self.k, self.v))
        attended = F.scaled_dot_product_attention(turn(q), turn(k), v, is_causal=True)
        x = x + self.o(attended.transpose(1, 2).flatten(2))
        return x + self.down(self.up(self.norm_2(x)).relu())


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(len(ALPHABET), {d})
        self.layers = nn.ModuleList(Layer() for _ in range({layers}))
        self.norm, self.output = nn.LayerNorm({d}), nn.Linear({d}, len(ALPHABET), bias=False)
        if KIND == "learnt":
            self.positions = nn.Embedding(TRAINED_LEN, {d})

    def forward(self, characters, reading):
        x, places = self.embedding(characters), torch.arange(characters.shape[1]).double()
        if KIND == "sinusoidal":
            angles = places[:, None] * 10000.0 ** (-torch.arange(0, {d}, 2).double() / {d})
            x = x + math.sqrt(2) * {std} * torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).float()
        if KIND == "learnt":
            x = x + self.positions.weight[: len(places)]

        def turn(part):
            if reading is None:
                return part
            angles, factor = places[:, None] * torch.tensor(reading[0], dtype=torch.float64), reading[1]
            cos, sin = (factor * angles.cos()).float(), (factor * angles.sin()).float()
            a, b = part.chunk(2, dim=-1)
            return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)

        for layer in self.layers:
            x = layer(x, turn)
        return self.output(self.norm(x))


def seeded(purpose):
    return torch.Generator().manual_seed(10 * SEED + purpose)


def losses(model, pieces, reading):
    logits = model(pieces[:, :-1], reading)
    return F.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten(), reduction="none").view(len(pieces), -1)


def fit(model, steps, peak, seq_len, purpose, reading):
    generator, optimiser = seeded(purpose), torch.optim.Adam(model.parameters())
    for step in range(steps):
        falling = 0.1 + 0.45 * (1 + math.cos(math.pi * step / steps))
        for group in optimiser.param_groups:
            group["lr"] = peak * min(1.0, 10 * (step + 1) / steps) * falling
        batch = max(1, CHARACTERS // seq_len)
        pieces = draw_batch(texts.train, batch=batch, seq_len=seq_len + 1, generator=generator)
        loss = losses(model, pieces, reading).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


@torch.no_grad()
def by_position(model, reading):
    found = torch.cat([losses(model, some[:, : TEST_LEN + 1], reading) for some in judged.split(16)])
    return found.view(len(judged), -1, TRAINED_LEN // {per_length}).mean(dim=(0, 2)).tolist()


@torch.no_grad()
def in_windows(model, reading):
    stride = TRAINED_LEN // {strides}
    windows = judged[:, stride:].unfold(1, TRAINED_LEN + 1, stride).flatten(0, 1)
    return float(torch.cat([losses(model, some, reading)[:, -stride:] for some in windows.split(256)]).mean())


texts = make_texts(train={train}, unseen={unseen}, generator=seeded(1))
judged = draw_batch(texts.unseen, batch={judged}, seq_len={longest} * TRAINED_LEN + 1, generator=seeded(2))

model, generator = Model(), seeded(3)
for module in model.modules():
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std={std}, generator=generator)
        if getattr(module, "bias", None) is not None:
            nn.init.zeros_(module.bias)

own = READINGS.get("none")
fit(model, STEPS, {peak}, TRAIN_LEN, 4, own)
loss, window = by_position(model, own), in_windows(model, own)
print(f"in windows of {{TRAINED_LEN}}: {{window:.4f}}")
print("loss by position:", *(f"{{value:.4f}}" for value in loss))

before, after = {{}}, {{}}
for name, reading in READINGS.items():
    before[name] = by_position(model, reading)
    print(f"{{name}}, before:", *(f"{{value:.4f}}" for value in before[name]))
    if STEPS_AGAIN:
        again = copy.deepcopy(model)
        fit(again, STEPS_AGAIN, {peak_again}, LEN_AGAIN, 5, reading)
        after[name] = by_position(again, reading)
        print(f"{{name}}, after: ", *(f"{{value:.4f}}" for value in after[name]))
"""


def training(settings: Settings, kind: Kind) -> str:
    """The training of one kind, and of RoPE's readings if it is RoPE; it writes the same stories from the same seed."""
    config = ModelConfig(len(text.ALPHABET))
    methods = longer.METHODS if kind is Kind.ROPE else longer.METHODS[:1]
    readings = {}
    for method in methods if kind.positions == "rope" else ():
        scaling = scaling_for(method, factor=settings.factor, trained_len=settings.trained_len)
        scaled = scaling.apply(config.head_dim, base=config.rope_base)
        readings[method.value] = scaled.per_token.tolist(), scaled.attention_factor
    return _stories() + _PROGRAM.format(
        seed=settings.seed,
        kind=kind.positions.value,
        trained_len=settings.trained_len,
        train_len=settings.longest if kind is Kind.ROPE_LONG else settings.trained_len,
        test_len=settings.trained_len if kind is Kind.LEARNT else settings.longest,
        steps=settings.steps,
        tune_steps=settings.tune_steps if kind is Kind.ROPE else 0,
        tune_len=settings.factor * settings.trained_len,
        characters=longer.BATCH * settings.trained_len,
        readings=readings,
        d=config.d_model,
        heads=config.num_heads,
        layers=config.num_layers,
        std=STD,
        per_length=PER_LENGTH,
        strides=STRIDES,
        longest=LONGEST,
        train=longer.TRAIN,
        unseen=longer.UNSEEN,
        judged=longer.JUDGED,
        peak=longer.PEAK,
        peak_again=longer.PEAK_AGAIN,
    )


def _stories() -> str:
    """The module that writes the stories, with what it imports from this app."""
    imports = "import copy\nimport math\n"
    own = f"from torch import nn\nfrom torch.nn import functional as F\n\n\n{inspect.getsource(check_sizes)}\n"
    whole = inspect.getsource(text).replace(_IMPORTED, own)
    head, found, rest = whole.partition("from collections.abc")
    return f"{head}{imports}{found}{rest}"
