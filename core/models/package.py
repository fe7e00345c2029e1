"""Find a model's files in an installed Python package: as data, without importing a line of its code."""

from importlib import metadata
from pathlib import Path

from core.models.catalogue import Entry
from core.models.checksums import sha256
from core.models.problems import ModelError, ModelProblem


def packaged_files(entry: Entry) -> dict[str, Path] | None:
    """The model's files in its package, by name; None unless it is installed with all of them in their full size."""
    if entry.package is None:
        return None
    try:
        distribution = metadata.distribution(entry.package.distribution)
    except metadata.PackageNotFoundError:
        return None
    files = {}
    for file in entry.files:
        path = Path(str(distribution.locate_file(f"{entry.package.folder}/{file.name}")))
        if not path.is_file() or path.stat().st_size != file.size_bytes:
            return None
        files[file.name] = path
    return files


def checked_files(entry: Entry) -> dict[str, Path] | None:
    """The same, each with the content that the catalogue states.

    Raises: ModelError if a file has another content.
    """
    files = packaged_files(entry)
    if files is None or entry.package is None:
        return None
    for file in entry.files:
        if sha256(files[file.name]) != file.sha256:
            raise ModelError(
                ModelProblem.DAMAGED,
                f"{file.name} of {entry.name} is damaged: install {entry.package.distribution} again.",
            )
    return files
