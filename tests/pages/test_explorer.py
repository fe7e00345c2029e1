"""The attention explorer: every view with every kind of model, every control, odd texts, and what is taken along."""

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from core import models
from core.explorer import read
from core.explorer_maps import Together
from pages.components import explorer_grid, shelf
from pages.components.explorer_scene import Scene, Shown
from tests import tiny, tiny_text
from tests.pages.apps import take_preset

LANGUAGES = {"en": "Attention explorer", "zh_CN": "注意力浏览器"}
VIEWS = ("matrix", "lines", "grid", "text", "find", "senses", "hide")
TIRED = "The animal didn't cross the street because it was too tired."
LONG = "The cat sat on the mat and the dog lay by the door. " * 15
APP = "from pages import explorer; explorer.render()"


def opened(*, language: str = "en", **address: str) -> AppTest:
    app = AppTest.from_string(APP, default_timeout=120)
    app.context["locale"] = language.replace("_", "-")
    for name, value in address.items():
        app.query_params[f"explorer_{name}"] = value
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    assert not app.exception, app.exception[0].message
    assert not app.error
    return app


def charts(app: AppTest) -> dict[str, pd.DataFrame]:
    """Every dataset of every chart, by name."""
    return {
        dataset.name: pa.ipc.open_stream(io.BytesIO(dataset.data.data)).read_pandas()
        for chart in app.get("vega_lite_chart")
        for dataset in chart.proto.datasets
    }


def words(app: AppTest) -> str:
    return " ".join(element.proto.body for element in app.get("html"))


def different(one: dict[str, pd.DataFrame], other: dict[str, pd.DataFrame]) -> bool:
    return any(name not in other or not one[name].equals(other[name]) for name in one)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("model", ["minilm", "atlas-fr-en"])
def test_opens(language: str, view: str, model: str) -> None:
    app = opened(language=language, view=view, model=model)
    assert f"<h1>{LANGUAGES[language]}</h1>" in words(app)
    assert charts(app)
    assert not app.info


def test_the_heatmap_of_the_source_texts() -> None:
    """Layer 6, head 1, both counted from 1, of "The cat sat on the mat"."""
    cells = charts(opened())["map_cells"]
    reading = read(models.load_any("minilm"), "The cat sat on the mat")
    assert reading is not None
    np.testing.assert_array_equal(cells["value"], reading.maps[0].weights[5, 0].numpy().ravel())


@pytest.mark.parametrize(
    ("view", "control", "values"),
    [
        *((view, "layer", ("1", "6")) for view in ("matrix", "lines", "grid", "text", "senses")),
        *((view, "head", ("1", "12")) for view in ("matrix", "lines", "grid", "text", "senses")),
        *((view, "token", ("1", "16")) for view in ("matrix", "lines", "text", "find", "hide")),
        *((view, "how", ("head", "mean", "maximum", "rollout")) for view in ("matrix", "lines", "text", "senses")),
        ("find", "key", ("1", "16")),
        ("find", "place", ("1", "24")),
        ("senses", "word_en", ("bank", "the")),
        ("senses", "other_en", ("He put his money into the bank.", "A bank of fog.")),
        ("matrix", "pair_en", ("", "It slept.")),
        ("hide", "text_en", ("The cat sat", TIRED)),
    ],
)
def test_every_control_changes_a_plot(view: str, control: str, values: tuple[str, ...]) -> None:
    address = {"view": view, "text_en": TIRED}
    shown = [charts(opened(**(address | {control: value}))) for value in values]
    assert all(different(shown[0], other) for other in shown[1:])


@pytest.mark.parametrize("view", ["matrix", "lines", "grid", "text", "find"])
def test_all_three_kinds_of_an_encoder_decoder(view: str) -> None:
    shown = [charts(opened(view=view, model="atlas-fr-en", kind=kind)) for kind in ("encoder", "decoder", "cross")]
    assert different(shown[0], shown[1])
    assert different(shown[1], shown[2])
    assert "black cat" in words(opened(view=view, model="atlas-fr-en", kind="cross"))


def test_there_is_no_rollout_from_one_text_to_another() -> None:
    assert "atlas-refused" in words(opened(model="atlas-fr-en", kind="cross", how="rollout"))


ODD = ["", "   ", "😀👍🏽", "a" * 2000, "[CLS] [SEP] [MASK]", "\u200b\u202e", "½ ﷽ ẞ", "x", "<b>&\"'\\", LONG]


