"""What the tests of the pages say to an app, and how they read it."""

import json
from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup

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


def presets(at: AppTest) -> list[str]:
    """The labels of the page's presets, in their order."""
    return [option.removeprefix(":material/bolt: ") for option in _presets(at).options]


def take_preset(at: AppTest, preset: str | int) -> AppTest:
    """Take a preset: by its label, or by its number."""
    label = presets(at)[preset] if isinstance(preset, int) else preset
    _presets(at).set_value(label).run()
    assert not at.exception, at.exception
    return at


def _presets(at: AppTest) -> ButtonGroup[str]:
    (group,) = (one for one in at.pills if one.key is not None and ".presets." in one.key)
    return group


def html(at: AppTest) -> str:
    """All HTML of the app's own making."""
    return "\n".join(element.value for element in at.html)
