"""Read config.json: the handful of numbers and words that decide what a network computes.

Only those are read. Everything else in such a file, from the way attention is implemented to the name of a Python file
to be run, could change what the app shows or what the server does, and is none of the file's business.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import BertConfig, DistilBertConfig, GPT2Config, MarianConfig, T5Config

from core.models.catalogue import Family, Task
from core.models.problems import ModelError, ModelProblem

LARGEST_SETTING = 2**20  # keeps every product of three sizes inside 64 bits
LARGEST_POSITION = 8192  # Marian's table of positions is computed, so no weights in the file bound it; GPT-2 has 1024
LARGEST_FILE = 64 * 1024 * 1024  # of JSON

SIZES = {
    Family.MARIAN: [
        "vocab_size",
        "d_model",
        "encoder_layers",
        "decoder_layers",
        "encoder_attention_heads",
        "decoder_attention_heads",
        "encoder_ffn_dim",
        "decoder_ffn_dim",
        "max_position_embeddings",
    ],
    Family.T5: [
        "vocab_size",
        "d_model",
        "d_kv",
        "d_ff",
        "num_layers",
        "num_decoder_layers",
        "num_heads",
        "relative_attention_num_buckets",
        "relative_attention_max_distance",
    ],
    Family.BERT: [
        "vocab_size",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "max_position_embeddings",
        "type_vocab_size",
    ],
    Family.DISTILBERT: ["vocab_size", "dim", "n_layers", "n_heads", "hidden_dim", "max_position_embeddings"],
    Family.GPT2: ["vocab_size", "n_embd", "n_layer", "n_head", "n_inner", "n_positions"],
}
DEFAULTED = {"num_decoder_layers", "relative_attention_num_buckets", "relative_attention_max_distance", "n_inner"}
POSITIONS = {"max_position_embeddings", "n_positions"}
IDS = {
    Family.MARIAN: ["pad_token_id", "eos_token_id", "decoder_start_token_id"],
    Family.T5: ["pad_token_id", "eos_token_id", "decoder_start_token_id"],
    Family.BERT: ["pad_token_id"],
    Family.DISTILBERT: ["pad_token_id"],
    Family.GPT2: ["eos_token_id"],
}
SWITCHES = {
    Family.MARIAN: ["scale_embedding", "tie_word_embeddings"],
    Family.T5: ["tie_word_embeddings"],
    Family.BERT: [],
    Family.DISTILBERT: [],
    Family.GPT2: ["scale_attn_weights", "scale_attn_by_inverse_layer_idx", "tie_word_embeddings"],
}
GELUS = {"relu", "gelu", "gelu_new", "silu", "swish"}
ACTIVATIONS = {
    Family.MARIAN: ("activation_function", GELUS),
    Family.T5: ("feed_forward_proj", {"relu", "gated-gelu", "gated-silu"}),
    Family.BERT: ("hidden_act", GELUS),
    Family.DISTILBERT: ("activation", {"relu", "gelu"}),
    Family.GPT2: ("activation_function", GELUS),
}
EPSILONS = {
    Family.T5: ("layer_norm_epsilon", 1e-6),
    Family.BERT: ("layer_norm_eps", 1e-12),
    Family.GPT2: ("layer_norm_epsilon", 1e-5),
}
HEADS = {
    Family.BERT: ("hidden_size", "num_attention_heads"),
    Family.DISTILBERT: ("dim", "n_heads"),
    Family.GPT2: ("n_embd", "n_head"),
}
HALVES = ("is_decoder", "add_cross_attention")  # would make another model of a BERT or a GPT-2

Config = MarianConfig | T5Config | BertConfig | DistilBertConfig | GPT2Config


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """What config.json says, checked value by value but not yet against the weights."""

    family: Family
    config: Config
    pad_id: int | None  # GPT-2 has none
    end_id: int | None  # encoders have none
    start_id: int | None  # what the decoder of an encoder–decoder reads first
    says_tied: bool  # the embedding of tokens is also the matrix that scores the next token
    tasks: tuple[Task, ...]  # of a T5 that lists its prefixes
    forbidden_ids: tuple[int, ...]  # tokens that the model must never say


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file.

    Raises: ModelError if the file cannot be read, is too large, or is no JSON object.
    """
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ModelError(ModelProblem.WRONG_FILE, f"{path.name} is too large ({path.stat().st_size:,} bytes).")
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(ModelProblem.MISSING, f"{path.name} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise ModelError(ModelProblem.DAMAGED, f"{path.name} is no JSON: {error}.") from error
    if not isinstance(value, dict):
        raise ModelError(ModelProblem.WRONG_FILE, f"{path.name} must hold a JSON object, not a {type(value).__name__}.")
    return value


def read_settings(path: Path, generation_path: Path | None = None) -> Settings:
    """Read config.json and, for the tokens never to be said, generation_config.json.

    Raises: ModelError if the model is of another kind, or a setting is missing or out of bounds.
    """
    raw = read_json(path)
    family = _family(raw)
    if family is Family.MARIAN and not _switch(raw, "share_encoder_decoder_embeddings", True):
        raise ModelError(
            ModelProblem.UNSUPPORTED,
            "share_encoder_decoder_embeddings (false) must be true: two vocabularies in one model cannot be shown yet.",
        )
    bad_words = (read_json(generation_path) if generation_path is not None else raw).get("bad_words_ids")
    chosen = _chosen(family, raw)
    return Settings(
        family=family,
        config=_config(family, chosen, raw),
        pad_id=chosen.get("pad_token_id"),
        end_id=chosen.get("eos_token_id"),
        start_id=chosen.get("decoder_start_token_id"),
        says_tied=_switch(raw, "tie_word_embeddings", True),
        tasks=_tasks(raw.get("task_specific_params")),
        forbidden_ids=_single_ids(bad_words),
    )


def _family(raw: Mapping[str, Any]) -> Family:
    kind = raw.get("model_type")
    if kind not in list(Family):
        raise ModelError(
            ModelProblem.UNSUPPORTED,
            f"model_type ({_shown(kind)}) must be one of {', '.join(Family)}: no other kind can be shown.",
        )
    for key, what in (("auto_map", "brings its own Python code"), ("quantization_config", "has quantized weights")):
        if raw.get(key):
            raise ModelError(ModelProblem.UNSUPPORTED, f"The model {what} ({key} in config.json): it is not loaded.")
    return Family(kind)


def _chosen(family: Family, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that decide what the network computes, by the names of config.json, each within its bounds."""
    chosen: dict[str, Any] = {"attn_implementation": "eager"}
    for key in SIZES[family]:
        if raw.get(key) is not None or key not in DEFAULTED:
            chosen[key] = _whole(raw, key, 1, LARGEST_POSITION if key in POSITIONS else LARGEST_SETTING)
    for key in IDS[family]:
        if key == "decoder_start_token_id" and family is Family.T5 and raw.get(key) is None:
            chosen[key] = chosen["pad_token_id"]  # the paper's choice, which old files leave unsaid
        else:
            chosen[key] = _whole(raw, key, 0, chosen["vocab_size"] - 1)
    for key in SWITCHES[family]:
        if raw.get(key) is not None:
            chosen[key] = _switch(raw, key, True)
    key, known = ACTIVATIONS[family]
    if raw.get(key) is not None:
        if raw[key] not in list(known):
            raise ModelError(ModelProblem.UNSUPPORTED, f"{key} ({_shown(raw[key])}) must be one of {sorted(known)}.")
        chosen[key] = raw[key]
    return chosen


def _config(family: Family, chosen: Mapping[str, Any], raw: Mapping[str, Any]) -> Config:
    if family is Family.MARIAN:
        return _marian_config(chosen)
    if family is Family.T5:
        return _t5_config(chosen, raw)
    for key in HALVES:
        if _switch(raw, key, False):
            raise ModelError(
                ModelProblem.UNSUPPORTED, f"{key} (true) in config.json must be false: such a {family} cannot be shown."
            )
    width, heads = HEADS[family]
    if chosen[width] % chosen[heads]:
        raise ModelError(
            ModelProblem.WRONG_FILE, f"{width} ({chosen[width]}) must be divisible by {heads} ({chosen[heads]})."
        )
    if family is Family.GPT2:
        return GPT2Config(**chosen, layer_norm_epsilon=_epsilon(family, raw), bos_token_id=chosen["eos_token_id"])
    if family is Family.DISTILBERT:
        return DistilBertConfig(**chosen)
    if raw.get("position_embedding_type") not in (None, "absolute"):
        raise ModelError(
            ModelProblem.UNSUPPORTED,
            f"position_embedding_type ({_shown(raw['position_embedding_type'])}) in config.json must be absolute.",
        )
    return BertConfig(**chosen, layer_norm_eps=_epsilon(family, raw))


def _marian_config(chosen: Mapping[str, Any]) -> MarianConfig:
    config = MarianConfig(**chosen, bos_token_id=None, forced_eos_token_id=None)
    if config.encoder_attention_heads != config.decoder_attention_heads:
        raise ModelError(
            ModelProblem.UNSUPPORTED,
            f"encoder_attention_heads ({config.encoder_attention_heads}) and decoder_attention_heads "
            f"({config.decoder_attention_heads}) must be the same number.",
        )
    if config.d_model % config.encoder_attention_heads:
        raise ModelError(
            ModelProblem.WRONG_FILE,
            f"d_model ({config.d_model}) must be divisible by encoder_attention_heads "
            f"({config.encoder_attention_heads}).",
        )
    return config


def _t5_config(chosen: Mapping[str, Any], raw: Mapping[str, Any]) -> T5Config:
    config = T5Config(**chosen, layer_norm_epsilon=_epsilon(Family.T5, raw))
    config.scale_decoder_outputs = _switch(raw, "scale_decoder_outputs", config.scale_decoder_outputs)
    # Half of the encoder's buckets are for each direction, and half of a direction's for one distance each.
    buckets, distance = config.relative_attention_num_buckets, config.relative_attention_max_distance
    if buckets < 4 or distance <= buckets // 2:
        raise ModelError(
            ModelProblem.WRONG_FILE,
            f"relative_attention_num_buckets ({buckets}) must be at least 4, and relative_attention_max_distance "
            f"({distance}) must be more than half of it.",
        )
    return config


def _whole(raw: Mapping[str, Any], key: str, smallest: int, largest: int) -> int:
    value = raw.get(key)
    if type(value) is not int or not smallest <= value <= largest:  # in Python, true is a whole number too
        raise ModelError(
            ModelProblem.WRONG_FILE,
            f"{key} ({_shown(value)}) in config.json must be a whole number from {smallest} to {largest}.",
        )
    return value


def _switch(raw: Mapping[str, Any], key: str, default: bool) -> bool:
    value = raw.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise ModelError(ModelProblem.WRONG_FILE, f"{key} ({_shown(value)}) in config.json must be true or false.")
    return value


def _epsilon(family: Family, raw: Mapping[str, Any]) -> float:
    key, default = EPSILONS[family]
    value = raw.get(key, default)
    if type(value) is not float or not 0 < value < 1:
        raise ModelError(ModelProblem.WRONG_FILE, f"{key} ({_shown(value)}) must be between 0 and 1.")
    return value


def _tasks(raw: object) -> tuple[Task, ...]:
    """The translations among a T5's tasks, named as translation_en_to_de."""
    found = []
    for name, task in raw.items() if isinstance(raw, dict) else ():
        prefix = task.get("prefix") if isinstance(task, dict) else None
        match name.split("_"):
            case ["translation", source, "to", target] if isinstance(prefix, str):
                found.append(Task(f"{source}-{target}", prefix))
    return tuple(found)


def _single_ids(raw: object) -> tuple[int, ...]:
    """The published Marian models forbid their padding token by a list [[id]]; longer sequences are left alone."""
    if not isinstance(raw, list):
        return ()
    return tuple(ids[0] for ids in raw if isinstance(ids, list) and len(ids) == 1 and type(ids[0]) is int)


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:39] + "…"
