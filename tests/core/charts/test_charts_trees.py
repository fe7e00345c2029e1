"""The tree of a beam search: order without crossings, room for every node, and the winner told apart."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from core.charts import TreeWords, beam_tree, style, to_svg, tree_data
from core.charts.trees import _spread

LIGHT = style("light")


@dataclass(frozen=True)
class Guess:
    number: int
    parent: int | None
    token: str
    log_probability: float
    score: float
    fate: str


SEARCH = (
    (
        Guess(0, None, "I", -0.2, -0.2, "kept"),
        Guess(1, None, "爱", -1.0, -1.0, "kept"),
        Guess(2, None, "x", -3.0, -3.0, "dropped"),
    ),
    (
        Guess(3, 1, "</s>", -1.1, -0.55, "finished"),
        Guess(4, 0, '"love"', -1.2, -0.6, "kept"),
        Guess(5, 1, "it", -1.5, -0.75, "kept"),
        Guess(6, 0, "y", -4.0, -2.0, "dropped"),
    ),
    (
        Guess(7, 5, "</s>", -2.4, -0.8, "outscored"),
        Guess(8, 4, "</s>", -1.3, -0.43, "finished"),
        Guess(9, 4, "z", -6, -2, "abandoned"),
    ),
)
WINNER = (0, 4, 8)


def test_data_are_lean_and_complete() -> None:
    nodes = tree_data(SEARCH, WINNER)["nodes"].to_pandas()
    assert nodes.drop(columns="token").dtypes.astype(str).to_dict() == {
        "number": "int16",
        "step": "int16",
        "slot": "float32",
        "parent_slot": "float32",
        "room": "float32",
        "log_probability": "float32",
        "score": "float32",
        "fate": "int8",
        "on_winner": "int8",
    }
    assert sorted(nodes["number"]) == [-1, *range(10)]
    fates = nodes.set_index("number")["fate"]
    assert fates[[0, 3, 7, 6, 9]].tolist() == [0, 1, 2, 3, 4]
    assert nodes[nodes["on_winner"] == 1]["number"].tolist() == [-1, 0, 4, 8]


def test_children_keep_the_order_of_their_parents_so_that_no_edges_cross() -> None:
    nodes = tree_data(SEARCH, WINNER)["nodes"].to_pandas()
    for _, step in nodes[nodes["step"] > 0].groupby("step"):
        ordered = step.sort_values("slot")
        assert ordered["parent_slot"].is_monotonic_increasing
        assert ordered["slot"].is_monotonic_increasing


def test_edges_begin_where_the_parent_stands() -> None:
    nodes = tree_data(SEARCH, WINNER)["nodes"].to_pandas().set_index("number")
    for step in SEARCH:
        for hypothesis in step:
            parent = -1 if hypothesis.parent is None else hypothesis.parent
            assert nodes.loc[hypothesis.number, "parent_slot"] == pytest.approx(nodes.loc[parent, "slot"])


def test_room_is_the_distance_to_the_nearest_neighbour() -> None:
    nodes = tree_data(SEARCH, WINNER)["nodes"].to_pandas()
    second = nodes[nodes["step"] == 2].sort_values("slot")
    gaps = np.diff(second["slot"])
    assert second["room"].tolist() == pytest.approx([gaps[0], min(gaps[:2]), min(gaps[1:]), gaps[2]])


@given(
    st.lists(st.tuples(st.floats(0, 9), st.floats(0.1, 9), st.sampled_from([0.5, 1.0, 2.0])), min_size=1, max_size=12)
)
def test_nodes_get_their_rows_and_stay_inside(nodes: list[tuple[float, float, float]]) -> None:
    wanted, pulls, rows = (list(column) for column in zip(*nodes, strict=True))
    total = sum(rows) + 3
    places = np.array(_spread(sorted(wanted), pulls, rows, total))
    needed = (np.array(rows)[1:] + np.array(rows)[:-1]) / 2
    assert (np.diff(places) >= needed - 1e-9).all()
    assert places[0] >= rows[0] / 2 - 1e-9
    assert places[-1] <= total - rows[-1] / 2 + 1e-9


def test_nodes_with_room_stand_where_they_want() -> None:
    assert _spread([1, 3, 5], [1, 1, 1], [1, 1, 1], 9) == [1, 3, 5]


def test_nodes_that_collide_share_the_shift_by_their_pull() -> None:
    assert _spread([3, 3], [1, 1], [1, 1], 9) == pytest.approx([2.5, 3.5])
    assert _spread([3, 3], [3, 1], [1, 1], 9) == pytest.approx([2.75, 3.75])


def test_the_spec_depends_on_the_number_of_steps_alone() -> None:
    spec = beam_tree(LIGHT, 3).to_dict()
    assert json.dumps(spec) == json.dumps(beam_tree(LIGHT, 3).to_dict())
    assert "datasets" not in spec
    tree = spec["layer"][0]
    assert tree["data"] == {"name": "nodes"}
    node = tree["layer"][-1]["encoding"]
    assert node["x"]["scale"]["domain"] == [0, 3.5]
    assert node["y"]["scale"]["domain"] == [0, 1]


def test_nothing_is_told_by_colour_alone() -> None:
    lines = [
        layer["mark"] for layer in beam_tree(LIGHT, 3).to_dict()["layer"][0]["layer"] if layer["mark"]["type"] == "line"
    ]
    dropped, kept, winner = lines
    assert dropped["strokeDash"]
    assert not kept["strokeDash"]
    assert winner["strokeWidth"] > 2 * kept["strokeWidth"]


def test_the_picture_names_tokens_scores_and_fates() -> None:
    words = TreeWords(axis="步", winner="胜出", kept="保留", dropped="淘汰", finished="完成", outscored="完成但未入选")
    svg = to_svg(beam_tree(LIGHT, 3, words=words, title="Tree").to_dict(), tree_data(SEARCH, WINNER), LIGHT, width=900)
    shown = ("I", "爱", '"love"', "&lt;/s&gt;", "−0.43", "步", "胜出", "保留", "淘汰", "完成", "完成但未入选", "Tree")
    assert all(f">{text}<" in svg for text in shown)


@pytest.mark.parametrize("num_steps", [1, 20, 60])
@pytest.mark.parametrize("look", [style("light"), style("dark", "projector")], ids=lambda look: look.name)
def test_trees_compile(num_steps: int, look: object) -> None:
    vl_convert.vegalite_to_vega(beam_tree(look, num_steps).to_dict())  # type: ignore[arg-type]


def test_an_empty_search_is_a_root() -> None:
    assert tree_data((), ())["nodes"].to_pandas()["step"].tolist() == [0]


def test_there_must_be_a_step() -> None:
    with pytest.raises(ValueError, match=r"num_steps \(0\) must be at least 1"):
        beam_tree(LIGHT, 0)
