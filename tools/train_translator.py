"""Train the French → English model that ships with Attention Atlas.

    python tools/train_translator.py train  --corpus fra-eng.zip --work ~/atlas-training
    python tools/train_translator.py export --corpus fra-eng.zip --work ~/atlas-training

`train` reads a Tatoeba/manythings `fra.txt` (or the zip around it), builds a tokenizer, and trains a Marian
encoder–decoder. It writes a checkpoint into the work directory after every epoch, and goes on from the newest when it
is started again. `export` translates the held-out sentences, measures BLEU and chrF, and writes weights, tokenizer and
model card into `core/assets/atlas-fr-en`. The corpus stays where it is: nothing of it goes into the repository.

The recipe is that of the original Transformer with four changes that a small corpus rewards: a tokenizer that now and
then splits a word otherwise than usual (BPE dropout), the Muon optimizer for the weight matrices, bfloat16 arithmetic,
and an exponential average of the weights.
"""

import argparse
import collections
import hashlib
import io
import json
import random
import re
import time
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from sacrebleu.metrics import BLEU, CHRF
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor
from transformers import MarianConfig, MarianMTModel, PreTrainedTokenizerFast

ASSETS = Path(__file__).resolve().parent.parent / "core" / "assets" / "atlas-fr-en"
SHOWN = ASSETS.with_name("pairs-fr-en.tsv")  # sentence pairs that the app measures the model with
CARD = Path(__file__).with_name("model_card.md")
PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"
LONGEST = 64  # pieces; the page that uses the model cuts its input there


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides what comes out, apart from the corpus."""

    d_model: int = 256
    d_ff: int = 1024
    num_heads: int = 4
    num_layers: int = 3
    vocab_size: int = 8000
    dropout: float = 0.1
    bpe_dropout: float = 0.1
    label_smoothing: float = 0.1
    tokens_per_batch: int = 4000
    peak_rate: float = 2e-3
    warmup_steps: int = 600
    epochs: int = 12
    average_decay: float = 0.9985
    unfinished_share: float = 0.15  # how often a French sentence loses its full stop, since people forget it,
    uncapped_share: float = 0.05  # and its first capital
    seed: int = 0


# ---------------------------------------------------------------------------------------------------------- sentences


@dataclass(frozen=True, slots=True)
class Pair:
    french: str
    english: str


def read_pairs(corpus: Path) -> list[Pair]:
    """Read `English<tab>French` lines from a text file or from the zip archive that holds it."""
    if corpus.suffix == ".zip":
        with zipfile.ZipFile(corpus) as archive:
            name = next(n for n in archive.namelist() if n.endswith("fra.txt") and not n.startswith("__MACOSX"))
            text = archive.read(name).decode("utf-8")
    else:
        text = corpus.read_text(encoding="utf-8")
    lines = (line.split("\t") for line in io.StringIO(text))
    unique = dict.fromkeys(Pair(french.strip(), english.strip()) for english, french, *_ in lines)
    return list(unique)


def words(text: str) -> tuple[str, ...]:
    """The words of a sentence, without case and punctuation: what makes two sentences the same one."""
    return tuple(re.findall(r"\w+", text.casefold()))


def drop_contradictions(pairs: Sequence[Pair], longest: int = 3) -> list[Pair]:
    """Of the translations of a very short French sentence, keep those that the corpus gives most often.

    "Je t'aime" stands beside "I love you" and "I like you". In so short a sentence nothing tells which is meant, and a
    model that learns both says either. Sentences are compared without case and punctuation.
    """
    votes = collections.Counter((words(p.french), words(p.english)) for p in pairs)
    most: dict[tuple[str, ...], int] = {}
    for (french, _), count in votes.items():
        most[french] = max(count, most.get(french, 0))
    return [
        p
        for p in pairs
        if len(words(p.french)) > longest or votes[words(p.french), words(p.english)] == most[words(p.french)]
    ]


def hold_out(pairs: Sequence[Pair], count: int, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Draw `count` pairs of 3 to 12 French words; return (the rest, those drawn).

    A pair leaves the rest when either of its sides is a side of a drawn pair, in any case or punctuation.
    """
    candidates = [p for p in pairs if 3 <= len(words(p.french)) <= 12]
    random.Random(seed).shuffle(candidates)
    drawn: dict[tuple[str, ...], Pair] = {}
    for pair in candidates:
        if len(drawn) == count:
            break
        drawn.setdefault(words(pair.french), pair)
    french = {words(p.french) for p in drawn.values()}
    english = {words(p.english) for p in drawn.values()}
    rest = [p for p in pairs if words(p.french) not in french and words(p.english) not in english]
    return rest, list(drawn.values())


