"""The page on sinusoidal positions: every control, in every language, and what people type into it."""

import json
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.model_embeddings import cosines, embed
from core.models import ModelError, ModelProblem
from core.positions.sinusoidal import shift_matrix, sinusoidal_encoding
from pages.components import sinusoidal_claims, sinusoidal_scene, translator
from tests.pages import apps
from tests.pages.apps import changed, charts, checked, spec, take_preset, verdicts, words

LANGUAGES = ("en", "zh_CN")
VIEWS = {"encoding": 3, "waves": 2, "shift": 3, "sentence": 1}  # how many parts each figure has
CARDS = {"encoding": 2, "waves": 2, "shift": 2, "sentence": 1}
WORDS = "le chat dort"


opened = partial(apps.opened, "sinusoidal")


def field(app: AppTest, part: str) -> np.ndarray[Any, Any]:
    matrix: np.ndarray[Any, Any] = (
        charts(app)[f"{part}_cells"].pivot(index="row", columns="column", values="value").to_numpy()
    )
    return matrix


def curve(app: AppTest, part: str, number: int) -> pd.DataFrame:
    """One series: its columns x and y."""
    points = charts(app)[f"{part}_curves"]
    return points[points["s"] == number].reset_index(drop=True)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
def test_opens(language: str, view: str) -> None:
    app = opened(language=language, view=view)
    assert f"<h1>{ {'en': 'Sinusoidal positions', 'zh_CN': '正弦位置编码'}[language] }</h1>" in words(app)
    figure = json.loads(spec(app))
    assert sum(len(row["hconcat"]) for row in figure["vconcat"]) == VIEWS[view]
    assert len(verdicts(app)) == CARDS[view]
    assert "atlas-refused" not in words(app)


@pytest.mark.parametrize(
    ("control", "values", "address"),
    [
        ("length", ("2", "512"), {}),
        ("d_model", ("2", "512"), {}),
        ("base", ("0.5", "6.0"), {}),
        ("m", ("0", "31"), {}),
        ("n", ("0", "31"), {}),
        ("i", ("0", "31"), {}),
        ("j", ("0", "31"), {}),
        ("length", ("2", "512"), {"view": "waves"}),
        ("d_model", ("2", "512"), {"view": "waves"}),
        ("base", ("0.5", "6.0"), {"view": "waves"}),
        ("m", ("0", "31"), {"view": "waves"}),
        ("n", ("0", "31"), {"view": "waves"}),
        ("length", ("2", "512"), {"view": "shift"}),
        ("d_model", ("2", "512"), {"view": "shift"}),
        ("base", ("0.5", "6.0"), {"view": "shift"}),
        ("from", ("0", "31"), {"view": "shift"}),
        ("offset", ("-20", "20"), {"view": "shift"}),
        ("sentence", (WORDS, "un chien mange"), {"view": "sentence"}),
        ("setting", ("no_mask", "causal_one_layer"), {"view": "sentence"}),
        ("setting", ("causal_two_layers", "with_positions"), {"view": "sentence"}),
        ("order", ("reversed", "shuffled"), {"view": "sentence", "setting": "with_positions"}),
        ("shuffle", ("0", "99"), {"view": "sentence", "setting": "with_positions", "order": "shuffled"}),
        ("layers", ("model", "random"), {"view": "sentence"}),
        ("seed", ("0", "99"), {"view": "sentence", "layers": "random"}),
        ("layer", ("1", "3"), {"view": "sentence"}),
        ("head", ("1", "4"), {"view": "sentence"}),
    ],
)
def test_every_control_changes_a_plot(control: str, values: tuple[str, str], address: dict[str, str]) -> None:
    one, other = (opened(**(address | {control: value})) for value in values)
    assert "atlas-refused" not in words(one) + words(other)
    assert changed(charts(one), charts(other))


@pytest.mark.parametrize("control", ["length", "d_model", "base", "m", "i"])
def test_the_picture_changes_in_place(control: str) -> None:
    """A slider changes the data, not the specification."""
    app = opened()
    before, slider = spec(app), app.slider(key=f"sinusoidal_{control}")
    data = charts(app)
    slider.set_value(slider.value + slider.step)
    checked(app.run())
    assert spec(app) == before
    assert changed(charts(app), data)


