"""What the tests of the pages say to an app, and how they read it."""

import json
from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

Start = Callable[..., AppTest]
"""start(app, {"p_x": "3"}, locale="zh-CN", high=8): the first run of an app, at an address, with its arguments."""


def shown(at: AppTest) -> dict[str, Any]:
    """What the app reported with st.json."""
    assert not at.exception, at.exception
    values: dict[str, Any] = json.loads(at.json[0].value)
    return values


def press(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click().run()
    assert not at.exception, at.exception
    return at


def html(at: AppTest) -> str:
    """All HTML of the app's own making."""
    return "\n".join(element.value for element in at.html)
