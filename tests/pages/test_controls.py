"""The controls of a page: bounded, bound to the address, reset, played, in every language.

What a person does to a slider, a toggle or a text reaches the address in the browser, not here: tests/browser looks at
that.
"""

import itertools
import urllib.parse
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from pages.components import choices, controls, typed
from tests.pages.apps import Start, html, press, shown, take_preset

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
HUGE = "9" * 10_000

DEFAULTS = {
    "query": 4,
    "scale": 1.0,
    "kind": "causal",
    "layer": "3",
    "scaled": False,
    "sentence": "Je t'aime.",
    "forced": "",
}


def app(high: int = 8) -> None:
    """One control of each kind; says what they return."""
    import streamlit as st

    from pages.components.controls import Panel
    from pages.components.words import heading

    with Panel("masks") as panel:
        values = {
            "query": panel.slider("query", "Query", 0, high, default=min(4, high), step=2),
            "scale": panel.slider("scale", "Scale", 0.1, 2.0, default=1.0, step=0.1),
            "kind": panel.choice("kind", "Kind", {"causal": "Causal", "prefix": "Prefix"}, default="causal"),
            "layer": panel.choice("layer", "Layer", {str(i): f"Layer {i}" for i in range(6)}, default="3"),
            "scaled": panel.toggle("scaled", "Scaled", default=False),
            "sentence": panel.text("sentence", "Sentence", default="Je t'aime.", max_chars=20),
            "forced": panel.hidden("forced", "Forced", default="", pattern=r"\d+=\d+"),
        }
    heading("Masks", "Who may look at whom?", panel)
    panel.finish(presets={"Look ahead": {"kind": "prefix", "query": 8, "scaled": True}}, play="query")
    st.json({**values, "refused": panel.refused})


def changed(**values: object) -> dict[str, Any]:
    return {**DEFAULTS, **values, "refused": []}


def lines_app() -> None:
    """A text of several lines."""
    import streamlit as st

    from pages.components.controls import Panel
    from pages.components.words import heading

    with Panel("masks") as panel:
        text = panel.text("sentences", "Sentences", default="Hello world\nI love AI", max_chars=30, lines=2)
    heading("Masks", "Who may look at whom?", panel)
    panel.finish()
    st.json({"text": text, "refused": panel.refused})


def preset(at: AppTest) -> AppTest:
    return take_preset(at, "Look ahead")


# ------------------------------------------------------------------------------------------------ without an address


def test_defaults_are_shown_and_stay_out_of_the_address(start: Start) -> None:
    at = start(app)
    assert shown(at) == changed()
    assert at.query_params == {}


@pytest.mark.parametrize("value", [0, 4, 8])
def test_slider(start: Start, value: int) -> None:
    at = start(app)
    at.slider(key="masks_query").set_value(value).run()
    assert shown(at) == changed(query=value)


@pytest.mark.parametrize("value", [0.1, 0.3, 0.7, 1.0, 2.0])
def test_slider_of_fractions_returns_the_very_number(start: Start, value: float) -> None:
    at = start(app)
    at.slider(key="masks_scale").set_value(value).run()
    assert shown(at) == changed(scale=value)


def test_few_short_options_stand_side_by_side(start: Start) -> None:
    at = start(app)
    at.segmented_control(key="masks_kind.en").set_value("prefix").run()
    assert shown(at) == changed(kind="prefix")
    assert at.query_params == {"masks_kind": "prefix"}
    at.segmented_control(key="masks_kind.en").set_value("causal").run()
    assert shown(at) == changed()
    assert at.query_params == {}


@pytest.mark.parametrize("value", ["0", "3", "5"])
def test_many_options_stand_in_a_list(start: Start, value: str) -> None:
    at = start(app)
    at.selectbox(key="masks_layer.en").set_value(value).run()
    assert shown(at) == changed(layer=value)
    assert at.query_params == ({} if value == "3" else {"masks_layer": value})


