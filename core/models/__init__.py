"""The models: which there are, how one is fetched, and how one is loaded.

    catalogue   names, exact versions, sizes
    package     files that came with a Python package
    hub         download into the hub's cache
    checksums   is a file the one that was meant?
    settings    config.json → checked configuration
    weights     model.safetensors → network
    tokens      tokenizer.json → tokenizer
    folder      these three → model
    facts       what a network is, read from the network
    problems    what can go wrong

Three environment variables, read at every call, let the owner of a server decide what visitors may do. The first two
are `allow` (which is what counts when they are not set) or `forbid`; any other word forbids as well.

    ATLAS_MODEL_FOLDERS   may a model be loaded from any folder that the server can read?
    ATLAS_DOWNLOADS       may a model be fetched from the hub?
    ATLAS_LARGEST_MODEL   how many megabytes may the weights of a model take in memory? Four bytes each; not set: 1200.
                          The bundled model is always allowed. What is no number allows no other one.

Importing this package is quick; torch and transformers are imported when the first model is loaded.
"""

import importlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.models.catalogue import CATALOGUE, Entry, Family, File, Kind, Package, Task
from core.models.problems import ModelError, ModelProblem

if TYPE_CHECKING:
    from core.models.facts import ModelFacts, Norm, Positions, TextFacts
    from core.models.hub import Hub
    from core.models.model import AnyModel, TextModel, TranslationModel

__all__ = [
    "CATALOGUE",
    "AnyModel",
    "Entry",
    "Family",
    "File",
    "Hub",
    "Kind",
    "ModelError",
    "ModelFacts",
    "ModelProblem",
    "Norm",
    "Package",
    "Positions",
    "Task",
    "TextFacts",
    "TextModel",
    "TranslationModel",
    "allowed",
    "download",
    "downloads_allowed",
    "folders_allowed",
    "is_available",
    "largest_allowed",
    "load",
    "load_any",
]

MEGABYTE = 1_000_000
BYTES_PER_WEIGHT = 4  # float32
LARGEST = 1200  # megabytes

_LATE = {
    "AnyModel": "core.models.model",
    "TextFacts": "core.models.facts",
    "TextModel": "core.models.model",
    "Hub": "core.models.hub",
    "ModelFacts": "core.models.facts",
    "Norm": "core.models.facts",
    "Positions": "core.models.facts",
    "TranslationModel": "core.models.model",
}


def __getattr__(name: str) -> object:
    """Import what needs torch only when somebody asks for it."""
    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load(name: str, *, hub: "Hub | None" = None) -> "TranslationModel":
    """Load a translation model of the catalogue, or a Marian or T5 model from a folder given by its full path.

    Raises: ModelError, as `load_any` does, and if the model does not translate.
    """
    from core.models.model import TranslationModel

    model = load_any(name, hub=hub)
    if not isinstance(model, TranslationModel):
        raise ModelError(
            ModelProblem.UNSUPPORTED, f"A {model.facts.family} model does not translate: Marian and T5 do."
        )
    return model


def load_any(name: str, *, hub: "Hub | None" = None) -> "AnyModel":
    """Load any model of the catalogue, or of a known family from a folder given by its full path.

    Takes from tenths of a second to a few seconds: keep what it returns. Never touches the network.
    hub: where the cache of downloads is; None = where the hub's own tools have it.
    Raises: ModelError.
    """
    from core.models import checksums, folder

    entry = CATALOGUE.get(name)
    largest = largest_allowed() // BYTES_PER_WEIGHT
    if entry is None:
        if not folders_allowed():
            raise ModelError(ModelProblem.FOLDERS_FORBIDDEN, "This server opens no model folders.")
        return folder.load_folder(name, largest=largest)
    if not allowed(name):
        raise ModelError(ModelProblem.TOO_LARGE, f"This server loads no model as large as {name}.")
    if entry.repository is None:
        files = checksums.checked_files(entry.folder, folder.REQUIRED)
        return folder.load_files(name, files, entry.tasks, largest=LARGEST * MEGABYTE // BYTES_PER_WEIGHT)
    from core.models import hub as hubs
    from core.models import package

    files = package.checked_files(entry) or hubs.checked_files(entry, hub or hubs.Hub())
    return folder.load_files(name, files, entry.tasks, largest=largest)


def is_available(name: str, *, hub: "Hub | None" = None) -> bool:
    """Can `load_any` find the model's files: bundled, in a package, in the hub's cache, or in a folder?"""
    entry = CATALOGUE.get(name)
    if entry is None:
        return folders_allowed() and os.path.isabs(name) and os.path.isdir(name)
    if entry.repository is None:
        return entry.folder.is_dir()
    from core.models import hub as hubs
    from core.models import package

    return package.packaged_files(entry) is not None or hubs.cached_files(entry, hub or hubs.Hub()) is not None


def download(
    name: str,
    *,
    on_progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
    hub: "Hub | None" = None,
) -> None:
    """Fetch a hub model of the catalogue into the hub's cache; return when it is there.

    on_progress(bytes so far, bytes in all) is called often, from the calling thread; `cancelled` is asked as often, and
    after ten seconds without any answer. What has arrived when a download ends early is kept, and the next one goes on
    from there.
    Raises: ModelError.
    """
    entry = CATALOGUE.get(name)
    if entry is None or entry.repository is None:
        raise ModelError(ModelProblem.UNKNOWN_NAME, f"{name!r} is no model that can be downloaded.")
    if not downloads_allowed():
        raise ModelError(ModelProblem.DOWNLOADS_FORBIDDEN, "This server downloads no models.")
    if not allowed(name):
        raise ModelError(ModelProblem.TOO_LARGE, f"This server loads no model as large as {name}.")
    from core.models import hub as hubs

    hubs.download(entry, hub or hubs.Hub(), on_progress=on_progress, cancelled=cancelled)


def folders_allowed() -> bool:
    """Does the server's owner let models be loaded from folders?"""
    return _allowed("ATLAS_MODEL_FOLDERS")


def downloads_allowed() -> bool:
    """Does the server's owner let models be downloaded?"""
    return _allowed("ATLAS_DOWNLOADS")


def largest_allowed() -> int:
    """How many bytes the server's owner lets the weights of a model take in memory."""
    text = os.environ.get("ATLAS_LARGEST_MODEL", "").strip() or str(LARGEST)
    return min(int(text), LARGEST) * MEGABYTE if text.isascii() and text.isdigit() else 0


def allowed(name: str) -> bool:
    """Does the server's owner let this model of the catalogue be loaded?"""
    entry = CATALOGUE[name]
    return entry.repository is None or entry.size_bytes <= largest_allowed()


def _allowed(variable: str) -> bool:
    return os.environ.get(variable, "allow").strip().lower() in ("", "allow")
