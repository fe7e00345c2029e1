"""Programs that reproduce the numbers of a page without this app: what a page offers to take along."""

from collections.abc import Sequence

from core.token_attention import D_MODEL

TRANSLATION = '''"""One step of a translation in plain PyTorch and transformers."""

import torch
from transformers import AutoModelForSeq2SeqLM, PreTrainedTokenizerFast

FOLDER = {folder!r}  # or a repository of the hub: config.json, model.safetensors and tokenizer.json
REVISION = {revision!r}
TEXT = {text!r}
SAID = {said!r}  # the tokens of the translation
STEP = {step}  # which of them is looked at, counted from 0
LAYER, HEAD = {layer}, {head}  # counted from 0; None: the mean over all

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
if LAYER is not None:
    cross_attention = cross_attention[LAYER : LAYER + 1]
if HEAD is not None:
    cross_attention = cross_attention[:, HEAD : HEAD + 1]

print(tokenizer.decode(SAID, skip_special_tokens=True), f"score {{score:.4f}}")
for token in log_probabilities[STEP].topk(10).indices.tolist():
    print(f"{{tokenizer.convert_ids_to_tokens(token):>12}}  {{log_probabilities[STEP, token].exp():.4f}}")
for token, weight in zip(tokenizer.convert_ids_to_tokens(source[0]), cross_attention.mean(dim=(0, 1))[STEP]):
    print(f"{{token:>12}}  {{weight:.4f}}")
'''


QUALITY = '''"""BLEU and chrF of the translations on the page, with sacrebleu."""

from sacrebleu import corpus_bleu, corpus_chrf

TRANSLATIONS = {translations!r}
REFERENCES = {references!r}

bleu = corpus_bleu(TRANSLATIONS, [REFERENCES]).score
chrf = corpus_chrf(TRANSLATIONS, [REFERENCES]).score
print(f"BLEU {{bleu:.1f}}, chrF {{chrf:.1f}}")
'''


def translation(
    *,
    folder: str,
    revision: str | None,
    text: str,
    said: Sequence[int],
    step: int,
    layer: int | None,
    head: int | None,
    length_penalty: float,
) -> str:
    """The translation page: probabilities, score and cross-attention of a sentence, by teacher forcing.

    folder: where the model lies: a repository of the hub with its revision, or a folder without one.
    text: the source. said: the translation's token ids. step: which of them is looked at.
    layer, head: whose attention, counted from 0; None: the mean over all.
    """
    return TRANSLATION.format(
        folder=folder,
        revision=revision or "main",
        text=text,
        said=list(said),
        step=step,
        layer=layer,
        head=head,
        length_penalty=length_penalty,
    )


MASKS = '''"""A masked attention map in plain PyTorch."""

import math
import zlib

import torch

QUERIES = {queries!r}  # the tokens that look
KEYS = {keys!r}  # the tokens that are looked at; None: the same
MAY_ATTEND = torch.tensor({attend_mask!r}, dtype=torch.bool)  # one row per query, one column per key
SEED, SCORE_SCALE, D_MODEL = {seed}, {score_scale}, {d_model}
FILL, DTYPE = {fill!r}, torch.{dtype}  # "inf", "1e9" or "guarded"


def vectors(tokens):
    """Equal tokens have equal vectors, (seq_len, d_model)."""
    generators = [torch.Generator().manual_seed(zlib.crc32(f"{{SEED}}:{{token}}".encode())) for token in tokens]
    return torch.stack([torch.randn(D_MODEL, generator=g, dtype=torch.float64) for g in generators])


def attend(x, memory):
    """Scores and the output under the mask, in float64; a row that permits nothing gives 0."""
    scores = (x @ w_q) @ (memory @ w_k).T * SCORE_SCALE / math.sqrt(D_MODEL)
    weights = scores.masked_fill(~MAY_ATTEND, -1e9).softmax(dim=-1) * MAY_ATTEND
    return scores, weights @ (memory @ w_v)


w_q, w_k, w_v = torch.randn(
    3, D_MODEL, D_MODEL, generator=torch.Generator().manual_seed(SEED), dtype=torch.float64
) / math.sqrt(D_MODEL)
x = vectors(QUERIES)
memory = x if KEYS is None else vectors(KEYS)

scores = attend(x, memory)[0].to(DTYPE)
fill = -1e9 if FILL == "1e9" else -math.inf  # float16 has no −1e9: the next line then raises
weights = scores.masked_fill(~MAY_ATTEND, fill).softmax(dim=-1)
if FILL == "guarded":
    weights = torch.where(MAY_ATTEND, weights, 0.0)

jacobian = torch.autograd.functional.jacobian(lambda m: attend(m if KEYS is None else x, m)[1], memory)
reach = jacobian.square().sum(dim=(1, 3)).sqrt()  # how strongly output i depends on input j

torch.set_printoptions(precision=4, sci_mode=False, linewidth=200)
print("scores", scores, "weights", weights, "gradient", reach, sep="\\n")
print("visible keys", MAY_ATTEND.sum(dim=-1).tolist(), "on average", float(MAY_ATTEND.sum(dim=-1).double().mean()))
'''


def masks(
    *,
    queries: Sequence[str],
    keys: Sequence[str] | None,
    attend_mask: Sequence[Sequence[int]],
    seed: int,
    score_scale: float,
    fill: str,
    dtype: str,
) -> str:
    """The masks page: scores, weights under the mask, gradient reach and visible context.

    keys: the tokens that are looked at, if they are not the queries. attend_mask: 1 where a query may look.
    fill: a `core.fill_values.Fill`. dtype: the name of a type of torch.
    """
    return MASKS.format(
        queries=list(queries),
        keys=None if keys is None else list(keys),
        attend_mask=[list(row) for row in attend_mask],
        seed=seed,
        score_scale=score_scale,
        d_model=D_MODEL,
        fill=str(fill),
        dtype=dtype,
    )


def quality(*, translations: Sequence[str], references: Sequence[str]) -> str:
    """The quality view of the translation page: what its metrics make of the translations."""
    return QUALITY.format(translations=list(translations), references=list(references))
