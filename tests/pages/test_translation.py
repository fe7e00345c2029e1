"""The translation page: every control, in every language, on the bundled model."""

import random
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.models import TranslationModel, catalogue
from core.quality import read_pairs
from pages.components import shelf, translator
from pages.components.translator import Method
from tests.pages import apps
from tests.pages.apps import changed, charts, checked, take_preset, words
from tests.tiny import save_model, tiny_t5, tiny_tokenizer

LANGUAGES = ("en", "zh_CN")
VIEWS = ("steps", "beams", "encoder", "quality")
CAT = "J'ai vu un chat noir dans le jardin."


opened = partial(apps.opened, "translation")


@pytest.fixture
def damaged_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The bundled model with one bit turned over."""
    shutil.copytree(catalogue.ASSETS / translator.BUNDLED, tmp_path / translator.BUNDLED)
    weights = tmp_path / translator.BUNDLED / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    monkeypatch.setattr(catalogue, "ASSETS", tmp_path)
    shelf.forget()
    yield
    shelf.forget()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("method", ["greedy", "beam", "sampled"])
def test_opens(language: str, view: str, method: str) -> None:
    title = {"en": "Translation", "zh_CN": "翻译"}[language]
    assert f"<h1>{title}</h1>" in words(opened(language=language, view=view, method=method))


def test_the_sentence_that_everybody_knows() -> None:
    app = opened()
    assert "I love you." in words(app)
    assert charts(app)["next_candidates"]["token"].iloc[0] == "I"


@pytest.mark.parametrize(
    ("control", "values"),
    [
        ("step", ("1", "5")),
        ("layer", ("mean", "1", "3")),
        ("head", ("mean", "1", "4")),
        ("sentence", (CAT, "Où est la gare ?")),
        ("forced", ("", "200")),
    ],
)
def test_every_control_of_a_greedy_walk_changes_a_plot(control: str, values: tuple[str, ...]) -> None:
    shown = [charts(opened(**({"sentence": CAT} | {control: value}))) for value in values]
    assert all(changed(shown[0], other) for other in shown[1:])


@pytest.mark.parametrize(
    ("control", "values"),
    [("beams", ("2", "8")), ("penalty", ("-1.0", "2.0"))],
)
def test_every_control_of_a_beam_search_changes_the_tree(control: str, values: tuple[str, str]) -> None:
    address = {"sentence": CAT, "method": "beam", "view": "beams"}
    one, other = (charts(opened(**(address | {control: value})))["nodes"] for value in values)
    assert not one.equals(other)


def test_stopping_early_considers_no_more_than_searching_on() -> None:
    address = {"sentence": CAT, "method": "beam", "view": "beams", "beams": "8"}
    searched, stopped = (charts(opened(**address, early=early))["nodes"] for early in ("false", "true"))
    assert len(stopped) <= len(searched)


@pytest.mark.parametrize(
    ("control", "values"),
    [("temperature", ("0.1", "2.0")), ("seed", ("0", "99")), ("top_k", ("1", "50")), ("top_p", ("0.05", "1.0"))],
)
def test_every_control_of_sampling_changes_the_sentence(control: str, values: tuple[str, str]) -> None:
    address = {"sentence": CAT, "method": "sampled", "temperature": "2.0", "seed": "7"}
    one, other = (charts(opened(**(address | {control: value}))) for value in values)
    assert changed(one, other)


def test_moving_the_step_translates_nothing_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(sentence=CAT)
    monkeypatch.setattr("core.decoding.translate", forbidden)
    monkeypatch.setattr("pages.components.translator.translate", forbidden)
    before = charts(app)
    app.slider(key="translation_step").set_value(4)
    assert changed(before, charts(checked(app.run())))


def forbidden(*args: Any, **settings: Any) -> None:
    raise AssertionError("translated again")


def test_sampling_shows_what_it_does_to_the_probabilities() -> None:
    cold, hot = (
        charts(opened(method="sampled", temperature=temperature, sentence="Il fait chaud."))["next_candidates"]
        for temperature in ("0.1", "2.0")
    )
    assert cold["probability"][:9].equals(hot["probability"][:9])  # the last line is the chosen token's
    assert cold["drawn"].max() > cold["probability"].max() > hot["drawn"].max()


def test_the_preset_shows_a_word_that_the_model_is_unsure_of() -> None:
    candidates = charts(take_preset(opened(), 0))["next_candidates"]
    assert candidates[candidates["chosen"] == 1]["probability"].item() < 0.65


def test_a_clicked_candidate_is_said_and_can_be_taken_back() -> None:
    app = opened()
    second = int(charts(app)["next_candidates"]["token_id"].iloc[1])
    app.session_state["translation_forced"] = str(second)
    app = checked(app.run())
    assert charts(app)["next_candidates"]["chosen"].tolist()[:2] == [0, 1]
    back = next(button for button in app.button if button.icon == ":material/undo:")
    back.click()
    assert charts(checked(app.run()))["next_candidates"]["chosen"].iloc[0] == 1


def test_another_sentence_forgets_what_was_prescribed() -> None:
    app = opened(forced="200")
    app.text_input(key="translation_sentence").set_value(CAT)
    app = checked(app.run())
    assert app.session_state["translation_forced"] == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "😀😀😀",
        "مرحبا بالعالم",
        "<script>alert(1)</script> <b>gras</b>",
        "猫",
        "chat " * 190,
        "\u202eenvers",
        "▁ </s> <pad>",
        "'",
    ],
)
def test_odd_sentences_get_an_answer(sentence: str) -> None:
    app = opened(sentence=sentence)
    assert "<script>" not in words(app)
    assert "<b>gras" not in words(app)
    assert charts(app)


@pytest.mark.parametrize("sentence", ["", "   ", "\u200b"])
def test_nothing_to_translate(sentence: str) -> None:
    app = opened(sentence=sentence)
    assert not charts(app)


def test_a_long_sentence_is_cut_and_the_page_says_so() -> None:
    app = opened(sentence="le chat et " * 80)
    assert "cut after 64 tokens" in words(app)


@pytest.mark.parametrize(
    "address",
    [
        {"step": "99"},
        {"step": "-3"},
        {"beams": "100", "method": "beam"},
        {"model": "../../etc/passwd"},
        {"view": "<b>"},
        {"layer": "7"},
        {"forced": "1;2"},
        {"temperature": "nan", "method": "sampled"},
        {"top_p": "0", "method": "sampled"},
        {"penalty": "1e99", "method": "beam"},
    ],
)
def test_an_impossible_address_falls_back_and_says_so(address: dict[str, str]) -> None:
    app = opened(**address)
    assert "atlas-refused" in words(app)
    assert "<b>”" not in words(app)


@pytest.mark.parametrize("forced", ["99999", "7999", "1", "0", "-".join(["5"] * 60)])
def test_any_prescribed_tokens_get_an_answer(forced: str) -> None:
    opened(forced=forced)


def test_a_folder_that_is_none_is_explained() -> None:
    app = opened(model="folder")
    app.text_input(key="model.folder").set_value("/no/such/folder")
    app.run()
    assert not app.exception
    assert len(app.error) == 1
    assert "I love you." in words(app)


def test_nobody_learns_which_folders_exist(tmp_path: Path) -> None:
    said = set()
    for folder in (tmp_path, tmp_path / "nothing"):
        app = opened(model="folder")
        app.text_input(key="model.folder").set_value(str(folder)).run()
        said.add(app.error[0].value)
    assert len(said) == 1


def test_folders_can_be_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATLAS_MODEL_FOLDERS", "forbid")
    app = opened(model="folder")
    assert "atlas-refused" in words(app)
    assert not [box for box in app.text_input if box.key == "model.folder"]


@pytest.mark.usefixtures("damaged_model")
def test_a_damaged_model_is_explained() -> None:
    app = apps.begun("translation")
    assert not app.exception
    assert len(app.error) == 1
    assert len(app.info) == 1


def test_what_is_not_drawn_comes_back_as_it_was() -> None:
    app = opened(sentence=CAT, method="beam", beams="7", step="4")
    for view in ("quality", "steps"):
        app.session_state["translation_view"] = view
        app = checked(app.run())
    assert app.text_input(key="translation_sentence").value == CAT
    assert app.slider(key="translation_beams").value == 7


def test_the_quality_view_shows_only_what_it_uses() -> None:
    app = opened(view="quality")
    assert [box.key for box in app.slider] == ["translation_penalty"]
    assert not app.text_input


def test_long_sentences_always_fit() -> None:
    model = load()
    words_of_the_pairs = [word for pair in read_pairs() for word in pair.source.split()]
    draw = random.Random(0)
    for _ in range(300):
        text = " ".join(draw.choices(words_of_the_pairs, k=draw.randint(1, 90)))
        cut, was_cut = translator.shorten(model, model.name, text)
        assert len(model.tokenizer(cut).input_ids) <= translator.LONGEST_SOURCE
        assert was_cut == (cut != text)


@pytest.mark.parametrize("tasks", [None, {"translation_en_to_es": {"prefix": "translate English to Spanish: "}}])
def test_a_t5_in_a_folder_translates_with_whatever_tasks_it_has(
    tmp_path: Path, tasks: dict[str, dict[str, str]] | None
) -> None:
    network = tiny_t5()
    network.config.task_specific_params = tasks
    save_model(network, tiny_tokenizer(), tmp_path)
    app = opened(model="folder", sentence="the cat sleeps")
    app.text_input(key="model.folder").set_value(str(tmp_path))
    app = checked(app.run())
    assert "bundled model" not in " ".join(caption.value for caption in app.caption)
    assert len(charts(app)["next_candidates"]) == 10
    for view in VIEWS:
        app.session_state["translation_view"] = view
        checked(app.run())


def test_another_model_forgets_what_was_prescribed(tmp_path: Path) -> None:
    save_model(tiny_t5(), tiny_tokenizer(), tmp_path)
    app = opened(forced="200")
    app.session_state["translation_model"] = "folder"
    app = checked(app.run())
    app.text_input(key="model.folder").set_value(str(tmp_path))
    app = checked(app.run())
    assert app.session_state["translation_forced"] == ""
    assert not [button for button in app.button if button.icon == ":material/undo:"]


def test_only_the_chosen_step_is_put_down_to_the_user() -> None:
    ids = [str(i) for i in translator.trace(load(), translator.BUNDLED, CAT, Method(), ()).token_ids[:3]]
    forced = "-".join([*ids[:2], "200"])
    assert "You chose" not in words(opened(sentence=CAT, forced=forced, step="1"))
    assert "You chose" in words(opened(sentence=CAT, forced=forced, step="3"))


def load() -> TranslationModel:
    return translator.load(translator.BUNDLED)
