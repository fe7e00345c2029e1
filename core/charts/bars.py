"""Bars: the candidates for the next token, and the attention of one query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, hand, themed
from core.checks import check_sizes

_NUMBERS_UP_TO = 16  # bars; above more, the numbers would run together


class CandidateLike(Protocol):
    """What a bar needs to know of a candidate: ``core.decoding.Candidate`` has it."""

    @property
    def token_id(self) -> int: ...
    @property
    def token(self) -> str: ...
    @property
    def probability(self) -> float: ...
    @property
    def log_probability(self) -> float: ...
    @property
    def drawn(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class CandidateWords:
    """What the chart of candidates says, in the reader's language."""

    axis: str = "probability of being next"
    token: str = "token"
    token_id: str = "id"
    probability: str = "probability"
    log_probability: str = "log-probability"
    drawn: str = "probability of being drawn"


@dataclass(frozen=True, slots=True)
class AttentionWords:
    """What the chart of one query's attention says, in the reader's language."""

    axis: str = "weight"
    key: str = "key"
    weight: str = "weight"
    before: str = "before"
    masked: str = "masked"


def candidates(
    style: Style,
    *,
    count: int = 10,
    sampled: bool = False,
    words: CandidateWords | None = None,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    height: int | None = None,
    clickable: bool = True,
) -> alt.LayerChart:
    """The ``count`` most probable next tokens, the most probable on top, the chosen one marked by "▸" and an accent.

    The tokens are part of the data, so the chart is the same for every step.
    sampled: the bars are probabilities of being drawn, and dashed outlines those that the network gives.
    Dataset: "candidates" (row, rank: int16; token: str; token_id: int32; probability, log_probability, drawn: float32;
    chosen, nonce: int8), from :func:`candidates_data`. Selection: "candidate", with fields rank and nonce.
    Without a width it fills its container; its labels stand inside, so that ``outer_width`` is the same as ``width``.
    Raises: ValueError if count is less than 1.
    """
    check_sizes(count=count)
    words, width = words or CandidateWords(), width or outer_width
    gutter, end = round(9 * style.font_size), round(4 * style.font_size)  # room for the token, and for the number
    room = width - end if width else alt.expr(f"width - {end}")
    row = alt.Y("row:O", scale=alt.Scale(domain=list(range(count)), paddingInner=0.28, paddingOuter=0.1), axis=None)
    share = alt.Scale(domain=[0, 1], range=[gutter, room], clamp=True)
    shown = "drawn" if sampled else "probability"
    x = alt.X(f"{shown}:Q", scale=share, axis=alt.Axis(title=words.axis, values=[0, 0.5, 1], format=".1f", grid=True))
    tooltip = {
        words.token: "datum.token",
        words.token_id: "datum.token_id",
        words.probability: "format(datum.probability, '.4f')",
        words.log_probability: "format(datum.log_probability, '.3f')",
    }
    if sampled:
        tooltip[words.drawn] = "format(datum.drawn, '.4f')"
    hover = alt.expr(tokens.record(tooltip))
    cursor = hand(clickable)
    data = alt.Chart(alt.NamedData("candidates"))
    # The whole line can be clicked, also where the bar is short.
    line = data.properties(name="candidates").mark_rect(
        fill=style.background, fillOpacity=0, tooltip=hover, cursor=cursor
    )
    bar = data.mark_bar(
        fill=alt.expr(f"datum.chosen ? '{style.accent}' : '{style.primary}'"), cornerRadiusEnd=2 * style.scale
    )
    token = data.mark_text(
        align="right",
        text=alt.expr("(datum.chosen ? '▸ ' : '') + datum.token"),
        fontWeight=alt.expr("datum.chosen ? 'bold' : 'normal'"),
        fill=alt.expr(f"datum.chosen ? '{style.accent}' : '{style.text}'"),
        limit=gutter - 10,
    )
    number = data.mark_text(
        align="left",
        dx=6,
        text=alt.expr(f"datum.{shown} < 0.0005 ? '<0.001' : format(datum.{shown}, '.3f')"),
        fill=style.muted,
        fontSize=style.small_size * 1.1,
    )
    layers = [
        line.encode(y=row, x=alt.value(0), x2=alt.value(width or "width")),
        bar.encode(y=row, x=x, x2=alt.datum(0)),
        token.encode(y=row, x=alt.value(gutter - 8)),
        number.encode(y=row, x=x),
    ]
    if sampled:
        outline = data.mark_bar(filled=False, stroke=style.muted, strokeDash=[4, 3], strokeWidth=1.5 * style.scale)
        layers.append(outline.encode(y=row, x=alt.X("probability:Q"), x2=alt.datum(0)))
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[_click("candidate", "rank", "candidates")],
            width=width or "container",
            height=style.px(height or 22 * count),
            title=title or alt.Undefined,
        ),
        style,
    )


