"""The models of a server: what is offered, what is kept, and what is said when there is none."""

import threading
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import models
from core.models import ModelError, ModelProblem
from pages.components import shelf
from tests import tiny, tiny_text
from tests.pages.apps import Start, shown


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str]:
    """An encoder and a decoder."""
    tiny.save_model(tiny_text.bert(), tiny_text.word_pieces(), tmp_path / "bert")
    tiny.save_model(tiny_text.gpt2(), tiny_text.byte_pairs(), tmp_path / "gpt2")
    return str(tmp_path / "bert"), str(tmp_path / "gpt2")


def page() -> None:
    import streamlit as st

    from pages.components import shelf
    from pages.components.controls import Panel

    panel = Panel("page")
    with panel:
        model = shelf.choose(panel, shelf.offered(), default=shelf.MINILM, help="")
    st.json({"model": model and model.name})


def lists() -> None:
    import streamlit as st

    from core.models import Kind, ModelProblem
    from pages.components import shelf

    sentences = [shelf.sentence(reason, of_a_folder=folder) for reason in ModelProblem for folder in (False, True)]
    st.json({"all": list(shelf.offered()), "write": list(shelf.offered(frozenset({Kind.DECODER}))), "said": sentences})


def test_one_model_beyond_the_bundled_ones_is_kept(folders: tuple[str, str]) -> None:
    room = shelf.Place()
    assert room.name is None
    first = room.get(folders[0])
    assert room.get(folders[0]) is first
    assert room.get(folders[1]).facts.family == "gpt2"
    assert room.name == folders[1]
    assert room.get(folders[0]) is not first


def test_the_place_is_empty_while_another_model_is_loaded(
    folders: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    room = shelf.Place()
    room.get(folders[0])
    real = models.load_any

    def look(name: str) -> Any:
        assert room.name is None
        return real(name)

    monkeypatch.setattr(models, "load_any", look)
    room.get(folders[1])
    with pytest.raises(ModelError):
        room.get("/no/such/folder")
    assert room.name is None


def test_many_visitors_get_one_copy(folders: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    room, loads, real = shelf.Place(), [], models.load_any

    def count(name: str) -> Any:
        loads.append(name)
        return real(name)

    monkeypatch.setattr(models, "load_any", count)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(room.get(folders[0]))) for _ in range(7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [folders[0]]
    assert len({id(model) for model in found}) == 1


def test_the_bundled_ones_stay_when_another_one_comes(folders: tuple[str, str]) -> None:
    shelf.forget()
    bundled = shelf.load(shelf.MINILM), shelf.load(shelf.ATLAS)
    shelf.load(folders[0])
    assert (shelf.load(shelf.MINILM), shelf.load(shelf.ATLAS)) == bundled
    assert shelf.place().name == folders[0]
    shelf.forget()


def test_what_is_offered_depends_on_what_the_server_allows(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = [*models.CATALOGUE, shelf.FOLDER]
    assert shown(start(lists))["all"] == everything
    assert shown(start(lists))["write"] == ["gpt2", "distilgpt2", shelf.FOLDER]
    monkeypatch.setenv("ATLAS_LARGEST_MODEL", "300")
    small = ["atlas-fr-en", "minilm", "t5-small", "distilbert-base-uncased"]
    assert shown(start(lists))["all"] == [*small, shelf.FOLDER]
    monkeypatch.setenv("ATLAS_MODEL_FOLDERS", "forbid")
    monkeypatch.setenv("ATLAS_DOWNLOADS", "forbid")
    assert shown(start(lists))["all"] == ["atlas-fr-en", "minilm"]
    monkeypatch.setenv("ATLAS_LARGEST_MODEL", "0")
    assert shown(start(lists))["all"] == ["atlas-fr-en"]


def test_a_model_that_is_not_here_is_offered_with_its_size(start: Start) -> None:
    at = start(page, {"page_model": "distilgpt2"})
    assert [button.label for button in at.button if "Fetch" in button.label] == ["Fetch 354 MB"]
    assert at.json[0].value == '{"model": "minilm"}'


def test_without_its_package_minilm_can_be_fetched(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.forget()
    monkeypatch.setattr("core.models.package.packaged_files", lambda _entry: None)
    at = start(page)
    assert [button.label for button in at.button if "Fetch" in button.label] == ["Fetch 91 MB"]
    assert at.json[0].value == '{"model": null}'


@pytest.mark.parametrize("name", ["/no/such/folder", "gpt2", "../x", "a\0b", "x" * 400])
def test_a_folder_that_is_none(name: str, start: Start) -> None:
    at = start(page, {"page_model": "folder"})
    at.text_input(key="model.folder").set_value(name)
    at.run()
    assert [error.value[:38] for error in at.error] == ["There is no folder of this name with a"]
    assert at.json[0].value == '{"model": "minilm"}'


def test_any_family_in_a_folder(folders: tuple[str, str], start: Start) -> None:
    for folder in folders:
        at = start(page, {"page_model": "folder"})
        at.text_input(key="model.folder").set_value(folder)
        at.run()
        assert not at.error
        assert folder in at.json[0].value
    shelf.forget()


def test_an_encoder_does_not_translate(folders: tuple[str, str]) -> None:
    app = AppTest.from_string("from pages import translation; translation.render()", default_timeout=120)
    app.query_params["translation_model"] = "folder"
    app.run()
    app.text_input(key="model.folder").set_value(folders[0])
    app.run()
    assert not app.exception
    assert "Marian, T5" in app.error[0].value
    shelf.forget()


def test_every_problem_has_a_sentence(start: Start) -> None:
    said = shown(start(lists))["said"]
    assert len(said) == 2 * len(ModelProblem)
    assert all(sentence.endswith(".") for sentence in said)


def test_where_a_program_finds_a_model(folders: tuple[str, str]) -> None:
    assert shelf.where(shelf.load(shelf.ATLAS)) == ("core/assets/atlas-fr-en", None)
    assert shelf.where(shelf.load(shelf.MINILM))[0] == "sentence-transformers/all-MiniLM-L6-v2"
    assert shelf.where(models.load_any(folders[0])) == (folders[0], None)
