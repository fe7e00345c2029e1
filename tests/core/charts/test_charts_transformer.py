"""The charts of the whole Transformer: stacks, stacked bars, the residual stream, who reads whom."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core.charts import style, to_svg
from core.charts.reading import Look, ReadingWords, Row, reading, reading_data
from core.charts.stacked import stacked, stacked_data
from core.charts.stacks import HEIGHT, WIDTH, Box, Column, StacksWords, Sublayer, stacks, stacks_data
from core.charts.stream import StreamWords, stream, stream_data

LIGHT = style("light")
LOOKS = pytest.mark.parametrize("look", [style("light"), style("dark", "projector")], ids=lambda look: look.name)

# ------------------------------------------------------------------------------------------------------------- stacks

S, T = "2 × 7 × 16", "2 × 5 × 16"


def column(numbers: itertools.count[int], shape: str, *, pre: bool, kinds: int, memory: str = "") -> Column:
    def box(leaving: str = shape, thin: bool = False) -> Box:
        return Box(next(numbers), leaving, thin)

    def sublayer(reads_memory: bool) -> Sublayer:
        blocks = (box(thin=True), box()) if pre else (box(), box(thin=True))
        return Sublayer(blocks, shape, pre, reads_memory)

    return Column(
        entering="2 × 7",
        embedding=box(),
        positions=box("7 × 16"),
        added=True,
        before=(),
        layer=tuple(sublayer(kind == 1 and not memory) for kind in range(kinds)),
        after=(*((box(thin=True),) if pre else ()), *(() if memory else (box("2 × 5 × 99"),))),
        memory=memory,
    )


def both(pre: bool) -> tuple[Column, ...]:
    numbers = itertools.count()
    return column(numbers, S, pre=pre, kinds=2, memory=S), column(numbers, T, pre=pre, kinds=3)


def single(pre: bool) -> tuple[Column, ...]:
    return (column(itertools.count(), T, pre=pre, kinds=2),)


CASES = pytest.mark.parametrize("make", [both, single])
PLACES = pytest.mark.parametrize("pre", [True, False], ids=["pre", "post"])


def boxes_of(columns: tuple[Column, ...]) -> list[Box]:
    found = []
    for one in columns:
        found += [one.embedding, *one.before, *(box for sub in one.layer for box in sub.blocks), *one.after]
        found += [one.positions] if one.positions else []
    return found


def laid_out(columns: tuple[Column, ...], chosen: int = 1) -> dict[str, pa.Table]:
    count = len(boxes_of(columns))
    return stacks_data(columns, [0.5] * count, ["50%"] * count, [""] * count, chosen=chosen)


def assert_apart(blocks: pd.DataFrame) -> None:
    for one, other in itertools.combinations(blocks.itertuples(), 2):
        assert one.x2 <= other.x or other.x2 <= one.x or one.y2 <= other.y or other.y2 <= one.y


@CASES
@PLACES
def test_every_block_is_drawn_once_within_the_picture_and_apart(make: Any, pre: bool) -> None:
    columns = make(pre)
    blocks = laid_out(columns)["blocks"].to_pandas()
    assert sorted(blocks["n"]) == sorted(box.number for box in boxes_of(columns))
    assert blocks[["x", "x2"]].min().min() >= 0
    assert blocks[["x", "x2"]].max().max() <= WIDTH
    assert blocks[["y", "y2"]].min().min() >= 0
    assert blocks[["y", "y2"]].max().max() <= HEIGHT
    assert_apart(blocks)


@CASES
@PLACES
def test_every_arrow_has_a_head_and_a_shape(make: Any, pre: bool) -> None:
    frames = laid_out(make(pre))
    count = frames["lines"].to_pandas()["line"].nunique()
    assert len(frames["heads"].to_pandas()) == count
    assert len(frames["shapes"].to_pandas()) == count
    ends = frames["lines"].to_pandas().sort_values(["line", "order"]).groupby("line").tail(1)
    assert sorted(zip(ends["x"], ends["y"], strict=True)) == sorted(
        zip(frames["heads"].to_pandas()["x"], frames["heads"].to_pandas()["y"], strict=True)
    )
    assert "2 × 5 × 99" in frames["shapes"].to_pandas()["text"].tolist()
    assert frames["shapes"].to_pandas()["text"].str.len().min() > 0


@PLACES
def test_the_memory_goes_from_the_encoders_end_to_cross_attention(pre: bool) -> None:
    frames = laid_out(both(pre))
    strong = frames["lines"].to_pandas()[frames["lines"].to_pandas()["strong"] == 1].sort_values("order")
    assert strong["line"].nunique() == 1
    cross = both(pre)[1].layer[1].blocks[1 if pre else 0]
    box = frames["blocks"].to_pandas()[frames["blocks"].to_pandas()["n"] == cross.number].iloc[0]
    assert strong["x"].iloc[-1] == pytest.approx(box["x"])
    assert strong["y"].iloc[-1] == pytest.approx((box["y"] + box["y2"]) / 2)
    assert len(laid_out(single(pre))["lines"].to_pandas().query("strong == 1")) == 0


def test_sums_stand_where_something_is_added() -> None:
    assert len(laid_out(both(True))["sums"]) == 2 + 2 + 3  # positions, and every block
    assert len(laid_out(both(False))["sums"]) == 2  # the others add in their normalisation
    one = replace(single(False)[0], added=False)
    assert len(laid_out((one,))["sums"]) == 0


def test_relative_positions_reach_into_the_first_block() -> None:
    one = replace(single(True)[0], added=False)
    frames = laid_out((one,))
    assert one.positions is not None
    blocks = frames["blocks"].to_pandas().set_index("n")
    box, first = blocks.loc[one.positions.number], blocks.loc[one.layer[0].blocks[1].number]
    lines = frames["lines"].to_pandas().sort_values(["line", "order"])
    (way,) = (
        line
        for _number, line in lines.groupby("line")
        if (line["x"].iloc[0], line["y"].iloc[0]) == pytest.approx((box["x"], (box["y"] + box["y2"]) / 2))
    )
    assert way["x"].iloc[-1] == pytest.approx(first["x2"])
    assert way["y"].iloc[-1] == pytest.approx((first["y"] + first["y2"]) / 2)
    assert_apart(frames["blocks"].to_pandas())


def words(columns: int) -> StacksWords:
    return StacksWords(("Encoder", "Decoder")[:columns], ("in", "so far")[:columns], ("", "scores")[:columns])


@LOOKS
@CASES
@PLACES
def test_stacks_are_drawn(look: Any, make: Any, pre: bool) -> None:
    columns = make(pre)
    names = [f"block {number}" for number in range(len(boxes_of(columns)))]
    spec = stacks(look, names, words(len(columns)), title="Click", outer_width=600).to_dict()
    svg = to_svg(spec, laid_out(columns), look)
    assert ">block 1<" in svg
    assert re.search(r'aria-label="block 1 \d+%"', svg)  # what a screen reader says
    assert ">2 × 5 × 99<" in svg
    assert ">Encoder · 1 ×<" in svg
    (param,) = (param for param in spec["params"] if "select" in param)
    assert (param["name"], param["views"], param["select"]["fields"]) == ("block", ["blocks"], ["n", "nonce"])


def test_the_chosen_block_and_its_share_travel_with_the_data() -> None:
    blocks = stacks_data(single(False), [0.25] * 7, ["25%"] * 7, ["2 × 4"] * 7, chosen=3, nonce=104)[
        "blocks"
    ].to_pandas()
    assert blocks.loc[blocks["chosen"] == 1, "n"].tolist() == [3]
    assert set(blocks["share"]) == {0.25}
    assert set(blocks["inside"]) == {"2 × 4"}
    assert set(blocks["nonce"]) == {4}


def test_stacks_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(ValueError, match=r"columns \(0\) must be 1 or 2"):
        stacks_data((), [], [], [], chosen=0)
    with pytest.raises(ValueError, match=r"shares \(1\), texts \(2\) and insides \(1\) must be as many"):
        stacks_data(single(False), [0.5], ["", ""], [""], chosen=0)
    with pytest.raises(ValueError, match="names must hold at least one name"):
        stacks(LIGHT, [], words(1))
    with pytest.raises(ValueError, match=r"titles \(2\), inputs and ends must be as many: 1 or 2"):
        stacks(LIGHT, ["a"], StacksWords(("a", "b"), ("c",), ("d",)))


# ------------------------------------------------------------------------------------------------------- stacked bars


def test_segments_follow_each_other_and_fill_the_bar() -> None:
    frames = stacked_data([[1, 3, 0], [0, 0, 0]], [["1", "3", "0"], ["0"] * 3], ["4", "none"])
    segments = frames["segments"].to_pandas()
    assert segments[["row", "part"]].to_numpy().tolist() == [[0, 0], [0, 1]]  # what is nothing is not drawn
    assert segments["from"].tolist() == pytest.approx([0, 0.25])
    assert segments["to"].tolist() == pytest.approx([0.25, 1])
    assert frames["totals"].to_pandas()["text"].tolist() == ["4", "none"]


@LOOKS
def test_stacked_bars_are_drawn(look: Any) -> None:
    spec = stacked(look, ["Parameters", "Cache"], ["attention", "rest"], outer_width=700).to_dict()
    svg = to_svg(spec, stacked_data([[1, 3], [2, 0]], [["1", "3"], ["2", "0"]], ["4 M", "2 GB"]), look)
    for text in ("Parameters", "attention", "25%", "75%", "100%", "4 M", "2 GB"):
        assert f">{text}<" in svg


def test_stacked_bars_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(ValueError, match="rows must hold at least one name"):
        stacked(LIGHT, [], ["a"])
    with pytest.raises(ValueError, match=r"parts \(7 names\) must hold from 1 to 6 names"):
        stacked(LIGHT, ["a"], list("abcdefg"))
    with pytest.raises(ValueError, match="of as many rows and parts"):
        stacked_data([[1, 2]], [["1"]], ["3"])
    with pytest.raises(ValueError, match="finite and not negative"):
        stacked_data([[-1.0]], [["-1"]], ["-1"])


# --------------------------------------------------------------------------------------------------------- the stream

BEFORE, ADDED, AFTER = np.array([[1.0, 3.0]]), np.array([[2.0, 6.0]]), np.array([[4.0, 5.0]])


def test_a_stream_is_the_mean_or_one_token() -> None:
    (mean,) = stream_data(BEFORE, ADDED, AFTER)["steps"].to_pandas().to_dict("records")
    assert mean == {"b": 0, "before": 2, "added": 4, "added_low": 2, "added_high": 6, "after": 4.5}
    (one,) = stream_data(BEFORE, ADDED, AFTER, token=1)["steps"].to_pandas().to_dict("records")
    assert one == {"b": 0, "before": 3, "added": 6, "added_low": 2, "added_high": 6, "after": 5}


@LOOKS
def test_a_stream_is_drawn(look: Any) -> None:
    words = StreamWords(added='what "it" adds')
    spec = stream(look, ["1 self"], most=7, words=words, title="Encoder", outer_width=400).to_dict()
    svg = to_svg(spec, stream_data(BEFORE, ADDED, AFTER), look)
    for text in ("1 self", "what &quot;it&quot; adds", "stream after it", "Encoder"):
        assert f">{text}<" in svg or text in svg


def test_a_stream_that_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="blocks must hold at least one name"):
        stream(LIGHT, [], most=1)
    with pytest.raises(ValueError, match=r"must have one shape \(blocks, tokens\)"):
        stream_data(BEFORE, ADDED, AFTER[0])
    with pytest.raises(ValueError, match=r"token \(2\) must be between 0 and 1"):
        stream_data(BEFORE, ADDED, AFTER, token=2)


# ------------------------------------------------------------------------------------------------------ who reads whom

ROWS = (Row(("a", "b", "c"), 0, 0, "tokens"), Row(("a", "b", "c"), 0, 1, "after"), Row(("x",), 3.5, 2))
CAUSAL = Look(1, 0, np.tri(3, dtype=bool))
ACROSS = Look(2, 1, np.ones((1, 3), bool))


def test_a_line_for_every_pair_that_may_look() -> None:
    frames = reading_data(ROWS, [CAUSAL, ACROSS], chosen=(1, 2), padding=("c",), nonce=7)
    lines = frames["lines"].to_pandas()
    assert lines["line"].nunique() == 6 + 3
    assert lines.loc[lines["strong"] == 1, "line"].nunique() == 3  # what the third token looks at
    assert lines.loc[lines["other"] == 1, "line"].nunique() == 3
    first = lines[lines["line"] == 1]  # b looks at a
    assert first[["x", "y"]].to_numpy().tolist() == [[1.5, 1], [0.5, 0]]
    tokens = frames["tokens"].to_pandas()
    assert tokens["seen"].tolist() == [0, 0, 0, 1, 2, 3, 3]
    assert tokens["padding"].tolist() == [0, 0, 1, 0, 0, 1, 0]
    assert tokens["chosen"].tolist() == [0, 0, 0, 0, 0, 1, 0]
    assert set(tokens["nonce"]) == {7}


def test_a_token_is_followed_through_the_rows_of_its_column() -> None:
    rows = (*ROWS, Row(("x",), 3.5, 1))
    lines = reading_data(rows, [Look(3, 3, np.ones((1, 1), bool)), ACROSS], chosen=(2, 0))["lines"]
    assert set(lines["strong"].to_pylist()) == {1}


@LOOKS
def test_rows_are_drawn(look: Any) -> None:
    spec = reading(look, ROWS, words=ReadingWords(token='"token"'), title="Who", outer_width=500).to_dict()
    svg = to_svg(spec, reading_data(ROWS, [CAUSAL], chosen=(1, 0)), look)
    for text in ("a", "c", "x", "tokens", "after", "Who"):
        assert f">{text}<" in svg
    (param,) = (param for param in spec["params"] if "select" in param)
    assert (param["name"], param["select"]["fields"]) == ("token", ["row", "place", "nonce"])


def test_rows_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(ValueError, match="rows must hold at least one row"):
        reading(LIGHT, ())
    with pytest.raises(ValueError, match=r"attend_mask \(2, 2\) must have the shape \(3, 3\) of its rows"):
        reading_data(ROWS, [Look(1, 0, np.ones((2, 2), bool))], chosen=(1, 0))


def test_no_lines_are_no_error() -> None:
    assert len(reading_data(ROWS, [], chosen=(1, 0))["lines"].to_pandas()) == 0
