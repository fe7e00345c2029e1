"""Programs that reproduce the numbers of the rank page without this app, in plain PyTorch."""

from collections.abc import Sequence

from core.rank_depth import WIDENING
from core.rank_heads import Heads

_RANDOM = """
NUM_HEADS, SEQ_LEN, HEAD_DIM = {num_heads}, {seq_len}, {head_dim}
generator = torch.Generator().manual_seed({seed})
features = [torch.randn(3, NUM_HEADS, SEQ_LEN, generator=generator) for _ in range(HEAD_DIM)]
q, k, v = torch.stack(features, dim=-1).double()  # (num_heads, seq_len, head_dim) each
"""

_GIVEN = """
q = torch.tensor({q}, dtype=torch.float64)[None]  # (num_heads = 1, seq_len, head_dim)
k = torch.tensor({k}, dtype=torch.float64)[None]
v = torch.tensor({v}, dtype=torch.float64)[None]
"""

_MEASURES = """def ranks(matrix):
    values = torch.linalg.svdvals(matrix)
    tolerance = max(matrix.shape) * torch.finfo(matrix.dtype).eps if TOLERANCE is None else TOLERANCE
    p, energy = values / values.sum(), values**2
    return {
        "numerical": int((values > tolerance * values[0]).sum()),
        "effective": float(torch.special.entr(p).sum().exp()),  # Roy & Vetterli 2007
        "stable": float(energy.sum() / energy[0]),  # Rudelson & Vershynin 2007
        "energy": int((energy.cumsum(0) - energy < SHARE * energy.sum()).sum()),
    }"""

_RANKS = '''"""The rank of attention: logits, weights and the outputs of all heads, in plain PyTorch and float64."""

import math

import torch
{heads}
HEAD, K, SHARE = {head}, {keep}, {share}
TOLERANCE = {tolerance}  # times the largest singular value; None: torch's own
LEFT = {left}  # how many earlier tokens a query may look at, and no later one; None: it may look at all

logits = q @ k.mT / ({temperature} * math.sqrt(q.shape[-1]))  # (num_heads, seq_len, seq_len)
masked = logits
if LEFT is not None:
    places = torch.arange(q.shape[1])
    before = places[:, None] - places  # how far each key stands before each query
    masked = logits.masked_fill((before < 0) | (before > LEFT), -math.inf)
weights = masked.softmax(dim=-1)
joined = (weights @ v).transpose(0, 1).flatten(1)  # (seq_len, num_heads · head_dim)


{measures}


of_logits, of_joined = ranks(logits[HEAD]), ranks(joined)
of_weights = [ranks(each) for each in weights]

u, values, vh = torch.linalg.svd(weights[HEAD])
rebuilt = (u[:, :K] * values[:K]) @ vh[:K]  # of rank K
error = float((weights[HEAD] - rebuilt).norm() / weights[HEAD].norm())

print("logits ", of_logits)
print("weights", of_weights[HEAD])
print("outputs", of_joined)
print(f"rank {{K}} rebuilds the weights with an error of {{error:.2%}}")
'''

_SWEEP = '''"""The rank of attention against head_dim, in plain PyTorch and float64."""

import math

import torch
{heads}
HEAD, SHARE, HEAD_DIMS = {head}, {share}, {head_dims}
TOLERANCE = {tolerance}  # times the largest singular value; None: torch's own
LEFT = {left}  # how many earlier tokens a query may look at, and no later one; None: it may look at all

places = torch.arange(q.shape[1])
before = places[:, None] - places  # how far each key stands before each query
hidden = torch.zeros_like(before, dtype=torch.bool) if LEFT is None else (before < 0) | (before > LEFT)


{measures}


of_logits, of_weights, of_joined = [], [], []
for d in HEAD_DIMS:  # the first d features of every head
    logits = q[..., :d] @ k[..., :d].mT / ({temperature} * math.sqrt(d))  # (num_heads, seq_len, seq_len)
    weights = logits.masked_fill(hidden, -math.inf).softmax(dim=-1)
    of_logits.append(ranks(logits[HEAD]))
    of_weights.append(ranks(weights[HEAD]))
    of_joined.append(ranks((weights @ v[..., :d]).transpose(0, 1).flatten(1)))
    print(f"head_dim {{d}}\\n  logits  {{of_logits[-1]}}\\n  weights {{of_weights[-1]}}\\n  outputs {{of_joined[-1]}}")
'''

