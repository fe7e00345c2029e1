"""Charts on a page: the specification is built once, only the data travel, and clicks are heard."""

import io
import json
from typing import Any

import altair as alt
import pandas as pd
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from core.charts.theme import Style
from pages.components import plot
from tests.pages.apps import Start, shown

built: list[tuple[str, dict[str, Any]]] = []


def chart(style: Style, **settings: Any) -> alt.Chart:
    built.append((style.name, settings))
    data = alt.NamedData("cells")
    return (
        alt.Chart(data, background=style.background).mark_bar().encode(x=alt.X("x:Q", title=settings["title"]), y="y:Q")
    )


@pytest.fixture(autouse=True)
def _nothing_built_yet() -> None:
    built.clear()
    plot._spec.cache_clear()


def app(build: object, frame: object, click: object = None, title: str = "weight") -> None:
    import streamlit as st

    from pages.components import plot

    def react() -> None:
        st.session_state["picked"] = plot.picked("p.chart", "cell", "q")

    if click is not None:
        st.session_state["p.chart"] = {"selection": click}
        react()
        del st.session_state["p.chart"]
    value = st.slider("Value", 0.0, 1.0, 0.25, 0.25, key="value")
    frame["y"] = value
    drawn = plot.draw("p.chart", build, {"cells": frame}, alt="Bars", title=title)
    st.json(
        {
            "key": drawn.key,
            "style": drawn.style.name,
            "picked": st.session_state.get("picked"),
            "clicks": plot.clicks("p.chart"),
        }
    )


def sent(at: AppTest) -> tuple[dict[str, Any], pd.DataFrame, str]:
    """Specification, data and description as they go to the browser."""
    proto = at.get("vega_lite_chart")[0].proto
    (dataset,) = proto.datasets
    assert dataset.name == "cells"
    return json.loads(proto.spec), pa.ipc.open_stream(io.BytesIO(dataset.data.data)).read_pandas(), proto.alt


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame({"x": [0, 1]})


def test_only_the_data_change(start: Start, frame: pd.DataFrame) -> None:
    at = start(app, build=chart, frame=frame)
    spec, data, description = sent(at)
    assert data["y"].tolist() == [0.25, 0.25]
    assert description == "Bars"
    assert spec["encoding"]["x"]["title"] == "weight"
    assert "values" not in json.dumps(spec)

    at.slider(key="value").set_value(0.75).run()
    assert sent(at)[0] == spec
    assert sent(at)[1]["y"].tolist() == [0.75, 0.75]
    assert built == [("light", {"title": "weight"})]


def test_a_setting_or_a_theme_makes_another_chart(start: Start, frame: pd.DataFrame) -> None:
    light = sent(start(app, build=chart, frame=frame))[0]
    other = sent(start(app, build=chart, frame=frame, title="权重"))[0]
    dark = start(app, build=chart, frame=frame, theme="dark")
    assert shown(dark)["style"] == "dark"
    assert light["background"] != sent(dark)[0]["background"]
    assert other["encoding"]["x"]["title"] == "权重"
    assert [name for name, _ in built] == ["light", "light", "dark"]
    start(app, build=chart, frame=frame)
    assert len(built) == 3


@pytest.mark.parametrize(
    ("click", "picked", "clicks"),
    [
        ({"cell": [{"q": 3, "k": 1}]}, 3, 1),
        ({"cell": [{"q": "whole"}]}, "whole", 1),
        ({"cell": []}, None, 0),
        ({}, None, 0),
        ({"other": [{"q": 3}]}, None, 0),
    ],
)
def test_clicks(start: Start, frame: pd.DataFrame, click: object, picked: object, clicks: int) -> None:
    at = start(app, build=chart, frame=frame, click=click)
    assert (shown(at)["picked"], shown(at)["clicks"]) == (picked, clicks)
    at.run()
    assert shown(at)["clicks"] == 2 * clicks


def two_parts() -> None:
    from core.charts import bars
    from pages.components import plot

    data = bars.attention_bars_data([0.25, 0.75])
    parts = [plot.part(name, bars.attention_bars, data, share=0.5, keys=("a", "b")) for name in ("one", "two")]
    plot.figure("p.figure", [parts], alt="Bars")


@pytest.mark.parametrize(("room", "rows"), [(1065, 1), (plot.NARROW, 1), (plot.NARROW - 1, 2)])
def test_on_a_phone_the_parts_of_a_figure_stand_below_each_other(
    start: Start, monkeypatch: pytest.MonkeyPatch, room: int, rows: int
) -> None:
    monkeypatch.setattr("pages.components.frame.room", lambda: room)
    spec = json.loads(start(two_parts).get("vega_lite_chart")[0].proto.spec)
    assert len(spec["vconcat"]) == rows
