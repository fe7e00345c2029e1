"""Lines between tokens: who looks stands above, who is looked at below; the darker a line, the more weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import board, tokens
from core.charts.theme import Style, hand, themed
from core.checks import check_between

MOST = 500
"""So many lines are drawn, the strongest: a browser has to move them all."""

FAINTEST = 0.01
"""What has less weight than this is not seen, and not drawn."""


@dataclass(frozen=True, slots=True)
class LinkWords:
    """What the chart says, in the reader's language."""

    query: str = "query"
    key: str = "key"
    weight: str = "weight"


def links(
    style: Style,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    words: LinkWords | None = None,
    title: str | None = None,
    outer_width: int = 900,
    height: int = 330,
    clickable: bool = True,
) -> alt.LayerChart:
    """Two rows of tokens in the order of the text, with a line for every weight that can be seen.

    Datasets, from :func:`links_data`: "lines" (q, k: int16; x, x2, weight: float32; quiet: int8), "above" (q: int16; x,
    left, right: float32; chosen, nonce: int8) and "below" (k: int16; x, weight: float32).
    Selection: "query", with fields q and nonce.
    Raises: ValueError if there are no queries or no keys.
    """
    if not queries or not keys:
        raise ValueError(f"queries ({len(queries)}) and keys ({len(keys)}) must hold at least one token")
    words = words or LinkWords()
    width, high = outer_width - 6, style.px(height)
    rows = [_labels(texts, width, style) for texts in (queries, keys)]
    top, bottom = (_room(texts, labels, style) for texts, labels in zip((queries, keys), rows, strict=True))

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=None)

    def down(pixels: float) -> alt.Y:
        return alt.Y(datum=pixels, type="quantitative", scale=board.scale_y(high), axis=None)

    tooltip = {
        words.query: "link_queries[datum.q] + '  ·  ' + (datum.q + 1)",
        words.key: "link_keys[datum.k] + '  ·  ' + (datum.k + 1)",
        words.weight: "format(datum.weight, '.4f')",
    }
    lines = (
        alt.Chart(alt.NamedData("lines"))
        .mark_rule(
            stroke=alt.expr(f"datum.quiet ? '{style.muted}' : '{style.primary}'"),
            strokeCap="round",
            tooltip=alt.expr(tokens.record(tooltip)),
        )
        .encode(
            x=across("x"),
            x2="x2",
            y=down(top + 3),
            y2=alt.datum(high - bottom - 3),
            opacity=alt.Opacity("shown:Q", scale=None, legend=None),
            strokeWidth=alt.StrokeWidth(
                "weight:Q", scale=alt.Scale(domain=[0, 1], range=[0.7, 7 * style.scale]), legend=None
            ),
        )
        .transform_calculate(shown="datum.quiet ? 0.25 * datum.weight : 0.12 + 0.88 * datum.weight")
    )
    above, below = alt.Chart(alt.NamedData("above")), alt.Chart(alt.NamedData("below"))
    area = above.properties(name="above").mark_rect(
        fill=alt.expr(f"datum.chosen ? '{style.surface}' : '{style.background}'"),
        fillOpacity=alt.expr("datum.chosen ? 1 : 0"),
        stroke=alt.expr(f"datum.chosen ? '{style.accent}' : null"),
        strokeWidth=2 * style.scale,
        cursor=hand(clickable),
        tooltip=alt.expr(tokens.record({words.query: "link_queries[datum.q] + '  ·  ' + (datum.q + 1)"})),
    )
    looked = {words.key: "link_keys[datum.k] + '  ·  ' + (datum.k + 1)", words.weight: "format(datum.weight, '.4f')"}
    names = [
        above.mark_text(text=alt.expr("link_queries[datum.q]"), **_set(rows[0], top=True)).encode(
            x=across("x"), y=down(top)
        ),
        below.mark_text(
            text=alt.expr("link_keys[datum.k]"), tooltip=alt.expr(tokens.record(looked)), **_set(rows[1], top=False)
        ).encode(x=across("x"), y=down(high - bottom)),
    ]
    select = alt.PointSelectionConfig(type="point", fields=["q", "nonce"], on="click", clear=False)
    return themed(
        alt.LayerChart(
            layer=[
                area.encode(x=across("left"), x2="right", y=down(0), y2=alt.datum(top)),
                lines,
                *names,
            ],
            params=[
                alt.TopLevelSelectionParameter(name="query", select=select, views=["above"]),
                tokens.label_table("link_queries", queries),
                tokens.label_table("link_keys", keys),
            ],
            width=width,
            height=high,
            title=title or alt.Undefined,
        ),
        style,
    )