def candidates_data(
    shown: Sequence[CandidateLike], *, chosen_id: int | None = None, count: int = 10, nonce: int = 0
) -> dict[str, pa.Table]:
    """The data of :func:`candidates`: the first ``count``, and the chosen one in the last line if it is not among them.

    ``rank`` is a candidate's place in ``shown``, so ``shown[rank]`` is what was clicked.
    """
    ranks = list(range(min(count, len(shown))))
    chosen = next((rank for rank, candidate in enumerate(shown) if candidate.token_id == chosen_id), None)
    if chosen is not None and chosen not in ranks:
        ranks[-1] = chosen
    lines = [shown[rank] for rank in ranks]
    frame = pa.table(
        {
            "row": np.arange(len(lines), dtype=np.int16),
            "rank": np.array(ranks, np.int16),
            "token": [line.token for line in lines],
            "token_id": np.array([line.token_id for line in lines], np.int32),
            "probability": np.array([line.probability for line in lines], np.float32),
            "log_probability": np.array([line.log_probability for line in lines], np.float32),
            "drawn": np.array([line.probability if line.drawn is None else line.drawn for line in lines], np.float32),
            "chosen": np.array([rank == chosen for rank in ranks], np.int8),
            "nonce": np.full(len(lines), nonce % 100, np.int8),
        }
    )
    return {"candidates": frame}


