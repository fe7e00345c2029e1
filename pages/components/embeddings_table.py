"""The lesson's table of word vectors. When it is edited, what is typed becomes part of the address, or a sentence says
why not.

As on the page of queries, keys and values: the editor always gets the table that it began with, and keeps what was
changed against it; a table from elsewhere (an address, Reset, another language) begins a new editor.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st

from core.embedding_tables import MOST_GROUPS, TableError, TableProblem, read_rows
from core.embeddings import TOY, Group, WordVectors
from pages.components.controls import MARKDOWN, Panel
from pages.components.i18n import _, language
from pages.components.typed import quoted

STATE = "embeddings.editor"
DIMS = 5
MOST_ROWS = 30
LARGEST = 9.0
DIGITS = 4
ROW_HEIGHT = 26
TALLEST = 212  # pixels

_TEXT = r'"(?:[^"\\\x00-\x1f]|\\["\\]){1,60}"'
_NUMBER = r"-?[0-9](?:\.[0-9]{1,4})?"
_ROW = rf"\[{_TEXT},{_TEXT}(?:,{_NUMBER}){{{DIMS}}}\]"
WRITTEN = rf"|\[{_ROW}(?:,{_ROW}){{0,{MOST_ROWS - 1}}}\]"
"""What a table looks like in an address; empty for the lesson's own."""

Row = Sequence[Any]


@dataclass(slots=True)
class Editor:
    """The editor that is on the screen."""

    made_for: tuple[str, str]  # table, language; it follows what is typed
    began_with: list[Row]
    number: int
    error: TableError | None = field(default=None)

    @property
    def key(self) -> str:
        return f"embeddings.table.{self.number}"


def group_names() -> dict[str, str]:
    """The lesson's groups, as they are kept and as they are called."""
    return {
        Group.ROYALTY: _("royalty"),
        Group.PLACES: _("places"),
        Group.ANIMALS: _("animals"),
        Group.VEHICLES: _("vehicles"),
        Group.FEELINGS: _("feelings"),
    }


def choose(panel: Panel) -> tuple[WordVectors, bool]:
    """The table, and whether it shall be edited; the editor itself is drawn by `edit`."""
    written = panel.hidden("table", _("Table"), default="", pattern=WRITTEN)
    editing = panel.toggle("edit", _("Edit the table"), default=False)
    try:
        return _named(_read(rows(written))), editing
    except TableError as error:  # only an address that somebody has written by hand
        st.warning(sentence(error).translate(MARKDOWN), icon=":material/edit:")
        return _named(_read(rows(""))), editing


def rows(written: str) -> list[Row]:
    """The table as it was last written: word, group as it is kept, and numbers."""
    if written:
        found: list[Row] = json.loads(written)
        return found
    return [[word, str(group), *numbers] for word, (group, numbers) in TOY.items()]


def _read(table: Sequence[Row]) -> WordVectors:
    return read_rows(table, most_words=MOST_ROWS, largest=LARGEST)


def _named(words: WordVectors) -> WordVectors:
    names = group_names()
    called = tuple(names.get(group, group) for group in words.group_names)
    return WordVectors(words.words, words.vectors, words.groups, called)


def edit(panel: Panel) -> None:
    """Draw the editor."""
    written: str = st.session_state["embeddings_table"]
    now = (written, language())
    editor: Editor | None = st.session_state.get(STATE)
    # What an editor holds is lost when it is not drawn once: another view, another page.
    if editor is None or editor.made_for != now or editor.key not in st.session_state:
        names = group_names()
        shown: list[Row] = [[word, names.get(group, group), *numbers] for word, group, *numbers in rows(written)]
        editor = st.session_state[STATE] = Editor(now, shown, editor.number + 1 if editor else 0)
    columns = [f"c{number}" for number in range(2 + DIMS)]
    st.data_editor(
        pd.DataFrame(editor.began_with, columns=columns),
        key=editor.key,
        num_rows="dynamic",
        hide_index=True,
        row_height=ROW_HEIGHT,
        height=min(TALLEST, ROW_HEIGHT * (len(editor.began_with) + 2) + 4),
        column_config={
            "c0": st.column_config.TextColumn(_("Word"), max_chars=60, width="medium"),
            "c1": st.column_config.TextColumn(_("Group"), max_chars=60, width="medium"),
            **{
                key: st.column_config.NumberColumn(str(number), step=0.01, width="small")
                for number, key in enumerate(columns[2:], start=1)
            },
        },
        on_change=lambda: _adopt(panel, editor, st.session_state[editor.key]),
    )
    if editor.error:
        said = _("{problem} The picture shows the last complete table.")
        st.warning(said.format(problem=sentence(editor.error)).translate(MARKDOWN), icon=":material/edit:")


