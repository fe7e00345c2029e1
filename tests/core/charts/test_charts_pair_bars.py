"""What each pair adds to a score."""

from __future__ import annotations

import pytest

from core.charts import style, to_svg
from core.charts.pair_bars import PairWords, pair_bars, pair_bars_data

LIGHT = style("light")


def test_data_are_lean_and_one_is_chosen() -> None:
    frame = pair_bars_data([0.5, -0.25, 0.125], chosen=1, nonce=101)["pairs"].to_pandas()
    assert frame.dtypes.astype(str).to_dict() == {"i": "int16", "value": "float32", "chosen": "int8", "nonce": "int8"}
    assert frame["value"].tolist() == [0.5, -0.25, 0.125]
    assert frame["chosen"].tolist() == [0, 1, 0]
    assert frame["nonce"].tolist() == [1, 1, 1]


def test_a_pair_can_be_clicked() -> None:
    spec = pair_bars(LIGHT, 7, limit=1).to_dict()
    (select,) = (param for param in spec["params"] if "select" in param)
    assert (select["name"], select["select"]["fields"]) == ("pair", ["i", "nonce"])
    assert spec["layer"][0]["name"] in select["views"]


@pytest.mark.parametrize(("count", "labelled"), [(1, 1), (8, 8), (32, 8), (64, 8), (128, 8), (700, 1)])
def test_not_too_many_labels(count: int, labelled: int) -> None:
    axis = pair_bars(LIGHT, count, limit=1).to_dict()["layer"][1]["encoding"]["x"]["axis"]
    assert len(axis["values"]) == labelled


@pytest.mark.parametrize("look", [LIGHT, style("dark", "projector")], ids=["light", "projector"])
def test_it_can_be_drawn(look) -> None:  # type: ignore[no-untyped-def]
    spec = pair_bars(look, 3, limit=0.7, words=PairWords(pair="P", value="V"), title="T", outer_width=300).to_dict()
    assert spec["width"] < 300
    svg = to_svg(spec, pair_bars_data([0.5, -0.25, 0.125], chosen=1), look)
    assert all(f">{text}<" in svg for text in ("P", "V", "T", "▼"))


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match=r"count \(0\) must be at least 1"):
        pair_bars(LIGHT, 0, limit=1)
    with pytest.raises(ValueError, match=r"limit \(0\) must be above 0"):
        pair_bars(LIGHT, 2, limit=0)
    with pytest.raises(ValueError, match=r"values \(1, 2\) must be \(count,\)"):
        pair_bars_data([[1, 2]], chosen=0)
    with pytest.raises(ValueError, match=r"chosen \(3\) must be between 0 and 2"):
        pair_bars_data([1, 2, 3], chosen=3)
