"""Load a model from its files: safetensors and JSON, never a pickle, never Python code, never the network."""

import os
from collections.abc import Mapping
from pathlib import Path

from core.models import tokens, weights
from core.models.catalogue import Kind, Task
from core.models.facts import read_facts, read_text_facts
from core.models.model import AnyModel, TextModel, TranslationModel
from core.models.problems import ModelError, ModelProblem
from core.models.settings import read_settings

CONFIG = "config.json"
GENERATION = "generation_config.json"  # not every model has one
FILES = (CONFIG, GENERATION, weights.FILE, tokens.FILE)
REQUIRED = (CONFIG, weights.FILE, tokens.FILE)


def load_folder(folder: str, *, largest: int) -> AnyModel:
    """Load a model that somebody keeps in a folder on the server; `folder` is its full path.

    largest: how many weights it may have.
    Raises: ModelError.
    """
    path = Path(folder)
    if not path.is_absolute():
        raise ModelError(
            ModelProblem.UNKNOWN_NAME, f"{folder!r} is neither the name of a model nor the full path of a folder."
        )
    if not os.path.isdir(path):  # unlike Path.is_dir, never raises: a name may be too long, or hold a zero byte
        raise ModelError(ModelProblem.UNKNOWN_NAME, f"{folder!r} is no folder that can be read.")
    files = {name: path / name for name in FILES if os.path.isfile(path / name)}
    for name in REQUIRED:
        if name not in files:
            raise _lacking(name, path)
    return load_files(folder, files, largest=largest)


def load_files(
    name: str, files: Mapping[str, Path], tasks: tuple[Task, ...] | None = None, *, largest: int
) -> AnyModel:
    """Load a model from files that may lie anywhere; `files` has an entry for each name in REQUIRED.

    tasks: None = those that config.json lists. largest: how many weights it may have.
    Raises: ModelError.
    """
    settings = read_settings(files[CONFIG], files.get(GENERATION))
    tokenizer = tokens.load_tokenizer(settings, files[tokens.FILE])
    network = weights.load_network(settings, files[weights.FILE], largest=largest)
    if settings.family.kind is not Kind.BOTH:
        return TextModel(name=name, network=network, tokenizer=tokenizer, facts=read_text_facts(network, tokenizer))
    return TranslationModel(
        name=name,
        network=network,
        tokenizer=tokenizer,
        facts=read_facts(network, tokenizer),
        tasks=settings.tasks if tasks is None else tasks,
    )


def _lacking(name: str, folder: Path) -> ModelError:
    """Say what is missing, and what to do where the folder holds something of the kind."""
    if name == weights.FILE and any(folder.glob("*.safetensors.index.json")):
        return ModelError(
            ModelProblem.UNSUPPORTED,
            f"The weights lie in several files, which is not supported: save them as one {weights.FILE}.",
        )
    if name == weights.FILE and any(folder.glob("*.bin")):
        return ModelError(
            ModelProblem.UNSUPPORTED,
            f"The weights are a pickle, which could run any program: save them as {weights.FILE} "
            "(network.save_pretrained in transformers does).",
        )
    if name == tokens.FILE and (any(folder.glob("*.spm")) or any(folder.glob("*.model"))):
        return ModelError(
            ModelProblem.UNSUPPORTED,
            f"The tokenizer is a SentencePiece file: a {tokens.FILE} is needed. In transformers, "
            "T5TokenizerFast.from_pretrained(folder).save_pretrained(folder) writes one for T5; for Marian, build it "
            "with the tokenizers library from the vocabulary and the pieces' scores.",
        )
    return ModelError(ModelProblem.MISSING, f"{name} is missing.")
