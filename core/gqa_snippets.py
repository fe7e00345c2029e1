"""Programs that reproduce the numbers of the GQA page without this app."""

from core.gqa_costs import MEMORY_BYTES
from core.gqa_presets import DEEPSEEK_V2, MODELS

TIME = '''"""One new token through layers of grouped-query attention with a KV cache, in plain PyTorch, timed."""

import time

import torch
from torch.nn.functional import linear, scaled_dot_product_attention

D_MODEL, NUM_HEADS, NUM_KV_HEADS, NUM_LAYERS, SEQ_LEN = {d_model}, {num_heads}, {num_kv_heads}, {num_layers}, {seq_len}
HEAD_DIM = D_MODEL // NUM_HEADS

generator = torch.Generator().manual_seed(0)


def random(*shape):
    return torch.randn(shape, generator=generator)


layers = [
    {{
        "q": random(NUM_HEADS * HEAD_DIM, D_MODEL) / D_MODEL**0.5,
        "k": random(NUM_KV_HEADS * HEAD_DIM, D_MODEL) / D_MODEL**0.5,
        "v": random(NUM_KV_HEADS * HEAD_DIM, D_MODEL) / D_MODEL**0.5,
        "o": random(D_MODEL, NUM_HEADS * HEAD_DIM) / D_MODEL**0.5,
    }}
    for _ in range(NUM_LAYERS)
]
caches = [  # full but for the place of the new token
    (random(1, NUM_KV_HEADS, SEQ_LEN, HEAD_DIM), random(1, NUM_KV_HEADS, SEQ_LEN, HEAD_DIM)) for _ in layers
]
token = random(1, 1, D_MODEL)


def heads(joined):
    return joined.unflatten(-1, (-1, HEAD_DIM)).transpose(1, 2)  # (1, heads, 1, HEAD_DIM)


def step():
    x = token
    for weights, (k_cache, v_cache) in zip(layers, caches):
        k_cache[:, :, -1:] = heads(linear(x, weights["k"]))
        v_cache[:, :, -1:] = heads(linear(x, weights["v"]))
        output = scaled_dot_product_attention(heads(linear(x, weights["q"])), k_cache, v_cache, enable_gqa=True)
        x = linear(output.transpose(1, 2).flatten(2), weights["o"])  # (1, 1, D_MODEL)
    return x


seconds = []
with torch.inference_mode():
    for _ in range(20):
        begin = time.perf_counter()
        result = step()
        seconds.append(time.perf_counter() - begin)

weight_bytes = sum(weight.nbytes for weights in layers for weight in weights.values())
cache_bytes = sum(tensor.nbytes for cache in caches for tensor in cache)
print("bytes of the weights", weight_bytes)
print("bytes of the cache", cache_bytes)
print("milliseconds per token, the shortest of 20 runs", 1000 * min(seconds))
'''

COSTS = '''"""What the attention of a decoder costs per decoded token, against its number of KV heads."""

D_MODEL, NUM_HEADS, HEAD_DIM, NUM_LAYERS = {d_model}, {num_heads}, {head_dim}, {num_layers}
SEQ_LEN, BATCH, BYTES_PER_NUMBER = {seq_len}, {batch}, {bytes_per_number}

table = {{}}
for num_kv_heads in range(1, NUM_HEADS + 1):
    if NUM_HEADS % num_kv_heads == 0:
        parameters = NUM_LAYERS * 2 * D_MODEL * HEAD_DIM * (NUM_HEADS + num_kv_heads)
        cache_bytes = 2 * NUM_LAYERS * num_kv_heads * HEAD_DIM * SEQ_LEN * BATCH * BYTES_PER_NUMBER
        multiply_adds = parameters + NUM_LAYERS * 2 * NUM_HEADS * HEAD_DIM * SEQ_LEN
        bytes_moved = (parameters * BYTES_PER_NUMBER + cache_bytes) / BATCH
        table[num_kv_heads] = parameters, cache_bytes, multiply_adds, bytes_moved

print("KV heads       parameters      cache bytes    multiply-adds      bytes moved")
for num_kv_heads, row in table.items():
    print(f"{{num_kv_heads:8}}", *(f"{{number:16,.0f}}" for number in row))
'''

