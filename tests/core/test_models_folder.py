"""Folders that hold no model, or a broken, dangerous or unsuitable one: each is a ModelError that says why."""

import contextlib
import errno
import json
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from core import models
from core.models import ModelError, ModelProblem
from core.models import settings as settings_module
from core.models.settings import read_settings
from core.models.weights import LAYOUTS, load_network
from tests import tiny

WEIGHTS, CONFIG, TOKENS = "model.safetensors", "config.json", "tokenizer.json"
FAMILIES = ["t5", "marian"]


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {}
    for family, network in (("t5", tiny.tiny_t5()), ("marian", tiny.tiny_marian())):
        folders[family] = tmp_path_factory.mktemp(family)
        tiny.save_model(network, tiny.tiny_tokenizer(), folders[family])
    return folders


@pytest.fixture
def make(originals: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    """A fresh copy of a good folder, to be spoilt."""

    def copy(family: str) -> Path:
        folder = tmp_path / family
        folder.mkdir()
        for file in originals[family].iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        return folder

    return copy


def edit(path: Path, **changes: Any) -> None:
    """Change keys of a JSON file; None takes a key away."""
    raw = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in raw.items() if value is not None}))


def refuse(folder: Path | str, reason: ModelProblem, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        models.load(str(folder))
    assert caught.value.reason is reason
    assert str(caught.value).endswith(".")


# ------------------------------------------------------------------------------------------------------------ folders


@pytest.mark.parametrize("name", ["", "atlas-en-fr", "models/mine", "./here", "../there", "~/model", "a\0b"])
def test_what_is_neither_a_name_nor_a_full_path(name: str) -> None:
    refuse(name, ModelProblem.UNKNOWN_NAME, "neither the name of a model nor the full path")
    assert not models.is_available(name)


def test_paths_that_are_no_folder(make: Callable[[str], Path], tmp_path: Path) -> None:
    folder = make("t5")
    for path in (tmp_path / "nowhere", folder / CONFIG, folder / CONFIG / "x", "/" + "x" * 5000, f"{tmp_path}/\0"):
        refuse(path, ModelProblem.UNKNOWN_NAME, "is no folder that can be read")
        assert not models.is_available(str(path))
    assert models.is_available(str(folder))


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS, TOKENS])
def test_each_file_is_needed(name: str, make: Callable[[str], Path]) -> None:
    folder = make("marian")
    (folder / name).unlink()
    refuse(folder, ModelProblem.MISSING, f"{name} is missing")
    (folder / name).mkdir()  # a folder in the place of a file is no file
    refuse(folder, ModelProblem.MISSING, f"{name} is missing")