def _adopt(panel: Panel, editor: Editor, changes: Mapping[str, Any]) -> None:
    """Something was typed: keep it if it can be read. A callback runs before the page: the address is right at once."""
    keys = {name: key for key, name in group_names().items()}
    table = [
        [word, keys.get(_stripped(group), group), *numbers]
        for word, group, *numbers in changed(editor.began_with, changes)
    ]
    try:
        words = _read(table)
        written = "" if _same(words) else _write(words)
        _read(rows(written))  # rounding may have made zeros of a vector
    except TableError as error:
        editor.error = error.with_traceback(None)
        return
    editor.error = None
    editor.made_for = (written, editor.made_for[1])
    panel.put({"table": written})


def _stripped(cell: Any) -> str:
    return str(cell or "").strip()


def _same(words: WordVectors) -> bool:
    """Whether it is the lesson's own table."""
    return _write(words) == _write(_read(rows("")))


def _write(words: WordVectors) -> str:
    """A table as an address holds it."""
    table = [
        [word, words.group_names[group], *(_short(round(number, DIGITS)) for number in numbers)]
        for word, group, numbers in zip(words.words, words.groups, words.vectors.tolist(), strict=True)
    ]
    return json.dumps(table, ensure_ascii=False, separators=(",", ":"))


def _short(number: float) -> int | float:
    """1 instead of 1.0, and 0 instead of -0.0; what is too small for four digits is 0."""
    if number.is_integer():
        return int(number)
    return number


def changed(before: Sequence[Row], changes: Mapping[str, Any]) -> list[Row]:
    """The table after what the editor says was edited, deleted and added, in the order in which Streamlit counts."""
    after = [list(row) for row in before]
    for number, cells in changes["edited_rows"].items():
        for column, value in cells.items():
            after[int(number)][int(column[1:])] = value
    kept: list[Row] = [row for number, row in enumerate(after) if number not in changes["deleted_rows"]]
    added = [[cells.get(f"c{column}") for column in range(2 + DIMS)] for cells in changes["added_rows"]]
    return kept + added


def sentence(error: TableError) -> str:
    """What is wrong with a table or a file, and what to do about it."""
    if error.problem is TableProblem.NOT_A_NUMBER and not error.found:
        return _("Line {line} is not complete: number {number} is missing. 0 is a number, too.").format(
            line=error.line, number=error.number
        )
    sentences = {
        TableProblem.EMPTY: _("There is nothing in it. A line must hold a word and its numbers."),
        TableProblem.TOO_LARGE_A_FILE: _(
            "The file has more than 20 MB. Keep the first {most_words} lines of it: there is room for no more."
        ),
        TableProblem.NOT_TEXT: _(
            "This is no text file. Save the vectors as CSV, or in word2vec's text format instead of the binary one."
        ),
        TableProblem.NOT_UTF8: _("Line {line} is not written in UTF-8. Save the file again with the encoding UTF-8."),
        TableProblem.NOT_A_TABLE: _(
            "Line {line} holds nothing but “{found}”. A line must hold a word and its numbers."
        ),
        TableProblem.BROKEN_QUOTES: _("In line {line} a quotation mark opens and does not close, or stands in a word."),
        TableProblem.TOO_FEW_WORDS: _("There must be at least {wanted} words, and these are {found}."),
        TableProblem.TOO_MANY_WORDS: _("There is room for {wanted} words, and these are {found}. Delete some."),
        TableProblem.TOO_FEW_DIMS: _("A vector must have at least {wanted} numbers, and these have {found}."),
        TableProblem.TOO_MANY_DIMS: _("There is room for {wanted} numbers in a vector, and these have {found}."),
        TableProblem.RAGGED: _(
            "Line {line} has {found} numbers or names behind its word; the first line has {wanted}."
        ),
        TableProblem.NO_WORD: _("Line {line} has no word. Type one, or delete the line."),
        TableProblem.LONG_WORD: _("Line {line}: “{found}” has more than {wanted} letters. Shorten it."),
        TableProblem.UNPRINTABLE_WORD: _("The word in line {line} holds a sign that cannot be shown. Type it anew."),
        TableProblem.DUPLICATE: _("“{found}” stands in line {wanted} and again in line {line}. Delete one of them."),
        TableProblem.NO_GROUP: _("Line {line} has no group. Name one."),
        TableProblem.TOO_MANY_GROUPS: _("There are shapes for {wanted} groups, and these are {found}. Join some."),
        TableProblem.NOT_A_NUMBER: _("Line {line}, number {number}: “{found}” is no number. Write one such as 0.5."),
        TableProblem.NOT_FINITE: _("Line {line}, number {number} is “{found}”. Only finite numbers have a place."),
        TableProblem.TOO_LARGE: _(
            "Line {line}, number {number}: {found} is too large. Stay between −{wanted} and {wanted}."
        ),
        TableProblem.ALL_ZERO: _(
            "All numbers of “{found}” in line {line} are 0: it points nowhere, and has no cosine. Change one of them."
        ),
        TableProblem.ALL_EQUAL: _("All words have the same vector: there is nothing to draw. Change a number."),
    }
    return sentences[error.problem].format(
        line=error.line,
        number=error.number,
        found=quoted(error.found),
        wanted=error.wanted,
        most_words=2000,
        most_groups=MOST_GROUPS,
    )