# ------------------------------------------------------------------------------------------------ what really happens


def test_the_encoding_is_drawn_whole() -> None:
    app = opened(length="11", d_model="14", base="2.0", m="3", n="7", i="4", j="9")
    encoding = sinusoidal_encoding(11, 14, base=100.0).numpy()
    np.testing.assert_allclose(field(app, "field"), encoding, atol=1e-6)
    np.testing.assert_allclose(curve(app, "dimensions", 0)["y"], encoding[:, 4], atol=1e-6)
    np.testing.assert_allclose(curve(app, "dimensions", 1)["y"], encoding[:, 9], atol=1e-6)
    np.testing.assert_allclose(curve(app, "positions", 0)["y"], encoding[3], atol=1e-6)
    np.testing.assert_allclose(curve(app, "positions", 1)["y"], encoding[7], atol=1e-6)
    outlines = charts(app)["field_outlines"]
    assert outlines[outlines["is_row"] == 1]["y"].tolist() == [3, 7]
    assert outlines[outlines["is_row"] == 0]["x"].tolist() == [4, 9]
    assert f"<td>{encoding[3, 0]:.3f}</td>" in words(app)


@pytest.mark.parametrize("view", ["encoding", "shift"])
def test_a_large_encoding_is_drawn_coarser_and_the_page_says_so(view: str) -> None:
    app = opened(view=view, length="512", d_model="512")
    assert all(len(data) <= 64 * 64 for name, data in charts(app).items() if name.endswith("_cells"))
    assert "64 of 512 dimensions" in words(app)
    small = opened(view=view, length="64", d_model="64")
    assert "of 64 dimensions" not in words(small)


def test_coarse_cells_hold_the_numbers_of_their_own_place() -> None:
    cells = charts(opened(length="512", d_model="512"))["field_cells"]
    encoding = sinusoidal_encoding(512, 512).numpy()
    np.testing.assert_allclose(cells["value"], encoding[cells["row"], cells["column"]], atol=1e-6)
    assert set(cells["column"] % 2) == {0, 1}  # sines and cosines


def test_a_pair_shares_its_wave() -> None:
    assert "one pair" in words(opened(i="8", j="9"))
    assert "one pair" not in words(opened(i="9", j="10"))
    assert "Dimension 6 repeats" in words(opened(i="6", j="6"))


def test_wavelengths_lie_between_their_limits() -> None:
    app = opened(view="waves", d_model="16", base="3.0", length="20")
    measured, printed, shortest, longest, length = (curve(app, "lengths", number)["y"] for number in range(5))
    expected = 2 * np.pi * 1000 ** (np.repeat(np.arange(0, 16, 2), 2) / 16)
    np.testing.assert_allclose(measured, expected, rtol=1e-6)
    np.testing.assert_allclose(printed, 2 * np.pi * 1000 ** (np.arange(16) / 16), rtol=1e-6)
    assert shortest.tolist() == pytest.approx([2 * np.pi] * 2)
    assert longest.tolist() == pytest.approx([2000 * np.pi] * 2)
    assert length.tolist() == [20, 20]
    assert "4 of 16 dimensions repeat within 20 positions" in words(app)


def test_the_dot_product_depends_on_the_distance() -> None:
    app = opened(view="waves", length="13", d_model="10", m="4", n="9")
    formula, products = curve(app, "distance", 0), curve(app, "distance", 1)
    assert formula["x"].tolist() == list(range(-12, 13))
    assert products["x"].tolist() == list(range(-4, 9))
    np.testing.assert_allclose(products["y"], formula["y"][8:21], atol=1e-5)
    assert products["y"][4] == pytest.approx(5)
    assert charts(app)["distance_marks"]["x"].tolist() == [5]


