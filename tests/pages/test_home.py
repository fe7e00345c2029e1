"""The map, and the menu it stands for."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from pages import home
from pages.components import registry


def opened(language: str = "en") -> AppTest:
    app = AppTest.from_string("from pages import home; home.render()", default_timeout=60)
    app.query_params["language"] = language
    app.run()
    assert not app.exception, app.exception[0].message
    return app


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_opens(language: str) -> None:
    assert len(opened(language).get("vega_lite_chart")) == 1


def test_only_blocks_whose_page_exists_can_be_clicked() -> None:
    spec = json.loads(opened().get("vega_lite_chart")[0].proto.spec)
    clickable = {row["id"] for row in rows(spec) if row.get("linked")}
    addresses = {page.url_path for page in registry.pages()}
    assert clickable == {block for block, path in home.LEADS_TO.items() if path in addresses}
    assert "whole" in clickable


def rows(part: object) -> list[dict[str, object]]:
    """Every record with an id in the chart's own data."""
    if isinstance(part, dict):
        own = [part] if "id" in part and "x" in part else []
        return own + [row for value in part.values() for row in rows(value)]
    return [row for value in part for row in rows(value)] if isinstance(part, list) else []
