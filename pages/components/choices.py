"""One of several options: side by side where there is room, else in a list; in every language.

Streamlit knows an option by the label that is shown. So that a choice survives a change of language, its widget is made
anew for each language, and what was chosen is kept under a key of its own by a name that no language changes.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

import streamlit as st

from pages.components import address
from pages.components.i18n import language

FEW = 4  # so many short options stand side by side; more go into a list
ROOM = 30  # letters of all labels together that there is room for side by side in the sidebar, with their margins


def draw_choice(
    label: str,
    options: Mapping[str, str],
    key: str,
    *,
    help: str | None = None,
    on_change: Callable[[], None] | None = None,
    in_a_list: bool = False,
    width: int | Literal["stretch"] = "stretch",
) -> None:
    """The widget for what st.session_state[key] holds: one of `options`, which maps names to translated labels."""
    widget = f"{key}.{language()}"
    st.session_state[widget] = st.session_state[key]
    names, adopt = list(options), partial(_adopt, key, widget, on_change)
    if in_a_list or not fits(options):
        st.selectbox(label, names, format_func=options.__getitem__, key=widget, help=help, on_change=adopt, width=width)
    else:
        st.segmented_control(
            label,
            names,
            format_func=options.__getitem__,
            key=widget,
            help=help,
            required=True,
            on_change=adopt,
            width="content" if width == "stretch" else width,
        )


def _adopt(key: str, widget: str, on_change: Callable[[], None] | None) -> None:
    st.session_state[key] = st.session_state[widget]
    if on_change is not None:
        on_change()


def fits(options: Mapping[str, str]) -> bool:
    """Whether the options can stand side by side in the sidebar; a Chinese character is as wide as two letters."""
    width = sum(3 + sum(2 if ord(c) > 0x2E80 else 1 for c in label) for label in options.values())
    return len(options) <= FEW and width <= ROOM


def choose_everywhere(name: str, label: str, options: Mapping[str, str], *, default: str) -> None:
    """A choice that holds on every page, under `name` in the state and in the address."""
    st.session_state.setdefault(name, default)
    draw_choice(label, options, name)


def read_everywhere(name: str, options: Mapping[str, str], *, default: str) -> str:
    """The value of such a choice, before it is drawn: from the state, or from the address of a new session."""
    if st.session_state.get(name) not in options:
        asked = st.query_params.get(name)
        st.session_state[name] = asked if asked in options else default
    value: str = st.session_state[name]
    address.write(name, value, default)
    return value
