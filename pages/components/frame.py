"""What surrounds every page: theme and type size, the language, the background imports, sliders that act while dragged."""

from pathlib import Path

import streamlit as st

from pages.components import live_slider, warm
from pages.components.controls import choose_everywhere, read_everywhere
from pages.components.i18n import CHOICE, LANGUAGES, _, browser_language

STYLE = Path(__file__).parent / "frame.css"
PROJECTOR = Path(__file__).parent / "projector.css"
ICON = Path(__file__).parent / "icon.png"
SIDEBAR_WIDTH = 300
SIZE = "size"


def begin() -> None:
    """Call it first in every run."""
    st.set_page_config(page_icon=ICON, layout="wide", initial_sidebar_state=SIDEBAR_WIDTH)  # the title is the page's own
    warm.start()
    read_everywhere(CHOICE, LANGUAGES, default=browser_language())
    size = read_everywhere(SIZE, _sizes(), default="normal")
    st.html(STYLE)
    if size == "projector":
        st.html(PROJECTOR)
    live_slider.mount()


def finish() -> None:
    """Call it after the page: language and text size stand below the page's own controls."""
    with st.sidebar.container(key="frame_choices", gap="small"):
        choose_everywhere(CHOICE, _("Language"), LANGUAGES, default=browser_language())
        choose_everywhere(SIZE, _("Text size"), _sizes(), default="normal")


def type_size() -> str:
    """Which sizes charts are drawn in: `normal` or `projector`."""
    return st.session_state.get(SIZE, "normal")


def _sizes() -> dict[str, str]:
    return {"normal": _("normal"), "projector": _("projector")}
