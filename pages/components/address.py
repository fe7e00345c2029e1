"""The address of a page: it says what the controls say.

Streamlit keeps switches and texts in the address by itself. Of a choice it would write the label that is shown, in one
language or the other, and a slider it would make wait; so these, and values without a control, are kept here.
"""

import contextlib
import urllib.parse
from collections.abc import Collection
from dataclasses import dataclass

import streamlit as st
from streamlit.errors import StreamlitAPIException

from pages.components import registry


@dataclass(slots=True)
class _Said:
    """What the address says of a value, as far as this session knows: then it is no news."""

    by_us: str | None = None
    by_browser: str | None = None  # of a slider that has moved since


def news(key: str, *, stayed: bool) -> tuple[bool, str | None]:
    """Whether the address asks for something that this session has not seen yet, and what it says (None: nothing).

    It does in a new session, and when somebody went back to an earlier address.
    stayed: whether the last run showed the same page; another page has an address of its own.
    """
    said: str | None = st.query_params.get(key)
    if key not in st.session_state:
        return True, said
    known = _said(key)
    return said not in (known.by_us, known.by_browser) and (stayed or said is not None), said


def stands(key: str, value: str, default: str) -> None:
    """The browser will let the address say this of a slider."""
    _said(key).by_browser = None if value == default else value


def write(key: str, value: str, default: str) -> None:
    """Let the address say `value`, or nothing if it is the default. Only a change is sent to the browser."""
    said = st.query_params.get(key)
    if value != default and said != value:
        st.query_params[key] = value
    elif value == default and said is not None:
        del st.query_params[key]
    known = _said(key)
    known.by_us = known.by_browser = None if value == default else value


def drop(key: str) -> None:
    """Let the address say nothing about a value that no control shows now."""
    if key in st.query_params:
        with contextlib.suppress(StreamlitAPIException):  # Streamlit still keeps it for a control of its own
            del st.query_params[key]
    known = _said(key)
    known.by_us = known.by_browser = None


def number(value: float) -> str:
    """A number as an address has it.

    >>> number(0.5), number(2.0), number(131072)
    ('0.5', '2', '131072')
    """
    return str(int(value)) if value == int(value) else str(value)


def whole() -> str:
    """The address that reproduces what is on the screen."""
    query = urllib.parse.urlencode(st.query_params.to_dict())
    page = mended((st.context.url or "").partition("?")[0], [page.url_path for page in registry.pages()])
    return page + (f"?{query}" if query else "")


def mended(url: str, names: Collection[str]) -> str:
    """The address of a page where st.context.url tells a wrong one, the same where it does not.

    Streamlit 1.67 takes the name of the page off the end of the address and puts it there again, but it takes off that
    of whichever page it finds first: "heads" from "learning_heads" leaves "learning_".

    >>> mended("http://host/learning_/learning_heads", ["heads", "learning_heads"])
    'http://host/learning_heads'
    """
    base, _slash, name = url.rpartition("/")
    above, _slash, rest = base.rpartition("/")
    left_over = any(other and rest + other == name for other in names if other != name)
    return f"{above}/{name}" if left_over else url


def _said(key: str) -> _Said:
    said: dict[str, _Said] = st.session_state.setdefault("address", {})
    return said.setdefault(key, _Said())
