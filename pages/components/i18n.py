"""Every text that a person sees, in the language that this person chose.

Messages are English sentences in the code; gettext catalogues in `pages/locales/<language>/LC_MESSAGES` translate
them. The catalogues are compiled when the server starts, so that no generated file has to be kept in step with them.
"""

import functools
import gettext
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import streamlit as st
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

LANGUAGES = {"en": "English", "zh_CN": "简体中文"}
LOCALES = Path(__file__).parent.parent / "locales"
CHOICE = "language"  # where the choice is kept: in the session's state and in the address


@functools.cache
def _catalogue(language: str) -> gettext.NullTranslations:
    source = LOCALES / language / "LC_MESSAGES" / "messages.po"
    if not source.exists():
        return gettext.NullTranslations()
    compiled = io.BytesIO()
    with source.open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


_SETTLED: ContextVar[str | None] = ContextVar("language", default=None)


def language() -> str:
    """The language of this session: the one chosen, or else the browser's if we speak it."""
    settled = _SETTLED.get()
    if settled is not None:
        return settled
    chosen = st.session_state.get(CHOICE)
    return chosen if chosen in LANGUAGES else browser_language()


@contextmanager
def settled(language: str) -> Iterator[None]:
    """Meanwhile the language is this one, and nobody asks the session for it at each of thirty messages."""
    token = _SETTLED.set(language)
    try:
        yield
    finally:
        _SETTLED.reset(token)


def browser_language() -> str:
    return "zh_CN" if (st.context.locale or "").lower().startswith("zh") else "en"


def _(message: str) -> str:
    """Translate a message."""
    return _catalogue(language()).gettext(message)


def joined(sentences: Iterable[str]) -> str:
    """One after the other, with a space between them where the language has one."""
    return ("" if language() == "zh_CN" else " ").join(sentences)


def ngettext(singular: str, plural: str, count: int) -> str:
    """Translate a message whose form depends on a number."""
    return _catalogue(language()).ngettext(singular, plural, count)
