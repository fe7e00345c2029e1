"""Heatmaps say what they must: order, domains, masked cells, labels, and lean data."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
import vl_convert

from core.charts import LIMIT, Panel, Words, heatmap, heatmap_data, panels, panels_data, style, to_svg

LIGHT = style("light")
HOSTILE = [
    '"',
    "\\",
    "'); alert(1)",
    "</script><b>",
    "🙂",
    "مرحبا",
    "银行",
    "a" * 40,
    "the",
    "the",
    "param_1",
    "\u2028",
    "",
    " ",
]
THREE = [
    Panel("1 Scores", "scores", "scores", value_word="score"),
    Panel("2 Mask", "mask", mask="mask"),
    Panel("3 Weights", "weights", "weights", "mask"),
]


def layers(spec: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    return [layer for layer in spec["layer"] if layer["mark"]["type"] == mark]


def test_rows_are_queries_and_columns_are_keys_in_their_own_order() -> None:
    spec = heatmap(LIGHT, list("abc"), list("vwxyz")).to_dict()
    fill = spec["layer"][0]
    assert fill["data"] == {"name": "cells"}
    x, y = fill["encoding"]["x"], fill["encoding"]["y"]
    assert (x["field"], x["scale"]["domain"], x["axis"]["orient"]) == ("k", [0, 1, 2, 3, 4], "top")
    assert (y["field"], y["scale"]["domain"], y["axis"]["orient"]) == ("q", [0, 1, 2], "left")
    assert (x["axis"]["title"], y["axis"]["title"]) == ("key: is looked at", "query: looks")
    assert spec["width"] == "container"


@pytest.mark.parametrize(("kind", "domain"), [("weights", (0, 1)), ("scores", (-5, 5)), ("signed", (-1, 1))])
def test_colours_mean_the_same_before_and_after(kind: Any, domain: tuple[int, int]) -> None:
    scale = heatmap(LIGHT, ["a"], ["b"], kind=kind).to_dict()["layer"][0]["encoding"]["color"]["scale"]
    assert (scale["domain"][0], scale["domain"][-1]) == domain
    assert scale["clamp"] is True


def test_masked_cells_leave_the_scale_and_are_hatched() -> None:
    spec = heatmap(LIGHT, list("ab"), list("ab")).to_dict()
    conditions = spec["layer"][0]["encoding"]["color"]["condition"]
    assert {"test": "datum.attend == 0", "value": LIGHT.masked} in conditions
    (hatch,) = layers(spec, "rule")
    assert hatch["transform"] == [{"filter": "datum.attend == 0"}]


def test_a_mask_has_two_colours_and_no_scale() -> None:
    spec = heatmap(LIGHT, list("ab"), list("ab"), kind="mask").to_dict()
    colour = spec["layer"][0]["encoding"]["color"]
    assert colour == {"value": LIGHT.allowed, "condition": {"test": "datum.attend == 0", "value": LIGHT.masked}}
    assert not layers(spec, "text")


def test_numbers_stand_in_the_cells_while_there_is_room() -> None:
    assert layers(heatmap(LIGHT, ["a"], list("abcdefghijklmn")).to_dict(), "text")
    assert not layers(heatmap(LIGHT, ["a"], list("abcdefghijklmno")).to_dict(), "text")
    assert not layers(heatmap(LIGHT, ["a"], list("abcdefghij"), width=200).to_dict(), "text")


def test_the_ring_is_drawn_from_its_own_data() -> None:
    ring = heatmap(LIGHT, ["a"], ["b"]).to_dict()["layer"][-1]
    assert ring["data"] == {"name": "mark"}
    assert ring["mark"]["stroke"] == LIGHT.accent
    assert ring["mark"]["filled"] is False


def test_a_click_tells_query_key_and_nonce() -> None:
    for spec in (heatmap(LIGHT, ["a"], ["b"]).to_dict(), panels(LIGHT, ["a"], ["b"], THREE).to_dict()):
        (cell,) = [param for param in spec["params"] if "select" in param]
        assert cell["name"] == "cell"
        assert cell["select"]["fields"] == ["q", "k", "nonce"]
        names = [view["layer"][0]["name"] for view in spec.get("hconcat", [spec])]
        assert cell["views"] == names


def test_panels_share_one_row_axis_and_keep_their_own_colours() -> None:
    spec = panels(LIGHT, list("ab"), list("abc"), THREE).to_dict()
    axes = [view["layer"][0]["encoding"]["y"]["axis"] for view in spec["hconcat"]]
    assert axes[0]["title"] == "query: looks"
    assert axes[1:] == [None, None]
    assert spec["resolve"] == {"scale": {"color": "independent"}}
    assert [view["title"] for view in spec["hconcat"]] == ["1 Scores", "2 Mask", "3 Weights"]


def test_words_come_from_the_caller() -> None:
    words = Words("查询", "键", "查询词", "键词", "权重", "已遮蔽", "可看")
    text = json.dumps(heatmap(LIGHT, ["a"], ["b"], words=words).to_dict(), ensure_ascii=False).replace("\\\\", "\\")
    assert all(
        json.dumps(word)[1:-1] in text or word in text for word in ("查询", "键", "查询词", "键词", "权重", "已遮蔽")
    )


def test_data_are_lean() -> None:
    frames = heatmap_data(np.full((3, 5), 0.2), attend_mask=np.ones((3, 5), bool), marked_row=1, nonce=203)
    assert frames["cells"].to_pandas().dtypes.astype(str).to_dict() == {
        "q": "int16",
        "k": "int16",
        "value": "float32",
        "attend": "int8",
        "nonce": "int8",
    }
    assert frames["mark"].to_pandas().dtypes.astype(str).to_dict() == {"q": "int16"}
    assert set(frames["cells"].to_pandas()["nonce"]) == {3}


def test_cells_keep_the_place_of_their_value() -> None:
    values = np.arange(15).reshape(3, 5)
    mask = values % 2 == 0
    cells = heatmap_data(values, attend_mask=mask)["cells"].to_pandas().set_index(["q", "k"])
    assert cells.loc[(2, 1), "value"] == 11
    assert cells.loc[(1, 3), "attend"] == 1
    assert cells.loc[(2, 1), "attend"] == 0


def test_without_a_mark_there_is_no_ring() -> None:
    assert heatmap_data([[1.0]])["mark"].to_pandas().empty
    assert heatmap_data([[1.0]], marked_row=0)["mark"].to_pandas()["q"].tolist() == [0]


def test_the_spec_knows_nothing_of_the_data() -> None:
    spec = json.dumps(heatmap(LIGHT, ["a", "b"], ["a", "b"]).to_dict())
    assert spec == json.dumps(heatmap(LIGHT, ["a", "b"], ["a", "b"]).to_dict())
    assert "datasets" not in json.loads(spec)


def test_infinite_and_undefined_scores_are_shown_as_such() -> None:
    values = [[-np.inf, np.nan, np.inf, 1.25]]
    chart = heatmap(LIGHT, ["q"], list("abcd"), kind="scores")
    svg = to_svg(chart.to_dict(), heatmap_data(values), LIGHT)
    assert all(f">{text}<" in svg for text in ("−∞", "NaN", "∞", "1.3"))
    assert LIGHT.scores.colours[0] in svg or "rgb(23,74,148)" in svg.replace(" ", "")


def test_hostile_tokens_are_only_ever_text() -> None:
    spec = heatmap(LIGHT, HOSTILE, HOSTILE).to_dict()
    tables = {param["name"]: param["expr"] for param in spec["params"] if "expr" in param}
    assert json.loads(tables["query_tokens"]) == HOSTILE
    assert tables["key_tokens"].isascii()
    svg = to_svg(spec, heatmap_data(np.eye(len(HOSTILE))), LIGHT)
    for shown in ('"', "\\", "'); alert(1)", "&lt;/script&gt;&lt;b&gt;", "🙂", "银行", "param_1"):
        assert f">{shown}<" in svg
    assert "<b>" not in svg
    assert svg.count(">the<") == 4  # twice on each axis: repeated tokens stay distinct
    assert "a" * 40 not in svg.replace("aria", "")
    assert "aaa…" in svg


def test_labels_lie_level_slant_or_stand() -> None:
    def angle(keys: list[str], **options: Any) -> int:
        axis = heatmap(LIGHT, ["q"], keys, **options).to_dict()["layer"][0]["encoding"]["x"]["axis"]
        return int(axis["labelAngle"])

    assert angle(list("我今天在银行取钱")) == 0
    assert angle(["a", "considerable", "word", "here", "and", "there", "too", "perhaps", "more"]) == -40
    assert angle(["word"] * 40) == -90


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 64), (64, 1), (64, 64), (7, 11)])
@pytest.mark.parametrize("look", [style("light"), style("dark", "projector")], ids=lambda look: look.name)
def test_every_shape_compiles(rows: int, columns: int, look: Any) -> None:
    queries, keys = [f"q{i}" for i in range(rows)], [f"k{i}" for i in range(columns)]
    for chart in (heatmap(look, queries, keys), panels(look, queries, keys, THREE)):
        vl_convert.vegalite_to_vega(chart.to_dict())


def test_limits_are_told() -> None:
    with pytest.raises(ValueError, match=rf"queries \(65\) must be between 1 and {LIMIT}"):
        heatmap(LIGHT, ["a"] * 65, ["a"])
    with pytest.raises(ValueError, match=r"keys \(0\) must be between 1 and 64"):
        panels(LIGHT, ["a"], [], THREE)
    with pytest.raises(ValueError, match="shown must hold at least one panel"):
        panels(LIGHT, ["a"], ["a"], [])


def test_arrays_must_fit() -> None:
    with pytest.raises(ValueError, match=r"arrays \(value \(2, 3\), attend \(3, 2\)\) must have one shape"):
        heatmap_data(np.zeros((2, 3)), attend_mask=np.ones((3, 2), bool))
    with pytest.raises(ValueError, match=r"arrays \(value \(4,\)\) must have one shape"):
        heatmap_data(np.zeros(4))
    with pytest.raises(ValueError, match=r"arrays \(none\)"):
        panels_data({})
    with pytest.raises(ValueError, match=r"marked_row \(3\) must be between 0 and 2"):
        heatmap_data(np.zeros((3, 5)), marked_row=3)


def test_panels_read_columns_by_name() -> None:
    frames = panels_data(
        {"scores": np.zeros((2, 3)), "weights": np.ones((2, 3))}, masks={"mask": np.eye(2, 3, dtype=bool)}
    )
    assert frames["cells"].to_pandas().columns.tolist() == ["q", "k", "scores", "weights", "mask", "nonce"]
    assert frames["cells"].to_pandas()["mask"].tolist() == [1, 0, 0, 0, 1, 0]
    svg = to_svg(panels(LIGHT, list("ab"), list("xyz"), THREE).to_dict(), frames, LIGHT)
    assert svg.count(">1.00<") == 2  # masked cells show no number


def test_heights_grow_with_the_type() -> None:
    normal, projector = (heatmap(look, list("abc"), ["k"], height=100) for look in (LIGHT, style("light", "projector")))
    assert (normal.to_dict()["height"], projector.to_dict()["height"]) == (100, 135)
    assert heatmap(LIGHT, ["q"] * 3, ["k"]).to_dict()["height"] == 84
    assert heatmap(LIGHT, ["q"] * 64, ["k"]).to_dict()["height"] == 576


@pytest.mark.parametrize(
    "texts", [["The", "cat", "<pad>", "<pad>", "<pad>"] * 2, ["incomprehensible"] * 9, list("abc")]
)
def test_panels_fit_into_their_outer_width_with_all_labels(texts: list[str]) -> None:
    matrix = np.ones((len(texts), len(texts)))
    frames = panels_data({"scores": matrix, "weights": matrix}, masks={"mask": matrix})
    for shown in (THREE, THREE[:1]):
        svg = to_svg(panels(LIGHT, texts, texts, shown, outer_width=900, height=200).to_dict(), frames, LIGHT)
        (width,) = re.findall(r'<svg[^>]* width="(\d+)', svg)
        assert 700 < int(width) - 2 * 12 <= 900  # an exported file has a margin of 12 pixels


def test_large_scores_are_written_so_that_they_fit() -> None:
    frames = heatmap_data(np.array([[-9.94, -9.96, 12.3]]))
    svg = to_svg(heatmap(LIGHT, ["q"], list("abc"), kind="scores").to_dict(), frames, LIGHT)
    assert all(f">{number}<" in svg for number in ("−9.9", "−10", "12"))


def test_of_labels_that_would_cover_each_other_some_are_left_out() -> None:
    def axes(count: int) -> list[dict[str, Any]]:
        texts = [str(number) for number in range(1, count + 1)]
        encoding = heatmap(style("light"), texts, texts, width=300, height=300).to_dict()["layer"][0]["encoding"]
        return [encoding[side]["axis"] for side in "xy"]

    assert [axis["labelOverlap"] for axis in axes(20)] == [False, False]
    assert [(axis["labelOverlap"], axis["labelFontSize"]) for axis in axes(64)] == [(True, 12), (True, 12)]


def test_colours_of_weights_may_end_earlier() -> None:
    shown = [Panel("all", "weights", "a"), Panel("small ones", "weights", "a", most=0.25)]
    drawn = panels(style("light"), ["x"], ["y"], shown).to_dict()["hconcat"]
    domains = [panel["layer"][0]["encoding"]["color"]["scale"]["domain"] for panel in drawn]
    assert [(domain[0], domain[-1]) for domain in domains] == [(0, 1), (0, 0.25)]