@dataclass(frozen=True, slots=True)
class Sentences:
    train: list[Pair]
    validation: list[Pair]
    test: list[Pair]


def split(corpus: Path, shown: Path = SHOWN) -> Sentences:
    """Test sentences are drawn first and with seed 0, so that no choice made here can move them.

    Raises: ValueError if a sentence of `shown`, in either language, is among those to train on.
    """
    rest, test = hold_out(read_pairs(corpus), 1000, seed=0)
    rest, validation = hold_out(rest, 500, seed=1)
    train = drop_contradictions(rest)
    french, english = {words(p.french) for p in train}, {words(p.english) for p in train}
    for line in shown.read_text(encoding="utf-8").splitlines()[1:]:  # the first line names the columns
        for sentence, known in zip(line.split("\t"), (french, english), strict=True):
            if words(sentence) in known:
                raise ValueError(f"{sentence!r} of {shown.name} must not be in the training data")
    return Sentences(train, validation, test)


# ---------------------------------------------------------------------------------------------------------- tokenizer


def build_tokenizer(pairs: Sequence[Pair], vocab_size: int) -> Tokenizer:
    """A byte-pair encoding over words split as people split them: Je | t' | aime | .

    Quotes, spaces and French spacing are made uniform inside the tokenizer, so that a sentence typed by a user goes the
    same way as one from the corpus. After a French elision a space is put in: "aime" is one piece with or without "t'".
    """
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    elided = "c d j l m n s t qu jusqu lorsqu puisqu quoiqu".split()  # noqa: SIM905
    starts = "|".join(rf"\b{start}'" for start in elided)
    elision = rf"(?i)(?<={starts})(?!(?:s|t|d|m|ll|re|ve)\b)(?=\p{{L}})"
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFC(),
            normalizers.Replace(Regex(r"[‘’ʼ´`′]"), "'"),
            normalizers.Replace(Regex(r"[“”„]|«\s*|\s*»"), '"'),
            normalizers.Replace("…", "..."),
            normalizers.Replace(Regex(r"[\u00ad\u200b-\u200f\u2060\ufeff]"), ""),
            normalizers.Replace(Regex(r"[\s\u00a0\u2000-\u200a\u202f\u3000]+"), " "),
            normalizers.Replace(Regex(r" +(?=[!?;:,.%])"), ""),
            normalizers.Replace(Regex(elision), " "),
            normalizers.Strip(),
        ]
    )
    word = r"▁?-?[\p{L}\p{M}]+"
    pieces = [
        r"'(?:s|t|d|m|ll|re|ve)\b",  # English: don | 't
        r"▁?(?:aujourd'hui|quelqu'une?|o'clock)",
        rf"{word}'(?=▁)",  # French, by now with a space behind the elision: t' | aime
        word,
        r"▁?\p{N}",
        r"▁?[^▁\p{L}\p{M}\p{N}]",
        "▁",
    ]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=False),
            pre_tokenizers.Split(Regex("(?i)" + "|".join(pieces)), behavior="isolated"),
        ]
    )
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=[PAD, END, UNKNOWN], limit_alphabet=160, show_progress=False
    )
    tokenizer.train_from_iterator((side for p in pairs for side in (p.french, p.english)), trainer)
    end = tokenizer.token_to_id(END)
    tokenizer.post_processor = processors.TemplateProcessing(single=f"$A {END}", special_tokens=[(END, end)])
    return tokenizer


