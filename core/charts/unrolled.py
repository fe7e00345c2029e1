"""A layer unrolled in time: which vector has to wait for which, and one way through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, themed

Place = tuple[int, int]
"""Position in the sentence, and the step after which the vector there is ready; inputs are ready at step 0."""


@dataclass(frozen=True, slots=True)
class UnrolledWords:
    """What the chart says, in the reader's language."""

    axis: str = "step"
    token: str = "word"
    step: str = "ready after step"


def unrolled(
    style: Style,
    words: Sequence[str],
    num_steps: int,
    *,
    labels: UnrolledWords | None = None,
    dense: bool = False,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    height: int = 170,
    expected_width: int = 420,
) -> alt.LayerChart:
    """Inputs as squares below, outputs as circles at the step at which they are ready; the marked way is thick.

    dense: there are so many edges that each must be faint.
    Datasets: "edges" (x, y, x2, y2: int16; on: int8) and "nodes" (x, y: int16; on: int8), from :func:`unrolled_data`.
    ``width`` is the plot's, ``outer_width`` that of the plot with its axis; without either it fills its container.
    Raises: ValueError if there are no words.
    """
    if not words:
        raise ValueError("words must hold at least one word")
    labels = labels or UnrolledWords()
    if outer_width:
        width = outer_width - tokens.beside_axis([str(num_steps)], style.font_size)
    bands = max(len(words), 3)
    column = (width or expected_width) / bands
    set_as = tokens.labels_across(words, column, style.font_size)
    x_axis = alt.Axis(
        title=None,
        values=list(range(len(words))),
        labelExpr="unrolled_words[datum.value]",
        labelAngle=set_as.angle,
        labelFontSize=set_as.size,
        labelLimit=set_as.limit,
        labelOverlap=False,
        grid=False,
    )
    every = max(1, round(num_steps / 6))
    y_axis = alt.Axis(title=labels.axis, values=list(range(0, num_steps + 1, every)), format="d", grid=True)
    x_scale = alt.Scale(domain=[-0.5, bands - 0.5], nice=False, zero=False)
    x = alt.X("x:Q", scale=x_scale, axis=x_axis)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.3, num_steps + 0.3], nice=False, zero=False), axis=y_axis)
    edges, nodes = alt.Chart(alt.NamedData("edges")), alt.Chart(alt.NamedData("nodes"))
    ends = {"x": x, "y": y, "x2": "x2:Q", "y2": "y2:Q"}
    tooltip = {labels.token: "unrolled_words[datum.x] + '  ·  ' + (datum.x + 1)", labels.step: "datum.y"}
    marked = f"datum.on ? '{style.accent}' : "
    hover = alt.expr(tokens.record(tooltip))
    layers = [
        edges.transform_filter("!datum.on")
        .mark_rule(stroke=style.muted, strokeWidth=style.scale, opacity=0.12 if dense else 0.55)
        .encode(**ends),
        edges.transform_filter("datum.on").mark_rule(stroke=style.accent, strokeWidth=3.5 * style.scale).encode(**ends),
        *(
            nodes.transform_filter(which)
            .mark_point(
                shape=shape,
                filled=True,
                opacity=1,
                size=alt.expr(f"datum.on ? {110 * style.scale} : {55 * style.scale}"),
                fill=alt.expr(marked + f"'{colour}'"),
                tooltip=hover,
            )
            .encode(x=x, y=y)
            for which, shape, colour in (
                ("datum.y == 0", "square", style.muted),
                ("datum.y > 0", "circle", style.primary),
            )
        ),
    ]
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[tokens.label_table("unrolled_words", words)],
            width=width or "container",
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def unrolled_data(edges: Sequence[tuple[Place, Place]], way: Sequence[tuple[Place, Place]] = ()) -> dict[str, pa.Table]:
    """The data of :func:`unrolled`: all edges, and those among them that are the marked way."""
    on_way = set(way)
    rows = [(*one, *other, (one, other) in on_way) for one, other in edges]
    passed = {place for edge in way for place in edge}
    places = sorted({place for edge in edges for place in edge})
    ends = np.array(rows, np.int16).reshape(-1, 5)
    points = np.array([(*place, place in passed) for place in places], np.int16).reshape(-1, 3)
    return {
        "edges": _table(ends, "x", "y", "x2", "y2"),
        "nodes": _table(points, "x", "y"),
    }


def _table(rows: npt.NDArray[np.int16], *names: str) -> pa.Table:
    """Places, and whether they lie on the way."""
    *places, on_way = rows.T
    return pa.table({**dict(zip(names, places, strict=True)), "on": on_way.astype(np.int8)})
