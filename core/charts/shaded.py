"""A text whose tokens are shaded by a number each, set in lines as a text is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import board, tokens
from core.charts.board import Place
from core.charts.theme import Style, hand, themed

_LINE, _CELL = 32, 26  # units: from line to line, and how high a token's area is
_FONT = 13  # as font_size at normal size, a little larger
_PAD, _SPACE = 6, 3  # pixels: beside a token's letters, and between two tokens


@dataclass(frozen=True, slots=True)
class ShadedWords:
    """What the chart says, in the reader's language."""

    token: str = "token"
    value: str = "weight"


def lines_of(texts: Sequence[str], *, outer_width: int, scale: float = 1.0) -> int:
    """How many lines the text needs."""
    return max(line for line, _place in _flow(texts, outer_width, scale)) + 1


def high(lines: int) -> int:
    """Units that so many lines need."""
    return lines * _LINE


def shaded(
    style: Style,
    texts: Sequence[str],
    *,
    lines: int,
    most: float = 1.0,
    format: str = ".3f",
    words: ShadedWords | None = None,
    title: str | None = None,
    outer_width: int = 700,
    clickable: bool = True,
) -> alt.LayerChart:
    """The tokens one after the other; the chosen one has a ring.

    most: the number that has the darkest colour; what is more has the same.
    Dataset: "tokens" (t: int16; left, right, top, bottom, value: float32; chosen, nonce: int8), from
    :func:`shaded_data` with the same width. Selection: "token", with fields t and nonce.
    Raises: ValueError if there are no texts, or most is not above 0.
    """
    if not texts or most <= 0:
        raise ValueError(f"texts ({len(texts)}) must hold at least one token, and most ({most}) must be above 0")
    words = words or ShadedWords()
    height = high(lines)
    place = board.rectangle(height)
    ramp = style.weights
    data = alt.Chart(alt.NamedData("tokens")).transform_calculate(
        share=f"isValid(datum.value) ? datum.value / {most:.6g} : 0", middle="(datum.left + datum.right) / 2",
        centre="(datum.top + datum.bottom) / 2",
    )  # fmt: skip
    tooltip = {
        words.token: "shaded_texts[datum.t] + '  ·  ' + (datum.t + 1)",
        words.value: f"isValid(datum.value) ? format(datum.value, '{format}') : '–'",
    }
    area = (
        data.properties(name="tokens")
        .mark_rect(cornerRadius=3, tooltip=alt.expr(tokens.record(tooltip)), cursor=hand(clickable))
        .encode(**place, color=alt.Color("share:Q", scale=ramp.scale(), legend=None))
    )
    ring = (
        data.transform_filter("datum.chosen == 1")
        .mark_rect(filled=False, stroke=style.accent, strokeWidth=2.5 * style.scale, cornerRadius=3)
        .encode(**place)
    )
    text = data.mark_text(
        text=alt.expr("shaded_texts[datum.t]"),
        fontSize=_FONT * style.scale,
        fill=alt.expr(ramp.ink("datum.share", style.dark_ink, style.light_ink)),
    ).encode(
        x=alt.X("middle:Q", scale=board.scale_x(), axis=None),
        y=alt.Y("centre:Q", scale=board.scale_y(height), axis=None),
    )
    select = alt.PointSelectionConfig(type="point", fields=["t", "nonce"], on="click", clear=False)
    return themed(
        alt.LayerChart(
            layer=[area, ring, text],
            params=[
                alt.TopLevelSelectionParameter(name="token", select=select, views=["tokens"]),
                tokens.label_table("shaded_texts", texts),
            ],
            width=outer_width,
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def shaded_data(
    texts: Sequence[str],
    values: npt.ArrayLike,
    *,
    outer_width: int,
    scale: float = 1.0,
    chosen: Sequence[int] = (),
    nonce: int = 0,
) -> dict[str, pa.Table]:
    """The data of :func:`shaded`: a number for each token, NaN where there is none. scale: of the type.

    Raises: ValueError if there are not as many values as texts.
    """
    numbers = np.asarray(values, np.float32)
    if numbers.shape != (len(texts),):
        raise ValueError(f"values {numbers.shape} must be ({len(texts)},), a number for each of the texts")
    every = np.arange(len(texts), dtype=np.int16)
    columns = {
        "t": every,
        **board.places([place for _line, place in _flow(texts, outer_width, scale)]),
        "value": numbers,
        "chosen": np.isin(every, list(chosen)).astype(np.int8),
        "nonce": np.full(len(texts), nonce % 100, np.int8),
    }
    return {"tokens": pa.table(columns)}


def _flow(texts: Sequence[str], outer_width: int, scale: float) -> list[tuple[int, Place]]:
    """The line and the place of every token; one that is wider than a line is as wide as that."""
    unit = board.WIDTH / outer_width  # of a pixel
    found, line, left = [], 0, 0.0
    for text in texts:
        wide = min((tokens.text_width(text, _FONT * scale) + 2 * _PAD * scale) * unit, board.WIDTH)
        if left > 0 and left + wide > board.WIDTH:
            line, left = line + 1, 0.0
        top = line * _LINE + (_LINE - _CELL) / 2
        found.append((line, Place(left, top, left + wide, top + _CELL)))
        left += wide + _SPACE * scale * unit
    return found
