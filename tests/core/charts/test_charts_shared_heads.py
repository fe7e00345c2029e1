"""Query heads, KV heads, and who uses whom."""

import json
from typing import Any

import pytest

from core.charts import style, to_svg
from core.charts.bar_table import bar_table
from core.charts.shared_heads import SharedWords, shared_heads, shared_heads_data
from core.kv_heads import kv_head_of

LIGHT = style("light")


def layers(num_heads: int, **settings: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = shared_heads(LIGHT, num_heads, **settings).to_dict()["layer"]
    return found


def test_data_are_lean_and_a_kv_head_stands_below_the_middle_of_its_users() -> None:
    frames = shared_heads_data(kv_head_of(6, 2))
    assert frames["queries"].to_pandas().dtypes.astype(str).to_dict() == {
        "head": "int16", "kv": "int16", "x": "float32", "end": "float32",
    }  # fmt: skip
    assert frames["queries"].to_pandas()["kv"].tolist() == [0, 0, 0, 1, 1, 1]
    assert frames["queries"].to_pandas()["end"].tolist() == [1, 1, 1, 4, 4, 4]
    assert frames["kvs"].to_pandas().values.tolist() == [[0, 0, 2, 1], [1, 3, 5, 4]]


@pytest.mark.parametrize("num_kv_heads", [1, 7])
def test_one_for_all_and_one_for_each(num_kv_heads: int) -> None:
    frames = shared_heads_data(kv_head_of(7, num_kv_heads))
    assert len(frames["kvs"].to_pandas()) == num_kv_heads
    assert frames["queries"].to_pandas()["end"].tolist() == ([3.0] * 7 if num_kv_heads == 1 else list(range(7)))


def test_it_is_drawn_with_its_words() -> None:
    words = SharedWords(query_heads="查询头", kv_heads="KV 头")
    svg = to_svg(
        shared_heads(LIGHT, 6, words=words, title="共享").to_dict(), shared_heads_data(kv_head_of(6, 2)), LIGHT
    )
    assert all(f">{text}<" in svg for text in ("查询头", "KV 头", "共享", "6"))
    assert svg.count('aria-roledescription="point"') == 6 + 2
    assert svg.count(f'fill="{LIGHT.categorical[1]}"') == 3 + 1  # every second KV head, and its users


@pytest.mark.parametrize("num_heads", [1, 32, 128])
def test_heads_never_overlap(num_heads: int) -> None:
    chart = shared_heads(LIGHT, num_heads, outer_width=1000).to_dict()
    svg = to_svg(chart, shared_heads_data(kv_head_of(num_heads, 1)), LIGHT)
    assert svg.count('aria-roledescription="point"') == num_heads + 1
    assert 880 < chart["width"] < 1000
    numbered = any(layer["mark"]["type"] == "text" and layer["data"]["name"] == "queries" for layer in chart["layer"])
    assert numbered == (num_heads < 100)


def test_a_chart_below_has_its_left_edge_at_the_same_place() -> None:
    rows, words = ("1 · MQA", "32 · MHA"), SharedWords(query_heads="q", kv_heads="kv")
    chart = shared_heads(LIGHT, 8, words=words, outer_width=900, rows_below=rows).to_dict()
    assert chart["width"] == bar_table(LIGHT, rows, ("cost",), outer_width=900).to_dict()["width"]
    assert chart["width"] < shared_heads(LIGHT, 8, words=words, outer_width=900).to_dict()["width"]


def test_both_lines_are_placed_by_one_scale() -> None:
    places = {json.dumps(layer["encoding"]["y"]["scale"]) for layer in layers(5)}
    assert len(places) == 1


def test_the_picture_of_other_kv_heads_has_the_same_spec() -> None:
    assert layers(6) == layers(6)
    assert layers(6) != layers(5)


@pytest.mark.parametrize("named", [(), (0, 2), (1, 1)])
def test_kv_heads_without_users_are_refused(named: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"kv_head_of \(\[.*\]\) must name every KV head from 0 to the largest"):
        shared_heads_data(named)


def test_no_heads_are_refused() -> None:
    with pytest.raises(ValueError, match=r"num_heads \(0\) must be at least 1"):
        layers(0)
