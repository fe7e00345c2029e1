"""Programs that reproduce the numbers of the page on the whole Transformer without this app."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from core.initial_gradients import BATCH, START
from core.model_pass import Sizes, reads, writes
from core.transformer import NormPlace, PositionKind, Stacks, TransformerConfig

_COUNTS = '''"""Parameters and multiply-adds of a Transformer, in plain PyTorch.

On the meta device tensors have shapes and no numbers: nothing is computed.
"""

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

NUM_LAYERS, D_MODEL, NUM_HEADS, D_FF, VOCAB_SIZE, MAX_LEN = {sizes}
BATCH, SEQ_SOURCE, SEQ_TARGET = {lengths}
READS, WRITES, PRE_NORM, LEARNT_POSITIONS, TIED = {choices}

torch.set_default_device("meta")
options = dict(dim_feedforward=D_FF, dropout=0.0, batch_first=True, norm_first=PRE_NORM)


def last():
    """One more normalisation at the end of a stack belongs to pre-norm alone."""
    return nn.LayerNorm(D_MODEL) if PRE_NORM else None


def layers_of_self_attention():
    layer = nn.TransformerEncoderLayer(D_MODEL, NUM_HEADS, **options)
    return nn.TransformerEncoder(layer, NUM_LAYERS, last(), enable_nested_tensor=False)


def embedding():
    positions = nn.Embedding(MAX_LEN, D_MODEL) if LEARNT_POSITIONS else nn.Identity()  # sines have no parameters
    return nn.ModuleDict({{"tokens": nn.Embedding(VOCAB_SIZE, D_MODEL), "positions": positions}})


parts = nn.ModuleDict({{"output": nn.Linear(D_MODEL, VOCAB_SIZE, bias=False)}})
if READS:
    parts["encoder"] = layers_of_self_attention()
    parts["source"] = embedding()
if WRITES:
    parts["decoder"] = layers_of_self_attention()  # a decoder on its own differs by its mask alone
    if READS:
        layer = nn.TransformerDecoderLayer(D_MODEL, NUM_HEADS, **options)
        parts["decoder"] = nn.TransformerDecoder(layer, NUM_LAYERS, last())
    parts["target"] = embedding()
for name in ("source", "target"):
    if TIED and name in parts:
        parts[name]["tokens"].weight = parts["output"].weight

parameters = sum(parameter.numel() for parameter in parts.parameters())

source, target = torch.empty(BATCH, SEQ_SOURCE, D_MODEL), torch.empty(BATCH, SEQ_TARGET, D_MODEL)
with FlopCounterMode(display=False) as counter:
    states = parts["encoder"](source) if READS else None
    if WRITES:
        states = parts["decoder"](target, states) if READS else parts["decoder"](target)
    parts["output"](states)
multiply_adds = counter.get_total_flops() // 2  # it counts a multiplication and an addition as two

print(f"{{parameters:,}} parameters, {{multiply_adds:,}} multiply-adds")
'''

_NETWORK = '''"""Parameters and multiply-adds of a published model, in plain PyTorch and transformers."""

import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import {loader}

FOLDER = {folder!r}  # or a repository of the hub
REVISION = {revision!r}
BATCH, SEQ_SOURCE, SEQ_TARGET = {lengths}
READS, WRITES = {choices}

network = {loader}.from_pretrained(
    FOLDER, revision=REVISION, dtype=torch.float32, attn_implementation="eager"
).eval()
ids = torch.zeros(BATCH, SEQ_SOURCE if READS else SEQ_TARGET, dtype=torch.int64)
inputs = {{"input_ids": ids}}
if READS and WRITES:
    inputs["decoder_input_ids"] = torch.zeros(BATCH, SEQ_TARGET, dtype=torch.int64)
if WRITES:
    inputs["use_cache"] = False

# Marian keeps its table of sines and cosines among the parameters.
computed = "embed_positions" if network.config.model_type == "marian" else "nothing"
parameters = sum(tensor.numel() for name, tensor in network.named_parameters() if computed not in name)
with FlopCounterMode(display=False) as counter, torch.no_grad():
    network(**inputs)
multiply_adds = counter.get_total_flops() // 2  # it counts a multiplication and an addition as two

print(f"{{parameters:,}} parameters, {{multiply_adds:,}} multiply-adds")
'''

_START = '''"""Gradients and sizes of vectors before training, with pre-norm and post-norm, in plain PyTorch."""

import math

import torch
import torch.nn.functional as F

NUM_LAYERS, SEEDS = {num_layers}, {seeds}
D_MODEL, NUM_HEADS, D_FF, VOCAB_SIZE, BATCH, SEQ_LEN = {sizes}


def xavier(rows, columns, generator):
    bound = math.sqrt(6 / (rows + columns))
    return ((torch.rand(rows, columns, generator=generator) * 2 - 1) * bound).requires_grad_()


def attend(x, memory, weights, causal):
    q, k, v = (
        (each @ weight.T).reshape(BATCH, -1, NUM_HEADS, D_MODEL // NUM_HEADS).transpose(1, 2)
        for each, weight in zip((x, memory, memory), weights)
    )
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return mixed.transpose(1, 2).reshape(BATCH, -1, D_MODEL) @ weights[3].T


def norm(x):
    return F.layer_norm(x, (D_MODEL,))


def sines():
    positions = torch.arange(SEQ_LEN, dtype=torch.float64)[:, None]
    angles = positions * 10000.0 ** (-torch.arange(0, D_MODEL, 2, dtype=torch.float64) / D_MODEL)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()


def measure(pre_norm, seed):
    """For encoder and decoder: norms of the gradients of each second matrix, and sizes of the vectors."""
    generator = torch.Generator().manual_seed(seed)

    def attention():
        return [xavier(D_MODEL, D_MODEL, generator) for _ in range(4)]

    def feed():
        return [xavier(D_FF, D_MODEL, generator), xavier(D_MODEL, D_FF, generator)]

    encoder = [(attention(), feed()) for _ in range(NUM_LAYERS)]
    decoder = [(attention(), attention(), feed()) for _ in range(NUM_LAYERS)]
    output = xavier(VOCAB_SIZE, D_MODEL, generator)
    tables = [torch.randn(VOCAB_SIZE, D_MODEL, generator=generator) * D_MODEL**-0.5 for _ in range(2)]
    source, target, wanted = torch.randint(VOCAB_SIZE, (3, BATCH, SEQ_LEN), generator=generator)

    def add(x, block):
        return x + block(norm(x)) if pre_norm else norm(x + block(x))

    def feed_forward(weights):
        return lambda x: (x @ weights[0].T).relu() @ weights[1].T

    def size(x):
        return float(x.detach().square().mean(dim=-1).sqrt().mean())

    x = tables[0][source] * math.sqrt(D_MODEL) + sines()
    sizes = {{"encoder": [size(x)], "decoder": []}}
    for own, matrices in encoder:
        x = add(x, lambda y: attend(y, y, own, False))
        x = add(x, feed_forward(matrices))
        sizes["encoder"].append(size(x))
    memory = norm(x) if pre_norm else x
    x = tables[1][target] * math.sqrt(D_MODEL) + sines()
    sizes["decoder"].append(size(x))
    for own, cross, matrices in decoder:
        x = add(x, lambda y: attend(y, y, own, True))
        x = add(x, lambda y: attend(y, memory, cross, False))
        x = add(x, feed_forward(matrices))
        sizes["decoder"].append(size(x))
    logits = (norm(x) if pre_norm else x) @ output.T
    F.cross_entropy(logits.flatten(0, 1), wanted.flatten()).backward()
    gradients = {{
        "encoder": [float(layer[-1][1].grad.norm()) for layer in encoder],
        "decoder": [float(layer[-1][1].grad.norm()) for layer in decoder],
    }}
    return gradients, sizes


found = {{pre_norm: [measure(pre_norm, seed) for seed in range(SEEDS)] for pre_norm in (False, True)}}
for pre_norm, runs in found.items():
    for side in ("encoder", "decoder"):
        for place, name in enumerate(("gradients", "sizes")):
            middle = torch.tensor([run[place][side] for run in runs]).median(dim=0).values
            print("pre-norm " if pre_norm else "post-norm", side, name, [round(x, 3) for x in middle.tolist()])
'''

_STREAM = '''"""The residual stream of a published model, in plain PyTorch and transformers."""

import torch
from transformers import {loader}

FOLDER = {folder!r}  # or a repository of the hub
REVISION = {revision!r}
IDS = {ids!r}
READ = {read!r}  # by the decoder of a translation model

network = {loader}.from_pretrained(
    FOLDER, revision=REVISION, dtype=torch.float32, attn_implementation="eager"
).eval()
inputs = {{"input_ids": torch.tensor([IDS])}}
if READ:
    inputs |= {{"decoder_input_ids": torch.tensor([READ]), "use_cache": False}}
with torch.no_grad():
    out = network(**inputs, output_hidden_states=True)

if READ:
    stacks = {{"encoder": out.encoder_hidden_states, "decoder": out.decoder_hidden_states}}
else:
    stacks = {{"stack": out.hidden_states}}
lengths = {{
    name: [float(x[0].norm(dim=-1).mean()) for x in states] for name, states in stacks.items()
}}

for name, values in lengths.items():  # before the first layer, then after each; GPT-2 and T5 normalise the last
    print(name, [round(value, 2) for value in values])
'''

_MASKS = '''"""The masks of a batch, in plain PyTorch: True where a token may look."""

import torch

SOURCE, TARGET = {source!r}, {target!r}  # lengths of the sentences without padding; () if there is no such stack


def padding(lengths):
    return (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None])[:, None]  # (batch, 1, seq)


masks = {{}}
if SOURCE:
    masks["encoder"] = padding(SOURCE).expand(-1, max(SOURCE), -1)
if TARGET:
    masks["decoder"] = padding(TARGET) & torch.ones(max(TARGET), max(TARGET), dtype=torch.bool).tril()
if SOURCE and TARGET:
    masks["cross"] = padding(SOURCE).expand(-1, max(TARGET), -1)

for name, mask in masks.items():
    print(name, mask.int(), sep="\\n")
'''


def counts(config: TransformerConfig, sizes: Sizes) -> str:
    """Parameters and multiply-adds of a configuration."""
    return _COUNTS.format(
        sizes=(
            config.num_layers,
            config.d_model,
            config.num_heads,
            config.d_ff,
            config.vocab_size,
            config.max_len,
        ),
        lengths=(sizes.batch, sizes.seq_source, sizes.seq_target),
        choices=(
            config.stacks is not Stacks.DECODER,
            config.stacks is not Stacks.ENCODER,
            config.norm is NormPlace.PRE,
            config.positions is PositionKind.LEARNT,
            config.tied,
        ),
    )


def counts_of_network(network: nn.Module, sizes: Sizes, *, folder: str, revision: str | None) -> str:
    """The same of a loaded network; folder: where it lies: a repository of the hub with its revision, or a folder."""
    return _NETWORK.format(
        loader=_loader(network),
        folder=folder,
        revision=revision or "main",
        lengths=(sizes.batch, sizes.seq_source, sizes.seq_target),
        choices=(reads(network), writes(network)),
    )


def before_training(num_layers: int, *, seeds: int) -> str:
    """Gradients and sizes of vectors of random Transformers."""
    sizes = START.d_model, START.num_heads, START.d_ff, START.vocab_size, BATCH, START.max_len
    return _START.format(num_layers=num_layers, seeds=seeds, sizes=sizes)


def stream(network: nn.Module, *, folder: str, revision: str | None, ids: Sequence[int], read: Sequence[int]) -> str:
    """Lengths of the residual stream between the layers. read: by the decoder of a translation model, else empty."""
    return _STREAM.format(
        loader=_loader(network), folder=folder, revision=revision or "main", ids=list(ids), read=list(read)
    )


def masks(*, source_lengths: Sequence[int], target_lengths: Sequence[int]) -> str:
    """The masks of a batch; empty lengths: there is no such stack."""
    return _MASKS.format(source=tuple(source_lengths), target=tuple(target_lengths))


def _loader(network: nn.Module) -> str:
    """The class of transformers that loads such a network."""
    config: Any = network.config
    if config.is_encoder_decoder:
        return "AutoModelForSeq2SeqLM"
    return "AutoModelForCausalLM" if writes(network) else "AutoModel"