# ----------------------------------------------------------------------------------------------------------- training


@dataclass(frozen=True, slots=True)
class Batch:
    source: Tensor  # (batch, seq_k) ids, padded
    target: Tensor  # (batch, seq_q) ids, padded


def batches(pairs: Sequence[Pair], tokenizer: Tokenizer, recipe: Recipe, epoch: int) -> list[Batch]:
    """One epoch: every pair once, in batches of similar length, its French words split by BPE dropout."""
    draw = random.Random(f"{recipe.seed} {epoch}")
    sources = [as_typed(p.french, draw, recipe) for p in pairs]
    targets = [p.english for p in pairs]
    # Only the French is split in varying ways: on the English side the model would learn to say them all.
    tokenizer.model.dropout = recipe.bpe_dropout
    encoded_sources = tokenizer.encode_batch(sources)
    tokenizer.model.dropout = None
    encoded = [
        (source.ids, target.ids)
        for source, target in zip(encoded_sources, tokenizer.encode_batch(targets), strict=True)
        if len(source.ids) <= LONGEST and len(target.ids) <= LONGEST
    ]
    encoded.sort(key=lambda e: (len(e[1]), len(e[0]) + draw.random()))
    result, start = [], 0
    while start < len(encoded):
        size, widest = 0, 0
        while start + size < len(encoded):
            widest = max(widest, *map(len, encoded[start + size]))
            if widest * (size + 1) > recipe.tokens_per_batch:
                break
            size += 1
        chosen = encoded[start : start + size]
        result.append(Batch(padded([s for s, _ in chosen]), padded([t for _, t in chosen])))
        start += size
    draw.shuffle(result)
    return result


def as_typed(text: str, draw: random.Random, recipe: Recipe) -> str:
    if draw.random() < recipe.unfinished_share:
        text = re.sub(r"\s*\.$", "", text)
    if draw.random() < recipe.uncapped_share:
        text = text[0].lower() + text[1:]
    return text


def padded(rows: Sequence[Sequence[int]], pad: int = 0) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[pad] * (width - len(row))] for row in rows])


def new_network(recipe: Recipe) -> MarianMTModel:
    return MarianMTModel(
        MarianConfig(
            vocab_size=recipe.vocab_size,
            d_model=recipe.d_model,
            encoder_layers=recipe.num_layers,
            decoder_layers=recipe.num_layers,
            encoder_attention_heads=recipe.num_heads,
            decoder_attention_heads=recipe.num_heads,
            encoder_ffn_dim=recipe.d_ff,
            decoder_ffn_dim=recipe.d_ff,
            dropout=recipe.dropout,
            attention_dropout=0.0,
            attn_implementation="eager",  # on short sentences and a CPU faster than the fused kernel
            activation_function="swish",
            scale_embedding=True,
            share_encoder_decoder_embeddings=True,
            tie_word_embeddings=True,
            max_position_embeddings=128,
            pad_token_id=0,
            eos_token_id=1,
            forced_eos_token_id=None,
            bos_token_id=None,
            decoder_start_token_id=0,
        )
    )


def loss(network: MarianMTModel, batch: Batch, label_smoothing: float) -> Tensor:
    """Mean cross-entropy of the next English piece, given the French and all English pieces before it."""
    pad = network.config.pad_token_id
    shifted = torch.nn.functional.pad(batch.target[:, :-1], (1, 0), value=network.config.decoder_start_token_id)
    with torch.autocast("cpu", torch.bfloat16):
        hidden = network.model(
            input_ids=batch.source,
            attention_mask=(batch.source != pad).long(),
            decoder_input_ids=shifted,  # padding stands only after the end: the causal mask hides it
            use_cache=False,
        ).last_hidden_state
        real = batch.target != pad
        logits = network.lm_head(hidden[real])  # (real tokens, vocab_size)
    return torch.nn.functional.cross_entropy(logits.float(), batch.target[real], label_smoothing=label_smoothing)


