"""A sentence typed on one page is offered on every other page that reads its language."""

from streamlit.testing.v1 import AppTest

APP = """
import streamlit as st
from pages.components.controls import Panel

for page, spoken in (("one", "fr"), ("two", "fr"), ("three", "en")):
    with Panel(page) as panel:
        panel.text("sentence", page, default="Bonjour.", max_chars=80, spoken=spoken)
"""


def typed(text: str) -> AppTest:
    app = AppTest.from_string(APP, default_timeout=30).run()
    assert not app.button
    app.text_input(key="one_sentence").set_value(text)
    app = app.run()
    assert not app.exception
    return app


def test_it_is_offered_in_its_language_and_taken_by_a_click() -> None:
    app = typed("Le chat dort.")
    assert [button.key for button in app.button] == ["two.sentence.offer"]
    app = app.button[0].click().run()
    assert app.text_input(key="two_sentence").value == "Le chat dort."
    assert not app.button


def test_only_what_differs_is_offered() -> None:
    assert not typed("Bonjour.").button
    assert not typed("  ").button


def test_it_is_shown_as_it_is() -> None:
    label = typed("![x](http://a) **b** <i>c</i>").button[0].label
    assert label == r"“\!\[x\]\(http\:\/\/a\) \*\*b\*\* \<i\>c\<\/i\>”".replace(r"\/", "/")
