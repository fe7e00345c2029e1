"""The board of multi-head attention."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.charts import style, to_svg, tokens
from core.charts.split import HEIGHT, MOST, PARTS, SplitWords, clicked, split, split_data, split_head

LIGHT = style("light")
ROWS = ("le", "</b>", "猫")
SEQ_LEN, D_MODEL = len(ROWS), 10


def tensors(num_heads: int) -> dict[str, Any]:
    """Numbers that tell their place: whole tensors from 0 on, heads cut out of them."""
    head_dim = D_MODEL // num_heads
    whole = np.arange(SEQ_LEN * D_MODEL, dtype=np.float64).reshape(SEQ_LEN, D_MODEL)
    cut = whole.reshape(SEQ_LEN, num_heads, head_dim).swapaxes(0, 1)
    weights = np.arange(num_heads * SEQ_LEN * SEQ_LEN).reshape(num_heads, SEQ_LEN, SEQ_LEN) / 100
    of_heads = dict.fromkeys(("q_heads", "k_heads", "v_heads", "output"), cut)
    return dict.fromkeys(("x", "q", "k", "v", "merged", "result"), whole) | of_heads | {"weights": weights}


def titles(**more: tuple[str, str]) -> dict[str, tuple[str, str]]:
    return {name: (name, "3 × 10") for name in PARTS} | {"cut": ("10 = 5 × 2", ""), "large": ("w of 2", "")} | more


def data(num_heads: int, chosen: int = 1, nonce: int = 0) -> dict[str, Any]:
    given = tensors(num_heads)
    return clicked(split_data(given, titles=titles()), nonce) | split_head(given["weights"], chosen, nonce=nonce)


def test_a_heads_columns_stand_below_the_same_columns_of_the_whole() -> None:
    cells = data(5)["features"].to_pandas()
    whole = cells[cells["part"] == PARTS.index("q")]
    heads = cells[cells["part"] == PARTS.index("q_heads")]
    assert sorted(heads["value"]) == sorted(whole["value"])  # cutting computes nothing
    both = whole.merge(heads, on="value", suffixes=("", "_cut"))
    middle, cut = (both["left"] + both["right"]) / 2, (both["left_cut"] + both["right_cut"]) / 2
    assert np.abs(middle - cut).max() < 3  # units: only a gap
    assert (both["head"] == both["head_cut"]).all()
    assert (both["top_cut"] > both["bottom"]).all()


def test_one_head_is_the_whole() -> None:
    cells = data(1, chosen=0)["features"].to_pandas()
    whole, head = (cells[cells["part"] == PARTS.index(name)] for name in ("q", "q_heads"))
    assert whole["left"].tolist() == head["left"].tolist()


def test_cells_know_their_head() -> None:
    frames = data(5)
    cells = pd.concat([frames["features"].to_pandas(), frames["weights"].to_pandas()])
    of = {name: cells[cells["part"] == number] for number, name in enumerate(PARTS)}
    assert set(of["x"]["head"]) == set(of["result"]["head"]) == {-1}
    assert of["merged"].sort_values(["q", "k"])["head"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4] * SEQ_LEN
    assert of["weights"]["head"].tolist() == [head for head in range(5) for _ in range(SEQ_LEN * SEQ_LEN)]
    assert set(frames["large"].to_pandas()["head"]) == {1}


def test_the_large_weights_are_those_of_the_chosen_head() -> None:
    first, last = (data(5, chosen=chosen) for chosen in (0, 4))
    assert first["large"]["value"].to_pylist() == pytest.approx([i / 100 for i in range(9)])
    assert last["large"]["value"].to_pylist() == pytest.approx([i / 100 for i in range(36, 45)])
    assert not first["boxes"].equals(last["boxes"])
    assert len(first["boxes"]) == 4 + 5  # Q, K, V, merged; q, k, v, weights, output


@pytest.mark.parametrize("num_heads", [1, 2, 5, 10])
def test_everything_stays_on_the_board(num_heads: int) -> None:
    frames = data(num_heads, chosen=0)
    for frame in (
        frames["features"].to_pandas(),
        frames["weights"].to_pandas(),
        frames["large"].to_pandas(),
        frames["boxes"].to_pandas(),
    ):
        assert frame["left"].min() >= 0
        assert frame["right"].max() <= 1000
        assert frame["top"].min() >= 0
        assert frame["bottom"].max() <= HEIGHT


def test_data_are_lean() -> None:
    types = data(5, nonce=103)["features"].to_pandas().dtypes.astype(str).to_dict()
    assert types == {
        **dict.fromkeys(("left", "right", "top", "bottom"), "float32"),
        "q": "int16", "k": "int16", "value": "float32", "part": "int8", "head": "int8", "nonce": "int8",
    }  # fmt: skip
    assert set(data(5, nonce=103)["features"].to_pandas()["nonce"]) == {3}


def test_the_spec_knows_nothing_of_the_number_of_heads() -> None:
    spec = split(LIGHT, ROWS, width=900).to_dict()
    assert json.dumps(spec) == json.dumps(split(LIGHT, ROWS, width=900).to_dict())
    for num_heads in (1, 5):
        svg = to_svg(spec, data(num_heads, chosen=0), LIGHT)
        assert svg.count(">&lt;/b&gt;<") == 4  # beside three grids, and above the large one
        assert all(f">{name}<" in svg for name in (*PARTS, "10 = 5 × 2", "w of 2"))


def test_the_tooltip_speaks_the_readers_language() -> None:
    spec = split(LIGHT, ROWS, words=SplitWords(tensor="张量", feature="特征")).to_dict()
    (drawn,) = (layer for layer in spec["layer"] if layer.get("name") == "features")
    assert tokens.quoted("张量") in drawn["mark"]["tooltip"]["expr"]
    assert tokens.quoted("特征") in drawn["mark"]["tooltip"]["expr"]


def test_more_tokens_have_no_numbers() -> None:
    layers = [len(split(LIGHT, ["a"] * count).to_dict()["layer"]) for count in (6, 7)]
    assert layers[1] == layers[0] - 1


@pytest.mark.parametrize("rows", [[], ["a"] * (MOST + 1)])
def test_too_few_or_too_many_tokens(rows: list[str]) -> None:
    with pytest.raises(ValueError, match=rf"rows \({len(rows)}\) must be between 1 and {MOST}"):
        split(LIGHT, rows)


def test_all_parts_are_needed() -> None:
    some = {name: array for name, array in tensors(2).items() if name != "merged"}
    with pytest.raises(ValueError, match="must hold merged"):
        split_data(some, titles=titles())


def test_there_must_be_such_a_head() -> None:
    with pytest.raises(ValueError, match=r"chosen \(2\) must be between 0 and 1"):
        data(2, chosen=2)
