"""What only the browser knows or can do, by one invisible component.

Plots follow the finger: Streamlit's own sliders commit while they are dragged. And the server learns how wide the page
is, and that somebody has switched from light to dark.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

MOUNT = "live_slider_mount"
NARROWEST, WIDEST = 320, 3000  # pixels

_SCRIPT = (Path(__file__).parent / "live_slider.js").read_text(encoding="utf-8")
_STYLE = ".st-key-live_slider_mount { position: absolute }"  # takes no room, not even a gap, in the page's column


_component = st.components.v2.component("live_slider", js=_SCRIPT, css=_STYLE, isolate_styles=False)


def room(otherwise: int) -> int:
    """How many pixels wide the main column is, as far as the browser has said so."""
    known = st.session_state.get(MOUNT)
    found = otherwise if known is None else int(known.get("room", otherwise))
    return max(NARROWEST, min(WIDEST, found))


def mount(*, calm: Sequence[str], starts: Mapping[str, str], room: int, again: bool) -> None:
    """Make every slider of the app follow the finger. Called once per run, by the frame.

    calm: keys of sliders, or of containers around sliders, that commit at release only: where a rerun is expensive.
    starts: keys of sliders that are in the address unless they stand where this says.
    room: how many pixels wide the main column was taken to be.
    again: let the browser ask for one more run when this one is over.
    """
    _component(
        key=MOUNT,
        data={"calm": list(calm), "starts": dict(starts), "room": room, "again": again, "run": time.monotonic_ns()},
        default={"room": room},
        on_room_change=_rerun,
        on_theme_change=_rerun,
        on_again_change=_rerun,
    )


def _rerun() -> None:
    """Nothing is to be done but what every run does."""