def test_a_text_of_several_lines_keeps_them(start: Start) -> None:
    at = start(lines_app)
    assert shown(at) == {"text": "Hello world\nI love AI", "refused": []}
    at.text_area(key="masks_sentences").set_value("a\x00\tb\r\nc\rd\ne").run()
    assert shown(at) == {"text": "a b\nc\nd\ne", "refused": []}
    press(at, "masks.reset")
    assert shown(at)["text"] == "Hello world\nI love AI"


def test_a_text_of_several_lines_comes_from_the_address(start: Start) -> None:
    assert shown(start(lines_app, {"masks_sentences": "one\ntwo"})) == {"text": "one\ntwo", "refused": []}
    at = start(lines_app, {"masks_sentences": "x\n" * 16})
    assert len(shown(at)["text"]) <= 30
    assert len(at.caption) == 1


def test_toggle(start: Start) -> None:
    at = start(app)
    at.toggle(key="masks_scaled").set_value(True).run()
    assert shown(at) == changed(scaled=True)


@pytest.mark.parametrize("text", ["", "x" * 20, "愛", "👩‍💻", "أحبك", HOSTILE[:20]])
def test_text(start: Start, text: str) -> None:
    at = start(app)
    at.text_input(key="masks_sentence").set_value(text).run()
    assert shown(at) == changed(sentence=text)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\x00b\x1b[31m", "ab[31m"),
        ("a\u202eb\u2066c\ufeffd", "abcd"),  # marks that turn the direction of writing, or that nobody sees
        ("Je\tt'aime\nbien", "Je t'aime bien"),
        ("a\u2028b\x85c", "a b c"),
        ("Ça va\u202f?", "Ça va\u202f?"),  # French spacing is the tokenizer's business
        ("j'ai\u00a0faim", "j'ai\u00a0faim"),
        ("می\u200cخواهم", "می\u200cخواهم"),  # Persian spelling needs the non-joiner
    ],
)
def test_text_loses_what_nobody_sees_and_keeps_words_apart(start: Start, text: str, cleaned: str) -> None:
    at = start(app)
    at.text_input(key="masks_sentence").set_value(text).run()
    assert shown(at)["sentence"] == cleaned


def test_a_slider_with_nothing_to_choose_is_not_drawn(start: Start) -> None:
    at = start(app, high=0)
    assert shown(at) == changed(query=0)
    assert [slider.key for slider in at.slider] == ["masks_scale"]
    press(at, "masks.reset")
    assert shown(at) == changed(query=0)


# --------------------------------------------------------------------------------------------------- from an address


@pytest.mark.parametrize(
    ("name", "asked", "value"),
    [
        ("query", "0", 0),
        ("query", "6", 6),
        ("query", "8", 8),
        ("query", "4", 4),
        ("query", "2.0", 2),
        ("scale", "0.1", 0.1),
        ("scale", "2", 2.0),
        ("scale", "0.7", 0.7),
        ("kind", "prefix", "prefix"),
        ("kind", ["causal", "prefix"], "prefix"),  # the last one counts, as for st.query_params
        ("layer", "5", "5"),
        ("scaled", "true", True),
        ("scaled", "TRUE", True),
        ("scaled", "false", False),
        ("sentence", "", ""),
        ("sentence", "愛 👩‍💻 أحبك", "愛 👩‍💻 أحبك"),
        ("sentence", HOSTILE[:20], HOSTILE[:20]),
        ("forced", "3=17", "3=17"),
    ],
)
def test_what_the_address_asks_for(start: Start, name: str, asked: str | list[str], value: object) -> None:
    at = start(app, {f"masks_{name}": asked})
    assert shown(at) == changed(**{name: value})
    at.run()
    assert shown(at) == changed(**{name: value})


