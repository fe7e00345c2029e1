"""The tree of a beam search: every hypothesis that was considered, from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import altair as alt
import numpy as np
import pyarrow as pa

from core.charts import tokens
from core.charts.theme import Style, themed
from core.checks import check_sizes

_FATES = ("kept", "finished", "outscored", "dropped", "abandoned")  # numbered from 0 in the data
_KEPT, _FINISHED, _OUTSCORED, _DROPPED, _ABANDONED = range(5)
_ROWS = (1.0, 1.3, 0.8, 0.5, 1.0)  # how much room each fate gets: what fell out of the beam may stand closer
_PULLS = (1.0, 0.5, 0.5, 0.2, 1.0)  # how strongly each wants to stand level with its parent
_WINNERS_PULL, _WINNERS_ROW = 8.0, 2.0
_NEEDS = {"token": 1.6, "token and score": 2.2, "token, square and score": 3.6}  # distance between nodes, in ems
_COLUMNS = {
    "number": np.int16,
    "step": np.int16,
    "slot": np.float32,
    "parent_slot": np.float32,
    "room": np.float32,
    "token": object,
    "log_probability": np.float32,
    "score": np.float32,
    "fate": np.int8,
    "on_winner": np.int8,
}


class HypothesisLike(Protocol):
    """What the tree needs to know of a hypothesis: ``core.decoding.Hypothesis`` has it."""

    @property
    def number(self) -> int: ...
    @property
    def parent(self) -> int | None: ...
    @property
    def token(self) -> str: ...
    @property
    def log_probability(self) -> float: ...
    @property
    def score(self) -> float: ...
    @property
    def fate(self) -> str: ...


@dataclass(frozen=True, slots=True)
class TreeWords:
    """What the tree says, in the reader's language."""

    axis: str = "step"
    token: str = "token"
    log_probability: str = "log-probability"
    score: str = "score"
    fate: str = "fate"
    winner: str = "winner"
    kept: str = "kept"
    finished: str = "finished"
    outscored: str = "finished, but outscored"
    dropped: str = "dropped"
    abandoned: str = "left when the search stopped"


