"""Programs that reproduce the numbers of the attention explorer without this app."""

from collections.abc import Sequence

from core.explorer_maps import Together
from core.models import Kind

_BEGIN = '''"""What a head of a real model looks at, in plain PyTorch and transformers."""

import torch
from transformers import {auto}, AutoTokenizer

FOLDER = {folder!r}  # or a repository of the hub: config.json, model.safetensors and tokenizer.json
REVISION = {revision!r}
TEXTS = {texts!r}  # one, or a pair
LAYER, HEAD = {layer}, {head}  # counted from 0

tokenizer = AutoTokenizer.from_pretrained(FOLDER, revision=REVISION)
network = {auto}.from_pretrained(
    FOLDER, revision=REVISION, dtype=torch.float32, attn_implementation="eager"
).eval()
batch = tokenizer(*TEXTS, padding=False, truncation=False, return_tensors="pt")
with torch.inference_mode():
'''

_RUN = {
    Kind.ENCODER: """    out = network(**batch, output_attentions=True, output_hidden_states=True)
attentions, keys = out.attentions, batch.input_ids[0]
""",
    Kind.DECODER: """    out = network(**batch, output_attentions=True, output_hidden_states=True)
attentions, keys = out.attentions, batch.input_ids[0]
""",
    Kind.BOTH: """    said = {said!r}  # the tokens of the translation
    read = torch.tensor([[network.config.decoder_start_token_id, *said[:-1]]])
    out = network(input_ids=batch.input_ids, decoder_input_ids=read, output_attentions=True, use_cache=False)
attentions, keys = out.{kind}_attentions, {keys}[0]
""",
}

_TOGETHER = {
    Together.HEAD: "shown = weights[LAYER, HEAD]",
    Together.MEAN: "shown = weights[LAYER].mean(dim=0)",
    Together.MAXIMUM: "shown = weights[LAYER].amax(dim=0)",
    Together.ROLLOUT: """shown = torch.eye(weights.shape[-1], dtype=torch.float64)
for layer in weights[: LAYER + 1].double().mean(dim=1):  # attention rollout, Abnar & Zuidema 2020
    shown = (0.5 * layer + 0.5 * torch.eye(len(layer), dtype=torch.float64)) @ shown""",
}

_END = """weights = torch.stack(attentions)[:, 0]  # (num_layers, num_heads, seq_q, seq_k)
{together}

print(tokenizer.convert_ids_to_tokens(keys.tolist()))
for row in shown.tolist():
    print(" ".join(f"{{weight:.4f}}" for weight in row))
"""


def attention(
    *,
    kind: Kind,
    folder: str,
    revision: str | None,
    texts: Sequence[str],
    how: Together,
    layer: int,
    head: int,
    said: Sequence[int] = (),
    side: str = "encoder",
) -> str:
    """The map on screen: of an encoder, a decoder, or one of the three kinds of an encoder–decoder.

    folder: where the model lies: a repository of the hub with its revision, or a folder without one.
    said: of an encoder–decoder, the translation's token ids. side: encoder, decoder or cross.
    """
    auto = {Kind.ENCODER: "AutoModel", Kind.DECODER: "AutoModelForCausalLM", Kind.BOTH: "AutoModelForSeq2SeqLM"}[kind]
    begin = _BEGIN.format(
        auto=auto, folder=folder, revision=revision or "main", texts=list(texts), layer=layer, head=head
    )
    keys = "read" if side == "decoder" else "batch.input_ids"
    run = _RUN[kind].format(said=list(said), kind=side, keys=keys) if kind is Kind.BOTH else _RUN[kind]
    return begin + run + _END.format(together=_TOGETHER[how])