CONVERSION = '''"""The KV heads of a real encoder, merged: how far each layer's output moves, in plain PyTorch."""

import torch
from torch.nn.functional import linear, scaled_dot_product_attention
from transformers import AutoModelForSeq2SeqLM, PreTrainedTokenizerFast

FOLDER = {folder!r}  # config.json, model.safetensors and tokenizer.json of a Marian model
TEXT = {text!r}
MOST_TOKENS = {most_tokens}

tokenizer = PreTrainedTokenizerFast.from_pretrained(FOLDER)
encoder = AutoModelForSeq2SeqLM.from_pretrained(FOLDER, dtype=torch.float64).eval().get_encoder()
num_heads = encoder.config.encoder_attention_heads
*said, end = tokenizer(TEXT).input_ids
ids = torch.tensor([[*said[: MOST_TOKENS - 1], end]])


def pooled(projection, num_kv_heads, how):
    """Weight and bias of W_K or W_V with fewer heads, repeated so that every query head finds its own."""
    repeats = num_heads // num_kv_heads
    merged = []
    for tensor in (projection.weight, projection.bias):
        heads = tensor.unflatten(0, (num_kv_heads, repeats, -1))  # (KV heads, heads to merge, head_dim, …)
        one = heads.mean(dim=1) if how == "mean" else heads[:, 0]
        merged.append(one.repeat_interleave(repeats, dim=0).flatten(0, 1))
    return merged


def attend(layer, x, num_kv_heads, how):
    projections = (
        (layer.q_proj.weight, layer.q_proj.bias),
        pooled(layer.k_proj, num_kv_heads, how),
        pooled(layer.v_proj, num_kv_heads, how),
    )
    q, k, v = (linear(x, *one).unflatten(-1, (num_heads, -1)).transpose(1, 2) for one in projections)
    return layer.out_proj(scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


errors = {{}}
with torch.inference_mode():
    states = encoder(input_ids=ids, output_hidden_states=True).hidden_states
    for number, (layer, x) in enumerate(zip(encoder.layers, states), start=1):
        own = attend(layer.self_attn, x, num_heads, "mean")
        for num_kv_heads in (count for count in range(1, num_heads + 1) if num_heads % count == 0):
            for how in ("mean", "first"):
                error = float((attend(layer.self_attn, x, num_kv_heads, how) - own).norm() / own.norm())
                errors[number, num_kv_heads, how] = error
                print(f"layer {{number}}, {{num_kv_heads}} KV heads, {{how:>5}}: {{error:.4f}}")
'''

MODELS_PROGRAM = '''"""How many users fit in {memory} bytes with published models: weights and caches only."""

SEQ_LEN, BYTES_PER_NUMBER, MEMORY = {seq_len}, {bytes_per_number}, {memory}

MODELS = {{  # name: (weights, numbers in the cache per token)
{models}
}}

users = {{}}
for name, (parameters, cached) in MODELS.items():
    left = MEMORY - parameters * BYTES_PER_NUMBER
    users[name] = max(0, left) // (cached * SEQ_LEN * BYTES_PER_NUMBER)
    print(f"{{name:>16}}: {{cached * BYTES_PER_NUMBER:>9,}} bytes per token, {{users[name]:>6,}} users")
'''


def conversion_program(*, folder: str, text: str, most_tokens: int) -> str:
    """The errors of `core.gqa_conversion.measure_encoder`, by layer (from 1), KV heads and way of merging."""
    return CONVERSION.format(folder=folder, text=text, most_tokens=most_tokens)


def models_program(*, seq_len: int, bytes_per_number: int) -> str:
    """The users that `core.gqa_costs.fit` finds for `core.gqa_presets.MODELS` and for DeepSeek-V2."""
    lines = [
        f"    {model.name!r}: ({model.parameters}, {model.cache_bytes(seq_len=1, batch=1, bytes_per_number=1)}),"
        for model in (*MODELS, DEEPSEEK_V2)
    ]
    return MODELS_PROGRAM.format(
        seq_len=seq_len, bytes_per_number=bytes_per_number, models="\n".join(lines), memory=f"{MEMORY_BYTES:_}"
    )


def time_program(*, d_model: int, num_heads: int, num_kv_heads: int, num_layers: int, seq_len: int) -> str:
    """What `core.gqa_times.measure_decoding` times with a cache, for one number of KV heads and one length."""
    return TIME.format(
        d_model=d_model, num_heads=num_heads, num_kv_heads=num_kv_heads, num_layers=num_layers, seq_len=seq_len
    )


def costs_program(
    *,
    d_model: int,
    num_heads: int,
    head_dim: int,
    num_layers: int,
    seq_len: int,
    batch: int,
    bytes_per_number: int,
) -> str:
    """The table of `core.gqa_costs.cost_table`."""
    return COSTS.format(
        d_model=d_model,
        num_heads=num_heads,
        head_dim=head_dim,
        num_layers=num_layers,
        seq_len=seq_len,
        batch=batch,
        bytes_per_number=bytes_per_number,
    )
