"""The map, and the menu it stands for."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from pages import home


def opened(language: str = "en") -> AppTest:
    app = AppTest.from_string("from pages import home; home.render()", default_timeout=60)
    app.context["locale"] = language.replace("_", "-")
    app.run()
    assert not app.exception, app.exception[0].message
    return app


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_opens(language: str) -> None:
    app = opened(language)
    assert {"en": "Attention Atlas", "zh_CN": "注意力图谱"}[language] in app.html[0].value
    assert len(app.get("vega_lite_chart")) == 1


def test_only_blocks_whose_page_exists_can_be_clicked() -> None:
    app = AppTest.from_string(
        """
        import streamlit as st
        from pages import home
        from pages.components import registry
        home.render()
        st.session_state["paths"] = [page.url_path for page in registry.pages()]
        """,
        default_timeout=60,
    ).run()
    spec = json.loads(app.get("vega_lite_chart")[0].proto.spec)
    clickable = {
        row["id"] for layer in spec["layer"] if layer["data"].get("name") == "linked" for row in layer["data"]["values"]
    }
    assert clickable == {block for block, path in home.LEADS_TO.items() if path in app.session_state["paths"]}
    assert "whole" in clickable
