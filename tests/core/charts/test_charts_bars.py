"""Bars: candidates for the next token, and one query's attention."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
import vl_convert

from core.charts import (
    CandidateWords,
    attention_bars,
    attention_bars_data,
    candidates,
    candidates_data,
    heatmap,
    style,
    to_svg,
)

LIGHT = style("light")


@dataclass(frozen=True)
class Guess:
    token_id: int
    token: str
    log_probability: float
    drawn: float | None = None

    @property
    def probability(self) -> float:
        return math.exp(self.log_probability)


GUESSES = [
    Guess(10 + i, token, math.log(p))
    for i, (token, p) in enumerate([("I", 0.6), ("</b>", 0.3), ("爱", 0.07), ("x", 0.03)])
]


def test_candidates_stand_in_a_fixed_frame() -> None:
    spec = candidates(LIGHT, count=5).to_dict()
    bar = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "bar")
    assert bar["encoding"]["y"]["scale"]["domain"] == [0, 1, 2, 3, 4]
    assert bar["encoding"]["x"]["scale"]["domain"] == [0, 1]
    assert spec["params"] == [
        {
            "name": "candidate",
            "select": {"type": "point", "fields": ["rank", "nonce"], "on": "click", "clear": False},
            "views": ["candidates"],
        }
    ]


def test_candidate_data_are_lean_and_in_order() -> None:
    frame = candidates_data(GUESSES, chosen_id=11, count=3, nonce=5)["candidates"].to_pandas()
    types = frame.drop(columns="token").dtypes.astype(str).to_dict()
    assert types == {
        "row": "int16",
        "rank": "int16",
        "token_id": "int32",
        "probability": "float32",
        "log_probability": "float32",
        "drawn": "float32",
        "chosen": "int8",
        "nonce": "int8",
    }
    assert frame["token"].tolist() == ["I", "</b>", "爱"]
    assert frame["chosen"].tolist() == [0, 1, 0]
    assert frame["probability"].tolist() == pytest.approx([0.6, 0.3, 0.07])


def test_an_unlikely_choice_takes_the_last_line() -> None:
    frame = candidates_data(GUESSES, chosen_id=13, count=2)["candidates"].to_pandas()
    assert frame["rank"].tolist() == [0, 3]
    assert frame["row"].tolist() == [0, 1]
    assert frame["chosen"].tolist() == [0, 1]


def test_a_choice_that_is_not_listed_marks_nothing() -> None:
    assert candidates_data(GUESSES, chosen_id=99)["candidates"].to_pandas()["chosen"].sum() == 0
    assert candidates_data([])["candidates"].to_pandas().empty


def test_candidates_are_drawn_with_their_text() -> None:
    svg = to_svg(
        candidates(LIGHT, words=CandidateWords(axis="概率")).to_dict(), candidates_data(GUESSES, chosen_id=11), LIGHT
    )
    assert all(f">{text}<" in svg for text in ("I", "▸ &lt;/b&gt;", "爱", "0.600", "0.030", "概率"))


def test_sampling_draws_what_is_drawn_and_outlines_what_the_network_gives() -> None:
    guesses = [replace(guess, drawn=drawn) for guess, drawn in zip(GUESSES, (0.9, 0.1, 0.0, 0.0), strict=True)]
    frame = candidates_data(guesses, chosen_id=11)["candidates"].to_pandas()
    assert frame["drawn"].tolist() == pytest.approx([0.9, 0.1, 0, 0])
    assert frame["probability"].tolist() == pytest.approx([0.6, 0.3, 0.07, 0.03])
    plain, sampled = (candidates(LIGHT, sampled=sampled).to_dict()["layer"] for sampled in (False, True))
    fields = [
        [bar["encoding"]["x"]["field"] for bar in layers if bar["mark"]["type"] == "bar"] for layers in (plain, sampled)
    ]
    assert fields == [["probability"], ["drawn", "probability"]]


def test_candidates_never_change_their_spec() -> None:
    assert json.dumps(candidates(LIGHT).to_dict()) == json.dumps(candidates(LIGHT).to_dict())


def test_count_must_be_positive() -> None:
    with pytest.raises(ValueError, match=r"count \(0\) must be at least 1"):
        candidates(LIGHT, count=0)


def test_attention_bars_show_shares_of_one() -> None:
    spec = attention_bars(LIGHT, list("abcde"), before=True).to_dict()
    solid, outline = (layer for layer in spec["layer"] if layer["mark"]["type"] == "bar")
    assert solid["encoding"]["x"]["scale"]["domain"] == [0, 1, 2, 3, 4]
    assert solid["encoding"]["y"]["scale"]["domain"] == [0, 1]
    assert outline["encoding"]["y"]["field"] == "before"
    assert outline["mark"]["strokeDash"]
    assert (
        len([layer for layer in attention_bars(LIGHT, ["a"]).to_dict()["layer"] if layer["mark"]["type"] == "bar"]) == 1
    )


def test_attention_data_are_lean() -> None:
    frames = attention_bars_data([0.7, 0.3, 0], before=[0.5, 0.2, 0.3], attend_mask=[True, True, False], uniform=True)
    assert frames["bars"].to_pandas().dtypes.astype(str).to_dict() == {
        "k": "int16",
        "weight": "float32",
        "before": "float32",
        "attend": "int8",
        "nonce": "int8",
    }
    assert frames["uniform"].to_pandas()["weight"].tolist() == [0.5]
    assert attention_bars_data([0.5, 0.5])["uniform"].to_pandas().empty
    assert attention_bars_data([0.0], attend_mask=[False], uniform=True)["uniform"].to_pandas().empty


def test_attention_bars_name_their_keys() -> None:
    keys = ['"', "爱", "the", "the", "</b>"]
    svg = to_svg(attention_bars(LIGHT, keys, title="Row").to_dict(), attention_bars_data(np.full(5, 0.2)), LIGHT)
    assert all(f">{text}<" in svg for text in ('"', "爱", "&lt;/b&gt;", "0.20", "Row"))
    assert svg.count(">the<") == 2


@pytest.mark.parametrize("columns", [1, 5, 17, 64])
@pytest.mark.parametrize("look", [style("light"), style("dark", "projector")], ids=lambda look: look.name)
def test_bars_compile(columns: int, look: object) -> None:
    assert look is not None
    for chart in (candidates(LIGHT, count=columns), attention_bars(LIGHT, ["token"] * columns, before=True)):
        vl_convert.vegalite_to_vega(chart.to_dict())


@pytest.mark.parametrize("before", [None, [0.5, 0.3, 0.2]])
def test_undefined_weights_are_shown_as_such(before: list[float] | None) -> None:
    chart = attention_bars(LIGHT, list("abc"), before=before is not None)
    svg = to_svg(chart.to_dict(), attention_bars_data([np.nan] * 3, before=before), LIGHT)
    assert svg.count(">NaN<") == 3
    assert ">0.00<" not in svg


def test_attention_arguments_must_fit() -> None:
    with pytest.raises(ValueError, match="keys must hold at least one token"):
        attention_bars(LIGHT, [])
    with pytest.raises(ValueError, match=r"weights \(2,\), before \(2,\) and attend_mask \(3,\) must be \(keys,\)"):
        attention_bars_data([0.5, 0.5], attend_mask=[True] * 3)
    with pytest.raises(ValueError, match=r"weights \(1, 2\)"):
        attention_bars_data([[0.5, 0.5]])


def test_bars_under_a_heatmap_begin_where_its_grid_does() -> None:
    alone, under = (
        attention_bars(LIGHT, ["a"], outer_width=400, under=u).to_dict()["width"] for u in ((), ["long label"])
    )
    assert under < alone < 400
    heat = heatmap(LIGHT, ["long label"], ["a"], outer_width=400).to_dict()["width"]
    assert abs(under - heat) <= 4  # but for the ring around a row
