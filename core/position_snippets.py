"""Programs that reproduce the numbers of the two pages on positions without this app, in plain PyTorch."""

from collections.abc import Sequence

from torch import Tensor

from core.positions.pairing import read_pairing
from core.positions.scalings import Method, Scaling

SINUSOIDAL = '''"""Sinusoidal positions in plain PyTorch."""

import math

import torch

SEQ_LEN, D_MODEL, BASE = {seq_len}, {d_model}, {base!r}
POSITION, OFFSET = {position!r}, {offset!r}

frequencies = BASE ** (-torch.arange(0, D_MODEL, 2, dtype=torch.float64) / D_MODEL)  # one for each pair
wavelengths = 2 * math.pi / frequencies


def encode(positions):
    """Even dimensions are sines, odd ones cosines, (…, D_MODEL)."""
    angles = positions[..., None] * frequencies
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


encoding = encode(torch.arange(SEQ_LEN, dtype=torch.float64))  # (SEQ_LEN, D_MODEL)
similarity = encoding @ encoding.T  # it depends on the distance alone

cos, sin = (OFFSET * frequencies).cos().tolist(), (OFFSET * frequencies).sin().tolist()
blocks = [torch.tensor([[c, s], [-s, c]], dtype=torch.float64) for c, s in zip(cos, sin)]
shift = torch.block_diag(*blocks)  # PE(pos + OFFSET) = shift · PE(pos), for every pos
here, there = encode(torch.tensor([POSITION, POSITION + OFFSET], dtype=torch.float64))
residual = float((shift @ here - there).abs().max())

exponents = torch.arange(D_MODEL, dtype=torch.float64) / D_MODEL
printed = BASE**-exponents  # 1 / BASE^(i / d), wrong for odd i
right = frequencies.repeat_interleave(2)  # dimensions 2j and 2j + 1 share one

torch.set_printoptions(precision=4, sci_mode=False, linewidth=200)
print("wavelengths", wavelengths)
print("PE(0) · PE(distance)", similarity[0])
print(f"position {{POSITION + OFFSET}} seen from {{POSITION}}: residual {{residual:.1e}}")
for i in range(min(D_MODEL, 8)):
    print(f"dimension {{i}}: frequency {{right[i]:.6f}}, printed {{printed[i]:.6f}}")
'''


def sinusoidal(*, seq_len: int, d_model: int, base: float, position: float, offset: float) -> str:
    """Encoding, wavelengths, dot products, and a position seen from another."""
    return SINUSOIDAL.format(seq_len=seq_len, d_model=d_model, base=base, position=position, offset=offset)


ORDER = '''"""Does attention notice the order of words? In plain PyTorch, on the embeddings of a real model."""

import torch
from transformers import AutoModelForSeq2SeqLM, PreTrainedTokenizerFast

FOLDER = {folder!r}  # config.json, model.safetensors and tokenizer.json
TEXT = {text!r}
ORDER = {order!r}  # word ORDER[i] of the original stands in place i; the last keeps its place
SEED = {seed}  # of random layers; None: the attention layers of the model
NUM_LAYERS, NUM_HEADS, HEAD_DIM = {num_layers}, {num_heads}, {head_dim}  # of random layers

tokenizer = PreTrainedTokenizerFast.from_pretrained(FOLDER)
encoder = AutoModelForSeq2SeqLM.from_pretrained(FOLDER, dtype=torch.float32).get_encoder().eval().requires_grad_(False)
*said, end = tokenizer(TEXT).input_ids
ids = [*said[: len(ORDER) - 1], end]
words = encoder.embed_tokens(torch.tensor(ids)).double() * encoder.embed_scale  # (seq_len, d_model)
positions = encoder.embed_positions(torch.Size((1, len(ids)))).double()  # (seq_len, d_model)


def real_layer(attention):
    """The heads of a layer, each as W_q, W_k, W_v, W_o and the biases of the first three."""
    linears = attention.q_proj, attention.k_proj, attention.v_proj
    matrices = [linear.weight.double().T.chunk(attention.num_heads, dim=1) for linear in linears]
    matrices.append(attention.out_proj.weight.double().T.chunk(attention.num_heads))
    biases = [linear.bias.double().chunk(attention.num_heads) for linear in linears]
    return list(zip(*matrices, *biases))


def random_head():
    d_model = words.shape[1]
    sizes = [(d_model, HEAD_DIM)] * 3 + [(HEAD_DIM, d_model)]
    drawn = [torch.randn(size, generator=generator, dtype=torch.float64) / size[0] ** 0.5 for size in sizes]
    return (*drawn, 0.0, 0.0, 0.0)


if SEED is None:
    layers = [real_layer(layer.self_attn) for layer in encoder.layers]
else:
    generator = torch.Generator().manual_seed(SEED)
    layers = [[random_head() for _ in range(NUM_HEADS)] for _ in range(NUM_LAYERS)]


def read(x, layers, mask):
    """Attention with skip connections; no feed-forward blocks, which treat each word alone."""
    for heads in layers:
        added = 0.0
        for w_q, w_k, w_v, w_o, b_q, b_k, b_v in heads:
            q, k, v = x @ w_q + b_q, x @ w_k + b_k, x @ w_v + b_v
            scores = (q @ k.T / k.shape[1] ** 0.5).masked_fill(~mask, -torch.inf)
            added = added + scores.softmax(dim=-1) @ v @ w_o
        x = x + added
    return x


def relative(difference, output):
    return float(difference.abs().max() / output.abs().max())


everything = torch.ones(len(ids), len(ids), dtype=torch.bool)
causal = everything.tril()
changes = {{}}
for setting, used, mask, added in (
    ("no_mask", layers, everything, 0.0),
    ("causal_one_layer", layers[:1], causal, 0.0),
    ("causal_two_layers", layers[:2], causal, 0.0),
    ("with_positions", layers, everything, positions),
):
    original, permuted = read(words + added, used, mask), read(words[ORDER] + added, used, mask)
    difference = permuted - original[ORDER] if setting == "no_mask" else permuted[-1] - original[-1]
    changes[setting] = relative(difference, original)

print([tokenizer.convert_ids_to_tokens(ids[place]) for place in ORDER])
for setting, change in changes.items():
    print(f"{{setting:>18}}: outputs change by {{change:.1e}}")
'''


