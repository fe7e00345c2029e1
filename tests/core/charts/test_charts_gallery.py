"""Many small maps as one chart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from core.charts import style, to_svg
from core.charts.gallery import Fact, GalleryBlock, gallery, gallery_data

LIGHT = style("light")
BLOCKS = (GalleryBlock("E: 编码器", 2, 3), GalleryBlock("D", 1, 1))
NAMES = ("E1.1", "E1.2", "E1.3", "E2.1", "E2.2", "E2.3", "D1.1")
MAPS = [np.full((2, 5), index / 10) for index in range(6)] + [np.full((3, 3), 0.6)]


def data(**settings: Any) -> dict[str, Any]:
    return gallery_data(MAPS, BLOCKS, **settings)


def test_every_map_is_drawn_in_its_place() -> None:
    frames = data()
    assert len(frames["cells"].to_pandas()) == 6 * 10 + 9
    heads = frames["heads"].to_pandas().set_index("head")
    assert heads["top"][3] > heads["bottom"][0]  # layer 2 below layer 1
    assert heads["left"][1] >= heads["right"][0]  # head 2 right of head 1
    assert heads["left"][6] > heads["right"][2]  # the second block right of the first
    for index in (0, 4, 6):
        cells = frames["cells"].to_pandas()[np.isclose(frames["cells"].to_pandas()["value"], index / 10)]
        assert cells["left"].min() == pytest.approx(heads["left"][index])
        assert cells["bottom"].max() == pytest.approx(heads["bottom"][index])
    assert frames["titles"].to_pandas()["x"].is_monotonic_increasing
    assert (heads[["left", "top"]].min() >= 0).all()
    assert heads["right"].max() <= 1000
    assert heads["bottom"].max() <= 250


def test_maps_do_not_overlap() -> None:
    heads = data()["heads"].to_pandas()
    for i, one in heads.iterrows():
        for j, other in heads.iterrows():
            apart = one["right"] <= other["left"] or other["right"] <= one["left"]
            assert i == j or apart or one["bottom"] <= other["top"] or other["bottom"] <= one["top"]


def test_heads_that_are_off_are_crossed_out() -> None:
    frames = data(off=[1, 6])
    assert frames["heads"].to_pandas()["off"].tolist() == [0, 1, 0, 0, 0, 0, 1]
    svg = to_svg(gallery(LIGHT, BLOCKS, NAMES, width=600).to_dict(), frames, LIGHT)
    assert svg.count(">✕ E1.2<") == svg.count(">✕ D1.1<") == 1
    assert ">E1.1<" in svg
    assert ">E: 编码器<" in svg


def test_one_is_marked() -> None:
    frames = data(chosen=4)
    ring, place = frames["chosen"].to_pandas().iloc[0], frames["heads"].to_pandas().iloc[4]
    assert (ring[["left", "right", "top", "bottom"]] == place[["left", "right", "top", "bottom"]]).all()
    assert data()["chosen"].to_pandas().empty


def test_facts_are_said_in_the_tooltip() -> None:
    frames = data(facts={index: [index / 4, math.nan] for index in range(7)}, nonce=7)
    assert frames["heads"].to_pandas()["f0"].tolist() == [index / 4 for index in range(7)]
    assert frames["heads"].to_pandas()["f1"].isna().all()
    assert set(frames["heads"].to_pandas()["nonce"]) == {7}
    spec = gallery(LIGHT, BLOCKS, NAMES, facts=(Fact("share", ".1%"), Fact("cost"))).to_dict()
    (hit,) = (layer for layer in spec["layer"] if layer.get("name") == "heads")
    assert "format(datum.f0, '.1%')" in hit["mark"]["tooltip"]["expr"]
    assert spec["params"][0]["views"] == ["heads"]
    assert spec["params"][0]["select"]["fields"] == ["head", "nonce"]


def test_cells_are_lean() -> None:
    assert set(data()["cells"].to_pandas().dtypes.astype(str)) == {"float32"}


@pytest.mark.parametrize(("blocks", "names"), [((), ()), (BLOCKS, NAMES[:-1])])
def test_names_must_be_as_many_as_maps(blocks: tuple[GalleryBlock, ...], names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=rf"names \({len(names)}\) must be as many as the maps"):
        gallery(LIGHT, blocks, names)


def test_maps_must_be_as_many_as_places() -> None:
    with pytest.raises(ValueError, match=r"maps \(6\) must be as many as the blocks have \(7\)"):
        gallery_data(MAPS[:6], BLOCKS)


@pytest.mark.parametrize(("settings", "name"), [({"chosen": 7}, "chosen"), ({"off": [2, 7]}, "off")])
def test_there_must_be_such_a_head(settings: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} \(7\) must be between 0 and 6"):
        data(**settings)