_DEPTH = '''"""What depth does to the tokens of an attention stack, in plain PyTorch and float64 (Dong et al. 2021)."""

import math

import torch

SEQ_LEN, D_MODEL, NUM_HEADS, NUM_LAYERS, D_FF = {seq_len}, {d_model}, {num_heads}, {num_layers}, {d_ff}
SCALE, SKIP, MLP = {scale}, {skip}, {mlp}  # a factor of all weights; x + block(x); an MLP after each attention
generator = torch.Generator().manual_seed({seed})


def draw(rows, columns):
    return torch.randn(rows, columns, generator=generator, dtype=torch.float64)


def weight(d_in, d_out):
    return SCALE * (draw(d_in, d_out) / math.sqrt(d_in))


def split(x):
    return x.unflatten(-1, (NUM_HEADS, -1)).transpose(0, 1)  # (num_heads, seq_len, head_dim)


def residual(x):
    return float((x - x.mean(dim=0)).norm() / x.norm())


x = draw(SEQ_LEN, D_MODEL)
residuals = [residual(x)]
for _ in range(NUM_LAYERS):
    w_q, w_k, w_v, w_o = (weight(D_MODEL, D_MODEL) for _ in range(4))
    up, down = weight(D_MODEL, D_FF), weight(D_FF, D_MODEL)
    q, k, v = split(x @ w_q), split(x @ w_k), split(x @ w_v)
    weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=-1)
    block = (weights @ v).transpose(0, 1).flatten(1) @ w_o
    x = x + block if SKIP else block
    if MLP:
        block = (x @ up).relu() @ down
        x = x + block if SKIP else block
    residuals.append(residual(x))

for layer, value in enumerate(residuals):
    print(f"after layer {{layer}}: {{value:.3g}}")
'''


def random_ranks(
    *,
    seed: int,
    num_heads: int,
    seq_len: int,
    head_dim: int,
    head: int,
    k: int,
    temperature: float = 1.0,
    left: int | None = None,
    tolerance: float | None = None,
    share: float = 0.9,
) -> str:
    """The ranks of random heads, and a reconstruction of rank k.

    head: the one that is looked at. left: how many earlier tokens a query may look at, and no later one; None: all.
    tolerance: of the numerical rank; None: torch's.
    """
    heads = _RANDOM.format(num_heads=num_heads, seq_len=seq_len, head_dim=head_dim, seed=seed)
    return _ranks(heads, head=head, k=k, temperature=temperature, left=left, tolerance=tolerance, share=share)


def given_ranks(
    heads: Heads,
    *,
    head: int,
    k: int,
    temperature: float = 1.0,
    left: int | None = None,
    tolerance: float | None = None,
    share: float = 0.9,
) -> str:
    """The same for one head of a real layer, whose queries, keys and values the program holds as numbers."""
    given = _given(heads, head)
    return _ranks(given, head=0, k=k, temperature=temperature, left=left, tolerance=tolerance, share=share)


def _given(heads: Heads, head: int) -> str:
    return _GIVEN.format(**{name: getattr(heads, name)[head].tolist() for name in ("q", "k", "v")})


def _ranks(
    heads: str, *, head: int, k: int, temperature: float, left: int | None, tolerance: float | None, share: float
) -> str:
    return _RANKS.format(
        heads=heads,
        measures=_MEASURES,
        head=head,
        keep=k,
        temperature=temperature,
        left=left,
        tolerance=tolerance,
        share=share,
    )


def random_sweep(
    *,
    seed: int,
    num_heads: int,
    seq_len: int,
    head_dims: Sequence[int],
    head: int,
    temperature: float = 1.0,
    left: int | None = None,
    tolerance: float | None = None,
    share: float = 0.9,
) -> str:
    """The ranks of random heads with more and more features; arguments as for `random_ranks`."""
    heads = _RANDOM.format(num_heads=num_heads, seq_len=seq_len, head_dim=max(head_dims), seed=seed)
    return _SWEEP.format(
        heads=heads,
        measures=_MEASURES,
        head=head,
        head_dims=tuple(head_dims),
        temperature=temperature,
        left=left,
        tolerance=tolerance,
        share=share,
    )


def given_sweep(
    heads: Heads,
    *,
    head_dims: Sequence[int],
    head: int,
    temperature: float = 1.0,
    left: int | None = None,
    tolerance: float | None = None,
    share: float = 0.9,
) -> str:
    """The same for one head of a real layer; the outputs are then those of this head."""
    return _SWEEP.format(
        heads=_given(heads, head),
        measures=_MEASURES,
        head=0,
        head_dims=tuple(head_dims),
        temperature=temperature,
        left=left,
        tolerance=tolerance,
        share=share,
    )


def depth(
    *, seed: int, seq_len: int, d_model: int, num_heads: int, num_layers: int, scale: float, skip: bool, mlp: bool
) -> str:
    """The residuals of a random stack, layer by layer."""
    return _DEPTH.format(
        seed=seed,
        seq_len=seq_len,
        d_model=d_model,
        num_heads=num_heads,
        num_layers=num_layers,
        d_ff=WIDENING * d_model,
        scale=scale,
        skip=skip,
        mlp=mlp,
    )
