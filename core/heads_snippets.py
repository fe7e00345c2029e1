"""Programs that reproduce the numbers of the heads page without this app."""

from collections.abc import Collection, Sequence

from core.attention_snippets import Library
from core.heads import MultiHead, MultiHeadTrace
from core.heads_gallery import HeadName
from core.quality import Pair

_BEGIN = {
    Library.PYTORCH: '''"""Multi-head attention in plain PyTorch."""

import math

import torch

array = torch.tensor
torch.set_default_dtype(torch.float64)
''',
    Library.NUMPY: '''"""Multi-head attention in plain NumPy."""

import math

import numpy as np

array = np.array
''',
}

_PROJECT = """
Q, K, V = X @ W_Q, X @ W_K, X @ W_V  # (seq_len, d_model) each
"""

_ATTEND = """

def split(x):
    seq_len, d_model = x.shape
    return x.reshape(seq_len, NUM_HEADS, d_model // NUM_HEADS).swapaxes(0, 1)  # (num_heads, seq_len, head_dim)


def softmax(x):
{softmax}


q, k, v = split(Q), split(K), split(V)
scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])  # (num_heads, seq_len, seq_len): the last two axes swapped
weights = softmax(scores)  # each row sums to 1
output = weights @ v  # (num_heads, seq_len, head_dim)
merged = output.swapaxes(0, 1).reshape(len(Q), -1)  # (seq_len, d_model)
"""

_SOFTMAX = {
    Library.PYTORCH: "    return torch.softmax(x, dim=-1)",
    Library.NUMPY: """    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))  # less the largest: no overflow
    return exponentials / exponentials.sum(axis=-1, keepdims=True)""",
}

_RESULT = """result = merged @ W_O  # (seq_len, d_model)
"""

_LOAD = """
import torch
from transformers import AutoModelForSeq2SeqLM, PreTrainedTokenizerFast

FOLDER = {folder!r}  # or a repository of the hub: config.json, model.safetensors and tokenizer.json
REVISION = {revision!r}
TEXT = {text!r}
"""

_NETWORK = """
tokenizer = PreTrainedTokenizerFast.from_pretrained(FOLDER, revision=REVISION)
network = AutoModelForSeq2SeqLM.from_pretrained(
    FOLDER, revision=REVISION, dtype=torch.float32, attn_implementation="eager"
).eval()
source = tokenizer(TEXT, return_tensors="pt").input_ids
"""

_GALLERY = (
    '''"""What every head of a translation model looks at, in plain PyTorch and transformers."""

import unicodedata
'''
    + _LOAD
    + """SAID = {said!r}  # the tokens of the translation
"""
    + _NETWORK
    + """
read = torch.tensor([[network.config.decoder_start_token_id, *SAID[:-1]]])  # what the decoder has read at each step
with torch.inference_mode():
    out = network(input_ids=source, decoder_input_ids=read, output_attentions=True, use_cache=False)


def is_mark(token):
    letters = token.replace("▁", "")
    return bool(letters) and all(unicodedata.category(letter).startswith("P") for letter in letters)


def measure(weights, keys):
    seq_q, seq_k = weights.shape
    offsets = torch.arange(seq_k) - torch.arange(seq_q)[:, None]
    marks = torch.tensor([is_mark(token) for token in keys])

    def at(places):
        return float((weights * places).sum() / max(int(places.any(dim=-1).sum()), 1))

    return {{
        "entropy": float(torch.special.entr(weights).sum(dim=-1).mean() / torch.log(torch.tensor(2.0))),  # bits
        "distance": float((weights * offsets.abs()).sum(dim=-1).mean()),
        "previous": at(offsets == -1),
        "next": at(offsets == 1),
        "same": at(offsets == 0),
        "first": float(weights[:, 0].mean()),
        "punctuation": float((weights * marks).sum(dim=-1).mean()),
    }}


of_source, of_target = (tokenizer.convert_ids_to_tokens(ids[0]) for ids in (source, read))
kinds = {{
    "encoder": (out.encoder_attentions, of_source),
    "decoder": (out.decoder_attentions, of_target),
    "cross": (out.cross_attentions, of_source),
}}
heads = {{
    (kind, layer, head): measure(weights.double(), keys)
    for kind, (layers, keys) in kinds.items()
    for layer, of_layer in enumerate(layers)
    for head, weights in enumerate(of_layer[0])
}}

for name, measured in heads.items():
    print(*name, "  ".join(f"{{measure}} {{value:.2f}}" for measure, value in measured.items()))
"""
)

