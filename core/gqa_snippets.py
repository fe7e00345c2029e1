"""Programs that reproduce the numbers of the GQA page without this app."""

LAYER = '''"""Grouped-query attention in plain PyTorch: against torch's own, and token by token with a KV cache."""

import torch
from torch.nn.functional import linear, scaled_dot_product_attention

SEED = {seed}
D_MODEL, NUM_HEADS, NUM_KV_HEADS, HEAD_DIM, SEQ_LEN = {d_model}, {num_heads}, {num_kv_heads}, {head_dim}, {seq_len}

generator = torch.Generator().manual_seed(SEED)


def random(*shape):
    return torch.randn(shape, generator=generator, dtype=torch.float64)


W_Q = random(NUM_HEADS * HEAD_DIM, D_MODEL) / D_MODEL**0.5
W_K = random(NUM_KV_HEADS * HEAD_DIM, D_MODEL) / D_MODEL**0.5
W_V = random(NUM_KV_HEADS * HEAD_DIM, D_MODEL) / D_MODEL**0.5
W_O = random(D_MODEL, NUM_HEADS * HEAD_DIM) / (NUM_HEADS * HEAD_DIM) ** 0.5
x = random(1, SEQ_LEN, D_MODEL)


def heads(joined):
    return joined.unflatten(-1, (-1, HEAD_DIM)).transpose(1, 2)  # (1, heads, seq, HEAD_DIM)


def attend(q, k, v, may_attend):
    shared = NUM_HEADS // NUM_KV_HEADS  # query heads per KV head
    k, v = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
    scores = q @ k.mT / HEAD_DIM**0.5
    return scores.masked_fill(~may_attend, -torch.inf).softmax(dim=-1) @ v


def result(output):
    return linear(output.transpose(1, 2).flatten(2), W_O)  # (1, seq, D_MODEL)


q, k, v = heads(linear(x, W_Q)), heads(linear(x, W_K)), heads(linear(x, W_V))
causal = torch.ones(SEQ_LEN, SEQ_LEN, dtype=torch.bool).tril()
at_once = result(attend(q, k, v, causal))
by_torch = result(scaled_dot_product_attention(q, k, v, attn_mask=causal, enable_gqa=True))

k_cache, v_cache, steps = k[:, :, :0], v[:, :, :0], []
for place in range(SEQ_LEN):
    token = x[:, place : place + 1]
    k_cache = torch.cat((k_cache, heads(linear(token, W_K))), dim=2)
    v_cache = torch.cat((v_cache, heads(linear(token, W_V))), dim=2)
    everything = torch.ones(1, place + 1, dtype=torch.bool)
    steps.append(result(attend(heads(linear(token, W_Q)), k_cache, v_cache, everything)))
with_cache = torch.cat(steps, dim=1)

parameters = sum(weight.numel() for weight in (W_Q, W_K, W_V, W_O))
print("parameters", parameters)
print("numbers in the cache", k_cache.numel() + v_cache.numel())
print("largest difference from torch", (at_once - by_torch).abs().max().item())
print("largest difference with a cache", (at_once - with_cache).abs().max().item())
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


def layer_program(*, seed: int, d_model: int, num_heads: int, num_kv_heads: int, head_dim: int, seq_len: int) -> str:
    """A layer as `core.gqa.random_layer` draws it, then tokens of unit variance from the same generator."""
    return LAYER.format(
        seed=seed,
        d_model=d_model,
        num_heads=num_heads,
        num_kv_heads=num_kv_heads,
        head_dim=head_dim,
        seq_len=seq_len,
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
