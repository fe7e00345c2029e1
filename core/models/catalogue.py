"""The models that this app knows by name, and the exact files that each is made of.

Quick to import: pages list models and their sizes before torch is there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

ASSETS = Path(__file__).resolve().parent.parent / "assets"


class Family(StrEnum):
    """The architectures whose insides the app can show; the word is `model_type` in a model's config.json."""

    MARIAN = "marian"
    T5 = "t5"


@dataclass(frozen=True, slots=True)
class Task:
    """Something that a T5 model does when its input starts with the prefix."""

    name: str  # source and target language: en-de
    prefix: str  # to be put before the text, as it stands


@dataclass(frozen=True, slots=True)
class File:
    """One file of a hub repository at the pinned revision."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A model of the catalogue; bundled where it has no repository."""

    name: str
    family: Family
    licence: str
    repository: str | None = None  # on the hub: owner/name
    revision: str | None = None  # a commit, so that nobody can change what we download
    files: tuple[File, ...] = ()  # of a hub model; a bundled folder carries its own checksums
    tasks: tuple[Task, ...] = ()

    @property
    def folder(self) -> Path:
        """Where a bundled model lies."""
        return ASSETS / self.name

    @property
    def size_bytes(self) -> int:
        """What a download brings, or what a bundled model takes on disk."""
        if self.repository is not None:
            return sum(file.size_bytes for file in self.files)
        return sum(path.stat().st_size for path in self.folder.glob("*"))


# Sizes and checksums of t5-small stand in a published manifest of exactly this revision: dimer-base-manifest.json in
# github.com/kurtvalcorza/t5-small-text2text-pipeline. Other repositories state the same checksums of config.json and
# tokenizer.json, and the same size of the weights; for the checksum of the weights it is our only source.
CATALOGUE: Mapping[str, Entry] = MappingProxyType(
    {
        "atlas-fr-en": Entry(
            name="atlas-fr-en",
            family=Family.MARIAN,
            licence="MIT; trained on sentences of Tatoeba, CC BY 2.0 FR",
        ),
        "t5-small": Entry(
            name="t5-small",
            family=Family.T5,
            licence="Apache-2.0",
            repository="google-t5/t5-small",
            revision="df1b051c49625cf57a3d0d8d3863ed4d13564fe4",
            files=(
                File("config.json", 1_206, "530e25060e3a8d5f7b0fcf53bfea9f3601165161f3b1914676e98d97cf07bcf1"),
                File("tokenizer.json", 1_389_353, "d2acde0d8d71dd30a711834b07781b9c89feaac33fd332f60507699282740066"),
                File(
                    "model.safetensors",
                    242_043_056,
                    "bd944e5f1b3ad9b70dd9d00010a517059e19265671076b8b0a4a58d9491842bc",
                ),
            ),
            tasks=(
                Task("en-de", "translate English to German: "),
                Task("en-fr", "translate English to French: "),
                Task("en-ro", "translate English to Romanian: "),
            ),
        ),
    }
)
