"""The page on recurrence and additive attention: every control, in every language, and odd input."""

from functools import partial

import pytest

from core.additive import Form
from core.layer_times import Times
from core.recurrence import Layer
from pages.components import recurrence_costs, recurrence_times
from tests.pages import apps
from tests.pages.apps import changed, charts, checked, take_preset, words

LANGUAGES = ("en", "zh_CN")
CAT = "The cat that sat on the mat saw the other cat"


opened = partial(apps.opened, "recurrence")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", ["layers", "additive"])
def test_opens(language: str, view: str) -> None:
    app = opened(language=language, view=view)
    title = {"en": "Recurrence", "zh_CN": "循环"}[language]
    assert f"<h1>{title}</h1>" in words(app)
    assert words(app).count("atlas-claim ") == {"layers": 4, "additive": 3}[view]
    assert len(app.get("vega_lite_chart")) == 1


@pytest.mark.parametrize(
    ("control", "values"),
    [
        ("sentence", ("a b c", CAT)),
        ("source", (1, 2, 11)),
        ("target", (1, 2, 11)),
        ("length", (24, 96)),
        ("dim", (8, 64)),
        ("recurrent_scale", (0.5, 5.0)),
        ("gate_bias", (0.0, 5.0)),
    ],
)
def test_every_control_of_the_layers_changes_a_plot(control: str, values: tuple[object, ...]) -> None:
    shown = [charts(opened(**({"sentence": CAT, "length": 24, "dim": 8} | {control: value}))) for value in values]
    assert all(changed(shown[0], other) for other in shown[1:])


@pytest.mark.parametrize(
    ("control", "values"),
    [
        ("sentence", ("a b c", CAT)),
        ("form", ("additive", "dot", "general")),
        ("source_of_states", ("sentence", "lesson")),
        ("encoder", ("RNN", "LSTM", "GRU")),
        *((f"s{number}", (-2.0, 2.0)) for number in (1, 2, 3, 4)),
        ("scale", (0.1, 3.0)),
        ("seed", (0, 50)),
    ],
)
def test_every_control_of_alignment_changes_a_plot(control: str, values: tuple[object, ...]) -> None:
    shown = [charts(opened(view="additive", **{control: value})) for value in values]
    assert all(changed(shown[0], other) for other in shown[1:])


@pytest.mark.parametrize("source", ["sentence", "lesson"])
@pytest.mark.parametrize("form", [*Form])
def test_the_state_moves_every_form_but_the_printed_one(form: Form, source: str) -> None:
    one, other = (
        charts(opened(view="additive", form=form, source_of_states=source, scale=1.0, s1=value)) for value in (-2, 2)
    )
    assert "weights_bars" in changed(one, other)  # the weights
    assert "printed_bars" not in changed(one, other)  # the weights without s


def test_concat_shows_what_additive_shows() -> None:
    one, other = (
        charts(opened(view="additive", form=form))["weights_bars"]["weight"] for form in ("additive", "concat")
    )
    assert one.tolist() == pytest.approx(other.tolist())


def test_moving_the_words_measures_no_gradient_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(length=24, dim=8)
    before = charts(app)
    monkeypatch.setattr("core.long_range.gradient_study", forbidden)
    app.slider(key="recurrence_target").set_value(3)
    assert changed(before, charts(checked(app.run())))


def forbidden(*args: object, **settings: object) -> None:
    raise AssertionError("measured again")


def test_a_short_sentence_moves_the_slider_to_its_last_word() -> None:
    app = opened(sentence="a b", length=24, dim=8)
    assert app.slider(key="recurrence_target").value == app.slider(key="recurrence_target").max == 2
    app.button(key="recurrence.reset").click()
    assert checked(app.run()).slider(key="recurrence_target").value == 6


def test_a_way_backwards_is_only_there_for_attention() -> None:
    app = opened(source=5, target=2, length=24, dim=8)
    assert "never carries it there" in words(app)
    shown = charts(app)
    assert shown["RNN_edges"]["on"].sum() == 0
    assert shown["attention_edges"]["on"].sum() == 1


@pytest.mark.parametrize("view", ["layers", "additive"])
@pytest.mark.parametrize("sentence", ["", "   ", "word", "词"])
def test_fewer_than_two_words_get_a_sentence_that_helps(view: str, sentence: str) -> None:
    app = opened(view=view, sentence=sentence or " ")
    assert "Type at least two words" in app.info[0].value
    assert not app.get("vega_lite_chart")


