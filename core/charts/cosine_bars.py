"""Bars that lie: the words that point most nearly where something does, by the cosine of the angle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, themed
from core.checks import check_sizes

PLAIN, GIVEN, WANTED = 0, 1, 2
"""What a word is: any, one that was put in, the one that is expected."""

_ROW = 22  # pixels


@dataclass(frozen=True, slots=True)
class CosineWords:
    """What the bars say, in the reader's language."""

    axis: str = "cosine"
    word: str = "word"
    place: str = "place"
    given: str = "one of the inputs"
    wanted: str = "expected"


def cosine_bars(
    style: Style,
    *,
    count: int = 8,
    words: CosineWords | None = None,
    title: str | None = None,
    outer_width: int = 340,
    height: int | None = None,
) -> alt.LayerChart:
    """The nearest words on top; what was put in is hollow and dashed, what is expected has a mark and the accent.

    Dataset: "bars" (row: int16; place: int32; word: str; cosine: float32; kind: int8), from :func:`cosine_bars_data`.
    Raises: ValueError if count is less than 1.
    """
    check_sizes(count=count)
    words = words or CosineWords()
    gutter, end = round(8.5 * style.font_size), round(3.2 * style.font_size)
    y = alt.Y("row:O", scale=alt.Scale(domain=list(range(count)), paddingInner=0.28, paddingOuter=0.1), axis=None)
    x = alt.X(
        "cosine:Q",
        scale=alt.Scale(domain=[0, 1], range=[gutter, outer_width - end], clamp=True),
        axis=alt.Axis(title=words.axis, values=[0, 0.5, 1], format=".1f", grid=True),
    )
    kinds = f"['', {tokens.quoted(words.given)}, {tokens.quoted(words.wanted)}][datum.kind]"
    tooltip = {words.word: "datum.word", words.place: "datum.place", words.axis: "format(datum.cosine, '.4f')"}
    hover = alt.expr(tokens.record({**tooltip, "·": kinds}))
    data = alt.Chart(alt.NamedData("bars"))
    wanted, given = f"datum.kind == {WANTED}", f"datum.kind == {GIVEN}"
    colour = f"{wanted} ? '{style.accent}' : '{style.primary}'"
    layers = [
        data.mark_rect(fill=style.background, fillOpacity=0, tooltip=hover).encode(
            y=y, x=alt.value(0), x2=alt.value(outer_width)
        ),
        data.mark_bar(
            fill=alt.expr(colour),
            fillOpacity=alt.expr(f"{given} ? 0.12 : 1"),
            stroke=alt.expr(f"{given} ? '{style.muted}' : {colour}"),
            strokeWidth=style.scale,
            strokeDash=alt.expr(f"{given} ? [3, 2] : [1, 0]"),
        ).encode(y=y, x=x, x2=alt.datum(0)),
        data.mark_text(
            align="right",
            text=alt.expr(f"({wanted} ? '▸ ' : {given} ? '○ ' : '') + datum.word"),
            fontWeight=alt.expr(f"{wanted} ? 'bold' : 'normal'"),
            fill=alt.expr(f"{wanted} ? '{style.accent}' : {given} ? '{style.muted}' : '{style.text}'"),
            limit=gutter - 28 * style.scale,
        ).encode(y=y, x=alt.value(gutter - 8)),
        data.mark_text(
            align="left", text=alt.expr("datum.place + '.'"), fill=style.muted, fontSize=style.small_size
        ).encode(y=y, x=alt.value(2)),
        data.mark_text(
            align="left",
            dx=6,
            text=alt.expr("format(datum.cosine, '.3f')"),
            fill=style.muted,
            fontSize=style.small_size * 1.1,
        ).encode(y=y, x=x),
    ]
    return themed(
        alt.LayerChart(
            layer=layers,
            width=outer_width - 2,
            height=style.px(height or _ROW * count),
            title=title or alt.Undefined,
        ),
        style,
    )


def cosine_bars_data(
    words: Sequence[str], cosines: Sequence[float], kinds: Sequence[int], *, places: Sequence[int] | None = None
) -> dict[str, pa.Table]:
    """The data of :func:`cosine_bars`, the nearest first; places: where not all are shown, else 1, 2, …

    Raises: ValueError if there are not as many of each.
    """
    places = range(1, len(words) + 1) if places is None else places
    if not len(words) == len(cosines) == len(kinds) == len(places):
        raise ValueError(
            f"words ({len(words)}), cosines ({len(cosines)}), kinds ({len(kinds)}) and places ({len(places)}) must be "
            "as many"
        )
    return {
        "bars": pa.table(
            {
                "row": np.arange(len(words), dtype=np.int16),
                "place": np.asarray(places, np.int32),
                "word": list(words),
                "cosine": np.asarray(cosines, np.float32),
                "kind": np.asarray(kinds, np.int8),
            }
        )
    }
