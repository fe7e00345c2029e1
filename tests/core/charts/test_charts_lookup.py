"""A soft look-up as bars and a grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.charts import style, to_svg
from core.charts.lookup import LookupWords, lookup, lookup_data

LIGHT = style("light")
TITLES, CONTENTS = ("Nets", "<i>Verse</i>"), ("networks", "rhymes", "code")
DATA = (np.array([2.0, -1.0]), np.array([0.9, 0.1]), np.ones((2, 3)), np.full(3, 2.0))


def spec(**settings: Any) -> dict[str, Any]:
    found: dict[str, Any] = lookup(LIGHT, TITLES, CONTENTS, **settings).to_dict()
    return found


def test_three_panels_say_what_they_are() -> None:
    words = LookupWords(similarity="S", share="W", contribution="C")
    assert [panel["title"]["text"] for panel in spec(words=words)["hconcat"]] == ["S", "W", "C"]


def share_domain(chart: dict[str, Any]) -> Any:
    return chart["hconcat"][1]["layer"][0]["layer"][0]["encoding"]["x"]["scale"].get("domain")


def test_weights_have_a_fixed_axis_and_raw_similarities_their_own() -> None:
    assert share_domain(spec()) == [0, 1.2]
    assert share_domain(spec(raw=True)) is None


def test_data_are_lean_and_the_last_row_is_the_answer() -> None:
    frames = lookup_data(*DATA)
    assert frames["books"].to_pandas().dtypes.astype(str).to_dict() == {
        "b": "int16",
        "similarity": "float32",
        "share": "float32",
    }
    assert frames["sum"].to_pandas().to_dict("list") == {"b": [2], "share": [pytest.approx(1.0)]}
    last = frames["contents"].to_pandas()[frames["contents"].to_pandas()["b"] == 2]
    assert last["value"].tolist() == [2.0] * 3
    assert last["c"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("look", [LIGHT, style("dark", "projector")], ids=["light", "projector"])
def test_it_can_be_drawn(look: Any, raw: bool) -> None:
    svg = to_svg(lookup(look, TITLES, CONTENTS, raw=raw).to_dict(), lookup_data(*DATA), look)
    assert "&lt;i&gt;Verse&lt;/i&gt;" in svg
    assert "Σ = 1.00" in svg
    assert "= answer" in svg


def test_nothing_to_show_is_refused() -> None:
    with pytest.raises(ValueError, match="titles must hold at least one text"):
        lookup(LIGHT, (), CONTENTS)
    with pytest.raises(ValueError, match="contents must hold at least one text"):
        lookup(LIGHT, TITLES, ())


@pytest.mark.parametrize(
    "shapes", [((2,), (3,), (2, 3), (3,)), ((2,), (2,), (3, 3), (3,)), ((2,), (2,), (2, 3), (2,)), ((2, 1),) * 4]
)
def test_shapes_must_fit_together(shapes: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ValueError, match=r"must be \(books,\), \(books,\), \(books, contents\) and \(contents,\)"):
        lookup_data(*(np.zeros(shape) for shape in shapes))
