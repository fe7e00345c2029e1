"""Charts on the page: each specification is built once, and only the data travel afterwards.

    plot = draw("weights", heatmap, heatmap_data(trace.weights), alt=_("…"), rows=tokens, columns=tokens)

The picture then changes in place. What was drawn is remembered by the returned Plot, so that it can be taken along.
"""

import functools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from core.charts.theme import Style, style
from pages.components import frame

Build = Callable[..., Any]  # of core.charts: (style, **settings) → alt.Chart


@dataclass(frozen=True, slots=True, eq=False)
class Plot:
    key: str
    name: str  # as a file of it is called, in the reader's language
    spec: Mapping[str, Any]
    frames: Mapping[str, pd.DataFrame]
    style: Style


def current_style() -> Style:
    """Light or dark as the browser shows the app, and the type size of the frame."""
    return style(st.context.theme.type or "light", frame.type_size())


@functools.lru_cache(maxsize=200)
def _spec(build: Build, theme: Style, settings: tuple[tuple[str, Hashable], ...]) -> dict[str, Any]:
    specification: dict[str, Any] = build(theme, **dict(settings)).to_dict()
    return specification


def draw(
    key: str,
    build: Build,
    frames: Mapping[str, pd.DataFrame],
    *,
    alt: str,
    name: str | None = None,
    on_select: Callable[[], None] | None = None,
    **settings: Hashable,
) -> Plot:
    """Show the chart that `build(style, **settings)` makes, with `frames` as its data.

    key: also the widget's key, under which a selection is found when on_select is called.
    alt: what the picture shows, for those who cannot see it.
    name: what a file of it is called.
    """
    theme = current_style()
    spec = _spec(build, theme, tuple(sorted(settings.items())))
    st.vega_lite_chart(
        {**spec, "datasets": {dataset: _lean(data) for dataset, data in frames.items()}},
        key=key,
        alt=alt,
        theme=None,
        on_select=on_select or "ignore",
    )
    return Plot(key, name or key, spec, frames, theme)


def _lean(data: pd.DataFrame) -> pa.Table:
    """The same data, ready to be sent: from a pandas frame Streamlit needs thirty times as long."""
    return pa.table({name: data[name].to_numpy() for name in data})


def picked(key: str, selection: str, field: str) -> Any:
    """What was clicked in the chart `key`, or None, for its on_select callback; and the click is counted."""
    points = st.session_state[key]["selection"].get(selection)
    if not points:
        return None
    st.session_state[_counter(key)] = clicks(key) + 1
    return points[0][field]


def clicks(key: str) -> int:
    """How often the chart was clicked: sent along with its data, so that the same place can be clicked twice."""
    count: int = st.session_state.get(_counter(key), 0)
    return count


def _counter(key: str) -> str:
    return f"{key}.clicks"