def test_neither_of_the_other_files_is_needed(make: Callable[[str], Path]) -> None:
    folder = make("marian")
    (folder / "generation_config.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    assert models.load(str(folder)).name == str(folder)


@pytest.mark.parametrize(
    ("gone", "there", "message"),
    [
        (WEIGHTS, "pytorch_model.bin", "The weights are a pickle"),
        (WEIGHTS, "model.safetensors.index.json", "in several files"),
        (TOKENS, "spiece.model", "T5TokenizerFast"),
        (TOKENS, "source.spm", "a tokenizer.json is needed"),
    ],
)
def test_formats_that_are_not_supported_come_with_advice(
    gone: str, there: str, message: str, make: Callable[[str], Path]
) -> None:
    folder = make("t5")
    (folder / gone).unlink()
    (folder / there).write_bytes(b"never opened")
    refuse(folder, ModelProblem.UNSUPPORTED, message)


def test_a_pickle_beside_the_weights_is_left_alone(make: Callable[[str], Path]) -> None:
    folder = make("t5")
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    assert models.load(str(folder)).facts.family == "t5"


def test_a_server_may_forbid_folders(make: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make("t5")
    for word in ("forbid", " Forbid ", "no", "0", "off"):
        monkeypatch.setenv("ATLAS_MODEL_FOLDERS", word)
        refuse(folder, ModelProblem.FOLDERS_FORBIDDEN, "opens no model folders")
        assert not models.is_available(str(folder))
        assert not models.folders_allowed()
    for word in ("allow", "Allow", ""):
        monkeypatch.setenv("ATLAS_MODEL_FOLDERS", word)
        assert models.load(str(folder)).name == str(folder)


def test_files_that_may_not_be_read(make: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretended, since whoever runs the tests may be allowed to read everything."""

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    folder = make("t5")
    with monkeypatch.context() as patch:
        patch.setattr("core.models.weights.safe_open", denied)
        refuse(folder, ModelProblem.MISSING, "model.safetensors cannot be read: .*Permission denied")
    monkeypatch.setattr(Path, "read_text", denied)
    refuse(folder, ModelProblem.MISSING, "config.json cannot be read: Permission denied")


# ------------------------------------------------------------------------------------------------------- configuration


@pytest.mark.parametrize("name", [CONFIG, TOKENS, "generation_config.json"])
@pytest.mark.parametrize(
    ("content", "reason", "message"),
    [
        (b"", ModelProblem.DAMAGED, "is no JSON"),
        (b"{", ModelProblem.DAMAGED, "is no JSON"),
        (b"\xff\xfe\x00", ModelProblem.DAMAGED, "is no JSON"),
        (b"[" * 100_000, ModelProblem.DAMAGED, "is no JSON"),
        (b"1" * 5000, ModelProblem.DAMAGED, "is no JSON"),  # Python refuses such numbers
        (b"[]", ModelProblem.WRONG_FILE, "must hold a JSON object, not a list"),
        (b"null", ModelProblem.WRONG_FILE, "must hold a JSON object, not a NoneType"),
    ],
)
def test_broken_json(
    name: str, content: bytes, reason: ModelProblem, message: str, make: Callable[[str], Path]
) -> None:
    folder = make("marian")
    (folder / name).write_bytes(content)
    refuse(folder, reason, f"{name} {message}")


def test_a_json_file_without_end(make: Callable[[str], Path]) -> None:
    folder = make("t5")
    with (folder / CONFIG).open("wb") as file:
        file.truncate(2**31)  # a hole: takes no space on disk
    refuse(folder, ModelProblem.WRONG_FILE, "config.json is too large")


@pytest.mark.parametrize("kind", ["roberta", "mt5", "umt5", "gpt_neo", "T5", None, 5, ["t5"]])
def test_other_kinds_of_model(kind: object, make: Callable[[str], Path]) -> None:
    folder = make("t5")
    edit(folder / CONFIG, model_type=kind)
    refuse(folder, ModelProblem.UNSUPPORTED, "must be one of marian, t5, bert, distilbert, gpt2: no")


def test_code_that_comes_with_a_model_is_refused_and_never_run(make: Callable[[str], Path]) -> None:
    folder = make("t5")
    (folder / "evil.py").write_text(f"open({str(folder / 'ran')!r}, 'w')")
    edit(folder / CONFIG, auto_map={"AutoConfig": "evil.Config", "AutoModel": "evil.Model"})
    refuse(folder, ModelProblem.UNSUPPORTED, "brings its own Python code")
    edit(folder / CONFIG, auto_map=None)
    edit(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.T", "evil.T"]}, tokenizer_class="Evil")
    edit(folder / "generation_config.json", custom_generate="evil")
    (folder / "custom_generate").mkdir()
    (folder / "custom_generate" / "generate.py").write_text((folder / "evil.py").read_text())
    assert models.load(str(folder)).facts.family == "t5"
    assert not (folder / "ran").exists()


def test_settings_that_are_no_part_of_the_model_change_nothing(make: Callable[[str], Path]) -> None:
    folder = make("marian")
    edit(
        folder / CONFIG,
        _attn_implementation="sdpa",
        attn_implementation="kernels-community/anything",
        dtype="float16",
        torch_dtype="bfloat16",
        return_dict=False,
        use_cache=False,
        is_encoder_decoder=False,
        is_decoder=True,
        output_attentions=True,
        pruned_heads={"0": [0]},
        num_beams=7,
        architectures=["Evil"],
        _name_or_path="https://example.org/evil",
        adapter_kwargs={"a": 1},
        transformers_weights="evil.bin",
        encoder_layerdrop=0.9,
    )
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "evil/evil"}')
    network = models.load(str(folder)).network
    assert network.config._attn_implementation == "eager"
    assert network.config.return_dict
    assert network.config.is_encoder_decoder
    assert network.dtype is torch.float32
    assert network.generation_config.num_beams is None


def test_quantized_weights(make: Callable[[str], Path]) -> None:
    folder = make("t5")
    edit(folder / CONFIG, quantization_config={"quant_method": "bitsandbytes", "load_in_8bit": True})
    refuse(folder, ModelProblem.UNSUPPORTED, "has quantized weights")
    edit(folder / CONFIG, quantization_config=None)
    tensors = load_file(folder / WEIGHTS)
    save_file(tensors | {"shared.weight": tensors["shared.weight"].to(torch.int8)}, folder / WEIGHTS)
    refuse(folder, ModelProblem.UNSUPPORTED, r"shared\.weight in model\.safetensors holds I8")


BAD_NUMBERS = [0, -1, 10**9, 10**30, 1.0, 2.5, "8", True, [8], {}]


@pytest.mark.parametrize("value", BAD_NUMBERS, ids=str)
@pytest.mark.parametrize(
    "key", ["vocab_size", "d_model", "d_kv", "d_ff", "num_layers", "num_decoder_layers", "num_heads"]
)
def test_t5_sizes_out_of_bounds(key: str, value: object, make: Callable[[str], Path]) -> None:
    folder = make("t5")
    edit(folder / CONFIG, **{key: value})
    refuse(folder, ModelProblem.WRONG_FILE, f"{key} .* must be a whole number from 1 to")


@pytest.mark.parametrize("family", FAMILIES)
def test_sizes_that_are_not_there(family: str, make: Callable[[str], Path]) -> None:
    folder = make(family)
    for key in settings_module.SIZES[models.Family(family)]:
        value = json.loads((folder / CONFIG).read_text())[key]
        edit(folder / CONFIG, **{key: None})
        if key in settings_module.DEFAULTED:
            with contextlib.suppress(ModelError):  # the default may not be what the weights need
                models.load(str(folder))
        else:
            refuse(folder, ModelProblem.WRONG_FILE, rf"{key} \(null\) in config.json must be")
        edit(folder / CONFIG, **{key: value})


@pytest.mark.parametrize("value", BAD_NUMBERS, ids=str)
@pytest.mark.parametrize("key", ["encoder_layers", "decoder_attention_heads", "max_position_embeddings"])
def test_marian_sizes_out_of_bounds(key: str, value: object, make: Callable[[str], Path]) -> None:
    folder = make("marian")
    edit(folder / CONFIG, **{key: value})
    refuse(folder, ModelProblem.WRONG_FILE, f"{key} .* must be a whole number from 1 to")


SIZES = [("t5", key) for key in settings_module.SIZES[models.Family.T5] if "distance" not in key] + [
    ("marian", key) for key in ("vocab_size", "d_model", "encoder_layers", "decoder_layers", "encoder_ffn_dim")
]


@pytest.mark.parametrize(("family", "key"), SIZES)
def test_the_largest_size_allowed_costs_nothing_when_the_weights_say_otherwise(
    family: str, key: str, make: Callable[[str], Path]
) -> None:
    folder = make(family)
    edit(folder / CONFIG, **{key: 2**20, "relative_attention_max_distance": 2**20})
    began = time.monotonic()
    with pytest.raises(ModelError) as caught:
        models.load(str(folder))
    assert caught.value.reason is ModelProblem.WRONG_FILE
    assert time.monotonic() - began < 3


def test_all_sizes_at_their_largest(make: Callable[[str], Path]) -> None:
    folder = make("t5")
    names = ["d_kv", "d_ff", "num_heads", "relative_attention_num_buckets", "relative_attention_max_distance"]
    edit(folder / CONFIG, **dict.fromkeys(names, 2**20))
    refuse(folder, ModelProblem.WRONG_FILE, "config.json asks for")


def test_sizes_that_contradict_each_other(make: Callable[[str], Path]) -> None:
    folder = make("marian")
    edit(folder / CONFIG, encoder_attention_heads=2, decoder_attention_heads=2)
    refuse(folder, ModelProblem.WRONG_FILE, r"d_model \(33\) must be divisible by encoder_attention_heads \(2\)")
    edit(folder / CONFIG, encoder_attention_heads=11, decoder_attention_heads=3)
    refuse(folder, ModelProblem.UNSUPPORTED, r"encoder_attention_heads \(11\) and decoder_attention_heads \(3\)")


@pytest.mark.parametrize(("buckets", "distance"), [(3, 19), (12, 6), (1, 19)])
def test_distances_that_t5_cannot_sort_into_its_buckets(
    buckets: int, distance: int, make: Callable[[str], Path]
) -> None:
    folder = make("t5")
    edit(folder / CONFIG, relative_attention_num_buckets=buckets, relative_attention_max_distance=distance)
    refuse(folder, ModelProblem.WRONG_FILE, rf"relative_attention_num_buckets \({buckets}\) must be")


@pytest.mark.parametrize("key", ["pad_token_id", "eos_token_id", "decoder_start_token_id"])
@pytest.mark.parametrize("value", [-1, 211, "1", True, [1, 2], None])
def test_ids_out_of_bounds(key: str, value: object, make: Callable[[str], Path]) -> None:
    folder = make("marian")
    edit(folder / CONFIG, **{key: value})
    refuse(folder, ModelProblem.WRONG_FILE, rf"{key} \(.*\) in config.json must be a whole number from 0 to 210")


@pytest.mark.parametrize(
    ("family", "changes", "reason", "message"),
    [
        ("marian", {"activation_function": "evil"}, ModelProblem.UNSUPPORTED, r'activation_function \("evil"\) must'),
        ("marian", {"activation_function": ["relu"]}, ModelProblem.UNSUPPORTED, "activation_function"),
        ("t5", {"feed_forward_proj": "gated-evil"}, ModelProblem.UNSUPPORTED, "feed_forward_proj"),
        ("t5", {"layer_norm_epsilon": 0}, ModelProblem.WRONG_FILE, "layer_norm_epsilon"),
        ("t5", {"layer_norm_epsilon": float("nan")}, ModelProblem.WRONG_FILE, "layer_norm_epsilon"),
        ("t5", {"scale_decoder_outputs": 1}, ModelProblem.WRONG_FILE, "scale_decoder_outputs .* true or false"),
        ("t5", {"tie_word_embeddings": "yes"}, ModelProblem.WRONG_FILE, "tie_word_embeddings .* true or false"),
        ("marian", {"scale_embedding": 1}, ModelProblem.WRONG_FILE, "scale_embedding .* true or false"),
        ("marian", {"share_encoder_decoder_embeddings": False}, ModelProblem.UNSUPPORTED, "two vocabularies"),
    ],
)
def test_words_and_switches(
    family: str, changes: dict[str, Any], reason: ModelProblem, message: str, make: Callable[[str], Path]
) -> None:
    folder = make(family)
    edit(folder / CONFIG, **changes)
    refuse(folder, reason, message)


@pytest.mark.parametrize(
    "value", [5, "x", [5], {"translation_en_to_de": 5}, {"translation_en_to_de": {"prefix": 5}}, {"": {}}]
)
def test_tasks_of_another_form_are_no_tasks(value: object, make: Callable[[str], Path]) -> None:
    folder = make("t5")
    edit(folder / CONFIG, task_specific_params=value, bad_words_ids=value)
    assert models.load(str(folder)).tasks == ()


# ------------------------------------------------------------------------------------------------------------- weights


@pytest.mark.parametrize("family", FAMILIES)
def test_every_weight_is_needed(family: str, make: Callable[[str], Path]) -> None:
    """transformers would fill the gap with random numbers and a warning."""
    folder = make(family)
    asked = read_settings(folder / CONFIG)
    tensors = load_file(folder / WEIGHTS)
    for name in tensors:
        save_file({key: value for key, value in tensors.items() if key != name}, folder / WEIGHTS)
        if name in LAYOUTS[asked.family].optional:
            load_network(asked, folder / WEIGHTS, largest=10**6)
        else:
            with pytest.raises(ModelError, match=rf"model\.safetensors lacks {name}") as caught:
                load_network(asked, folder / WEIGHTS, largest=10**6)
            assert caught.value.reason is ModelProblem.WRONG_FILE


@pytest.mark.parametrize("family", FAMILIES)
def test_every_shape_must_fit(family: str, make: Callable[[str], Path]) -> None:
    folder = make(family)
    asked = read_settings(folder / CONFIG)
    tensors = load_file(folder / WEIGHTS)
    for name, tensor in tensors.items():
        save_file(tensors | {name: torch.zeros(*tensor.shape[:-1], tensor.shape[-1] + 1)}, folder / WEIGHTS)
        with pytest.raises(ModelError, match=f"{name} has the shape") as caught:
            load_network(asked, folder / WEIGHTS, largest=10**6)
        assert caught.value.reason is ModelProblem.WRONG_FILE


@pytest.mark.parametrize(
    ("family", "name"),
    [
        ("t5", "encoder.block.3.layer.0.layer_norm.weight"),  # a layer more than config.json says
        ("t5", "decoder.block.1.layer.2.DenseReluDense.wi_1.weight"),  # a gate that config.json does not mention
        ("marian", "model.decoder.layers.2.fc3.weight"),
        ("marian", "encoder.embed_tokens.weight"),
    ],
)
def test_a_weight_without_a_place(family: str, name: str, make: Callable[[str], Path]) -> None:
    folder = make(family)
    save_file(load_file(folder / WEIGHTS) | {name: torch.ones(3)}, folder / WEIGHTS)
    refuse(folder, ModelProblem.WRONG_FILE, f"{name}, for which|holds 4 encoder layers, but config.json says 3")


def test_weights_of_the_other_family(make: Callable[[str], Path]) -> None:
    t5, marian = make("t5"), make("marian")
    (t5 / WEIGHTS).write_bytes((marian / WEIGHTS).read_bytes())
    refuse(t5, ModelProblem.WRONG_FILE, "lacks shared.weight: it is no t5 model")


def test_two_different_embeddings_where_there_is_one(make: Callable[[str], Path]) -> None:
    folder = make("t5")
    save_file(load_file(folder / WEIGHTS) | {"encoder.embed_tokens.weight": torch.zeros(211, 26)}, folder / WEIGHTS)
    refuse(folder, ModelProblem.WRONG_FILE, "encoder.embed_tokens.weight and shared.weight in .* must be equal")


def test_a_scoring_matrix_that_is_promised_but_not_there(make: Callable[[str], Path]) -> None:
    folder = make("marian")
    edit(folder / CONFIG, tie_word_embeddings=False)
    refuse(folder, ModelProblem.WRONG_FILE, "lacks lm_head.weight")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_numbers(value: float, make: Callable[[str], Path]) -> None:
    folder = make("marian")
    tensors = load_file(folder / WEIGHTS)
    tensors["model.encoder.layers.1.fc2.bias"][7] = value
    save_file(tensors, folder / WEIGHTS)
    refuse(folder, ModelProblem.DAMAGED, "model.encoder.layers.1.fc2.bias .* not numbers")


def test_more_weights_than_a_server_should_hold(make: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.models.MEGABYTE", 4)
    refuse(make("t5"), ModelProblem.TOO_LARGE, "the limit is 1,200")


def test_the_most_weights_that_a_server_should_hold(make: Callable[[str], Path]) -> None:
    folder = make("t5")
    raw = (folder / WEIGHTS).read_bytes()
    start = 8 + struct.unpack("<Q", raw[:8])[0]
    header, size = json.loads(raw[8:start]), len(raw) - start
    count = 300_000_001
    header["extra"] = {"dtype": "F16", "shape": [count], "data_offsets": [size, size + 2 * count]}
    with_header(folder / WEIGHTS, json.dumps(header).encode())
    with (folder / WEIGHTS).open("r+b") as file:
        file.truncate(file.seek(0, 2) + size + 2 * count)  # a hole: takes no space on disk
    refuse(folder, ModelProblem.TOO_LARGE, "the limit is 300,000,000")


@pytest.mark.parametrize("keep", [0, 1, 7, 8, 9, 100, 0.5, -1])
def test_a_truncated_file(keep: float, make: Callable[[str], Path]) -> None:
    folder = make("t5")
    whole = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(whole[: int(len(whole) * keep) if 0 < keep < 1 else int(keep)])
    refuse(folder, ModelProblem.DAMAGED, "damaged or incomplete")


def with_header(path: Path, header: bytes, length: int | None = None) -> None:
    path.write_bytes(struct.pack("<Q", len(header) if length is None else length) + header)


@pytest.mark.parametrize(
    ("header", "length"),
    [
        (b"{}", 2**63),
        (b"{}", 99_999_999),
        (b"not json", None),
        (b"[]", None),
        (b'{"shared.weight": 5}', None),
        (b'{"shared.weight": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}', None),
        (b'{"shared.weight": {"dtype": "F32", "shape": [1000000000, 1000000000], "data_offsets": [0, 4]}}', None),
        (b'{"shared.weight": {"dtype": "F32", "shape": [18446744073709551615, 4], "data_offsets": [0, 8]}}', None),
        (b'{"shared.weight": {"dtype": "F99", "shape": [1], "data_offsets": [0, 4]}}', None),
        (b'{"shared.weight": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}', None),
    ],
)
def test_a_header_that_lies(header: bytes, length: int | None, make: Callable[[str], Path]) -> None:
    folder = make("t5")
    with_header(folder / WEIGHTS, header, length)
    refuse(folder, ModelProblem.DAMAGED, "damaged or incomplete")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_damage_is_a_model_error_or_a_model(
    data: st.DataObject, originals: dict[str, Path], tmp_path: Path
) -> None:
    """Bytes overwritten anywhere in any file: never another exception, never a crash."""
    original = originals[data.draw(st.sampled_from(FAMILIES))]
    spoilt = data.draw(st.sampled_from([CONFIG, TOKENS, WEIGHTS]))
    for file in original.iterdir():
        content = bytearray(file.read_bytes())
        if file.name == spoilt:
            end = min(len(content), 4000 if spoilt == WEIGHTS else len(content))  # of the weights, mostly the header
            start = data.draw(st.integers(0, end - 1))
            content[start : start + 3] = data.draw(st.binary(max_size=8))
        (tmp_path / file.name).write_bytes(content)
    with contextlib.suppress(ModelError):
        assert models.load(str(tmp_path)).facts.vocab_size == 211


# ----------------------------------------------------------------------------------------------------------- tokenizer


def test_a_tokenizer_file_that_holds_none(make: Callable[[str], Path]) -> None:
    folder = make("t5")
    (folder / TOKENS).write_text('{"version": "1.0", "model": {"type": "Magic"}}')
    refuse(folder, ModelProblem.DAMAGED, "tokenizer.json holds no tokenizer")


def test_a_tokenizer_of_another_model(make: Callable[[str], Path]) -> None:
    folder = make("t5")
    backend = tiny.tiny_tokenizer().backend_tokenizer
    backend.add_tokens(["Krambambuli"])
    backend.save(str(folder / TOKENS))
    refuse(folder, ModelProblem.WRONG_FILE, r"tokens up to id 211, but vocab_size \(211\)")


@pytest.mark.parametrize("added", [False, True])
def test_a_token_for_unknown_words_that_the_vocabulary_does_not_hold(added: bool, make: Callable[[str], Path]) -> None:
    """The first unknown word would make the tokenizer fail, or the network look for an embedding that is not there."""
    folder = make("t5")
    raw = json.loads((folder / TOKENS).read_text())
    vocabulary = raw["model"]["vocab"]
    last = max(vocabulary, key=vocabulary.__getitem__)
    raw["model"]["unk_token"] = "<nowhere>"
    if added:  # known to the tokenizer, with an id that the network has, but not to the part that splits words
        raw["added_tokens"].append(raw["added_tokens"][0] | {"id": vocabulary.pop(last), "content": "<nowhere>"})
        raw["model"]["merges"] = [pair for pair in raw["model"]["merges"] if "".join(pair) != last]
    (folder / TOKENS).write_text(json.dumps(raw))
    refuse(folder, ModelProblem.UNSUPPORTED, "tokenizer.json has '<nowhere>' stand for unknown words")


def test_a_tokenizer_that_does_not_end_a_text(make: Callable[[str], Path]) -> None:
    folder = make("marian")
    raw = json.loads((folder / TOKENS).read_text())
    (folder / TOKENS).write_text(json.dumps(raw | {"post_processor": None}))
    refuse(folder, ModelProblem.WRONG_FILE, r"must put the end token </s> \(id 1\) after a text")


def test_a_tokenizer_with_fewer_tokens_than_the_network_scores(make: Callable[[str], Path]) -> None:
    """As in T5, whose 32,100 tokens are rounded up to 32,128 rows."""
    folder = make("t5")
    raw = json.loads((folder / TOKENS).read_text())
    last = max(raw["model"]["vocab"], key=raw["model"]["vocab"].__getitem__)
    del raw["model"]["vocab"][last]
    raw["model"]["merges"] = [pair for pair in raw["model"]["merges"] if "".join(pair) != last]
    (folder / TOKENS).write_text(json.dumps(raw))
    assert len(models.load(str(folder)).tokenizer) == 210


def test_a_unigram_tokenizer_as_t5_has_it(make: Callable[[str], Path]) -> None:
    """In the form in which the first T5 files were written, with word boundaries by `add_prefix_space`."""
    folder = make("t5")
    pieces = ["<pad>", "</s>", "<unk>", "▁", "▁the", "▁house", "h", "o", "u", "s", "e", "t"]
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    space = {"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": True}
    raw = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": pieces[i]} | special for i in range(3)],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, space]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {"</s>": {"id": "</s>", "ids": [1], "tokens": ["</s>"]}},
        },
        "decoder": space,
        "model": {"type": "Unigram", "unk_id": 2, "vocab": [[piece, -float(i)] for i, piece in enumerate(pieces)]},
    }
    (folder / TOKENS).write_text(json.dumps(raw))
    model = models.load(str(folder))
    assert model.tokenizer("The house").input_ids == [4, 5, 1]
    assert model.tokenizer("").input_ids == [1]
    assert model.tokenizer.unk_token_id == 2
    assert model.tokenizer.decode([4, 5, 1], skip_special_tokens=True) == "the house"
    assert model.normalize("The HOUSE") == "the house"
