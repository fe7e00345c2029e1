"""The floor that pages are measured against: an otherwise empty page with one slider and the chart of a page.

The benchmark puts the charts that it saw on pages, each with its data after every move of the slider, into the folder
that the environment names in FLOOR_CHARTS, and asks for one: /?chart=masks. The slider stands in the address, as the
app's do; here Streamlit itself sees to it. The floor runs under the conditions of the app: the same configuration,
torch and transformers imported, garbage frozen (or not, with &garbage=default).
"""

import base64
import gc
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import streamlit as st

from pages.components import warm

CHARTS = "FLOOR_CHARTS"


@st.cache_resource
def chart(name: str) -> tuple[dict[str, Any], list[dict[str, pa.Table]]]:
    """Its specification, and its datasets in every state."""
    kept = json.loads((Path(os.environ[CHARTS]) / f"{Path(name).name}.json").read_text(encoding="utf-8"))
    states = [
        {key: pa.ipc.open_stream(base64.b64decode(data)).read_all() for key, data in state.items()}
        for state in kept["states"]
    ]
    return kept["spec"], states


def main() -> None:
    st.set_page_config(layout="wide")
    warm.start()
    if st.query_params.get("garbage") == "default":
        gc.unfreeze()
    spec, states = chart(st.query_params["chart"])
    st.title("Floor", anchor=False)
    value = st.slider("Value", 0, len(states) - 1, 0, key="value", bind="query-params")
    st.vega_lite_chart({**spec, "datasets": states[value]}, key="chart", theme=None)


if __name__ == "__main__":
    main()