def test_position_5_seen_from_position_2() -> None:
    app = opened(view="shift")
    assert "Position 5 seen from position 2" in words(app)
    np.testing.assert_allclose(field(app, "matrix"), shift_matrix(32, 3).numpy(), atol=1e-6)
    here, moved, there = field(app, "seen")
    encoding = sinusoidal_encoding(32, 32).numpy()
    np.testing.assert_allclose(here, encoding[2], atol=1e-6)
    np.testing.assert_allclose(moved, there, atol=1e-6)
    np.testing.assert_allclose(there, encoding[5], atol=1e-6)
    assert 0 < curve(app, "residuals", 0)["y"].max() < 1e-13


def test_nothing_is_moved_by_nothing() -> None:
    app = opened(view="shift", offset="0")
    assert np.array_equal(field(app, "matrix"), np.eye(32))
    assert curve(app, "residuals", 0)["y"].tolist() == [0] * 32


def maps(app: AppTest) -> pd.DataFrame:
    return charts(app)["maps_cells"]


def test_the_same_word_is_the_same_vector_until_it_has_a_place() -> None:
    app = opened(view="sentence", sentence="le chat et le chien")
    cells = maps(app).set_index(["q", "k"])
    embedded = embed(translator.load(translator.BUNDLED), "le chat et le chien", most_tokens=20)
    assert cells["words"][0, 3] == pytest.approx(1)
    assert cells["placed"][0, 3] == pytest.approx(float(cosines(embedded.words + embedded.positions)[0, 3]), abs=1e-6)
    assert cells["placed"][0, 3] < 0.99
    assert "“le” stands in places 0 and 3" in words(app)
    assert "Use a word twice" in words(opened(view="sentence", sentence=WORDS))


def test_attention_without_positions_does_not_notice() -> None:
    cells = maps(opened(view="sentence"))
    np.testing.assert_allclose(cells["moved"], cells["original"], atol=1e-6)
    assert cells["seen"].all()


def test_attention_with_positions_does() -> None:
    cells = maps(opened(view="sentence", setting="with_positions"))
    assert (cells["moved"] - cells["original"]).abs().max() > 0.05


@pytest.mark.parametrize(("setting", "same"), [("causal_one_layer", True), ("causal_two_layers", False)])
def test_order_leaks_in_with_a_second_layer(setting: str, same: bool) -> None:
    app = opened(view="sentence", setting=setting)
    cells = maps(app)
    assert cells["seen"].tolist() == (cells["k"] <= cells["q"]).astype(int).tolist()
    assert cells["seen_moved"].tolist() != cells["seen"].tolist()
    last = cells[cells["q"] == cells["q"].max()]
    assert np.allclose(last["moved"], last["original"], atol=1e-6) == same


def test_a_map_is_drawn_of_the_layers_that_there_are() -> None:
    def layers(app: AppTest) -> int:
        return max((int(slider.max) for slider in app.slider if slider.key == "sinusoidal_layer"), default=1)

    assert layers(opened(view="sentence")) == 3
    assert layers(opened(view="sentence", setting="causal_two_layers")) == 2
    assert layers(opened(view="sentence", setting="causal_one_layer")) == 1
    assert layers(opened(view="sentence", layers="random")) == 2


# --------------------------------------------------------------------------------------------------------------- claims


def test_claims() -> None:
    assert verdicts(opened()) == ["only_if", "holds"]
    assert verdicts(opened(view="sentence")) == ["only_if"]
    assert verdicts(opened(view="sentence", layers="random")) == ["only_if"]


def test_words_that_change_places_with_their_equals_decide_nothing() -> None:
    app = opened(view="sentence", sentence="le le le", setting="causal_two_layers")
    assert verdicts(app) == ["undecided"]
    assert "In this order the sentence is the same" in words(app)
    assert "order leaks in" not in words(app)
    assert "In this order" not in words(opened(view="sentence"))


@pytest.mark.parametrize("sentence", ["", "  ", "chat"])
def test_one_word_has_no_order(sentence: str) -> None:
    app = opened(view="sentence", sentence=sentence)
    assert not charts(app)
    assert app.info
    assert verdicts(app) == ["undecided"]


def test_measurements_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened()
    monkeypatch.setattr(sinusoidal_claims, "compare_frequencies", None)
    monkeypatch.setattr(sinusoidal_claims, "shift", None)
    opened(m="7")