@pytest.mark.parametrize("view", VIEWS)
def test_any_text_gets_an_answer(view: str) -> None:
    for text in ODD:
        app = opened(view=view, text_en=text, one_en=text, other_en=text, word_en=text[:4])
        assert charts(app) or app.info


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "address",
    [
        {"layer": "99", "head": "0", "token": "-3", "key": "x", "place": "1e9", "how": "none", "kind": "both"},
        {"model": "gpt7", "layer": "nan", "token": "inf"},
        {"layer": "2.5", "head": "", "token": "999999999999999999999"},
    ],
)
def test_any_address_gets_an_answer(view: str, address: dict[str, str]) -> None:
    assert charts(opened(view=view, **address))


def test_what_the_address_asks_for_in_vain_is_said() -> None:
    assert "atlas-refused" in words(opened(layer="99"))
    assert "atlas-refused" in words(opened(view="write"))  # MiniLM does not write


@pytest.mark.parametrize("view", ["matrix", "lines", "grid", "text", "find", "hide"])
def test_a_text_of_128_tokens(view: str) -> None:
    app = opened(view=view, text_en=LONG)
    assert "first 128 tokens" in words(app) or view == "hide"
    assert bool(app.info) is (view == "hide")  # a button first: the model reads the text 128 times
    assert bool(charts(app)) is (view != "hide")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[str]:
    """A decoder on its own."""
    tiny.save_model(tiny_text.gpt2(), tiny_text.byte_pairs(), tmp_path)
    yield str(tmp_path)
    shelf.forget()


def with_folder(folder: str, **address: str) -> AppTest:
    app = opened(model="folder", **address)
    app.text_input(key="model.folder").set_value(folder)
    return checked(app.run())


@pytest.mark.parametrize("view", [*VIEWS, "write"])
def test_a_decoder_on_its_own(view: str, folder: str) -> None:
    app = with_folder(folder, text_en="The cat sat on the mat.")
    app.session_state["explorer_view"] = view
    assert charts(checked(app.run()))


def test_every_step_of_a_continuation(folder: str) -> None:
    app = with_folder(folder, text_en="The black cat")
    app.session_state["explorer_view"] = "write"
    first = charts(checked(app.run()))
    assert len(first["next_candidates"]) == 10
    assert first["next_candidates"]["chosen"].tolist() == [1] + [0] * 9
    app.slider(key="explorer_step").set_value(9)
    assert different(first, charts(checked(app.run())))


def test_what_a_decoder_may_not_look_at_is_masked(folder: str) -> None:
    cells = charts(with_folder(folder, text_en="The black cat"))["map_cells"]
    assert (cells["attend"] == (cells["k"] <= cells["q"])).all()
    app = with_folder(folder, text_en="The black cat", token="1", key="3")
    app.session_state["explorer_view"] = "find"
    assert "looks only back" in words(checked(app.run()))


@pytest.mark.parametrize("size", ["0", "50"])
def test_a_server_that_allows_only_the_bundled_model(size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATLAS_LARGEST_MODEL", size)
    shelf.forget()
    app = opened()
    assert "The black cat is sleeping" in words(app)
    assert "not on this server" in words(app)
    shelf.forget()


def test_the_grid_takes_its_numbers_along() -> None:
    """The picture has 254 shades; the table has the weights themselves."""
    model = models.load_any("minilm")
    reading = read(model, "The cat sat")
    assert reading is not None
    shown = Shown(Scene(model, reading), reading.maps[0], Together.HEAD, 0, 0, 0)
    table = explorer_grid._table(shown)
    assert len(table) == 6 * 12 * 5 * 5
    row = table[(table["layer"] == 3) & (table["head"] == 8) & (table["q"] == 1) & (table["k"] == 4)]
    assert row["weight"].item() == float(reading.maps[0].weights[2, 7, 1, 4])
    assert (row["query"].item(), row["key"].item()) == ("the", "[SEP]")


def test_the_hidden_tokens_of_a_long_text_are_measured_when_asked_for() -> None:
    text = " ".join(LONG.split()[:50])
    app = opened(view="hide", text_en=text)
    (button,) = [button for button in app.button if "Hide each" in button.label]
    button.click()
    app.run()
    assert app.session_state[str(button.key).removesuffix(".start")].finished.wait(120)
    assert charts(checked(app.run()))


def test_presets_show_what_they_name() -> None:
    app = opened()
    for place, view in enumerate(("matrix", "find", "senses", "hide")):
        take_preset(app, place)
        assert app.session_state["explorer_view"] == view
        assert charts(checked(app))