def attention_bars(
    style: Style,
    keys: Sequence[str],
    *,
    before: bool = False,
    words: AttentionWords | None = None,
    title: str | None = None,
    width: int | None = None,
    outer_width: int | None = None,
    under: Sequence[str] = (),
    height: int = 150,
    expected_width: int = 560,
    clickable: bool = False,
) -> alt.LayerChart:
    """How one query shares its attention among the keys; ``before`` adds dashed outlines for a state to compare with.

    Datasets: "bars" (k: int16; weight, before: float32; attend, nonce: int8) and "uniform" (weight: float32; at most
    one row: a dashed line, what equal shares would give), from :func:`attention_bars_data`.
    Selection: "key", with fields k and nonce. Without a width it fills its container; see ``heatmap``.
    under: labels of the rows of a heatmap that stands above it in a figure: both grids then begin at the same place.
    Raises: ValueError if there are no keys.
    """
    if not keys:
        raise ValueError("keys must hold at least one token")
    words = words or AttentionWords()
    if outer_width:
        width = outer_width - tokens.beside_axis(["0.5", *under], style.font_size)
    bands = max(len(keys), 5)
    column = (width or expected_width) / bands
    labels = tokens.labels_across(keys, column, style.font_size)
    axis = alt.Axis(
        title=None,
        values=list(range(len(keys))),
        labelExpr="key_tokens[datum.value]",
        labelAngle=labels.angle,
        labelFontSize=labels.size,
        labelLimit=labels.limit,
        labelOverlap=False,
    )
    x = alt.X("k:O", scale=alt.Scale(domain=list(range(bands)), paddingInner=0.36, paddingOuter=0.18), axis=axis)
    ticks = alt.Axis(title=words.axis, values=[0, 0.5, 1], format=".1f", grid=True)
    y = alt.Y("weight:Q", scale=alt.Scale(domain=[0, 1], clamp=True), axis=ticks)
    tooltip = {
        words.key: "key_tokens[datum.k] + '  ·  ' + (datum.k + 1)",
        words.weight: f"datum.attend ? {_weight('.4f')} : {tokens.quoted(words.masked)}",
    }
    if before:
        tooltip[words.before] = "format(datum.before, '.4f')"
    cursor = hand(clickable)
    data = alt.Chart(alt.NamedData("bars"))
    column_area = data.properties(name="bars").mark_rect(
        fill=alt.expr(f"datum.attend ? '{style.background}' : '{style.masked}'"),
        fillOpacity=alt.expr("datum.attend ? 0 : 0.5"),
        tooltip=alt.expr(tokens.record(tooltip)),
        cursor=cursor,
    )
    layers = [
        column_area.encode(x=x, y=alt.value(0), y2=alt.value("height")),
        data.transform_filter("datum.attend == 0")
        .mark_text(text="╱", fill=style.hatch, fontSize=style.font_size)
        .encode(x=x, y=alt.value(style.px(height) / 2)),
        data.mark_bar(fill=style.primary).encode(x=x, y=y, y2=alt.datum(0)),
    ]
    if before:
        outline = data.mark_bar(filled=False, stroke=style.accent, strokeDash=[4, 3], strokeWidth=1.5 * style.scale)
        layers.append(outline.encode(x=x, y=alt.Y("before:Q"), y2=alt.datum(0)))
    if len(keys) <= _NUMBERS_UP_TO and column >= 2.5 * style.small_size:
        highest, otherwise = ("max(datum.weight, datum.before)", "datum.before") if before else ("datum.weight", "0")
        top = f"isValid(datum.weight) ? {highest} : {otherwise}"  # "NaN" has no height, and yet needs a place
        number = data.transform_calculate(top=top).mark_text(
            dy=-0.7 * style.small_size,
            text=alt.expr(f"datum.attend ? {_weight('.2f')} : ''"),
            fill=style.muted,
            fontSize=style.small_size,
        )
        layers.append(number.encode(x=x, y=alt.Y("top:Q")))
    uniform = alt.Chart(alt.NamedData("uniform")).mark_rule(
        aria=False, stroke=style.muted, strokeDash=[2, 3], strokeWidth=style.scale
    )
    layers.append(uniform.encode(y=y))
    return themed(
        alt.LayerChart(
            layer=layers,
            params=[_click("key", "k", "bars"), tokens.label_table("key_tokens", keys)],
            width=width or "container",
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def attention_bars_data(
    weights: npt.ArrayLike,
    *,
    before: npt.ArrayLike | None = None,
    attend_mask: npt.ArrayLike | None = None,
    uniform: bool = False,
    nonce: int = 0,
) -> dict[str, pa.Table]:
    """The data of :func:`attention_bars`: weights, and what to compare them with, of shape (keys,); True = may attend.

    ``uniform`` draws the line at 1 / (number of keys that may be attended to).
    Raises: ValueError if a shape does not fit.
    """
    after = np.asarray(weights).astype(np.float32)
    earlier = after if before is None else np.asarray(before).astype(np.float32)
    attend = np.ones(after.shape, np.int8) if attend_mask is None else np.asarray(attend_mask).astype(np.int8)
    if after.ndim != 1 or after.shape != earlier.shape or after.shape != attend.shape:
        raise ValueError(
            f"weights {after.shape}, before {earlier.shape} and attend_mask {attend.shape} must be (keys,)"
        )
    frame = pa.table(
        {
            "k": np.arange(after.size, dtype=np.int16),
            "weight": after,
            "before": earlier,
            "attend": attend,
            "nonce": np.full(after.size, nonce % 100, np.int8),
        }
    )
    seen = int(attend.sum())
    line = np.array([1 / seen] if uniform and seen else [], np.float32)
    return {"bars": frame, "uniform": pa.table({"weight": line})}


def _weight(form: str) -> str:
    return f"(isValid(datum.weight) ? format(datum.weight, '{form}') : 'NaN')"


def _click(name: str, field: str, view: str) -> alt.TopLevelSelectionParameter:
    select = alt.PointSelectionConfig(type="point", fields=[field, "nonce"], on="click", clear=False)
    return alt.TopLevelSelectionParameter(name=name, select=select, views=[view])
