"""Plots follow the finger: one invisible component lets Streamlit's own sliders commit while they are dragged."""

import time
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

_SCRIPT = (Path(__file__).parent / "live_slider.js").read_text(encoding="utf-8")
_STYLE = ".st-key-live_slider_mount { position: absolute }"  # takes no room, not even a gap, in the page's column


_component = st.components.v2.component("live_slider", js=_SCRIPT, css=_STYLE, isolate_styles=False)


def mount(calm: Sequence[str] = ()) -> None:
    """Make every slider of the app follow the finger. Called once per run, by the frame.

    calm: keys of sliders, or of containers around sliders, that commit at release only: where a rerun is expensive.
    """
    _component(key="live_slider_mount", data={"calm": list(calm), "run": time.monotonic_ns()})