def beam_tree(
    style: Style,
    num_steps: int,
    *,
    words: TreeWords | None = None,
    title: str | None = None,
    width: int | None = None,
    height: int = 360,
) -> alt.LayerChart:
    """The hypotheses of a beam search: the winner's path thick, the dropped ones dashed, the finished ones squares.

    Where there is little room, dropped hypotheses are dots without a name, and only the finished ones tell their score;
    with more than about 35 steps to 1000 pixels only the winner's tokens are written.
    Dataset: "nodes" (number, step: int16; slot, parent_slot, room, log_probability, score: float32; token: str;
    fate, on_winner: int8), from :func:`tree_data`. Without ``width`` it fills its container.
    Raises: ValueError if num_steps is less than 1.
    """
    check_sizes(num_steps=num_steps)
    words = words or TreeWords()
    x = alt.X("step:Q", scale=alt.Scale(domain=[0, num_steps + 0.5], nice=False), axis=_steps(words, num_steps))
    inside: list[Any] = [2.6 * style.font_size, alt.ExprRef(f"height - {style.font_size}")]  # below the legend
    y = alt.Y("slot:Q", scale=alt.Scale(domain=[0, 1], range=inside, nice=False), axis=None)
    layers = [
        _edges(style, f"datum.fate == {_DROPPED}", style.hatch, 1, [3, 3]),
        _edges(style, f"datum.fate != {_DROPPED} && !datum.on_winner", style.muted, 1.1, []),
        _edges(style, "datum.on_winner", style.accent, 3, []),
        *_nodes(style),
        _target(style, words),
    ]
    tree = alt.LayerChart(
        data=alt.NamedData("nodes"),
        transform=_shown(style, num_steps),
        layer=[layer.encode(x=x, y=y) for layer in layers],
    )
    return themed(
        alt.LayerChart(
            layer=[tree, *_legend(style, words)],
            width=width or "container",
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def tree_data(search: Sequence[Sequence[HypothesisLike]], winner: Sequence[int]) -> dict[str, pa.Table]:
    """The data of :func:`beam_tree`: the hypotheses of every step, and the numbers of the winner and its ancestors.

    Each stands as level with its parent as its neighbours allow, and in their order, so that no edges cross. Slots and
    room (the distance to the nearest neighbour) are shares of the height.
    """
    heights = [[_row(hypothesis, winner) for hypothesis in step] for step in search]
    total = max((sum(step) for step in heights), default=1.0)
    slots: dict[int | None, float] = {None: total / 2}
    rows: list[tuple[object, ...]] = [(-1, 0, 0.5, 0.5, 1, "", 0, 0, _KEPT, bool(winner))]
    for number, step in enumerate(search, start=1):
        shown = sorted(step, key=lambda hypothesis: slots[hypothesis.parent])  # stable: siblings keep best first
        fates = [_FATES.index(hypothesis.fate) for hypothesis in shown]
        won = [hypothesis.number in winner for hypothesis in shown]
        wanted = [slots[hypothesis.parent] for hypothesis in shown]
        pulls = [_WINNERS_PULL if is_won else _PULLS[fate] for is_won, fate in zip(won, fates, strict=True)]
        places = _spread(wanted, pulls, [_row(hypothesis, winner) for hypothesis in shown], total)
        gaps = np.diff(places, prepend=-total, append=2 * total)
        slots = {h.number: place for h, place in zip(shown, places, strict=True)}
        for i, h in enumerate(shown):
            place = (number, places[i] / total, wanted[i] / total, min(gaps[i], gaps[i + 1], total) / total)
            rows.append((h.number, *place, h.token, h.log_probability, h.score, fates[i], won[i]))
    columns = zip(_COLUMNS.items(), zip(*rows, strict=True), strict=True)
    return {"nodes": pa.table({name: np.array(values, kind) for (name, kind), values in columns})}


def _row(hypothesis: HypothesisLike, winner: Sequence[int]) -> float:
    fate = _FATES.index(hypothesis.fate)
    return _WINNERS_ROW if fate == _FINISHED and hypothesis.number in winner else _ROWS[fate]


def _spread(wanted: Sequence[float], pulls: Sequence[float], rows: Sequence[float], total: float) -> list[float]:
    """Places as near to the wanted ones as possible (least squares), in the same order, with a row's room for each.

    Without the rows' own heights that is a regression to a rising sequence: pool what would fall, and take its mean.
    """
    before = np.cumsum(rows) - np.asarray(rows) / 2  # where each would stand if all were packed at the top
    pools: list[tuple[float, float, int]] = []  # mean, pull, size
    for place, pull in zip(np.asarray(wanted) - before, pulls, strict=True):
        mean, weight, size = float(place), pull, 1
        while pools and pools[-1][0] > mean:
            other, other_weight, other_size = pools.pop()
            mean = (mean * weight + other * other_weight) / (weight + other_weight)
            weight, size = weight + other_weight, size + other_size
        pools.append((mean, weight, size))
    free = total - sum(rows)
    means = np.repeat([mean for mean, _, _ in pools], [size for _, _, size in pools])
    return [float(place) for place in np.clip(means, 0, free) + before]


def _shown(style: Style, num_steps: int) -> list[alt.CalculateTransform]:
    """What there is room for, given the chart's size in pixels."""
    size = style.font_size
    rows = {name: f"!datum.narrow && datum.room * height > {rows * size}" for name, rows in _NEEDS.items()}
    formulas = {
        "step_width": f"width / {num_steps + 0.5}",
        "narrow": f"datum.step_width < {2.3 * size}",
        "ended": f"datum.fate == {_FINISHED} || datum.fate == {_OUTSCORED}",
        "named": f"datum.step > 0 && (datum.on_winner || (datum.ended ? {rows['token, square and score']} : "
        f"datum.fate == {_DROPPED} ? {rows['token']} : !datum.narrow))",
        "scored": f"datum.step > 0 && ((datum.on_winner && datum.ended) || "
        f"((datum.ended || datum.step_width > {5 * size}) && {rows['token and score']}))",
    }
    return [alt.CalculateTransform(**{"as": name, "calculate": formula}) for name, formula in formulas.items()]


def _steps(words: TreeWords, num_steps: int) -> alt.Axis:
    return alt.Axis(
        title=words.axis,
        values=list(range(1, num_steps + 1)),
        format="d",
        grid=False,
        labelOverlap=True,
        labelFlush=False,
    )


def _edges(style: Style, which: str, colour: str, thickness: float, dash: list[float]) -> alt.Chart:
    """Curves through four points each, so that they leave and meet the words level."""
    curve: alt.Chart = (
        alt.Chart()
        .transform_filter(f"datum.step > 0 && ({which})")
        .transform_calculate(
            along="[datum.step - 1, datum.step - 0.7, datum.step - 0.3, datum.step]",
            across="[datum.parent_slot, datum.parent_slot, datum.slot, datum.slot]",
        )
        .transform_flatten(["along", "across"], as_=["step", "slot"])
        .mark_line(stroke=colour, strokeWidth=thickness * style.scale, strokeDash=dash, interpolate="monotone")
        .encode(detail="number:N", order="step:Q")
    )
    return curve


def _nodes(style: Style) -> list[alt.Chart]:
    quiet = f"datum.fate == {_KEPT} || datum.fate == {_FINISHED} ? '{style.text}' : '{style.muted}'"
    active = f"datum.fate == {_FINISHED} ? '{style.primary}' : '{style.background}'"
    border = f"datum.fate == {_FINISHED} ? '{style.primary}' : '{style.muted}'"

    def accented(otherwise: str) -> alt.Expr | alt.ExprRef:
        return alt.ExprRef(f"datum.on_winner ? '{style.accent}' : ({otherwise})")

    def written(text: str, colour: str, **options: Any) -> list[alt.Chart]:
        # Twice: first as a halo in the colour of the page, which keeps the edges clear of the words.
        common = {
            "text": alt.ExprRef(text),
            "fontWeight": alt.ExprRef("datum.on_winner ? 'bold' : 'normal'"),
            **options,
        }
        halo = alt.Chart().mark_text(stroke=style.background, strokeWidth=5 * style.scale, strokeJoin="round", **common)
        return [halo, alt.Chart().mark_text(fill=accented(colour), **common)]

    size = style.font_size
    token = written(
        "datum.named ? datum.token : ''",
        quiet,
        dy=alt.ExprRef(f"datum.ended ? {-1.1 * size} : datum.narrow ? {-0.7 * size} : 0"),
        angle=alt.ExprRef("datum.narrow ? -50 : 0"),
        align=alt.ExprRef("datum.narrow ? 'left' : 'center'"),
        limit=alt.ExprRef(f"datum.narrow ? {5 * size} : datum.step_width - 4"),
    )
    score = written(
        "datum.scored ? format(datum.score, '.2f') : ''", f"'{style.muted}'", dy=1.0 * size, fontSize=style.small_size
    )
    dots = (
        alt.Chart()
        .transform_filter("!datum.ended && !datum.named")
        .mark_point(filled=True, opacity=1, size=16 * style.scale**2, fill=style.muted)
    )
    squares = (
        alt.Chart()
        .transform_filter("datum.ended")
        .mark_point(
            shape="square",
            opacity=1,
            size=64 * style.scale**2,
            strokeWidth=1.5 * style.scale,
            stroke=accented(border),
            fill=accented(active),
        )
    )
    return [*token, *score, dots, squares]


def _legend(style: Style, words: TreeWords) -> list[alt.Chart]:
    """What the lines and squares mean, in a row along the top."""
    said = (words.winner, words.kept, words.dropped, words.finished, words.outscored)
    key, gap = 2 * style.font_size, 1.6 * style.font_size
    lefts = np.cumsum([0.0, *(key + gap + tokens.text_width(text, style.font_size) for text in said)])
    rows = [
        {"left": round(left, 1), "said": text, "kind": kind}
        for kind, (left, text) in enumerate(zip(lefts, said, strict=False))
    ]
    place = alt.X("left:Q", scale=None, axis=None)
    base = alt.Chart(alt.InlineData(rows, name="legend"))
    line = base.transform_filter("datum.kind < 3").mark_rule(
        x2=alt.ExprRef(f"datum.left + {key - 6}"),
        strokeWidth=alt.ExprRef(f"[3, 1.1, 1][datum.kind] * {style.scale}"),
        stroke=alt.ExprRef(f"{tokens.literal([style.accent, style.muted, style.hatch])}[datum.kind]"),
        strokeDash=alt.ExprRef("datum.kind == 2 ? [3, 3] : []"),
    )
    square = base.transform_filter("datum.kind >= 3").mark_point(
        shape="square",
        opacity=1,
        size=64 * style.scale**2,
        xOffset=key - 12 * style.scale,
        strokeWidth=1.5 * style.scale,
        stroke=alt.ExprRef(f"datum.kind == 3 ? '{style.primary}' : '{style.muted}'"),
        fill=alt.ExprRef(f"datum.kind == 3 ? '{style.primary}' : '{style.background}'"),
    )
    text = base.mark_text(text=alt.ExprRef("datum.said"), align="left", dx=key, fill=style.muted)
    return [layer.encode(x=place, y=alt.value(style.font_size / 2)) for layer in (line, square, text)]


def _target(style: Style, words: TreeWords) -> alt.Chart:
    """What the pointer meets: larger than a dot."""
    fates = tokens.literal([words.kept, words.finished, words.outscored, words.dropped, words.abandoned])
    tooltip = {
        words.token: "datum.token",
        words.score: "format(datum.score, '.3f')",
        words.log_probability: "format(datum.log_probability, '.3f')",
        words.fate: f"{fates}[datum.fate]",
    }
    disc: alt.Chart = (
        alt.Chart()
        .transform_filter("datum.step > 0")
        .mark_point(filled=True, opacity=0, size=300 * style.scale**2, tooltip=alt.ExprRef(tokens.record(tooltip)))
    )
    return disc
