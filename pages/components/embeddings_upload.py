"""A table of word vectors that somebody brings along. It stays in the session: an address cannot hold it."""

from dataclasses import dataclass

import streamlit as st

from core.embedding_tables import MOST_BYTES, MOST_DIMS, MOST_WORDS, TableError, read_file
from core.embeddings import WordVectors
from pages.components.controls import MARKDOWN
from pages.components.embeddings_table import sentence
from pages.components.i18n import _
from pages.components.typed import quoted

STATE = "embeddings.file"
MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Nothing:
    """Why there are no words to show, and what to do about it."""

    said: str
    notes: tuple[str, ...] = ()
    wrong: bool = False  # something went wrong, not just missing


@dataclass(frozen=True, slots=True, eq=False)
class Brought:
    """A file, read once."""

    name: str
    table: WordVectors | None
    error: TableError | None


def choose() -> WordVectors | Nothing:
    """The place for the file, and the table that it holds."""
    st.file_uploader(
        _("File"),
        key="embeddings.upload",
        max_upload_size=MOST_BYTES // MEGABYTE,
        on_change=_read,
        help=_(
            "CSV, or the text format of GloVe or word2vec: in every line a word and its numbers, and if you like a "
            "group behind the word or at the end."
        ),
    )
    brought: Brought | None = st.session_state.get(STATE)
    if brought is None:
        said = _(
            "Bring a file on the left: up to {words} words with up to {dims} numbers each, and at most {size} MB. "
            "From a larger file, such as GloVe's own, copy the lines that you want."
        )
        return Nothing(said.format(words=f"{MOST_WORDS:,}", dims=MOST_DIMS, size=MOST_BYTES // MEGABYTE))
    if brought.table is None:
        said = _("“{name}” cannot be shown. {problem}")
        problem = sentence(brought.error) if brought.error else ""
        return Nothing(said.format(name=quoted(brought.name), problem=problem), wrong=True)
    said = _("{name}: it is kept until you leave, and not in the address.")
    st.caption(said.format(name=quoted(brought.name)).translate(MARKDOWN))
    return brought.table


def _read() -> None:
    """A file has come, or was taken away."""
    file = st.session_state["embeddings.upload"]
    if file is None:
        st.session_state.pop(STATE, None)
        return
    try:
        st.session_state[STATE] = Brought(file.name, read_file(file.getvalue()), None)
    except TableError as error:
        st.session_state[STATE] = Brought(file.name, None, error.with_traceback(None))