@pytest.mark.parametrize(
    ("name", "asked", "value"),
    [
        *(("query", asked, 4) for asked in ("10", "-2", "x", "", "1e400", "nan", "inf", HUGE, HOSTILE, "4;6", "六")),
        ("query", "3", 4),  # between two steps: the nearer one, or the one above
        ("query", "2.5", 2),
        *(("scale", asked, 1.0) for asked in ("0", "2.1", "-inf", "nan", "one", "1,5")),
        ("scale", "0.7000001", 0.7),
        *(("kind", asked, "causal") for asked in ("Causal", "Prefix", "", "xlnet", HUGE, HOSTILE, "\x00", "因果")),
        *(("layer", asked, "3") for asked in ("6", "-1", "Layer 2", "")),
        *(("scaled", asked, False) for asked in ("maybe", "2", "", HOSTILE)),
        *(("forced", asked, "") for asked in ("3", "3=x", "3=17\n", HUGE, HOSTILE)),
    ],
)
def test_what_the_address_asks_for_in_vain(start: Start, name: str, asked: str | list[str], value: object) -> None:
    at = start(app, {f"masks_{name}": asked})
    values = shown(at)
    (sentence,) = values.pop("refused")
    assert values == {**DEFAULTS, name: value}
    quoted = typed.clean(asked if isinstance(asked, str) else asked[-1])
    assert f"“{quoted}”" in sentence or f"“{quoted[:40]}…”" in sentence
    assert name.title() in sentence
    assert len(sentence) < 200

    notice = html(at)
    assert 'role="status"' in notice
    assert "<script" not in notice
    assert "<img" not in notice

    at.run()  # nothing has moved: it still stands there
    assert shown(at)["refused"] == [sentence]

    # gone once a control has moved, and it does not come back with the old value
    at.slider(key="masks_scale").set_value(1.7).run()
    assert shown(at)["refused"] == []
    at.slider(key="masks_scale").set_value(values["scale"]).run()
    assert shown(at)["refused"] == []


def test_between_two_steps_the_slider_itself_moves_to_the_nearer(start: Start) -> None:
    at = start(app, {"masks_query": "3"})
    at.run()
    assert at.slider(key="masks_query").value == shown(at)["query"] == 4
    at.slider(key="masks_query").set_value(6).run()
    assert shown(at) == changed(query=6)


def test_every_refusal_is_named(start: Start) -> None:
    at = start(app, {"masks_query": "99", "masks_kind": "?", "masks_scaled": "?", "masks_scale": "0.4"})
    assert [sentence.split(" = ")[0].split()[-1] for sentence in shown(at)["refused"]] == ["Query", "Kind", "Scaled"]
    assert at.query_params == {"masks_scale": "0.4"}


@pytest.mark.parametrize(("earlier", "value"), [({"masks_query": "2"}, 2), ({}, 4), ({"masks_query": "x"}, 4)])
def test_a_slider_goes_back_with_the_address(start: Start, earlier: dict[str, str], value: int) -> None:
    at = start(app)
    at.slider(key="masks_query").set_value(6).run()
    assert at.query_params == {"masks_query": "6"}
    at.query_params.clear()
    at.query_params.update(earlier)
    at.run()
    assert at.slider(key="masks_query").value == shown(at)["query"] == value


def test_an_address_of_before_a_slider_moved_does_not_move_it_back(start: Start) -> None:
    at = start(app, {"masks_query": "2"})
    at.slider(key="masks_query").set_value(6)
    at.segmented_control(key="masks_kind.en").set_value("prefix").run()
    assert shown(at) == changed(query=6, kind="prefix")
    assert at.query_params == {"masks_query": "6", "masks_kind": "prefix"}


def test_parameters_of_others_are_left_alone(start: Start) -> None:
    at = start(app, {"rope_base": "500", "utm_source": HOSTILE, "query": "2"})
    assert shown(at) == changed()


# ------------------------------------------------------------------------------------------ bounds and options move


def shrinking() -> None:
    """The bounds of the others follow from the first."""
    import streamlit as st

    from pages.components.controls import Panel

    with Panel("masks") as panel:
        length = panel.slider("length", "Length", 1, 9, default=9, step=1)
        query = panel.slider("query", "Query", 0, length - 1, default=0, step=1)
        options = {str(i): str(i) for i in range(length)}
        layer = panel.choice("layer", "Layer", options, default="0")
        panel.finish(play="query")
    st.json({"length": length, "query": query, "layer": layer, "refused": panel.refused})