_OFF = (
    '''"""A translation model without some of its heads, in plain PyTorch and transformers."""
'''
    + _LOAD
    + """OFF = {off!r}  # kind, layer, head
PAIRS = {pairs!r}
"""
    + _NETWORK
    + """
# A head adds its output, times its columns of the output projection: it is off where these are zero.
encoder, decoder = network.get_encoder(), network.get_decoder()
for kind, layer, head in OFF:
    if network.config.model_type == "t5":
        block = (encoder if kind == "encoder" else decoder).block[layer].layer
        projection = block[1].EncDecAttention.o if kind == "cross" else block[0].SelfAttention.o
        head_dim = network.config.d_kv
    else:
        block = (encoder if kind == "encoder" else decoder).layers[layer]
        projection = (block.encoder_attn if kind == "cross" else block.self_attn).out_proj
        head_dim = network.config.d_model // network.config.encoder_attention_heads
    with torch.no_grad():
        projection.weight[:, head * head_dim : (head + 1) * head_dim] = 0.0

total, tokens = 0.0, 0
with torch.inference_mode():
    said = network.generate(source, num_beams=1, do_sample=False, max_new_tokens=60)[0]
    for text, reference in PAIRS:
        labels = tokenizer(reference, return_tensors="pt").input_ids
        read = torch.tensor([[network.config.decoder_start_token_id, *labels[0, :-1]]])
        logits = network(input_ids=tokenizer(text, return_tensors="pt").input_ids, decoder_input_ids=read).logits[0]
        total += float(torch.nn.functional.cross_entropy(logits, labels[0], reduction="sum"))
        tokens += labels.shape[1]
translation = tokenizer.decode(said, skip_special_tokens=True)
loss = total / tokens  # nats per reference token

print(translation)
print(f"loss {{loss:.4f}} on {{tokens}} tokens")
"""
)


def multi_head(
    library: Library, trace: MultiHeadTrace, layer: MultiHead, num_heads: int, *, most_numbers: int = 20_000
) -> str:
    """A layer on a sentence. With biases or too many numbers to print, the program starts from Q, K and V."""
    projections = {"W_Q": layer.q, "W_K": layer.k, "W_V": layer.v, "W_O": layer.o}
    given = {"X": trace.x} | {name: projection.weight for name, projection in projections.items()}
    attend = _ATTEND.format(softmax=_SOFTMAX[library])
    biased = any(projection.bias is not None for projection in projections.values())
    if biased or sum(tensor.numel() for tensor in given.values()) > most_numbers:
        given, body, last = {"Q": trace.q, "K": trace.k, "V": trace.v}, attend, "merged"
    else:
        body, last = _PROJECT + attend + _RESULT, "result"
    numbers = "".join(f"{name} = array({tensor.tolist()})\n" for name, tensor in given.items())
    return f"{_BEGIN[library]}\nNUM_HEADS = {num_heads}\n{numbers}{body}\nprint(weights)\nprint({last})\n"


def gallery(*, folder: str, revision: str | None, text: str, said: Sequence[int]) -> str:
    """Entropy, distance and shares of all heads on a translation, by teacher forcing.

    folder: where the model lies: a repository of the hub with its revision, or a folder without one.
    text: the source. said: the translation's token ids.
    """
    return _GALLERY.format(folder=folder, revision=revision or "main", text=text, said=list(said))


def heads_off(*, folder: str, revision: str | None, text: str, off: Collection[HeadName], pairs: Sequence[Pair]) -> str:
    """The greedy translation of a text and the mean loss on pairs, without some heads."""
    return _OFF.format(
        folder=folder,
        revision=revision or "main",
        text=text,
        off=[(str(name.kind), name.layer, name.head) for name in sorted(off)],
        pairs=[(pair.source, pair.reference) for pair in pairs],
    )
