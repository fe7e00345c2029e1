"""What surrounds every page: language and text size, chosen once for all pages and kept in the address."""

import pytest

from pages.components import frame
from tests.pages.apps import Start, html, shown


def app() -> None:
    import streamlit as st

    from pages.components import frame, i18n
    from pages.components.plot import current_style

    frame.begin()
    st.json(
        {
            "language": i18n.language(),
            "size": frame.type_size(),
            "style": current_style().name,
            "scale": current_style().scale,
        }
    )
    frame.finish()


ENGLISH = {"language": "en", "size": "normal", "style": "light", "scale": 1}


def test_defaults(start: Start) -> None:
    at = start(app)
    assert shown(at) == ENGLISH
    assert at.query_params == {}
    assert [(group.label, group.formatted_values) for group in at.sidebar.button_group] == [
        ("Language", ["English"]),
        ("Text size", ["normal"]),
    ]


def test_a_chinese_browser_is_answered_in_chinese(start: Start) -> None:
    at = start(app, locale="zh-CN")
    assert shown(at) == {**ENGLISH, "language": "zh_CN"}
    assert at.query_params == {}
    assert [(group.label, group.formatted_values) for group in at.sidebar.button_group] == [
        ("语言", ["简体中文"]),
        ("字号", ["标准"]),
    ]


def test_the_language_is_chosen_and_chosen_back(start: Start) -> None:
    at = start(app)
    at.segmented_control(key="language.en").set_value("zh_CN").run()
    assert shown(at)["language"] == "zh_CN"
    assert at.query_params == {"language": "zh_CN"}
    at.segmented_control(key="language.zh_CN").set_value("en").run()
    assert shown(at)["language"] == "en"
    assert at.query_params == {}


def test_the_address_tells_a_chinese_browser_to_speak_english(start: Start) -> None:
    at = start(app, {"language": "en"}, locale="zh-CN")
    assert shown(at)["language"] == "en"
    assert at.query_params == {"language": "en"}
    at.segmented_control(key="language.en").set_value("zh_CN").run()
    assert at.query_params == {}


@pytest.mark.parametrize("asked", ["", "de", "zh_TW", "EN", "<script>", "x" * 10_000, ["zh_CN", "nonsense"]])
def test_a_language_we_do_not_speak_is_dropped(start: Start, asked: str | list[str]) -> None:
    at = start(app, {"language": asked})
    assert shown(at)["language"] == "en"
    assert at.query_params == {}


@pytest.mark.parametrize("asked", ["", "huge", "Projector", "投影", "normal"])
def test_a_size_there_is_not_is_dropped(start: Start, asked: str) -> None:
    at = start(app, {"size": asked})
    assert shown(at)["size"] == "normal"
    assert at.query_params == {}


def test_text_for_the_projector(start: Start) -> None:
    at = start(app)
    assert frame.PROJECTOR.read_text(encoding="utf-8") not in html(at)
    at.segmented_control(key="size.en").set_value("projector").run()
    assert shown(at)["size"] == "projector"
    assert shown(at)["scale"] > 1
    assert frame.PROJECTOR.read_text(encoding="utf-8") in html(at)
    assert at.query_params == {"size": "projector"}

    at.segmented_control(key="language.en").set_value("zh_CN").run()
    assert shown(at)["size"] == "projector"
    assert at.query_params == {"size": "projector", "language": "zh_CN"}
    assert shown(start(app, at.query_params)) == shown(at)


def test_light_and_dark(start: Start) -> None:
    assert shown(start(app, theme="dark"))["style"] == "dark"
    assert shown(start(app, theme="light"))["style"] == "light"


def test_the_choices_stand_below_the_controls_of_the_page(start: Start) -> None:
    def page() -> None:
        from pages.components import frame
        from pages.components.controls import Panel

        frame.begin()
        with Panel("masks") as panel:
            panel.slider("query", "Query", 0, 8, default=4, step=1)
            panel.finish()
        frame.finish()

    at = start(page)
    keys = [element.key for element in at.sidebar if getattr(element, "key", None)]
    assert keys.index("masks_query") < keys.index("masks.reset") < keys.index("language.en") < keys.index("size.en")