def links_data(weights: npt.ArrayLike, *, chosen: int | None = None, nonce: int = 0) -> dict[str, pa.Table]:
    """The data of :func:`links`: weights of shape (queries, keys).

    chosen: the query whose lines are drawn over those of all others.
    Raises: ValueError if the shape does not fit, or there is no such query.
    """
    array = np.asarray(weights, np.float32)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"weights {array.shape} must be (queries, keys), with at least one of each")
    seq_q, seq_k = array.shape
    if chosen is not None:
        check_between("chosen", chosen, 0, seq_q - 1)
    q, k = (index.ravel() for index in np.indices(array.shape))
    value = array.ravel()
    quiet = np.zeros(value.size, np.int8) if chosen is None else (q != chosen).astype(np.int8)
    order = np.lexsort((value, -quiet))  # the strongest of those that stand out come last, on top
    kept = order[value[order] >= FAINTEST][-MOST:]
    received = array.mean(axis=0) if chosen is None else array[chosen]
    middle_q, middle_k = (np.arange(count) + 0.5 for count in (seq_q, seq_k))
    return {
        "lines": pa.table(
            {
                "q": q[kept].astype(np.int16),
                "k": k[kept].astype(np.int16),
                "x": (middle_q[q[kept]] / seq_q).astype(np.float32),
                "x2": (middle_k[k[kept]] / seq_k).astype(np.float32),
                "weight": value[kept],
                "quiet": quiet[kept],
            }
        ),
        "above": pa.table(
            {
                "q": np.arange(seq_q, dtype=np.int16),
                "x": (middle_q / seq_q).astype(np.float32),
                "left": (np.arange(seq_q) / seq_q).astype(np.float32),
                "right": ((np.arange(seq_q) + 1) / seq_q).astype(np.float32),
                "chosen": (np.arange(seq_q) == chosen).astype(np.int8),
                "nonce": np.full(seq_q, nonce % 100, np.int8),
            }
        ),
        "below": pa.table(
            {
                "k": np.arange(seq_k, dtype=np.int16),
                "x": (middle_k / seq_k).astype(np.float32),
                "weight": received.astype(np.float32),
            }
        ),
    }


def _labels(texts: Sequence[str], width: float, style: Style) -> tokens.Labels:
    column = width / len(texts)
    longest = max(tokens.text_width(text, style.font_size) for text in texts)
    if longest + 4 <= column:
        return tokens.Labels(0, style.font_size, column)
    return tokens.Labels(-90, max(min(style.font_size, 0.94 * column), 6.0), 7.5 * style.font_size)


def _room(texts: Sequence[str], labels: tokens.Labels, style: Style) -> float:
    """Pixels that a row of names is high."""
    if labels.angle == 0:
        return 1.7 * style.font_size
    return min(labels.limit, max(tokens.text_width(text, labels.size) for text in texts)) + 8


def _set(labels: tokens.Labels, *, top: bool) -> dict[str, Any]:
    """How the names of a row are set: they end, or begin, where the lines do."""
    if labels.angle == 0:
        return {"baseline": "bottom" if top else "top", "dy": -3 if top else 4, "fontSize": labels.size}
    return {
        "angle": 270,
        "align": "left" if top else "right",
        "baseline": "middle",
        "dx": 3 if top else -4,
        "fontSize": labels.size,
        "limit": labels.limit,
    }