def test_a_value_follows_bounds_that_shrink(start: Start) -> None:
    at = start(shrinking)
    at.slider(key="masks_query").set_value(8).run()
    at.slider(key="masks_length").set_value(4).run()
    assert shown(at)["query"] == 3
    assert at.slider(key="masks_query").value == 3
    at.slider(key="masks_length").set_value(1).run()
    assert shown(at)["query"] == 0
    at.slider(key="masks_length").set_value(9).run()
    assert shown(at)["query"] <= 3


def test_an_option_that_is_gone_gives_the_default(start: Start) -> None:
    at = start(shrinking, {"masks_layer": "8"})
    assert shown(at)["layer"] == "8"
    at.slider(key="masks_length").set_value(4).run()
    assert shown(at)["layer"] == "0"
    assert "masks_layer" not in at.query_params


def test_an_address_may_ask_for_less_than_the_widest_bounds(start: Start) -> None:
    at = start(shrinking, {"masks_length": "4", "masks_query": "8"})
    assert shown(at)["query"] == 0
    assert len(shown(at)["refused"]) == 1


@pytest.mark.parametrize("text", ["x" * 21, HUGE, "愛" * 10_000])
@pytest.mark.parametrize("typed_by_hand", [True, False])
def test_a_text_that_is_too_long_is_cut_and_the_page_says_so(start: Start, text: str, typed_by_hand: bool) -> None:
    at = start(app, None if typed_by_hand else {"masks_sentence": text})
    if typed_by_hand:
        at.text_input(key="masks_sentence").set_value(text).run()
    assert shown(at) == changed(sentence=text[:20])
    assert at.text_input(key="masks_sentence").value == text[:20]
    assert [note.value for note in at.caption] == [f"{len(text):,} characters are too many: the first 20 are used."]


# -------------------------------------------------------------------------------------------------- presets and Reset


def test_a_preset_sets_its_values_and_resets_the_others(start: Start) -> None:
    at = start(app, {"masks_scale": "0.4", "masks_layer": "1", "masks_sentence": "Oui", "masks_forced": "1=2"})
    preset(at)
    assert shown(at) == changed(kind="prefix", query=8, scaled=True)
    assert at.query_params == {"masks_kind": "prefix", "masks_query": "8", "masks_scaled": "true"}


def test_reset_restores_every_default(start: Start) -> None:
    at = preset(start(app, {"masks_sentence": "Oui", "masks_forced": "1=2"}))
    at.slider(key="masks_scale").set_value(0.1).run()
    press(at, "masks.reset")
    assert shown(at) == changed()
    assert at.query_params == {}


def conditional() -> None:
    """The second control belongs to one choice of the first."""
    import streamlit as st

    from pages.components.controls import Panel

    with Panel("p") as panel:
        method = panel.choice("method", "Method", {"greedy": "Greedy", "beam": "Beam"}, default="greedy")
        beams = panel.slider("beams", "Beams", 2, 8, default=4, step=1) if method == "beam" else None
        panel.finish(presets={"Tree": {"method": "beam"}})
    st.json({"method": method, "beams": beams})


@pytest.mark.parametrize("way", ["reset", "preset"])
def test_controls_that_are_not_drawn_are_reset_too(start: Start, way: str) -> None:
    at = start(conditional, {"p_method": "beam", "p_beams": "8"})
    at.segmented_control(key="p_method.en").set_value("greedy").run()
    at = press(at, "p.reset") if way == "reset" else take_preset(at, "Tree")
    at.segmented_control(key="p_method.en").set_value("beam").run()
    assert shown(at) == {"method": "beam", "beams": 4}


def test_reset_forgets_what_was_refused(start: Start) -> None:
    at = start(app, {"masks_query": "99", "masks_scale": "0.4"})
    press(at, "masks.reset")
    assert shown(at) == changed()


# --------------------------------------------------------------------------------------------------------------- Play


class Clock:
    """Stands in for the module `time`, and stands still."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def tick(self) -> None:
        self.now += controls.PLAY_SECONDS


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(controls, "time", clock)
    return clock


def play_on(at: AppTest, clock: Clock) -> int:
    """What the browser does every PLAY_SECONDS while the fragment is alive; the slider's value then."""
    clock.tick()
    at.run()
    value: int = shown(at)["query"]
    return value


