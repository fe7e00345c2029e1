"""The floor that pages are measured against: an otherwise empty page with one slider and one chart.

The benchmark asks for a chart like a page's: /?kind=bar&marks=12&texts=20&renderer=svg. It runs under the conditions of
the app: the same configuration, torch and transformers imported, garbage frozen (or not, with &garbage=default).
"""

import gc
import math
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.components import warm


@st.cache_resource
def places(marks: int, columns: int) -> pd.DataFrame:
    """Where the marks stand, and the numbers that the slider changes."""
    place = np.arange(marks, dtype=np.int16)
    value = np.random.default_rng(0).random(marks, dtype=np.float32)
    return pd.DataFrame({"x": place % columns, "y": place // columns, "value": value})


@st.cache_resource
def specification(kind: str, renderer: str) -> dict[str, Any]:
    """Marks of one kind, and texts on top of them."""
    place: dict[str, Any] = {"x": {"field": "x", "type": "ordinal"}}
    if kind == "rect":
        place["y"] = {"field": "y", "type": "ordinal"}
        colour = {"field": "value", "type": "quantitative", "scale": {"scheme": "viridis", "domain": [0, 1]}}
    else:
        place["y"] = {"field": "value", "type": "quantitative", "scale": {"domain": [0, 1]}}
        colour = {"value": "#2456a6"}
    tooltip = [{"field": "x"}, {"field": "value", "format": ".3f"}]
    text = {"field": "value", "type": "quantitative", "format": ".2f"}
    return {
        "height": 420,
        "usermeta": {"embedOptions": {"renderer": renderer}},
        "layer": [
            {"data": {"name": "marks"}, "mark": kind, "encoding": {**place, "color": colour, "tooltip": tooltip}},
            {"data": {"name": "texts"}, "mark": "text", "encoding": {**place, "text": text}},
        ],
    }


def main() -> None:
    st.set_page_config(layout="wide")
    warm.start()
    ask = st.query_params
    if ask.get("garbage") == "default":
        gc.unfreeze()
    kind = ask.get("kind", "rect")
    marks, texts = int(ask.get("marks", 100)), int(ask.get("texts", 0))
    many = max(marks, texts, 1)
    columns = math.ceil(math.sqrt(many)) if kind == "rect" else many
    st.title("Floor", anchor=False)
    power = st.slider("Power", 0, 100, 50)
    frame = places(many, columns)
    frame = frame.assign(value=frame["value"].to_numpy() ** np.float32(power / 50 + 0.1))
    frames = {"marks": frame.head(marks), "texts": frame.head(texts)}
    st.vega_lite_chart({**specification(kind, ask.get("renderer", "svg")), "datasets": frames}, key="chart", theme=None)


if __name__ == "__main__":
    main()
