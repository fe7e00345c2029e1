"""A sentence typed on one page is offered on every other page that reads its language."""

from streamlit.testing.v1 import AppTest

APP = """
import streamlit as st
from pages.components.controls import Panel

page, spoken = st.session_state.get("now", ("one", "fr"))
with Panel(page) as panel:
    panel.text("sentence", page, default="Bonjour.", max_chars=80, spoken=spoken)
"""


def typed(text: str) -> AppTest:
    """The text is typed on the page "one"."""
    app = AppTest.from_string(APP, default_timeout=30).run()
    assert not app.button
    app.text_input(key="one_sentence").set_value(text)
    app = app.run()
    assert not app.exception
    return app


def turned_to(app: AppTest, page: str, spoken: str) -> AppTest:
    app.session_state["now"] = (page, spoken)
    app = app.run()
    assert not app.exception
    return app


def test_it_is_offered_in_its_language_and_taken_by_a_click() -> None:
    app = turned_to(typed("Le chat dort."), "three", "en")
    assert not app.button
    app = turned_to(app, "two", "fr")
    assert [button.key for button in app.button] == ["two.sentence.offer"]
    app = app.button[0].click().run()
    assert app.text_input(key="two_sentence").value == "Le chat dort."
    assert not app.button
    assert not turned_to(app, "one", "fr").button


def test_only_what_differs_is_offered() -> None:
    assert not turned_to(typed("Bonjour."), "two", "fr").button
    assert not turned_to(typed("  "), "two", "fr").button


def test_it_is_shown_as_it_is() -> None:
    label = turned_to(typed("![x](http://a) **b** <i>c</i>"), "two", "fr").button[0].label
    assert label == r"“\!\[x\]\(http\:\/\/a\) \*\*b\*\* \<i\>c\<\/i\>”".replace(r"\/", "/")