def optimizers(network: MarianMTModel) -> list[torch.optim.Optimizer]:
    """Muon for the matrices between layers, Adam for embeddings, norms and biases; rates are set step by step."""
    matrices = [p for n, p in network.named_parameters() if p.requires_grad and p.ndim == 2 and "layers" in n]
    chosen = {id(p) for p in matrices}
    others = [p for p in network.parameters() if p.requires_grad and id(p) not in chosen]
    return [
        torch.optim.Muon(matrices, adjust_lr_fn="match_rms_adamw", weight_decay=0.05),
        torch.optim.Adam(others, betas=(0.9, 0.98), eps=1e-9),
    ]


def rate(step: int, last_step: int, recipe: Recipe) -> float:
    """Linear warm-up, then linear decay to nothing."""
    return recipe.peak_rate * min(step / recipe.warmup_steps, max(0.0, 1 - step / last_step))


@dataclass(slots=True)
class Progress:
    epoch: int = 0
    step: int = 0


def save_checkpoint(
    folder: Path,
    progress: Progress,
    network: MarianMTModel,
    average: dict[str, Tensor],
    optims: Sequence[torch.optim.Optimizer],
) -> None:
    """Write everything that a later start needs, and only then make it the newest checkpoint."""
    new = folder / "new.safetensors"
    tensors = {f"network/{n}": p.detach() for n, p in network.named_parameters()}
    tensors |= {f"average/{n}": t for n, t in average.items()}
    for i, optimizer in enumerate(optims):
        for j, state in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer/{i}/{j}/{name}": t for name, t in state.items()}
    save_file(tensors, new, metadata={"progress": json.dumps(asdict(progress))})
    new.replace(folder / "checkpoint.safetensors")


def load_checkpoint(
    folder: Path, network: MarianMTModel, average: dict[str, Tensor], optims: Sequence[torch.optim.Optimizer]
) -> Progress:
    path = folder / "checkpoint.safetensors"
    if not path.exists():
        return Progress()
    tensors = load_file(path)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.copy_(tensors[f"network/{name}"])
            average[name].copy_(tensors[f"average/{name}"])
    for i, optimizer in enumerate(optims):
        state: dict[int, dict[str, Tensor]] = collections.defaultdict(dict)
        for key, tensor in tensors.items():
            match key.split("/"):
                case ["optimizer", number, index, name] if int(number) == i:
                    state[int(index)][name] = tensor
        optimizer.load_state_dict({**optimizer.state_dict(), "state": dict(state)})
    with safe_open(path, "pt") as file:
        return Progress(**json.loads(file.metadata()["progress"]))


def train(sentences: Sentences, tokenizer: Tokenizer, recipe: Recipe, work: Path) -> None:
    torch.manual_seed(recipe.seed)
    network = new_network(recipe)
    average = {n: p.detach().clone() for n, p in network.named_parameters()}
    optims = optimizers(network)
    progress = load_checkpoint(work, network, average, optims)
    steps_per_epoch = len(batches(sentences.train, tokenizer, recipe, 0))
    last_step = recipe.epochs * steps_per_epoch
    print(f"{sum(p.numel() for p in network.parameters()):,} parameters, about {last_step:,} steps", flush=True)
    while progress.epoch < recipe.epochs:
        torch.manual_seed(recipe.seed + 1000 * progress.epoch)
        network.train()
        began, total = time.monotonic(), 0.0
        epoch = batches(sentences.train, tokenizer, recipe, progress.epoch)
        for batch in epoch:
            progress.step += 1
            value = loss(network, batch, recipe.label_smoothing)
            value.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            for optimizer in optims:
                for group in optimizer.param_groups:
                    group["lr"] = rate(progress.step, last_step, recipe)
                optimizer.step()
                optimizer.zero_grad()
            total += value.item()
            decay = min(recipe.average_decay, progress.step / (progress.step + 10))
            with torch.no_grad():
                for name, parameter in network.named_parameters():
                    average[name].lerp_(parameter, 1 - decay)
        progress.epoch += 1
        save_checkpoint(work, progress, network, average, optims)
        print(
            f"epoch {progress.epoch} step {progress.step} loss {total / len(epoch):.3f} "
            f"{(time.monotonic() - began) / 60:.1f} min",
            flush=True,
        )


