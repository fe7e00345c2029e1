"""What surrounds every page: look, type size, language, background imports, sliders that act while dragged."""

from pathlib import Path
from typing import Literal

import streamlit as st

from pages.components import live_slider, warm
from pages.components.choices import choose_everywhere, read_everywhere
from pages.components.controls import AGAIN, STARTS
from pages.components.i18n import CHOICE, LANGUAGES, _, browser_language

STYLE = Path(__file__).parent / "frame.css"
PROJECTOR = Path(__file__).parent / "projector.css"
ICON = str(Path(__file__).parent / "icon.png")
SIDEBAR_WIDTHS = {"normal": 300, "projector": 390}
ROOMS = {"normal": 1065, "projector": 962}  # pixels that are left for the plots in a window of 1440
SIZE = "size"
CALM = ("translation_calm", "qkv_calm", "recurrence_calm", "rank_calm", "embeddings_calm", "transformer_calm")
"""Around sliders whose every move is expensive."""


def begin() -> None:
    """Call it first in every run."""
    read_everywhere(CHOICE, LANGUAGES, default=browser_language())
    read_everywhere(SIZE, _sizes(), default="normal")
    # The title of the browser's tab is the page's own.
    st.set_page_config(page_icon=ICON, layout="wide", initial_sidebar_state=SIDEBAR_WIDTHS[type_size()])
    warm.start()
    st.html(STYLE)
    if type_size() == "projector":
        st.html(PROJECTOR)


def finish() -> None:
    """Call it after the page: language and text size stand below the page's own controls."""
    with st.sidebar:
        choose_everywhere(CHOICE, _("Language"), LANGUAGES, default=browser_language())
        choose_everywhere(SIZE, _("Text size"), _sizes(), default="normal")
    again, starts = st.session_state.pop(AGAIN, False), st.session_state.pop(STARTS, {})
    live_slider.mount(calm=CALM, starts=starts, room=room(), again=again)


def type_size() -> Literal["normal", "projector"]:
    """The size that charts are drawn in."""
    return "projector" if st.session_state.get(SIZE) == "projector" else "normal"


def room() -> int:
    """Pixels from the left to the right of the main column."""
    return live_slider.room(otherwise=ROOMS[type_size()])


def _sizes() -> dict[str, str]:
    return {"normal": _("normal"), "projector": _("projector")}
