"""What the tests of the pages say to an app, and how they read it."""

import io
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
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


def begun(page: str, *, language: str = "en", **address: object) -> AppTest:
    """The first run of a page at this address, in a browser of this language, whatever it shows."""
    app = AppTest.from_string(f"from pages import {page}; {page}.render()", default_timeout=120)
    app.context["locale"] = language.replace("_", "-")
    for name, value in address.items():
        app.query_params[f"{page}_{name}"] = str(value)
    return app.run()


def opened(page: str, *, language: str = "en", **address: object) -> AppTest:
    """The page as it opens at this address, which must be without errors."""
    return checked(begun(page, language=language, **address))


def checked(app: AppTest) -> AppTest:
    assert not app.exception, app.exception[0].message
    assert not app.error, app.error[0].value
    return app


def charts(app: AppTest) -> dict[str, pd.DataFrame]:
    """Every dataset of the page's figure, by name; without what only counts clicks."""
    figures = app.get("vega_lite_chart")
    assert len(figures) <= 1, "each picture of its own costs the browser time"
    return {
        dataset.name: pa.ipc.open_stream(io.BytesIO(dataset.data.data))
        .read_pandas()
        .drop(columns="nonce", errors="ignore")
        for figure in figures
        for dataset in figure.proto.datasets
    }


def spec(app: AppTest) -> str:
    """How the page's figure is drawn, as JSON."""
    (figure,) = app.get("vega_lite_chart")
    text: str = figure.proto.spec
    return text


def changed(one: Mapping[str, pd.DataFrame], other: Mapping[str, pd.DataFrame]) -> set[str]:
    """The names of the datasets that differ, or that only one of the two has."""
    both = one.keys() & other.keys()
    return (one.keys() ^ other.keys()) | {name for name in both if not one[name].equals(other[name])}


def words(app: AppTest) -> str:
    return " ".join(element.proto.body for element in app.get("html"))


def verdicts(app: AppTest) -> list[str]:
    return re.findall(r'atlas-claim (\w+)"', words(app))
