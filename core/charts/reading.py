"""Who looks at whom: tokens in rows, and a line from every token to those below it that it may look at.

Source of the picture: Devlin et al. 2019, "BERT", figure 3, draws such lines for encoders and decoders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, hand, themed


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens side by side: where they stand, across and up, in rows of tokens."""

    tokens: tuple[str, ...]
    left: float  # in tokens
    level: float  # 0 is the lowest
    name: str = ""  # stands at the left of it


@dataclass(frozen=True, slots=True)
class ReadingWords:
    """What the chart says, in the reader's language."""

    token: str = "token"
    sees: str = "may look at"


def reading(
    style: Style,
    rows: Sequence[Row],
    *,
    words: ReadingWords | None = None,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    height: int = 200,
) -> alt.LayerChart:
    """Rows of tokens and the lines between them; the lines of the chosen token are strong.

    Datasets, from :func:`reading_data`: "lines" (line: int16; x, y: float32; strong, other: int8) and "tokens" (n, row,
    place: int16; x, y: float32; seen: int16; padding, chosen, nonce: int8). Selection: "token", with fields row,
    place and nonce.
    Raises: ValueError if there are no rows.
    """
    if not rows:
        raise ValueError("rows must hold at least one row")
    words = words or ReadingWords()
    width = width or outer_width
    names = [row.name for row in rows]
    gutter = round(max(tokens.text_width(name, style.font_size) for name in names) + style.font_size)
    right = max(row.left + len(row.tokens) for row in rows)
    top = max(row.level for row in rows)
    room = width - 8 if width else alt.expr("width - 8")
    across = alt.Scale(domain=[0, right], range=[gutter, room], nice=False, zero=False)
    up = alt.Scale(domain=[-0.22, top + 0.22], nice=False, zero=False)
    x, y = alt.X("x:Q", scale=across, axis=None), alt.Y("y:Q", scale=up, axis=None)
    slot = ((width or 900) - gutter) / right
    texts = [token for row in rows for token in row.tokens]
    tooltip = {words.token: "reading_tokens[datum.n]", words.sees: "datum.seen"}
    lines = alt.Chart(alt.NamedData("lines"))
    drawn = [
        lines.transform_filter(f"datum.strong == {strong}")
        .mark_line(
            stroke=alt.expr(f"datum.other ? '{style.accent}' : '{style.primary}'") if strong else style.muted,
            strokeWidth=(2.2 if strong else 0.8) * style.scale,
            opacity=1 if strong else 0.4,
            aria=False,
        )
        .encode(
            x=x,
            y=y,
            detail="line:N",
            **({"color": alt.Color("other:N", legend=None, scale=_two(style))} if strong else {}),
        )
        for strong in (0, 1)
    ]
    data = alt.Chart(alt.NamedData("tokens"))
    box = data.properties(name="tokens").mark_rect(
        fill=alt.expr(f"datum.padding ? '{style.masked}' : '{style.surface}'"),
        stroke=alt.expr(f"datum.chosen ? '{style.accent}' : '{style.muted}'"),
        strokeWidth=alt.expr(f"(datum.chosen ? 2.5 : 0.8) * {style.scale}"),
        width=max(slot - 10, 10),
        height=1.75 * style.font_size,
        cornerRadius=4,
        tooltip=alt.expr(tokens.record(tooltip)),
        cursor=hand(True),
    )
    text = data.mark_text(
        text=alt.expr("reading_tokens[datum.n]"),
        fontSize=style.font_size,
        limit=max(slot - 14, 8),
        aria=False,
    )
    beside = alt.Chart(
        alt.InlineData([{"x": row.left, "y": row.level, "label": row.name} for row in rows if row.name], name="names")
    ).mark_text(align="right", dx=-8, text=alt.ExprRef("datum.label"), fill=style.muted)
    select = alt.PointSelectionConfig(type="point", fields=["row", "place", "nonce"], on="click", clear=False)
    return themed(
        alt.LayerChart(
            layer=[*drawn, box.encode(x=x, y=y), text.encode(x=x, y=y), beside.encode(x=x, y=y)],
            params=[
                alt.TopLevelSelectionParameter(name="token", select=select, views=["tokens"]),
                tokens.label_table("reading_tokens", texts),
            ],
            width=width or "container",
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def _two(style: Style) -> alt.Scale:
    return alt.Scale(domain=[0, 1], range=[style.primary, style.accent])


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """The tokens of one row look at those of another, as a mask says."""

    looking: int  # number of the row
    looked_at: int
    attend_mask: npt.NDArray[np.bool_]  # (tokens of the one, tokens of the other), True = may look


def reading_data(
    rows: Sequence[Row], looks: Sequence[Look], *, chosen: tuple[int, int], padding: Sequence[str] = (), nonce: int = 0
) -> dict[str, pa.Table]:
    """The data of :func:`reading`. chosen: a row and a place in it, of all that look. padding: tokens that are none.

    Raises: ValueError if a mask does not fit its rows.
    """
    lines: list[tuple[int, float, float, int, int]] = []
    seen = [[0] * len(row.tokens) for row in rows]
    for look in looks:
        upper, lower = rows[look.looking], rows[look.looked_at]
        if look.attend_mask.shape != (len(upper.tokens), len(lower.tokens)):
            shape = len(upper.tokens), len(lower.tokens)
            raise ValueError(f"attend_mask {look.attend_mask.shape} must have the shape {shape} of its rows")
        for query, key in zip(*look.attend_mask.nonzero(), strict=True):
            seen[look.looking][query] += 1
            strong = int((look.looking, query) == chosen or (look.looking, query) == _above(rows, look, chosen))
            other = int(upper.left != lower.left)
            number = len(lines) // 2
            lines.append((number, upper.left + query + 0.5, upper.level, strong, other))
            lines.append((number, lower.left + key + 0.5, lower.level, strong, other))
    columns = list(zip(*lines, strict=True)) or [()] * 5
    kinds = (np.int16, np.float32, np.float32, np.int8, np.int8)
    places = [(number, place, row, token) for number, row in enumerate(rows) for place, token in enumerate(row.tokens)]
    return {
        "lines": pa.table(
            {
                name: np.array(values, kind)
                for name, values, kind in zip(("line", "x", "y", "strong", "other"), columns, kinds, strict=True)
            }
        ),
        "tokens": pa.table(
            {
                "n": np.arange(len(places), dtype=np.int16),
                "row": np.array([number for number, *_ in places], np.int16),
                "place": np.array([place for _number, place, *_ in places], np.int16),
                "x": np.array([row.left + place + 0.5 for _number, place, row, _token in places], np.float32),
                "y": np.array([row.level for _number, _place, row, _token in places], np.float32),
                "seen": np.array([seen[number][place] for number, place, *_ in places], np.int16),
                "padding": np.array([token in padding for *_, token in places], np.int8),
                "chosen": np.array([(number, place) == chosen for number, place, *_ in places], np.int8),
                "nonce": np.full(len(places), nonce % 100, np.int8),
            }
        ),
    }


def _above(rows: Sequence[Row], look: Look, chosen: tuple[int, int]) -> tuple[int, int] | None:
    """The same place in another row of the same column: what a token sees in one block it sees in the whole layer."""
    if rows[look.looking].left == rows[chosen[0]].left:
        return look.looking, chosen[1]
    return None
