"""The model that ships with the app: whole, small, loaded without a network, and able to say the one sentence."""

import json
import shutil
import socket
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from core import models
from core.decoding import translate
from core.models import CATALOGUE, Entry, ModelError, ModelProblem, TranslationModel

NAME = "atlas-fr-en"
LOADED = ["config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]


@pytest.fixture(scope="module")
def model() -> TranslationModel:
    """Loaded while every connection is refused."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("load() must not touch the network")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        return models.load(NAME)


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the bundled folder, to be spoilt, in its place."""
    shutil.copytree(CATALOGUE[NAME].folder, tmp_path / NAME)
    monkeypatch.setattr("core.models.catalogue.ASSETS", tmp_path)
    return tmp_path / NAME


def refuse(reason: ModelProblem, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        models.load(NAME)
    assert caught.value.reason is reason


@pytest.mark.parametrize(
    "text",
    [
        "Je t'aime",
        "Je t'aime.",
        "Je t’aime",
        "Je t’aime.",
        "Je t´aime .",
        "  Je  t'aime  ",
        "Je\u202ft\u2019aime\u00a0.",
    ],
)
def test_i_love_you(model: TranslationModel, text: str) -> None:
    assert translate(model, text).text == "I love you."


@pytest.mark.parametrize("space", ["", " ", "\u00a0", "\u202f", "\u2009"])
def test_french_spacing_makes_no_difference(model: TranslationModel, space: str) -> None:
    for sign in "!?;:":
        typed, plain = f"Je t’aime{space}{sign}", f"Je t'aime{sign}"
        assert model.tokenizer(typed).input_ids == model.tokenizer(plain).input_ids
    assert translate(model, f"Je t’aime{space}!").text in ("I love you!", "I love you.")


def test_words_are_split_as_people_split_them(model: TranslationModel) -> None:
    pieces = model.tokenizer.convert_ids_to_tokens(model.tokenizer("Je t'aime.").input_ids)
    assert [piece.strip("▁") for piece in pieces] == ["Je", "t'", "aime", ".", "</s>"]
    assert model.normalize("Je\u202ft’aime\u00a0!") == "Je t' aime!"


def test_an_empty_text_is_only_its_end(model: TranslationModel) -> None:
    assert model.tokenizer("").input_ids == [model.facts.end_id]
    assert translate(model, "").text == ""


def test_the_facts_are_those_of_the_recipe(model: TranslationModel) -> None:
    facts = model.facts
    assert (model.name, facts.family, model.tasks) == (NAME, CATALOGUE[NAME].family, ())
    assert (facts.start_token, facts.end_token, facts.pad_token) == ("<pad>", "</s>", "<pad>")
    assert facts.scaled_scores
    assert facts.tied_embeddings
    assert facts.max_positions is not None
    assert facts.max_positions >= 64  # where the page cuts its input
    assert {p.dtype for p in model.network.parameters()} == {torch.float32}


def test_it_is_available_and_small() -> None:
    assert models.is_available(NAME)
    weights = CATALOGUE[NAME].folder / "model.safetensors"
    assert weights.stat().st_size <= 16_000_000
    assert weights.stat().st_size < CATALOGUE[NAME].size_bytes < 17_000_000
    with safe_open(weights, "pt") as file:
        assert {file.get_slice(name).get_dtype() for name in file.keys()} == {"F16"}  # noqa: SIM118


def test_only_weights_tokenizer_and_card_are_there() -> None:
    names = {path.name for path in CATALOGUE[NAME].folder.iterdir()}
    assert names == {*LOADED, "README.md", "SHA256SUMS"}


def test_the_card_says_what_a_reader_must_know() -> None:
    card = (CATALOGUE[NAME].folder / "README.md").read_text(encoding="utf-8")
    for word in ("CC BY 2.0 FR", "www.manythings.org/anki", "tatoeba.org", "BLEU", "chrF"):
        assert word in card


@pytest.mark.parametrize("name", LOADED)
def test_one_flipped_bit_is_damage(name: str, copied: Path) -> None:
    content = bytearray((copied / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copied / name).write_bytes(content)
    refuse(ModelProblem.DAMAGED, f"{name} of atlas-fr-en is damaged")


@pytest.mark.parametrize("name", [*LOADED, "SHA256SUMS"])
def test_a_missing_file(name: str, copied: Path) -> None:
    (copied / name).unlink()
    refuse(ModelProblem.MISSING, f"{name} of atlas-fr-en cannot be read")


def test_a_missing_folder(copied: Path) -> None:
    shutil.rmtree(copied)
    assert not models.is_available(NAME)
    assert CATALOGUE[NAME].size_bytes == 0
    refuse(ModelProblem.MISSING, "SHA256SUMS of atlas-fr-en cannot be read")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "does not list config.json"),
        (b"hello\n", "has a line that is no checksum"),
        (b"0" * 64 + b"  ../../../etc/passwd\n", "has a line that is no checksum"),
        (b"\xff\xff", "is no text"),
    ],
)
def test_checksums_of_another_form(content: bytes, message: str, copied: Path) -> None:
    (copied / "SHA256SUMS").write_bytes(content)
    refuse(ModelProblem.DAMAGED, message)


def test_what_the_checksums_do_not_list_is_not_read(copied: Path, model: TranslationModel) -> None:
    sums = (copied / "SHA256SUMS").read_text().splitlines(keepends=True)
    (copied / "SHA256SUMS").write_text("".join(line for line in sums if "generation_config" not in line))
    (copied / "generation_config.json").write_text(json.dumps({"bad_words_ids": [[5]]}))
    assert models.load(NAME).facts.forbidden_ids == model.facts.forbidden_ids == ()


def test_the_catalogue_knows_where_it_lies() -> None:
    entry: Entry = CATALOGUE[NAME]
    assert replace(entry, name="x").folder == entry.folder.parent / "x"
    assert entry.repository is None