# -------------------------------------------------------------------------------------------------- measuring, export


@dataclass(frozen=True, slots=True)
class Figures:
    bleu: float
    chrf: float
    signature: str
    sentences: int


@torch.inference_mode()
def measure(network: MarianMTModel, tokenizer: Tokenizer, pairs: Sequence[Pair], num_beams: int = 4) -> Figures:
    """Translate with beams and compare with the one reference that the corpus gives for each sentence."""
    network.eval()
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].french))
    hypotheses = [""] * len(pairs)
    for start in range(0, len(order), 32):
        chosen = order[start : start + 32]
        source = padded([tokenizer.encode(pairs[i].french).ids for i in chosen])
        ids = network.generate(
            input_ids=source, attention_mask=(source != 0).long(), num_beams=num_beams, max_new_tokens=60
        )
        for i, row in zip(chosen, ids.tolist(), strict=True):
            hypotheses[i] = tokenizer.decode(row)
    references = [[p.english for p in pairs]]
    bleu, chrf = BLEU(), CHRF()
    return Figures(
        bleu.corpus_score(hypotheses, references).score,
        chrf.corpus_score(hypotheses, references).score,
        str(bleu.get_signature()),
        len(pairs),
    )


def averaged_network(work: Path, recipe: Recipe) -> tuple[MarianMTModel, Progress]:
    """The network with the averaged weights of the newest checkpoint, rounded to float16 as they are shipped."""
    network = new_network(recipe)
    average = {n: p.detach().clone() for n, p in network.named_parameters()}
    progress = load_checkpoint(work, network, average, optimizers(network))
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.copy_(average[name].half())
    return network, progress


def export(network: MarianMTModel, tokenizer_file: Path, card: str, folder: Path) -> None:
    """Write what `core.models.load` reads, the card, and a checksum of every file that is loaded."""
    folder.mkdir(parents=True, exist_ok=True)
    network.half().save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)
    PreTrainedTokenizerFast(
        tokenizer_file=str(tokenizer_file), pad_token=PAD, eos_token=END, unk_token=UNKNOWN, model_max_length=LONGEST
    ).save_pretrained(folder)
    (folder / "README.md").write_text(card, encoding="utf-8")
    loaded = ["config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]
    sums = (f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in loaded)
    (folder / "SHA256SUMS").write_text("".join(sums))


def model_card(recipe: Recipe, epochs: int, sentences: Sentences, parameters: int, figures: Figures) -> str:
    settings = asdict(recipe)
    measured = {"trained_epochs": epochs, "train_pairs": len(sentences.train), "parameters": parameters}
    rows = "\n".join(f"| {name} | {value} |" for name, value in settings.items())
    return CARD.read_text(encoding="utf-8").format(**settings, **measured, **asdict(figures), rows=rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["train", "measure", "export"])
    parser.add_argument("--corpus", type=Path, required=True, help="fra.txt, or the zip archive around it")
    parser.add_argument("--work", type=Path, required=True, help="folder for checkpoints, outside the repository")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.work.mkdir(parents=True, exist_ok=True)
    recipe = Recipe()
    sentences = split(options.corpus)
    tokenizer_file = options.work / "tokenizer.json"
    if not tokenizer_file.exists():
        build_tokenizer(sentences.train, recipe.vocab_size).save(str(tokenizer_file))
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    if options.action == "train":
        train(sentences, tokenizer, recipe, options.work)
        return
    network, progress = averaged_network(options.work, recipe)
    if options.action == "measure":  # choices are made on the validation sentences, never on the test sentences
        print(f"after epoch {progress.epoch}: {measure(network, tokenizer, sentences.validation)}")
        return
    figures = measure(network, tokenizer, sentences.test)
    print(figures)
    parameters = sum(p.numel() for n, p in network.named_parameters() if "embed_positions" not in n)
    export(network, tokenizer_file, model_card(recipe, progress.epoch, sentences, parameters, figures), ASSETS)


if __name__ == "__main__":
    main()
