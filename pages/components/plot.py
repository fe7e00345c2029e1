"""Charts on the page: each specification is built once, and only the data travel afterwards.

    plot = draw("weights", heatmap, heatmap_data(trace.weights), alt=_("…"), rows=tokens, columns=tokens)

The picture then changes in place. What was drawn is remembered by the returned Plot, so that it can be taken along.
Several charts that change together are drawn as one, because each picture of its own costs the browser time:

    figure("steps", [[part("next", candidates, frames, share=0.4), part("looks", attention_bars, …, share=0.6)]], …)
"""

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from core.charts.compose import compose, compose_data
from core.charts.theme import Style, style
from pages.components import frame

EDGES = 6  # pixels that a picture has around it, left and right together
GAP = 22  # pixels between the parts of a figure
NARROW = 640  # pixels; with less room, as on a phone, the parts of a figure stand below each other
Build = Callable[..., Any]  # of core.charts: (style, **settings) → alt.Chart


@dataclass(frozen=True, slots=True, eq=False)
class Plot:
    key: str
    name: str  # as a file of it is called, in the reader's language
    spec: Mapping[str, Any]
    frames: Mapping[str, pa.Table]
    style: Style
    table: Callable[[], pd.DataFrame] | None = None  # the numbers, where the frames hold a picture of them


def current_style() -> Style:
    """Light or dark as the browser shows the app, and the type size of the frame."""
    return style(st.context.theme.type or "light", frame.type_size())


@dataclass(frozen=True, slots=True)
class Part:
    """One chart of a figure."""

    name: str
    build: Build
    frames: Mapping[str, pa.Table]
    share: float  # of the width of the page
    settings: tuple[tuple[str, Hashable], ...]


def part(name: str, build: Build, frames: Mapping[str, pa.Table], *, share: float = 1, **settings: Hashable) -> Part:
    """A chart as `draw` takes it, with its share of the width; `name` tells its data and selections from others'."""
    return Part(name, build, frames, share, tuple(sorted(settings.items())))


@functools.lru_cache(maxsize=200)
def _spec(build: Build, theme: Style, settings: tuple[tuple[str, Hashable], ...]) -> dict[str, Any]:
    specification: dict[str, Any] = build(theme, **dict(settings)).to_dict()
    return specification


@functools.lru_cache(maxsize=100)
def _composed(theme: Style, room: int, rows: tuple[tuple[tuple[str, Build, float, Any], ...], ...]) -> dict[str, Any]:
    gap = theme.px(GAP)
    parts = []
    for row in rows:
        free = room - gap * (len(row) - 1)
        parts.append(
            {
                name: _spec(build, theme, (*settings, ("outer_width", int(share * free))))
                for name, build, share, settings in row
            }
        )
    return compose(parts, spacing=gap)


def draw(
    key: str,
    build: Build,
    frames: Mapping[str, pa.Table],
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
    return _show(key, _spec(build, theme, tuple(sorted(settings.items()))), frames, alt, name, on_select, theme)


def figure(
    key: str,
    rows: Sequence[Sequence[Part]],
    *,
    alt: str,
    name: str | None = None,
    on_select: Callable[[], None] | None = None,
    least: int = 0,
    table: Callable[[], pd.DataFrame] | None = None,
) -> Plot:
    """Show several charts as one picture, in rows; a selection of a part is found as `part_selection`.

    least: pixels below which nobody could read it: on a phone it then scrolls by itself.
    table: the numbers to take along, where the frames hold only a picture of them.
    """
    theme, room = current_style(), max(frame.room(), least)
    if room < NARROW:
        rows = [[replace(one, share=1.0)] for row in rows for one in row]
    shape = tuple(tuple((one.name, one.build, one.share, one.settings) for one in row) for row in rows)
    frames = compose_data({one.name: one.frames for row in rows for one in row})
    shown = _show(key, _composed(theme, room - EDGES, shape), frames, alt, name, on_select, theme)
    return replace(shown, table=table)


def _show(
    key: str,
    spec: Mapping[str, Any],
    frames: Mapping[str, pa.Table],
    alt: str,
    name: str | None,
    on_select: Callable[[], None] | None,
    theme: Style,
) -> Plot:
    st.vega_lite_chart(
        {**spec, "datasets": frames},
        key=key,
        alt=alt,
        theme=None,
        width="stretch" if spec.get("width") == "container" else "content",
        on_select=on_select or "ignore",
    )
    return Plot(key, name or key, spec, frames, theme)


def at_least(pixels: int) -> int | None:
    """A width for a chart that nobody can read if it is narrower: on a phone it then scrolls by itself."""
    return pixels if frame.room() < pixels else None


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
