"""The map of the Transformer: every block is there, and the linked ones can be clicked."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest
import vl_convert

from core.charts import MapLabels, style, to_svg, transformer_map
from core.charts.architecture import _ARROWS, _BOXES, _FRAMES, _HEIGHT, _WIDTH

LIGHT = style("light")
BLOCKS = [field.name for field in dataclasses.fields(MapLabels)][:13]


def rows(spec: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return next((layer["data"]["values"] for layer in spec["layer"] if layer["data"]["name"] == name), [])


def test_every_label_of_a_block_has_its_block() -> None:
    assert {box.block for box in _BOXES} == set(BLOCKS)


def test_blocks_lie_on_the_map_and_apart() -> None:
    def edges(box: Any) -> tuple[float, float, float, float]:
        return box.x - box.width / 2, box.x + box.width / 2, box.y - box.height / 2, box.y + box.height / 2

    for box in (*_BOXES, *_FRAMES):
        left, right, top, bottom = edges(box)
        assert left >= 0
        assert right <= _WIDTH
        assert top >= 0
        assert bottom <= _HEIGHT
    for one, other in itertools.combinations(_BOXES, 2):
        (left, right, top, bottom), (left2, right2, top2, bottom2) = edges(one), edges(other)
        assert right < left2 or right2 < left or bottom < top2 or bottom2 < top


def test_the_encoder_reaches_the_decoder_at_cross_attention() -> None:
    (memory,) = [arrow for arrow in _ARROWS if arrow.strong]
    cross = next(box for box in _BOXES if box.block == "cross_attention")
    assert memory.points[-1] == (cross.x - cross.width / 2, cross.y)
    assert memory.points[0][0] == next(box.x for box in _BOXES if box.block == "encoder_self_attention")


def test_linked_blocks_can_be_clicked_and_no_others() -> None:
    spec = transformer_map(LIGHT, MapLabels(), ["cross_attention", "encoder_add_norm"]).to_dict()
    assert [row["id"] for row in rows(spec, "linked")] == ["encoder_add_norm", "encoder_add_norm", "cross_attention"]
    assert {row["id"] for row in rows(spec, "plain")} == set(BLOCKS) - {"cross_attention", "encoder_add_norm"}
    (block,) = spec["params"]
    assert (block["name"], block["views"], block["select"]["fields"]) == ("block", ["linked"], ["id"])
    cursors = {layer["data"]["name"]: layer["mark"].get("cursor") for layer in spec["layer"]}
    assert (cursors["linked"], cursors["plain"]) == ("pointer", "default")
    assert "datasets" not in spec


def test_linked_blocks_bear_a_sign_besides_their_colour() -> None:
    svg = to_svg(transformer_map(LIGHT, MapLabels(), ["cross_attention"]).to_dict(), {}, LIGHT)
    assert ">Cross-attention  ↗<" in svg
    assert svg.count("↗<") == 1
    assert ">Masked self-attention<" in svg


def test_labels_come_from_the_caller() -> None:
    labels = MapLabels(**{field.name: f"<{field.name}>" for field in dataclasses.fields(MapLabels)})
    svg = to_svg(transformer_map(LIGHT, labels, ["whole"]).to_dict(), {}, LIGHT)
    assert all(f"&lt;{field.name}&gt;" in svg for field in dataclasses.fields(MapLabels))


@pytest.mark.parametrize("linked", [(), BLOCKS], ids=["none", "all"])
@pytest.mark.parametrize("look", [style("light"), style("dark", "projector")], ids=lambda look: look.name)
def test_maps_compile(linked: list[str], look: Any) -> None:
    vl_convert.vegalite_to_vega(transformer_map(look, MapLabels(), linked).to_dict())


def test_unknown_blocks_are_refused() -> None:
    with pytest.raises(ValueError, match=r"linked \(attic\) must be among cross_attention, "):
        transformer_map(LIGHT, MapLabels(), ["attic"])
