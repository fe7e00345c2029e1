"""A soft look-up: how similar each label is to the query, what share of each book is taken, and what that gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.colour import Ramp
from core.charts.theme import Style, themed

_SPACING = 22


@dataclass(frozen=True, slots=True)
class LookupWords:
    """What the chart says, in the reader's language."""

    similarity: str = "similarity"
    share: str = "share taken"
    contribution: str = "goes into the answer"
    answer: str = "answer"
    book: str = "book"
    content: str = "content"


def lookup(
    style: Style,
    titles: Sequence[str],
    contents: Sequence[str],
    *,
    raw: bool = False,
    words: LookupWords | None = None,
    outer_width: int = 1065,
    row_height: int = 30,
) -> alt.HConcatChart:
    """Three panels with a row for every book and one, the last, for the answer.

    Bars of the similarities; bars of the shares, on an axis from 0 to 1 unless they are raw; and a grid of what each
    book contributes of each content. The last row holds the sums. ``outer_width`` is that of all, with the titles.
    Datasets: "books" (b: int16; similarity, share: float32), "sum" (b: int16; share: float32) and "contents"
    (b, c: int16; value: float32), from :func:`lookup_data`.
    Raises: ValueError if there are no titles or no contents.
    """
    for name, texts in (("titles", titles), ("contents", contents)):
        if not texts:
            raise ValueError(f"{name} must hold at least one text")
    words = words or LookupWords()
    rows = [*titles, f"= {words.answer}"]
    gutter = min(max(tokens.text_width(text, style.font_size) for text in rows), 14 * style.font_size) + 12
    widths = [int(part * (outer_width - gutter - 2 * _SPACING)) for part in (0.31, 0.31, 0.38)]
    height = style.px(row_height * len(rows))
    bands = alt.Scale(domain=list(range(len(rows))), padding=0)
    labels = alt.Axis(
        title=None,
        values=list(range(len(rows))),
        labelExpr="row_texts[datum.value]",
        labelLimit=14 * style.font_size,
        labelOverlap=False,
    )
    room = 34 * style.scale  # for the number behind the longest bar
    similarity = alt.Scale(zero=True, nice=False, padding=room)
    share = similarity if raw else alt.Scale(domain=[0, 1.2])
    ticks = [] if raw else [0, 0.25, 0.5, 0.75, 1]
    total = alt.Chart(alt.NamedData("sum")).mark_text(
        align="left", dx=4, fontWeight=600, text=alt.expr("'Σ = ' + format(datum.share, '.2f')"), fill=style.text
    )
    panels = [
        _bars(style, "similarity", alt.Y("b:O", scale=bands, axis=labels), similarity, [], words.similarity, words),
        alt.LayerChart(
            layer=[
                _bars(style, "share", alt.Y("b:O", scale=bands, axis=None), share, ticks, words.share, words),
                total.encode(x=alt.value(0), y=alt.Y("b:O", scale=bands, axis=None)),
            ]
        ),
        _grid(style, contents, alt.Y("b:O", scale=bands, axis=None), widths[2] / len(contents), words),
    ]
    names = (words.similarity, words.share, words.contribution)
    chart = alt.HConcatChart(
        hconcat=[
            panel.properties(width=width, height=height, title=alt.TitleParams(text=name, limit=width + over))
            for panel, width, name, over in zip(panels, widths, names, (gutter, 0, 0), strict=True)
        ],
        params=[tokens.label_table("row_texts", rows), tokens.label_table("content_texts", contents)],
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(color="independent")),
        spacing=_SPACING,
    )
    return themed(chart, style)


def lookup_data(
    similarities: npt.ArrayLike, shares: npt.ArrayLike, contributions: npt.ArrayLike, answer: npt.ArrayLike
) -> dict[str, pa.Table]:
    """The data of :func:`lookup`: similarities, shares (books,); contributions (books, contents); answer (contents,).

    Raises: ValueError if the shapes do not fit together.
    """
    similarity, share = np.asarray(similarities, np.float32), np.asarray(shares, np.float32)
    parts, total = np.asarray(contributions, np.float32), np.asarray(answer, np.float32)
    if similarity.ndim != 1 or share.shape != similarity.shape or parts.shape != (*share.shape, *total.shape):
        raise ValueError(
            f"similarities {similarity.shape}, shares {share.shape}, contributions {parts.shape} and answer "
            f"{total.shape} must be (books,), (books,), (books, contents) and (contents,)"
        )
    grid = np.vstack([parts, total[None]])  # (books + 1, contents)
    b, c = (index.ravel().astype(np.int16) for index in np.indices(grid.shape))
    books = np.arange(share.size, dtype=np.int16)
    return {
        "books": pa.table({"b": books, "similarity": similarity, "share": share}),
        "sum": pa.table({"b": np.array([share.size], np.int16), "share": np.array([share.sum()], np.float32)}),
        "contents": pa.table({"b": b, "c": c, "value": grid.ravel()}),
    }


def _bars(
    style: Style, field: str, y: alt.Y, scale: alt.Scale, ticks: Sequence[float], name: str, words: LookupWords
) -> alt.LayerChart:
    data = alt.Chart(alt.NamedData("books"))
    axis = alt.Axis(title=None, tickCount=4, values=list(ticks) or alt.Undefined, format="~r")
    x = alt.X(f"{field}:Q", scale=scale, axis=axis)
    tooltip = {words.book: "row_texts[datum.b]", name: f"format(datum.{field}, '.4f')"}
    bar = data.mark_rect(fill=style.primary, tooltip=alt.expr(tokens.record(tooltip))).encode(
        x=x, x2=alt.datum(0), y=y.bandPosition(0.2), y2=alt.Y2("b", bandPosition=0.8)
    )
    number = data.mark_text(
        align=alt.expr(f"datum.{field} < 0 ? 'right' : 'left'"),
        dx=alt.expr(f"datum.{field} < 0 ? -4 : 4"),
        text=alt.expr(f"format(datum.{field}, '.2f')"),
        fill=style.text,
    ).encode(x=x, y=y)
    return alt.LayerChart(layer=[bar, number])


def _grid(style: Style, contents: Sequence[str], y: alt.Y, column: float, words: LookupWords) -> alt.LayerChart:
    data = alt.Chart(alt.NamedData("contents"))
    labels = tokens.labels_across(contents, column, style.font_size)
    axis = alt.Axis(
        title=None, orient="bottom", values=list(range(len(contents))), labelExpr="content_texts[datum.value]",
        labelAngle=0, labelFontSize=style.font_size, labelLimit=max(labels.limit, column), labelOverlap=False,
    )  # fmt: skip
    x = alt.X("c:O", scale=alt.Scale(domain=list(range(len(contents))), padding=0), axis=axis)
    ramp = Ramp(-2, 2, style.scores.colours)
    tooltip = {
        words.book: "row_texts[datum.b]",
        words.content: "content_texts[datum.c]",
        words.contribution: "format(datum.value, '.4f')",
    }
    cell = data.mark_rect(stroke=style.background, strokeWidth=1, tooltip=alt.expr(tokens.record(tooltip))).encode(
        x=x, y=y, color=alt.Color("value:Q", scale=ramp.scale(), legend=None)
    )
    number = data.mark_text(
        text=alt.expr("format(datum.value, '.2f')"),
        fill=alt.expr(ramp.ink("datum.value", style.dark_ink, style.light_ink)),
    ).encode(x=x, y=y)
    return alt.LayerChart(layer=[cell, number])
