"""Points in a plane with two axes that measure: each is a token, some with their names beside them."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.charts import tokens
from core.charts.curves import Axis
from core.charts.theme import Style, hand, themed

NAMED = 16
"""So many points, at most, have their names beside them: those that lie farthest out, and the chosen one."""


def points(
    style: Style,
    names: Sequence[str],
    *,
    x: Axis,
    y: Axis,
    kinds: tuple[str, str] = ("", ""),
    title: str | None = None,
    outer_width: int = 520,
    height: int = 260,
    clickable: bool = True,
) -> alt.LayerChart:
    """A round point for each token, an open square for special ones.

    kinds: what a point and a square are, for the tooltip.
    Dataset: "points" (t: int16; x, y, value: float32; square, named, side, chosen, nonce: int8), from
    :func:`points_data`.
    Selection: "token", with fields t and nonce.
    Raises: ValueError if there are no names.
    """
    if not names:
        raise ValueError("names must hold at least one name")
    width = outer_width - tokens.beside_axis(["0.000"], style.font_size)
    across, up = (
        encode(f"{name}:Q", scale=axis.scale(), axis=axis.drawn(grid=True))
        for encode, name, axis in ((alt.X, "x", x), (alt.Y, "y", y))
    )
    data = alt.Chart(alt.NamedData("points"))
    tooltip = {
        "·": f"point_names[datum.t] + '  ·  ' + (datum.t + 1) + (datum.square ? {tokens.quoted(_within(kinds[1]))} : "
        f"{tokens.quoted(_within(kinds[0]))})",
        x.title: "format(datum.value, '.4f')",
        y.title: "format(datum.y, '.4f')",
    }
    dot = (
        data.properties(name="points")
        .mark_point(
            shape=alt.expr("datum.square ? 'square' : 'circle'"),
            filled=True,
            size=75 * style.scale,
            opacity=1,
            fill=alt.expr(f"datum.square ? '{style.background}' : '{style.primary}'"),
            stroke=alt.expr(f"datum.square ? '{style.muted}' : '{style.background}'"),
            strokeWidth=1.4 * style.scale,
            tooltip=alt.expr(tokens.record(tooltip)),
            cursor=hand(clickable),
        )
        .encode(x=across, y=up)
    )
    ring = (
        data.transform_filter("datum.chosen == 1")
        .mark_point(
            shape="circle", filled=False, size=260 * style.scale, stroke=style.accent, strokeWidth=2.5 * style.scale,
            opacity=1,
        )
        .encode(x=across, y=up)
    )  # fmt: skip
    name = (
        data.transform_filter("datum.named == 1 || datum.chosen == 1")
        .mark_text(
            align=alt.expr("datum.side ? 'right' : 'left'"),
            dx=alt.expr(f"(datum.side ? -1 : 1) * {9 * style.scale:g}"),
            text=alt.expr("point_names[datum.t]"),
            fill=alt.expr(f"datum.chosen ? '{style.accent}' : '{style.text}'"),
            limit=9 * style.font_size,
        )
        .encode(x=across, y=up)
    )
    select = alt.PointSelectionConfig(type="point", fields=["t", "nonce"], on="click", clear=False)
    return themed(
        alt.LayerChart(
            layer=[ring, dot, name],
            params=[
                alt.TopLevelSelectionParameter(name="token", select=select, views=["points"]),
                tokens.label_table("point_names", names),
            ],
            width=width,
            height=style.px(height),
            title=title or alt.Undefined,
        ),
        style,
    )


def points_data(
    numbers: Sequence[int],
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    least: float | None = None,
    square: Sequence[int] = (),
    chosen: int | None = None,
    nonce: int = 0,
) -> dict[str, pa.Table]:
    """The data of :func:`points`: numbers of the names, with where each lies.

    least: what is less is drawn there: a logarithmic axis has no zero. The tooltip has the number itself.
    Raises: ValueError if the lengths differ.
    """
    across, up = np.asarray(x, np.float32), np.asarray(y, np.float32)
    if not across.shape == up.shape == (len(numbers),):
        raise ValueError(f"numbers ({len(numbers)}), x {across.shape} and y {up.shape} must be as many")
    which, value = np.asarray(numbers, np.int16), across
    if least is not None:
        across = np.maximum(across, np.float32(least))
    return {
        "points": pa.table(
            {
                "t": which,
                "x": across,
                "y": up,
                "value": value,
                "square": np.isin(which, list(square)).astype(np.int8),
                "named": _outstanding(across if least is None else np.log(across), up),
                "side": _right(across if least is None else np.log(across)),
                "chosen": (which == (-1 if chosen is None else chosen)).astype(np.int8),
                "nonce": np.full(len(which), nonce % 100, np.int8),
            }
        )
    }


def _right(x: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    """Which points lie so far to the right that their names stand at their left."""
    if not x.size:
        return np.zeros(0, np.int8)
    right: npt.NDArray[np.int8] = (x > x.min() + 0.7 * np.ptp(x)).astype(np.int8)
    return right


def _outstanding(x: npt.NDArray[np.float32], y: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    """The points that lie farthest from the others, no two of them so near that their names would run together."""
    named = np.zeros(len(x), np.int8)
    if not len(x):
        return named
    spread = [np.ptp(values) or 1.0 for values in (x, y)]
    scaled = np.stack([x / spread[0], y / spread[1]], axis=1)
    for place in np.argsort(-np.linalg.norm(scaled - np.median(scaled, axis=0), axis=1), kind="stable"):
        away = np.abs(scaled[named == 1] - scaled[place])
        if named.sum() < NAMED and not ((away[:, 0] < 0.16) & (away[:, 1] < 0.07)).any():
            named[place] = 1
    return named


def _within(kind: str) -> str:
    return f"  ({kind})" if kind else ""