def order(
    *,
    folder: str,
    text: str,
    order: Sequence[int],
    seed: int | None,
    num_layers: int = 2,
    num_heads: int = 2,
    head_dim: int = 64,
) -> str:
    """How far outputs change when the words of a sentence change places.

    folder: where the model lies. seed: of `core.positions.order.random_layers`, which has the sizes that follow; None:
    the layers of the model.
    """
    return ORDER.format(
        folder=folder,
        text=text,
        order=list(order),
        seed=seed,
        num_layers=num_layers,
        num_heads=num_heads,
        head_dim=head_dim,
    )


SCALINGS = {
    Method.NONE: """
positions_per_token, attention_factor = 1.0, 1.0
""",
    Method.LINEAR: """
positions_per_token, attention_factor = 1 / FACTOR, 1.0  # fractional, and never cast to integers
""",
    Method.NTK: """
frequencies = pair_frequencies(BASE * FACTOR ** (HEAD_DIM / (HEAD_DIM - 2)))
positions_per_token, attention_factor = 1.0, 1.0
""",
    Method.DYNAMIC_NTK: """
growth = FACTOR * max(SEQ_LEN, TRAINED_LEN) / TRAINED_LEN - (FACTOR - 1)
frequencies = pair_frequencies(BASE * growth ** (HEAD_DIM / (HEAD_DIM - 2)))
positions_per_token, attention_factor = 1.0, 1.0
""",
    Method.YARN: """

def index(turns):
    \"\"\"Which pair makes so many turns in training.\"\"\"
    return HEAD_DIM * math.log(TRAINED_LEN / (turns * 2 * math.pi)) / (2 * math.log(BASE))


low, high = index(BETA_FAST), index(BETA_SLOW)
if TRUNCATE:
    low, high = math.floor(low), math.ceil(high)
low, high = max(low, 0), min(high, HEAD_DIM - 1)
if low == high:
    high += 0.001
interpolated = ((torch.arange(HEAD_DIM // 2, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)
frequencies = frequencies * (1 - interpolated) + frequencies / FACTOR * interpolated
positions_per_token = 1.0
attention_factor = 0.1 * math.log(FACTOR) + 1 if ATTENTION_FACTOR is None else ATTENTION_FACTOR
""",
    Method.LLAMA3: """
turns = TRAINED_LEN * frequencies / (2 * math.pi)
kept = ((turns - LOW_FREQ_FACTOR) / (HIGH_FREQ_FACTOR - LOW_FREQ_FACTOR)).clamp(0, 1)
frequencies = (1 - kept) * frequencies / FACTOR + kept * frequencies
positions_per_token, attention_factor = 1.0, 1.0
""",
}

ROPE = '''"""A query and a key under rotary positions, in plain PyTorch."""

import math

import torch

BASE, SEQ_LEN, PAIRING = {base!r}, {seq_len}, {pairing!r}
{settings}Q = {q!r}
K = {k!r}
M, N = {m!r}, {n!r}  # where the query and the key stand
DISTANCES = {distances!r}

HEAD_DIM = len(Q)
q, k = torch.tensor([Q, K], dtype=torch.float64)


def pair_frequencies(base):
    return base ** (-torch.arange(0, HEAD_DIM, 2, dtype=torch.float64) / HEAD_DIM)


frequencies = pair_frequencies(BASE)
{scaling}

def rotate(x, position):
    """Turn each pair (a, b) into (a cos − b sin, b cos + a sin)."""
    angles = position * positions_per_token * frequencies
    cos, sin = angles.cos(), angles.sin()
    if PAIRING == "half_split":
        a, b = x.chunk(2)
        return torch.cat((a * cos - b * sin, b * cos + a * sin))
    a, b = x[0::2], x[1::2]
    return torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten()


def score(m, n):
    return float(rotate(q, m) @ rotate(k, n)) * attention_factor**2 / math.sqrt(HEAD_DIM)


scores = [score(distance, 0) for distance in DISTANCES]
print("wavelengths in tokens", (2 * math.pi / (frequencies * positions_per_token)).tolist())
print(f"query at {{M}}, key at {{N}}: score {{score(M, N):.4f}}")
for distance, value in zip(DISTANCES, scores):
    print(f"distance {{distance:>8}}  score {{value:.4f}}")
'''


def rope(
    *,
    q: Tensor,
    k: Tensor,
    m: float,
    n: float,
    distances: Sequence[float],
    pairing: str,
    base: float,
    scaling: Scaling,
    seq_len: int,
) -> str:
    """The score of a query and a key, at two positions and against the distance.

    seq_len: how long the text is, for dynamic NTK.
    Shapes: q and k (head_dim,).
    Raises: ValueError if there is no such pairing.
    """
    settings = {name: getattr(scaling, name) for name in scaling.__dataclass_fields__ if name != "method"}
    return ROPE.format(
        base=base,
        seq_len=seq_len,
        pairing=str(read_pairing("pairing", pairing)),
        settings="".join(f"{name.upper()} = {value!r}\n" for name, value in settings.items()),
        q=q.tolist(),
        k=k.tolist(),
        m=m,
        n=n,
        distances=list(distances),
        scaling=SCALINGS[scaling.method].rstrip("\n") + "\n",
    )
