"""The translation models: which there are, how one is fetched, and how one is loaded.

    catalogue   names, exact versions, sizes
    hub         download into the hub's cache
    checksums   is a file the one that was meant?
    settings    config.json → checked configuration
    weights     model.safetensors → network
    tokens      tokenizer.json → tokenizer
    folder      these three → model
    facts       what a network is, read from the network
    problems    what can go wrong

Two environment variables, read at every call, let the owner of a server decide what visitors may do. Each is `allow`
(which is what counts when it is not set) or `forbid`; any other word forbids as well.

    ATLAS_MODEL_FOLDERS   may a model be loaded from any folder that the server can read?
    ATLAS_DOWNLOADS       may a model be fetched from the hub?

Importing this package is quick; torch and transformers are imported when the first model is loaded.
"""

import importlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.models.catalogue import CATALOGUE, Entry, Family, File, Task
from core.models.problems import ModelError, ModelProblem

if TYPE_CHECKING:
    from core.models.facts import ModelFacts, Norm, Positions
    from core.models.hub import Hub
    from core.models.model import TranslationModel

__all__ = [
    "CATALOGUE",
    "Entry",
    "Family",
    "File",
    "Hub",
    "ModelError",
    "ModelFacts",
    "ModelProblem",
    "Norm",
    "Positions",
    "Task",
    "TranslationModel",
    "download",
    "downloads_allowed",
    "folders_allowed",
    "is_available",
    "load",
]

_LATE = {
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
    """Load a model of the catalogue, or a Marian or T5 model from a folder given by its full path.

    Takes from tenths of a second to a few seconds: keep what it returns. Never touches the network.
    hub: where the cache of downloads is; None = where the hub's own tools have it.
    Raises: ModelError.
    """
    from core.models import checksums, folder

    entry = CATALOGUE.get(name)
    if entry is None:
        if not folders_allowed():
            raise ModelError(ModelProblem.FOLDERS_FORBIDDEN, "This server opens no model folders.")
        return folder.load_folder(name)
    if entry.repository is None:
        files = checksums.checked_files(entry.folder, folder.REQUIRED)
    else:
        from core.models import hub as hubs

        files = hubs.checked_files(entry, hub or hubs.Hub())
    return folder.load_files(name, files, entry.tasks)


def is_available(name: str, *, hub: "Hub | None" = None) -> bool:
    """Can `load` find the model's files: bundled, in the hub's cache at the pinned revision, or in a folder?"""
    entry = CATALOGUE.get(name)
    if entry is None:
        return folders_allowed() and os.path.isabs(name) and os.path.isdir(name)
    if entry.repository is None:
        return entry.folder.is_dir()
    from core.models import hub as hubs

    return hubs.cached_files(entry, hub or hubs.Hub()) is not None


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
    from core.models import hub as hubs

    hubs.download(entry, hub or hubs.Hub(), on_progress=on_progress, cancelled=cancelled)


def folders_allowed() -> bool:
    """Does the server's owner let models be loaded from folders?"""
    return _allowed("ATLAS_MODEL_FOLDERS")


def downloads_allowed() -> bool:
    """Does the server's owner let models be downloaded?"""
    return _allowed("ATLAS_DOWNLOADS")


def _allowed(variable: str) -> bool:
    return os.environ.get(variable, "allow").strip().lower() in ("", "allow")
