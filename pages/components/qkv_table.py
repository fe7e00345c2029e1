"""The table of the library view. When it is edited, what is typed becomes part of the address, or a sentence says why
not. It is written in HTML otherwise: a page with an editor needs twice the time for every move of a slider.

Streamlit's editor keeps what was changed against the table that it was given. So it always gets the table that it began
with; a table from elsewhere (an example, an address, Reset, another language) begins a new editor.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st

from core.retrieval import Shelf, TableError, TableProblem, read_shelf
from pages.components import qkv_shelves
from pages.components.controls import Panel
from pages.components.i18n import _, language
from pages.components.qkv_shelves import CONTENTS, FEATURES, LARGEST, LONGEST_TITLE, MOST_ROWS, Example, Row

STATE = "qkv.editor"
ROW_HEIGHT = 28


@dataclass(slots=True)
class Editor:
    """The editor that is on the screen."""

    made_for: tuple[str, str, str]  # example, table, language; it follows what is typed
    began_with: list[Row]
    number: int
    error: TableError | None = field(default=None)

    @property
    def key(self) -> str:
        return f"qkv.table.{self.number}"


def shelf_of(rows: Sequence[Row]) -> Shelf:
    """Raises: TableError."""
    return read_shelf(rows, features=FEATURES, contents=CONTENTS, most_rows=MOST_ROWS, largest=LARGEST)


def rows(example: Example, written: str) -> list[Row]:
    """The table as it was last written."""
    return qkv_shelves.read(written) if written else list(example.rows)


def shown(shelf: Shelf, example: Example) -> str:
    """The table as HTML."""
    kinds = ((_("label: key"), FEATURES), (_("content: value"), CONTENTS))
    above = "".join(f'<th colspan="{count}">{html.escape(kind)}</th>' for kind, count in kinds)
    names = "".join(f"<th>{html.escape(name)}</th>" for name in (*example.features, *example.contents))
    body = ""
    for title, keys, values in zip(shelf.titles, shelf.keys.tolist(), shelf.values.tolist(), strict=True):
        cells = "".join(f"<td>{number:g}</td>".replace("-", "−") for number in (*keys, *values))
        name = f'<td style="overflow-wrap: anywhere; min-width: 6rem"><bdi>{html.escape(title)}</bdi></td>'
        body += f"<tr>{name}{cells}</tr>"
    table = f'<table class="atlas-grid dense"><tr><th></th>{above}</tr><tr><th></th>{names}</tr>{body}</table>'
    return f'<div class="atlas-wide" tabindex="0">{table}</div>'


def edit(panel: Panel, name: str, example: Example, written: str) -> Shelf:
    """Draw the editor; returns the last table that could be read."""
    now, now_written = (name, written, language()), rows(example, written)
    editor: Editor | None = st.session_state.get(STATE)
    # What an editor holds is lost when it is not drawn once: another view, another page.
    if editor is None or editor.made_for != now or editor.key not in st.session_state:
        editor = st.session_state[STATE] = Editor(now, now_written, editor.number + 1 if editor else 0)
    columns = [f"c{number}" for number in range(1 + FEATURES + CONTENTS)]
    titles, *numbers = zip(columns, example.columns, strict=True)
    st.data_editor(
        pd.DataFrame(editor.began_with, columns=columns),
        key=editor.key,
        num_rows="dynamic",
        hide_index=True,
        row_height=ROW_HEIGHT,
        height=ROW_HEIGHT * (len(editor.began_with) + 2) + 4,
        column_config={
            titles[0]: st.column_config.TextColumn(titles[1], max_chars=LONGEST_TITLE, width="medium"),
            **{key: st.column_config.NumberColumn(label, step=0.01, width="small") for key, label in numbers},
        },
        on_change=lambda: _adopt(panel, editor, name, example, st.session_state[editor.key]),
    )
    if editor.error:
        st.warning(sentence(editor.error, example), icon=":material/edit:")
    return shelf_of(now_written)


def _adopt(panel: Panel, editor: Editor, name: str, example: Example, changes: Mapping[str, Any]) -> None:
    """Something was typed: keep it if it can be read. A callback runs before the page: the address is right at once."""
    try:
        shelf = shelf_of(changed(editor.began_with, changes))
    except TableError as error:
        editor.error = error.with_traceback(None)
        return
    editor.error = None
    written = qkv_shelves.write(shelf)
    if written == qkv_shelves.write(shelf_of(example.rows)):
        written = ""
    editor.made_for = (name, written, editor.made_for[2])
    panel.put({"table": written})


def changed(rows: Sequence[Row], changes: Mapping[str, Any]) -> list[Row]:
    """The table after what the editor says was edited, deleted and added, in the order in which Streamlit counts."""
    width = 1 + FEATURES + CONTENTS
    after = [list(row) for row in rows]
    for number, cells in changes["edited_rows"].items():
        for column, value in cells.items():
            after[int(number)][int(column[1:])] = value
    kept: list[Row] = [row for number, row in enumerate(after) if number not in changes["deleted_rows"]]
    added = [[cells.get(f"c{column}") for column in range(width)] for cells in changes["added_rows"]]
    return kept + added


def sentence(error: TableError, example: Example) -> str:
    """What is wrong with the table and what to do about it."""
    column = example.columns[min(error.column, len(example.columns) - 1)]
    sentences = {
        TableProblem.NO_ROWS: _("The table is empty. Add a row below it, or press Reset."),
        TableProblem.TOO_MANY_ROWS: _("There is room for {most} rows, and these are {found}. Delete some."),
        TableProblem.NO_TITLE: _("Row {row} has no title. Type one, or delete the row."),
        TableProblem.EMPTY_CELL: _("Row {row} is not complete: “{column}” needs a number. 0 is one, too."),
        TableProblem.EXTRA_CELL: _("Row {row} has too many cells. Delete the ones that stand out."),
        TableProblem.NOT_A_NUMBER: _("Row {row}, “{column}”: “{found}” is no number. Type one such as 0.5."),
        TableProblem.TOO_LARGE: _(
            "Row {row}, “{column}”: {found} is too large. Stay between −{largest} and {largest}."
        ),
    }
    told = sentences[error.problem].format(
        row=error.row + 1, column=column, found=error.found, most=MOST_ROWS, largest=f"{LARGEST:g}"
    )
    return _("{problem} The picture shows the last complete table.").format(problem=told)
