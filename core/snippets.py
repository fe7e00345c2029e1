"""Programs that reproduce the numbers of a page without this app: what a page offers to take along."""

from collections.abc import Sequence

TRANSLATION = '''"""One step of a translation in plain PyTorch and transformers."""

import torch
from transformers import AutoModelForSeq2SeqLM, PreTrainedTokenizerFast

FOLDER = {folder!r}  # or a repository of the hub: config.json, model.safetensors and tokenizer.json
REVISION = {revision!r}
TEXT = {text!r}
SAID = {said!r}  # the tokens of the translation
STEP = {step}  # which of them is looked at, counted from 0

tokenizer = PreTrainedTokenizerFast.from_pretrained(FOLDER, revision=REVISION)
network = AutoModelForSeq2SeqLM.from_pretrained(
    FOLDER, revision=REVISION, dtype=torch.float32, attn_implementation="eager"
).eval()

source = tokenizer(TEXT, return_tensors="pt").input_ids
read = torch.tensor([[network.config.decoder_start_token_id, *SAID[:-1]]])  # what the decoder has read at each step
with torch.inference_mode():
    out = network(input_ids=source, decoder_input_ids=read, output_attentions=True, use_cache=False)

log_probabilities = out.logits[0].log_softmax(dim=-1)  # (steps, vocab_size)
of_the_sentence = log_probabilities[range(len(SAID)), SAID]
score = float(of_the_sentence.sum()) / len(SAID) ** {length_penalty}
cross_attention = torch.stack(out.cross_attentions)[:, 0]  # (num_layers, num_heads, steps, seq_source)

print(tokenizer.decode(SAID, skip_special_tokens=True), f"score {{score:.4f}}")
for token in log_probabilities[STEP].topk(10).indices.tolist():
    print(f"{{tokenizer.convert_ids_to_tokens(token):>12}}  {{log_probabilities[STEP, token].exp():.4f}}")
for token, weight in zip(tokenizer.convert_ids_to_tokens(source[0]), cross_attention.mean(dim=(0, 1))[STEP]):
    print(f"{{token:>12}}  {{weight:.4f}}")
'''


def translation(
    *, folder: str, revision: str | None, text: str, said: Sequence[int], step: int, length_penalty: float
) -> str:
    """The translation page: probabilities, score and cross-attention of a sentence, by teacher forcing.

    folder: where the model lies: a repository of the hub with its revision, or a folder without one.
    text: the source. said: the translation's token ids. step: which of them is looked at.
    """
    return TRANSLATION.format(
        folder=folder,
        revision=revision or "main",
        text=text,
        said=list(said),
        step=step,
        length_penalty=length_penalty,
    )
