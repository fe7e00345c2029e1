"""Loading a model and knowing what it is: equal to the network that was saved, and told as it is."""

import copy
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import MarianMTModel, PreTrainedModel, PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from core import models
from core.decoding import translate
from core.models import ModelError, ModelProblem, Task
from core.models.facts import Norm, Positions, read_facts
from tests import tiny

WEIGHTS, CONFIG = "model.safetensors", "config.json"
TEXTS = ["Je t'aime.", "Où est la gare ?", "Tu parles trop vite pour moi. Fermez la fenêtre !"]


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return tiny.tiny_tokenizer()


@pytest.fixture(params=["t5", "marian"])
def network(request: pytest.FixtureRequest) -> PreTrainedModel:
    return tiny.tiny_t5() if request.param == "t5" else tiny.tiny_marian()


@pytest.fixture
def folder(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, tmp_path: Path) -> Path:
    tiny.save_model(network, tokenizer, tmp_path)
    return tmp_path


def edit_config(folder: Path, **changes: object) -> None:
    path = folder / CONFIG
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def outputs(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> list[torch.Tensor]:
    """Logits and every attention for a padded batch, so that masks count too."""
    batch = tokenizer(TEXTS, return_tensors="pt", padding=True, return_token_type_ids=False)
    said = torch.randint(3, 211, (len(TEXTS), 5), generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        result = network(**batch, decoder_input_ids=said, output_attentions=True)
    return [result.logits, *result.encoder_attentions, *result.decoder_attentions, *result.cross_attentions]


def assert_equal_outputs(first: PreTrainedModel, second: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> None:
    for a, b in zip(outputs(first, tokenizer), outputs(second, tokenizer), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)


def test_outputs_are_bit_for_bit_those_of_the_saved_network(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, folder: Path
) -> None:
    assert_equal_outputs(models.load(str(folder)).network, network, tokenizer)


def test_float16_weights_are_computed_with_in_float32(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, folder: Path
) -> None:
    halves = {name: tensor.half() for name, tensor in load_file(folder / WEIGHTS).items()}
    save_file(halves, folder / WEIGHTS)
    loaded = models.load(str(folder)).network
    assert {p.dtype for p in loaded.parameters()} == {torch.float32}
    rounded = copy.deepcopy(network)
    with torch.no_grad():
        for name, tensor in [*rounded.named_parameters(), *rounded.named_buffers()]:
            if "embed_positions" not in name:  # sines and cosines are computed anew, in float32
                tensor.copy_(tensor.half())
    assert_equal_outputs(loaded, rounded, tokenizer)


def test_a_loaded_network_is_for_looking_at_only(folder: Path) -> None:
    loaded = models.load(str(folder)).network
    assert not loaded.training
    assert not any(module.training for module in loaded.modules())
    assert not any(parameter.requires_grad for parameter in loaded.parameters())
    assert loaded.config._attn_implementation == "eager"
    assert not any(tensor.is_meta for tensor in [*loaded.parameters(), *loaded.buffers()])


def test_a_loaded_network_generates_what_the_saved_one_does(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, folder: Path
) -> None:
    loaded = models.load(str(folder)).network
    ids = tokenizer(TEXTS[1], return_tensors="pt").input_ids
    said = [n.generate(input_ids=ids, max_new_tokens=12, num_beams=3) for n in (network, loaded)]
    assert torch.equal(*said)
    assert loaded.generation_config.decoder_start_token_id == 0


@pytest.mark.parametrize("num_beams", [1, 3])
def test_the_whole_path_from_a_folder_to_a_translation(
    num_beams: int, network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, folder: Path
) -> None:
    model = models.load(str(folder))
    for text in TEXTS:
        ids = tokenizer(text, return_tensors="pt").input_ids
        said = network.generate(input_ids=ids, max_new_tokens=9, num_beams=num_beams)[0].tolist()
        trace = translate(model, text, num_beams=num_beams, max_new_tokens=9)
        assert [trace.start_id, *trace.token_ids] == said
        assert trace.text == tokenizer.decode(said, skip_special_tokens=True)


def test_the_embedding_is_one_tensor_under_all_its_names(folder: Path) -> None:
    loaded = models.load(str(folder)).network
    shared = loaded.get_input_embeddings().weight
    assert loaded.get_encoder().embed_tokens.weight is shared
    assert loaded.get_decoder().embed_tokens.weight is shared
    assert loaded.get_output_embeddings().weight is shared


def test_the_embedding_may_stand_in_the_file_under_any_of_its_names(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, folder: Path
) -> None:
    prefix = "model." if isinstance(network, MarianMTModel) else ""
    original = load_file(folder / WEIGHTS)
    names = [f"{prefix}shared.weight", f"{prefix}encoder.embed_tokens.weight", "lm_head.weight"]
    embedding = original.pop(names[0])
    for chosen in ([names[1]], [names[2]], names):
        save_file(original | {name: embedding.clone() for name in chosen}, folder / WEIGHTS)
        assert_equal_outputs(models.load(str(folder)).network, network, tokenizer)


def test_a_scoring_matrix_of_its_own_stays_its_own(folder: Path, tokenizer: PreTrainedTokenizerFast) -> None:
    tensors = load_file(folder / WEIGHTS)
    head = torch.randn(211, next(t for n, t in tensors.items() if n.endswith("shared.weight")).shape[1])
    save_file(tensors | {"lm_head.weight": head}, folder / WEIGHTS)
    edit_config(folder, tie_word_embeddings=False)
    model = models.load(str(folder))
    assert torch.equal(model.network.lm_head.weight, head)
    assert not model.facts.tied_embeddings
    assert models.load(str(folder)).facts.parameters == sum(t.numel() for t in tensors.values()) + head.numel() - (
        211 if "final_logits_bias" in tensors else 0  # a buffer
    )


def test_marian_positions_are_sines_then_cosines(tmp_path: Path, tokenizer: PreTrainedTokenizerFast) -> None:
    tiny.save_model(tiny.tiny_marian(), tokenizer, tmp_path)
    network = models.load(str(tmp_path)).network
    for stack in (network.get_encoder(), network.get_decoder()):
        table = stack.embed_positions.weight
        assert table.shape == (101, 33)
        position, pair = 47, 5
        angle = torch.tensor(position / 10000 ** (2 * pair / 33), dtype=torch.float64)
        assert table[position, pair] == pytest.approx(angle.sin().item(), abs=1e-6)
        assert table[position, 17 + pair] == pytest.approx(angle.cos().item(), abs=1e-6)


def test_positions_in_a_marian_file_are_checked_and_computed(
    tmp_path: Path, tokenizer: PreTrainedTokenizerFast
) -> None:
    network = tiny.tiny_marian()
    tiny.save_model(network, tokenizer, tmp_path)
    tensors = load_file(tmp_path / WEIGHTS)
    name = "model.decoder.embed_positions.weight"
    save_file(tensors | {name: network.model.decoder.embed_positions.weight.bfloat16()}, tmp_path / WEIGHTS)
    assert_equal_outputs(models.load(str(tmp_path)).network, network, tokenizer)
    save_file(tensors | {name: torch.randn(101, 33)}, tmp_path / WEIGHTS)
    with pytest.raises(ModelError, match="not the sines and cosines") as caught:
        models.load(str(tmp_path))
    assert caught.value.reason is ModelProblem.UNSUPPORTED


def test_a_first_generation_t5_file_brings_a_bias_that_t5_does_not_have(
    tmp_path: Path, tokenizer: PreTrainedTokenizerFast
) -> None:
    network = tiny.tiny_t5()
    tiny.save_model(network, tokenizer, tmp_path)
    extra = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight": torch.randn(12, 5)}
    save_file(load_file(tmp_path / WEIGHTS) | extra, tmp_path / WEIGHTS)
    assert_equal_outputs(models.load(str(tmp_path)).network, network, tokenizer)


def test_a_t5_configuration_of_the_first_generation_means_what_it_meant(
    tmp_path: Path, tokenizer: PreTrainedTokenizerFast
) -> None:
    """Tied, and the decoder's output scaled; the start token unsaid; prefixes among the tasks."""
    network = tiny.tiny_t5()
    tiny.save_model(network, tokenizer, tmp_path)
    raw = json.loads((tmp_path / CONFIG).read_text())
    for key in ("tie_word_embeddings", "scale_decoder_outputs", "decoder_start_token_id", "is_gated_act"):
        del raw[key]
    raw["task_specific_params"] = {
        "summarization": {"prefix": "summarize: "},
        "translation_en_to_de": {"num_beams": 4, "prefix": "translate English to German: "},
    }
    (tmp_path / CONFIG).write_text(json.dumps(raw))
    model = models.load(str(tmp_path))
    assert model.tasks == (Task("en-de", "translate English to German: "),)
    assert model.facts.output_scale == 26**-0.5
    assert model.facts.start_id == 0
    network.config.scale_decoder_outputs = True
    assert_equal_outputs(model.network, network, tokenizer)


def test_a_gated_t5(tmp_path: Path, tokenizer: PreTrainedTokenizerFast) -> None:
    config = T5Config(
        vocab_size=211, d_model=14, d_kv=3, d_ff=11, num_layers=2, num_heads=5, feed_forward_proj="gated-gelu",
        decoder_start_token_id=0, tie_word_embeddings=False, attn_implementation="eager",
    )  # fmt: skip
    network = T5ForConditionalGeneration(config).eval()
    tiny.save_model(network, tokenizer, tmp_path)
    model = models.load(str(tmp_path))
    assert (model.facts.gated, model.facts.activation, model.facts.d_ff) == (True, "gelu_new", 11)
    assert_equal_outputs(model.network, network, tokenizer)


def test_the_tokenizer_is_the_saved_one(tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    loaded = models.load(str(folder)).tokenizer
    for text in [*TEXTS, "", "😀 <b>x</b>", "Je t'aime.</s> encore"]:
        ids = tokenizer(text).input_ids
        assert loaded(text).input_ids == ids
        assert loaded.decode(ids, skip_special_tokens=True) == tokenizer.decode(ids, skip_special_tokens=True)
    assert (loaded.pad_token_id, loaded.eos_token_id, loaded.unk_token_id) == (0, 1, 2)


def test_truncation_and_padding_left_over_from_training_are_dropped(
    tokenizer: PreTrainedTokenizerFast, folder: Path
) -> None:
    backend = copy.deepcopy(tokenizer.backend_tokenizer)
    backend.enable_truncation(4)
    backend.enable_padding(length=50)
    backend.save(str(folder / "tokenizer.json"))
    assert models.load(str(folder)).tokenizer(TEXTS[2]).input_ids == tokenizer(TEXTS[2]).input_ids


def test_normalize_shows_what_the_tokenizer_reads(tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    assert models.load(str(folder)).normalize("l’été  !") == "l’été  !"  # no normalizer: the text itself
    raw = json.loads((folder / "tokenizer.json").read_text())
    raw["normalizer"] = {"type": "Replace", "pattern": {"String": "’"}, "content": "'"}
    (folder / "tokenizer.json").write_text(json.dumps(raw))
    assert models.load(str(folder)).normalize("l’été  !") == "l'été  !"


def test_facts_of_a_marian(tmp_path: Path, tokenizer: PreTrainedTokenizerFast) -> None:
    network = tiny.tiny_marian()
    tiny.save_model(network, tokenizer, tmp_path)
    facts = models.load(str(tmp_path)).facts
    assert facts.family == "marian"
    assert (facts.encoder_layers, facts.decoder_layers) == (2, 3)
    assert (facts.d_model, facts.d_ff, facts.decoder_d_ff) == (33, 37, 41)
    assert (facts.num_heads, facts.head_dim, facts.vocab_size) == (3, 11, 211)
    assert (facts.positions, facts.max_positions) == (Positions.SINUSOIDAL, 101)
    assert (facts.relative_buckets, facts.relative_max_distance) == (None, None)
    assert (facts.activation, facts.gated, facts.biases, facts.norm) == ("swish", False, True, Norm.LAYER_NORM_AFTER)
    assert facts.scaled_scores
    assert facts.embedding_scale == pytest.approx(33**0.5)
    assert facts.output_scale == 1.0
    assert facts.tied_embeddings
    assert (facts.start_id, facts.start_token) == (facts.pad_id, facts.pad_token) == (0, "<pad>")
    assert (facts.end_id, facts.end_token) == (1, "</s>")
    assert facts.forbidden_ids == ()
    attention = 4 * (33 * 33 + 33)  # q, k, v and output, with biases
    norm = 2 * 33
    encoder = attention + (33 * 37 + 37) + (37 * 33 + 33) + 2 * norm
    decoder = 2 * attention + (33 * 41 + 41) + (41 * 33 + 33) + 3 * norm
    assert facts.parameters == 211 * 33 + 2 * encoder + 3 * decoder


def test_facts_of_a_t5(tmp_path: Path, tokenizer: PreTrainedTokenizerFast) -> None:
    network = tiny.tiny_t5()
    tiny.save_model(network, tokenizer, tmp_path)
    facts = models.load(str(tmp_path)).facts
    assert facts.family == "t5"
    assert (facts.encoder_layers, facts.decoder_layers) == (3, 2)
    assert (facts.d_model, facts.d_ff, facts.decoder_d_ff) == (26, 37, 37)
    assert (facts.num_heads, facts.head_dim, facts.vocab_size) == (5, 7, 211)
    assert (facts.positions, facts.max_positions) == (Positions.RELATIVE, None)
    assert (facts.relative_buckets, facts.relative_max_distance) == (12, 19)
    assert (facts.activation, facts.gated, facts.biases, facts.norm) == ("relu", False, False, Norm.RMS_NORM_BEFORE)
    assert not facts.scaled_scores
    assert (facts.embedding_scale, facts.output_scale) == (1.0, 1.0)
    assert facts.tied_embeddings
    assert (facts.start_id, facts.start_token) == (facts.pad_id, facts.pad_token) == (0, "<pad>")
    attention = 4 * 26 * 35
    encoder = attention + 2 * 26 * 37 + 2 * 26  # two norms
    decoder = 2 * attention + 2 * 26 * 37 + 3 * 26
    assert facts.parameters == 211 * 26 + 3 * encoder + 2 * decoder + 2 * 12 * 5 + 2 * 26


def test_t5_scores_are_unscaled_and_carry_a_bias_of_distance(tmp_path: Path) -> None:
    """The encoder's first attention, computed by hand from the file's tensors: softmax(q·k + bias), no 1/√head_dim."""
    tokenizer = tiny.tiny_tokenizer()
    tiny.save_model(tiny.tiny_t5(), tokenizer, tmp_path)
    ids = tokenizer(TEXTS[0], return_tensors="pt").input_ids
    found = models.load(str(tmp_path)).network.get_encoder()(input_ids=ids, output_attentions=True).attentions[0][0]
    tensors = load_file(tmp_path / WEIGHTS)
    block = "encoder.block.0.layer.0."
    x = tensors["shared.weight"][ids[0]]  # (seq_q, 26)
    x = tensors[block + "layer_norm.weight"] * x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()
    q, k = (
        (x @ tensors[f"{block}SelfAttention.{name}.weight"].T).unflatten(-1, (5, 7)).transpose(0, 1) for name in "qk"
    )  # (5, seq_q, 7)
    distance = torch.arange(len(x))[None, :] - torch.arange(len(x))[:, None]  # key − query
    # 12 buckets: 6 for each direction, of which the first 3 hold the distances 0, 1 and 2, the last those from 19 on
    far = 3 + (torch.log(distance.abs().clamp(min=1) / 3) / torch.log(torch.tensor(19 / 3)) * 3).long()
    bucket = torch.where(distance.abs() < 3, distance.abs(), far.clamp(max=5)) + 6 * (distance > 0)
    bias = tensors[f"{block}SelfAttention.relative_attention_bias.weight"][bucket].permute(2, 0, 1)  # (5, seq_q, seq_k)
    torch.testing.assert_close(found, (q @ k.transpose(-1, -2) + bias).softmax(-1))


@pytest.mark.parametrize("file", ["config.json", "generation_config.json"])
def test_tokens_that_a_marian_must_never_say_are_out_of_reach(
    file: str, tmp_path: Path, tokenizer: PreTrainedTokenizerFast
) -> None:
    """The published models forbid their padding token by bad_words_ids; longer sequences are no matter of one token."""
    tiny.save_model(tiny.tiny_marian(), tokenizer, tmp_path)
    raw = json.loads((tmp_path / file).read_text())
    (tmp_path / file).write_text(json.dumps(raw | {"bad_words_ids": [[0], [7, 8], [9999]]}))
    if file == "config.json":
        (tmp_path / "generation_config.json").unlink()
    model = models.load(str(tmp_path))
    assert model.facts.forbidden_ids == (0,)
    assert outputs(model.network, tokenizer)[0][..., 0].isneginf().all()


def test_facts_are_told_of_marian_and_t5_only() -> None:
    with pytest.raises(TypeError, match="must be a MarianMTModel or a T5ForConditionalGeneration"):
        read_facts(torch.nn.Linear(2, 3), tiny.tiny_tokenizer())  # type: ignore[arg-type]


def test_the_catalogue_pins_every_hub_file() -> None:
    hub = [entry for entry in models.CATALOGUE.values() if entry.repository is not None]
    assert {entry.name: round(entry.size_bytes / 1e6) for entry in hub} == {
        "minilm": 91,
        "t5-small": 243,
        "bert-base-uncased": 441,
        "bert-base-chinese": 412,
        "distilbert-base-uncased": 268,
        "gpt2": 549,
        "distilgpt2": 354,
    }
    for entry in hub:
        assert re.fullmatch("[0-9a-f]{40}", entry.revision or "")
        assert [file.name for file in entry.files] == ["config.json", "tokenizer.json", "model.safetensors"]
        assert all(re.fullmatch("[0-9a-f]{64}", file.sha256) for file in entry.files)
    entry = models.CATALOGUE["t5-small"]
    assert (entry.repository, entry.revision) == ("google-t5/t5-small", "df1b051c49625cf57a3d0d8d3863ed4d13564fe4")
    assert entry.size_bytes == 243_433_615
    assert [task.name for task in entry.tasks] == ["en-de", "en-fr", "en-ro"]
    assert all(task.prefix.startswith("translate English to ") and task.prefix.endswith(": ") for task in entry.tasks)


def test_importing_the_package_is_quick_and_loading_is_quiet(
    tmp_path: Path, tokenizer: PreTrainedTokenizerFast
) -> None:
    """A page may list the models before torch is there; and nothing is printed, warned of or logged."""
    tiny.save_model(tiny.tiny_marian(), tokenizer, tmp_path)
    program = (
        "import sys\nfrom core import models\n"
        "assert not {'torch', 'transformers', 'huggingface_hub'} & set(sys.modules)\n"
        f"print(models.load({str(tmp_path)!r}).facts.family, models.TranslationModel.__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert (done.stdout.split(), done.stderr) == (["marian", "TranslationModel"], "")


def test_the_package_has_no_other_attributes() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Tranlsator'"):
        _ = models.Tranlsator