# ---------------------------------------------------------------------------------------------- presets and bad input


@pytest.mark.parametrize("language", LANGUAGES)
def test_presets_show_what_they_say(language: str) -> None:
    app = opened(language=language)
    for index, said in enumerate(({"i": 8, "j": 9}, {"d_model": 512, "length": 100}, {"setting": "causal_two_layers"})):
        app = take_preset(app, index)
        for name, value in said.items():
            assert app.session_state[f"sinusoidal_{name}"] == value


def test_positions_stay_within_a_text_that_became_shorter() -> None:
    app = opened(n="25")
    app.slider(key="sinusoidal_length").set_value(10)
    checked(app.run())
    assert app.slider(key="sinusoidal_n").value == 9
    assert charts(app)["field_outlines"]["y2"].max() <= 10


@pytest.mark.parametrize(
    "address",
    [
        {"m": "99"},
        {"length": "0"},
        {"d_model": "7000"},
        {"d_model": "33"},
        {"base": "nan"},
        {"view": "<b>"},
        {"view": "shift", "offset": "1e99"},
        {"view": "sentence", "setting": "x"},
        {"view": "sentence", "layer": "0"},
    ],
)
def test_an_impossible_address_falls_back_and_says_so(address: dict[str, str]) -> None:
    app = opened(**address)
    assert "atlas-refused" in words(app)
    assert "<b>”" not in words(app)


@pytest.mark.parametrize(
    "sentence",
    [
        "😀😀 😀",
        "مرحبا بالعالم",
        "<script>alert(1)</script> <b>gras</b>",
        "猫 和 狗",
        "chat " * 2000,
        "\u202eenvers \u202eenvers",
        "▁ </s> <pad>",
        "{x} \\frac ' \" chat",
    ],
)
@pytest.mark.parametrize("setting", ["no_mask", "causal_two_layers"])
def test_odd_sentences_get_an_answer(sentence: str, setting: str) -> None:
    app = opened(view="sentence", sentence=sentence, setting=setting)
    assert charts(app)
    assert "<script>" not in words(app)
    assert "<b>gras" not in words(app)


def test_a_long_sentence_is_cut_and_the_page_says_so() -> None:
    app = opened(view="sentence", sentence="le chat et le chien et " * 12)
    assert maps(app)["q"].max() == 19
    assert "20 tokens" in words(app)
    assert "20 tokens" not in words(opened(view="sentence"))


def test_a_damaged_model_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(name: str) -> None:
        raise ModelError(ModelProblem.DAMAGED, name)

    monkeypatch.setattr(translator, "load", damaged)
    app = apps.begun("sinusoidal", view="sentence")
    assert not app.exception
    assert len(app.error) == 1
    assert not charts(app)


@pytest.mark.parametrize(
    ("setting", "formula"),
    [
        ("no_mask", r"\Pi\,\mathrm{Attention}(X)"),
        ("causal_one_layer", r"= \mathrm{Causal}(X)_n"),
        ("causal_two_layers", r"\neq \mathrm{Causal}_2"),
        ("with_positions", r"\Pi X + P"),
    ],
)
def test_the_formula_is_that_of_the_setting(setting: str, formula: str) -> None:
    app = opened(view="sentence", setting=setting)
    app.session_state["sinusoidal_sentence.opened"] = "formula"
    assert formula in checked(app.run()).latex[0].value


@pytest.mark.parametrize("view", ["shift", "sentence"])
def test_an_exact_zero_is_written_as_such(view: str) -> None:
    app = opened(view=view, offset="0", sentence="chat chat chat")
    assert "0e+00" not in words(app)


@pytest.mark.parametrize(("number", "told"), [(0.0, "0"), (3e-16, "3e-16")])
def test_tiny_numbers(number: float, told: str) -> None:
    assert sinusoidal_scene.tiny(number) == told


def test_large_and_small_numbers_are_written_as_formulas_write_them() -> None:
    app = opened(base=6, i=30)
    app.session_state["sinusoidal.opened"] = "formula"
    assert r"\theta_{15} = 1000000^{-30/32} = 2.3714 \cdot 10^{-6}" in checked(app.run()).latex[1].value
