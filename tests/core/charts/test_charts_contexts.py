"""The chart of visible contexts: order, domain, mean, and lean data."""

import json

import numpy as np
import pytest
import vl_convert

from core.charts import style, to_svg
from core.charts.contexts import ContextWords, visible_contexts, visible_contexts_data

LIGHT = style("light")


def test_bars_stand_in_the_order_of_the_tokens_over_a_fixed_range() -> None:
    spec = visible_contexts(LIGHT, list("abcdefg"), most=10).to_dict()
    bars = spec["layer"][0]
    assert bars["data"] == {"name": "contexts"}
    assert bars["encoding"]["x"]["scale"]["domain"] == list(range(7))
    low, high = bars["encoding"]["y"]["scale"]["domain"]
    assert low == 0
    assert 11 < high < 12
    assert spec["width"] == "container"


def test_the_mean_is_a_line_from_its_own_data() -> None:
    rule = next(
        layer for layer in visible_contexts(LIGHT, ["a"], most=1).to_dict()["layer"] if layer["mark"]["type"] == "rule"
    )
    assert rule["data"] == {"name": "mean"}
    assert visible_contexts_data([1, 2, 3, 4, 5])["mean"].to_pandas()["count"].tolist() == [3.0]


def test_data_are_lean() -> None:
    frame = visible_contexts_data(np.array([1, 2, 3]), marked=1)["contexts"].to_pandas()
    assert frame.dtypes.astype(str).to_dict() == {"q": "int16", "count": "int16", "marked": "int8"}
    assert frame["count"].tolist() == [1, 2, 3]
    assert frame["marked"].tolist() == [0, 1, 0]
    assert visible_contexts_data([0])["contexts"].to_pandas()["marked"].tolist() == [0]


def test_what_is_written_on_it() -> None:
    words = ContextWords(axis="可见的键", query="查询", mean="平均")
    chart = visible_contexts(LIGHT, ["the", "the", "'); alert(1)"], most=3, words=words, title="上下文")
    svg = to_svg(chart.to_dict(), visible_contexts_data([1, 2, 3], marked=2), LIGHT)
    assert all(text in svg for text in ("可见的键", "平均 2.00", "上下文", "'); alert(1)"))
    assert svg.count(">the<") == 2
    assert LIGHT.accent in svg


@pytest.mark.parametrize("count", [1, 24, 64])
@pytest.mark.parametrize("look", [LIGHT, style("dark", "projector")], ids=lambda look: look.name)
def test_every_size_compiles(count: int, look: object) -> None:
    spec = visible_contexts(look, [f"token{i}" for i in range(count)], most=count).to_dict()  # type: ignore[arg-type]
    vl_convert.vegalite_to_vega(spec)
    assert json.dumps(spec)


def test_limits_are_told() -> None:
    with pytest.raises(ValueError, match="queries must hold at least one token"):
        visible_contexts(LIGHT, [], most=1)
    with pytest.raises(ValueError, match=r"most \(0\) must be at least 1"):
        visible_contexts(LIGHT, ["a"], most=0)
    with pytest.raises(ValueError, match=r"counts \(2, 2\) must be \(queries,\)"):
        visible_contexts_data(np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"counts \(0,\)"):
        visible_contexts_data([])
    with pytest.raises(ValueError, match=r"marked \(3\) must be between 0 and 2"):
        visible_contexts_data([1, 2, 3], marked=3)


def test_an_outer_width_leaves_room_for_the_axis() -> None:
    narrow, wide = (visible_contexts(LIGHT, ["a"], most=most, outer_width=400).to_dict()["width"] for most in (1000, 5))
    assert 300 < narrow < wide < 400
