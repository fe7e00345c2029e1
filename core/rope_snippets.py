"""Programs that reproduce the numbers of the page on rotary positions: the two pairings, and longer texts."""

from torch import Tensor

PAIRINGS = '''"""The same query, turned as half-split and as interleaved pairs, in plain PyTorch."""

import torch

POSITION, BASE = {position!r}, {base!r}
Q = {q!r}

q = torch.tensor(Q, dtype=torch.float64)
head_dim = len(Q)
frequencies = BASE ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)  # one for each pair
cos, sin = (POSITION * frequencies).cos(), (POSITION * frequencies).sin()


def half_split(x):
    """Dimensions i and i + head_dim / 2 are a pair, as in Llama (transformers)."""
    a, b = x.chunk(2)
    return torch.cat((a * cos - b * sin, b * cos + a * sin))


def interleaved(x):
    """Dimensions 2i and 2i + 1 are a pair, as in RoFormer."""
    a, b = x[0::2], x[1::2]
    return torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten()


def as_complex(x):
    """Each interleaved pair is one complex number, and the turn is a product."""
    pairs = torch.view_as_complex(x.reshape(-1, 2))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(frequencies), POSITION * frequencies)).flatten()


order = torch.arange(head_dim).reshape(2, -1).T.flatten()  # 0, d/2, 1, d/2 + 1, …
reordered = q[order]
put_back = as_complex(reordered)[order.argsort()]

torch.set_printoptions(precision=4, sci_mode=False, linewidth=200)
for name, values in (
    ("q", q),
    ("half-split", half_split(q)),
    ("interleaved", interleaved(q)),
    ("difference", half_split(q) - interleaved(q)),
    ("q reordered", reordered),
    ("as complex numbers", as_complex(reordered)),
    ("put back in order", put_back),
):
    print(f"{{name:>18}}", values)
print("largest difference after the permutation:", float((half_split(q) - put_back).abs().max()))
'''


def pairings(*, q: Tensor, position: float, base: float) -> str:
    """One query, turned in both ways.

    Shape: q (head_dim,).
    """
    return PAIRINGS.format(q=q.tolist(), position=position, base=base)


EXTENSION = '''"""What becomes of RoPE in a text that is longer than those of the training, in plain PyTorch."""

import math

import torch

HEAD_DIM, BASE = {head_dim}, {base!r}
TRAINED_LEN, TARGET_LEN = {trained_len}, {target_len}
SHOWN = {shown}

factor = TARGET_LEN / TRAINED_LEN
index = torch.arange(HEAD_DIM // 2, dtype=torch.float64)


def frequencies_of(base):
    return base ** (-2 * index / HEAD_DIM)


frequencies = frequencies_of(BASE)
wavelengths = 2 * math.pi / frequencies
turns = TRAINED_LEN / wavelengths  # in training
ntk_base = BASE * factor ** (HEAD_DIM / (HEAD_DIM - 2))

# YaRN: pairs with more than 32 turns in training stay, those with less than 1 are interpolated
low, high = (HEAD_DIM * math.log(TRAINED_LEN / (t * 2 * math.pi)) / (2 * math.log(BASE)) for t in (32, 1))
low, high = max(math.floor(low), 0), min(math.ceil(high), HEAD_DIM - 1)
interpolated = ((index - low) / (high - low if high != low else 0.001)).clamp(0, 1)
yarn = frequencies * (1 - interpolated) + frequencies / factor * interpolated
attention_factor = 0.1 * math.log(factor) + 1  # of YaRN; it multiplies q and k

# Llama 3: pairs with more than 4 turns in training stay, those with less than 1 are interpolated
kept = ((turns - 1) / (4 - 1)).clamp(0, 1)
llama3 = (1 - kept) * frequencies / factor + kept * frequencies

per_token = {{  # radians from one token to the next
    "none": frequencies,
    "linear": frequencies / factor,
    "ntk": frequencies_of(ntk_base),
    "dynamic_ntk": frequencies_of(ntk_base),  # its base follows the length; at the target length it is this one
    "yarn": yarn,
    "llama3": llama3,
}}
last_angles = {{method: (TARGET_LEN - 1) * theta for method, theta in per_token.items()}}
unseen = {{
    method: int(((angles > TRAINED_LEN * frequencies) & (turns < 1)).sum()) for method, angles in last_angles.items()
}}
tokens = torch.arange(SHOWN)
fractional = tokens.double() / factor
truncated = (tokens.float() * (TRAINED_LEN / TARGET_LEN)).long()  # as printed: neighbours share a position

positions = torch.tensor([1, 10, 100, 1_000, 10_000, 100_000, 1_000_000])
exact = positions[:, None].double() * frequencies


def error(dtype):
    """The largest error of a cosine or sine whose angle was computed in another type."""
    angle = positions[:, None].to(dtype) * frequencies.to(dtype)
    cos, sin = (angle.cos().double() - exact.cos()).abs(), (angle.sin().double() - exact.sin()).abs()
    return torch.maximum(cos, sin).amax(dim=-1)


errors = {{dtype: error(dtype) for dtype in (torch.float32, torch.bfloat16)}}

print(f"pairs that make no full turn in {{TRAINED_LEN}} tokens: {{int((turns < 1).sum())}} of {{HEAD_DIM // 2}}")
print(f"base of NTK for a factor of {{factor:g}}: {{ntk_base:.0f}}; attention factor of YaRN: {{attention_factor:.4f}}")
print("fractional", fractional.tolist())
print("truncated ", truncated.tolist())
for method, angles in last_angles.items():
    print(f"{{method:>12}}: slowest pair turned by {{angles[-1]:.4f}} rad, {{unseen[method]}} unseen pairs")
for place, position in enumerate(positions.tolist()):
    print(f"position {{position:>9,}}", {{str(dtype): f"{{error[place]:.1e}}" for dtype, error in errors.items()}})
'''


def extension(*, head_dim: int, base: float, trained_len: int, target_len: int, shown: int = 8) -> str:
    """The scalings for one length, and the angles in smaller types of numbers."""
    return EXTENSION.format(head_dim=head_dim, base=base, trained_len=trained_len, target_len=target_len, shown=shown)