def test_play_walks_to_the_end_and_stops(start: Start, clock: Clock) -> None:
    at = press(start(app), "masks.play")
    assert shown(at)["query"] == 4  # the run that starts it moves nothing
    assert at.button(key="masks.stop").label == "Stop"
    assert [play_on(at, clock) for _ in range(4)] == [6, 8, 8, 8]
    assert at.button(key="masks.play").label == "Play"
    assert at.query_params == {"masks_query": "8"}


def test_a_run_for_another_reason_is_not_a_step(start: Start, clock: Clock) -> None:
    at = press(start(app), "masks.play")
    at.toggle(key="masks_scaled").set_value(True).run()
    assert shown(at)["query"] == 4
    assert play_on(at, clock) == 6


def test_stop(start: Start, clock: Clock) -> None:
    at = press(start(app), "masks.play")
    play_on(at, clock)
    press(at, "masks.stop")
    assert [play_on(at, clock) for _ in range(2)] == [6, 6]


def test_stop_pressed_twice(start: Start, clock: Clock) -> None:
    at = press(start(app), "masks.play")
    stop = at.button(key="masks.stop")
    del at.session_state["masks.played"]  # as after the first press, whose run the second one has cut short
    stop.click().run()
    assert not at.exception


def test_play_at_the_end_begins_anew(start: Start, clock: Clock) -> None:
    at = start(app, {"masks_query": "8"})
    press(at, "masks.play")
    assert shown(at)["query"] == 0
    assert [play_on(at, clock) for _ in range(4)] == [2, 4, 6, 8]


def test_what_has_played_to_its_end_does_not_play_on_by_itself(start: Start, clock: Clock) -> None:
    at = press(start(app, {"masks_query": "6"}), "masks.play")
    assert play_on(at, clock) == 8
    at.run()
    at.slider(key="masks_query").set_value(2).run()
    assert [play_on(at, clock) for _ in range(2)] == [2, 2]


@pytest.mark.parametrize("way", ["reset", "preset"])
def test_reset_and_presets_stop_it(start: Start, clock: Clock, way: str) -> None:
    at = press(start(app), "masks.play")
    play_on(at, clock)
    if way == "reset":
        press(at, "masks.reset")
    else:
        preset(at)
    value = shown(at)["query"]
    assert [play_on(at, clock) for _ in range(2)] == [value, value]


def test_nothing_plays_where_there_is_nothing_to_choose(start: Start, clock: Clock) -> None:
    at = start(app, high=0)
    assert at.button(key="masks.play").disabled
    assert [play_on(at, clock) for _ in range(2)] == [0, 0]


def test_the_browser_is_asked_for_the_next_run_only_while_it_plays(
    start: Start, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float | None] = []
    fragment = controls.st.fragment

    def remember(*, run_every: float | None) -> Any:
        asked.append(run_every)
        return fragment(run_every=run_every)

    monkeypatch.setattr(controls.st, "fragment", remember)
    at = press(start(app, {"masks_query": "6"}), "masks.play")
    play_on(at, clock)
    press(at, "masks.reset")
    assert asked == [None, controls.PLAY_SECONDS, controls.PLAY_SECONDS, None, None]


# ------------------------------------------------------------------------------------------------- Share, and language


def test_share_shows_an_address_that_reproduces_the_page(start: Start) -> None:
    wanted = {"masks_query": "6", "masks_kind": "prefix", "masks_sentence": "愛 & <b>?#=", "masks_scaled": "true"}
    at = start(app, wanted)
    assert not at.code
    address = urllib.parse.urlsplit(press(at, "masks.share").code[0].value)
    assert (address.scheme, address.netloc, address.path) == ("https", "atlas.example", "/masks")
    query = dict(urllib.parse.parse_qsl(address.query, strict_parsing=True))
    assert query == wanted
    assert shown(start(app, query)) == shown(at)


def test_share_shows_the_bare_address_of_the_defaults(start: Start) -> None:
    assert press(start(app), "masks.share").code[0].value == "https://atlas.example/masks"