@pytest.mark.parametrize("view", ["layers", "additive"])
def test_many_words_are_cut_and_it_is_said(view: str) -> None:
    app = opened(view=view, sentence="word " * 200, length=24, dim=8)
    assert any("200 words; the page has room for the first 24" in caption.value for caption in app.caption)
    assert app.get("vega_lite_chart")


def test_right_to_left_words_keep_their_order_and_it_is_said() -> None:
    app = opened(sentence="القطة جلست على السجادة", length=24, dim=8)
    assert any("the first stands at the left" in caption.value for caption in app.caption)
    assert "القطة" in words(app)


@pytest.mark.parametrize("view", ["layers", "additive"])
@pytest.mark.parametrize(
    "sentence", ["x" * 10_000 + " y", "<b>x</b> & \"'\\", "{x} {0}", "我 爱 NLP", "a a a", "$x$ `y` _z_ 🙂"]
)
def test_odd_words_are_shown_as_they_are(view: str, sentence: str) -> None:
    app = opened(view=view, sentence=sentence, length=24, dim=8)
    assert "<b>x</b>" not in words(app)


@pytest.fixture
def _measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if somebody had pressed both buttons."""
    seconds = dict.fromkeys((Layer.RNN, Layer.LSTM, Layer.GRU), (1e-4, 2e-4, 4e-4))
    times = Times((16, 32, 64), ({**seconds, Layer.ATTENTION: (1e-5, 1e-4, 1e-3)},) * 2)
    monkeypatch.setattr(recurrence_times, "measured", lambda: {8: times})
    forms = {Form.ADDITIVE: 2e-3, Form.DOT: 1e-4, Form.GENERAL: 1e-4, Form.CONCAT: 3e-3}
    monkeypatch.setattr(recurrence_costs, "measured", lambda: {recurrence_costs.SIZE: forms})


@pytest.mark.usefixtures("_measured")
@pytest.mark.parametrize("language", LANGUAGES)
def test_measured_times_are_drawn_and_judged(language: str) -> None:
    app = opened(language=language, length=24, dim=8)
    times = charts(app)["times_curves"]
    assert times[times["s"] == 0]["y"].tolist() == pytest.approx([0.1, 0.2, 0.4])  # milliseconds
    assert charts(app)["times_marks"]["x"].tolist() == pytest.approx([41.2], rel=0.1)
    assert '"atlas-claim undecided"' not in words(app)
    assert '"atlas-claim undecided"' not in words(opened(language=language, view="additive"))


@pytest.mark.usefixtures("_measured")
def test_of_one_hidden_size_says_nothing_of_another() -> None:
    assert '"atlas-claim undecided"' in words(opened(length=24, dim=16))


def test_the_button_measures_the_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[object, object] = {}
    monkeypatch.setattr(recurrence_costs, "measured", lambda: found)
    monkeypatch.setattr(recurrence_costs, "SIZE", recurrence_costs.Size(5, 3))
    app = opened(view="additive")
    app.button(key="recurrence.forms.start").click()
    app = checked(app.run())
    assert app.session_state["recurrence.forms"].finished.wait(timeout=60)
    assert set(found[recurrence_costs.SIZE]) == set(Form)  # type: ignore[call-overload]
    assert " ms" in words(checked(app.run())).replace("\u00a0", " ")


def test_the_lessons_preset_is_the_lessons_run() -> None:
    app = take_preset(opened(), "The lesson's 12 states")
    shown = charts(app)
    assert len(shown["printed_bars"]) == 12
    assert shown["printed_bars"]["weight"].sum() == pytest.approx(1)
    assert app.session_state["recurrence_scale"] == 0.1
    assert app.session_state["recurrence_s1"] == round(app.session_state["recurrence_s1"], 1)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("part", ["formula", "code", "downloads", "reading"])
@pytest.mark.parametrize("address", [{}, {"view": "additive"}, {"view": "additive", "source_of_states": "lesson"}])
def test_every_folded_part_opens(language: str, part: str, address: dict[str, str]) -> None:
    app = opened(language=language, **({"length": 24, "dim": 8} | address))
    app.session_state["recurrence.opened"] = part
    checked(app.run())


def test_bad_addresses_fall_back() -> None:
    app = opened(view="nonsense", length=7, dim="x", sentence=CAT)
    assert "which is not possible here" in words(app)
