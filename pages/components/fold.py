"""What stands folded below every page: formula, code that ran, downloads, further reading.

Each part is computed when it is opened, not on every rerun.
"""

import functools
import inspect
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from core.charts.export import to_png, to_svg
from pages.components.below import draw_below
from pages.components.i18n import _, language
from pages.components.plot import Plot

ICONS = {
    "formula": ":material/function:",
    "code": ":material/code:",
    "downloads": ":material/download:",
    "reading": ":material/menu_book:",
}

Snippet = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in LaTeX, and the same with the numbers of the screen in it; `words` say what the letters mean."""

    general: str
    current: str
    words: str


@dataclass(frozen=True, slots=True)
class Source:
    """A paper or a book."""

    title: str
    where: str
    address: str


def fold(
    page: str,
    *,
    formula: Callable[[], Sequence[Formula]],
    code: Sequence[Callable[..., Any]],
    plots: Sequence[Plot],
    snippet: Snippet | Mapping[str, Snippet],
    reading: Sequence[Source],
) -> None:
    """Draw the row of folded parts.

    code: the very functions that computed what is on screen.
    snippet: a program in plain PyTorch that reproduces the numbers, or one for each of several libraries by its name.
    """
    opened: str | None = st.session_state.get(_opened(page))
    draw_below(functools.partial(_row, page), outside=opened is None)
    snippets = {"PyTorch": snippet} if callable(snippet) else snippet
    parts: Mapping[str, Callable[[], None]] = {
        "formula": lambda: _formulas(formula()),
        "code": lambda: _code(code),
        "downloads": lambda: _downloads(page, plots, snippets),
        "reading": lambda: _reading(reading),
    }
    if opened is not None:
        with st.container(key=f"{page}.folded", border=True):
            parts[opened]()


def is_open(page: str) -> bool:
    """Whether one of the parts is."""
    return st.session_state.get(_opened(page)) is not None


def _row(page: str) -> None:
    """The buttons that open and close the parts."""
    names = {
        "formula": _("Formula"),
        "code": _("Code that ran"),
        "downloads": _("Take it along"),
        "reading": _("Read more"),
    }
    widget = f"{page}.fold.{language()}"

    def keep() -> None:
        st.session_state[_opened(page)] = st.session_state[widget]

    st.session_state[widget] = st.session_state.get(_opened(page))
    st.pills(
        _("More about this page"),
        list(names),
        format_func=lambda name: f"{ICONS[name]} {names[name]}",
        key=widget,
        on_change=keep,
        label_visibility="collapsed",
    )


def _opened(page: str) -> str:
    return f"{page}.opened"


def _formulas(formulas: Sequence[Formula]) -> None:
    for formula in formulas:
        st.latex(formula.general)
        st.caption(formula.words)
        st.latex(formula.current)


@functools.lru_cache(maxsize=100)
def _source(function: Callable[..., Any]) -> tuple[str, str]:
    return f"{function.__module__}.{function.__qualname__}", inspect.getsource(inspect.unwrap(function))


def _code(functions: Sequence[Callable[..., Any]]) -> None:
    for function in functions:
        name, source = _source(function)
        st.markdown(f"`{name}`")
        st.code(source, language="python")


def _downloads(page: str, plots: Sequence[Plot], snippets: Mapping[str, Snippet]) -> None:
    """The files are made when their button is pressed."""
    for plot in plots:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(plot.name, width=200)
            for ending, mime, data in (
                ("svg", "image/svg+xml", functools.partial(to_svg, plot.spec, plot.frames, plot.style)),
                ("png", "image/png", functools.partial(to_png, plot.spec, plot.frames, plot.style)),
                _csv(plot.spec, plot.frames, plot.table),
            ):
                st.download_button(
                    ending.upper(),
                    data,
                    f"{plot.name}.{ending}",
                    mime,
                    key=f"{page}.{plot.key}.{ending}",
                    on_click="ignore",
                )
    with st.container(horizontal=True):
        for library, snippet in snippets.items():
            st.download_button(
                _("These numbers in plain {library}").format(library=library),
                snippet,
                f"{page}.py" if len(snippets) == 1 else f"{page}_{library.lower()}.py",
                "text/x-python",
                key=f"{page}.{library}",
                on_click="ignore",
            )


def _csv(
    spec: Mapping[str, Any], frames: Mapping[str, pa.Table], whole: Callable[[], pd.DataFrame] | None = None
) -> tuple[str, str, Callable[[], str | bytes]]:
    """What the chart was drawn from: one table, or an archive of several; without what only the clicks need."""
    if whole is not None:
        return "csv", "text/csv", lambda: whole().to_csv(index=False)
    labels = {param["name"]: json.loads(param["expr"]) for param in spec.get("params", ()) if "expr" in param}
    shown = {name: frame for name, frame in frames.items() if not name.endswith("mark") and len(frame)}

    def tables() -> dict[str, pd.DataFrame]:
        return {name: _named(name, frame, labels) for name, frame in shown.items()}

    if len(shown) == 1:
        return "csv", "text/csv", lambda: tables().popitem()[1].to_csv(index=False)
    return "zip", "application/zip", lambda: _packed(tables())


def _named(name: str, frame: pa.Table, labels: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The table with the tokens that its numbers of queries and keys stand for."""
    table: pd.DataFrame = frame.to_pandas().drop(columns="nonce", errors="ignore")
    part = name.rpartition("_")[0]
    for column, table_name, title in (("k", "key_tokens", "key"), ("q", "query_tokens", "query")):
        texts = labels.get(f"{part}_{table_name}" if part else table_name)
        if texts and column in table:
            table.insert(0, title, [texts[number] for number in table[column]])
    return table


def _packed(tables: Mapping[str, pd.DataFrame]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, table in tables.items():
            archive.writestr(f"{name}.csv", table.to_csv(index=False))
    return packed.getvalue()


def _reading(sources: Sequence[Source]) -> None:
    for source in sources:
        st.markdown(f"[{source.title}]({source.address})  \n{source.where}")