def translated() -> None:
    import streamlit as st

    from pages.components import frame
    from pages.components.controls import Panel
    from pages.components.i18n import _

    frame.begin()
    with Panel("masks") as panel:
        size = panel.choice("size", "S", {"normal": _("normal"), "projector": _("projector")}, default="normal")
        query = panel.slider("query", _("Language"), 0, 8, default=4, step=1)
        sentence = panel.text("sentence", _("Share"), default="Oui", max_chars=20)
        scaled = panel.toggle("scaled", _("Reset"), default=False)
        panel.finish()
    st.json({"size": size, "query": query, "sentence": sentence, "scaled": scaled, "refused": panel.refused})
    frame.finish()


def test_every_choice_survives_a_change_of_language(start: Start) -> None:
    at = start(translated)
    at.segmented_control(key="masks_size.en").set_value("projector").run()
    at.slider(key="masks_query").set_value(7).run()
    at.text_input(key="masks_sentence").set_value("Non").run()
    at.toggle(key="masks_scaled").set_value(True).run()
    values, said = shown(at), at.query_params
    assert values == {"size": "projector", "query": 7, "sentence": "Non", "scaled": True, "refused": []}

    at.segmented_control(key="language.en").set_value("zh_CN").run()
    assert shown(at) == values
    assert at.query_params == {**said, "language": "zh_CN"}
    assert at.segmented_control(key="masks_size.zh_CN").formatted_values == ["投影"]

    at.segmented_control(key="masks_size.zh_CN").set_value("normal").run()
    at.segmented_control(key="language.zh_CN").set_value("en").run()
    assert shown(at) == {**values, "size": "normal"}
    assert "language" not in at.query_params


def test_a_chinese_address_is_the_english_one(start: Start) -> None:
    at = start(translated, {"masks_size": "projector", "language": "zh_CN"})
    assert shown(at)["size"] == "projector"
    address = press(at, "masks.share").code[0].value
    assert "projector" in address
    assert address.isascii()
    assert "%E6" not in address


# ------------------------------------------------------------------------------------------------------ pure functions


@pytest.mark.parametrize(("value", "found"), [(-9, 0), (0, 0), (5, 4), (8, 8), (9, 9), (99, 9)])
def test_the_end_of_a_slider_need_not_be_a_step(value: float, found: int) -> None:
    assert typed.nearest(value, 0, 9, 4) == found


@given(low=st.integers(-9, 9), step=st.integers(1, 5), steps=st.integers(1, 20), data=st.data())
def test_the_nearest_whole_step(low: int, step: int, steps: int, data: st.DataObject) -> None:
    high = low + step * steps
    value = data.draw(st.integers(low, high))
    found = typed.nearest(value, low, high, step)
    assert isinstance(found, int)
    assert (found - low) % step == 0
    assert low <= found <= high
    assert abs(found - value) <= step / 2


@pytest.mark.parametrize(
    ("low", "high", "step"), [(0.1, 2.0, 0.1), (0.0, 1.0, 0.05), (-2.5, 2.5, 0.25), (1.0, 5.0, 0.2)]
)
def test_steps_of_fractions_are_the_numbers_that_people_write(low: float, high: float, step: float) -> None:
    written = [round(low + i * step, 2) for i in range(round((high - low) / step) + 1)]
    assert [typed.nearest(low + i * step, low, high, step) for i in range(len(written))] == written
    for one, other in itertools.pairwise(written):
        assert typed.nearest(one + 0.4 * step, low, high, step) == one
        assert typed.nearest(one + 0.6 * step, low, high, step) == other


@pytest.mark.parametrize(
    ("options", "side_by_side"),
    [
        (["Causal", "Prefix"], True),
        (["一", "二", "三", "四"], True),
        (["1", "2", "3", "4", "5"], False),
        (["Sliding window", "Prefix", "Permutation"], False),
        (["滑动窗口掩码", "前缀掩码", "排列掩码"], False),
    ],
)
def test_what_fits_beside_each_other(options: list[str], side_by_side: bool) -> None:
    assert choices.fits({label: label for label in options}) is side_by_side
