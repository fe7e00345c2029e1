"""Is a file, byte for byte, the one that was meant?"""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from core.models.problems import ModelError, ModelProblem

SUMS = "SHA256SUMS"


def sha256(path: Path) -> str:
    """The checksum of a file's content, as sha256sum prints it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checked_files(folder: Path, required: Iterable[str]) -> dict[str, Path]:
    """The files that the folder's SHA256SUMS lists, each with the right content.

    Raises: ModelError if one of them, or of `required`, is missing, unlisted, or has another content.
    """
    listed = _read_sums(folder / SUMS)
    for name in required:
        if name not in listed:
            raise ModelError(ModelProblem.DAMAGED, f"{SUMS} of {folder.name} does not list {name}.")
    for name, expected in listed.items():
        try:
            found = sha256(folder / name)
        except OSError as error:
            raise ModelError(
                ModelProblem.MISSING, f"{name} of {folder.name} cannot be read: {error.strerror}."
            ) from error
        if found != expected:
            raise ModelError(
                ModelProblem.DAMAGED, f"{name} of {folder.name} is damaged: its checksum is not the one in {SUMS}."
            )
    return {name: folder / name for name in listed}


def _read_sums(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ModelError(ModelProblem.MISSING, f"{SUMS} of {path.parent.name} cannot be read.") from error
    except UnicodeDecodeError as error:
        raise ModelError(ModelProblem.DAMAGED, f"{SUMS} of {path.parent.name} is no text.") from error
    sums = {}
    for line in lines:
        match = re.fullmatch(r"([0-9a-f]{64}) [ *]([\w.-]+)", line)
        if match is None:
            raise ModelError(ModelProblem.DAMAGED, f"{SUMS} of {path.parent.name} has a line that is no checksum.")
        sums[match[2]] = match[1]
    return sums
