"""The words nearest to something."""

from __future__ import annotations

import pytest

from core.charts import style, to_svg
from core.charts.compose import compose, compose_data
from core.charts.cosine_bars import GIVEN, PLAIN, WANTED, CosineWords, cosine_bars, cosine_bars_data

LIGHT = style("light")


def test_rows_in_order() -> None:
    bars = cosine_bars_data(("a", "b", "c"), (0.9, 0.5, -0.2), (GIVEN, PLAIN, WANTED), places=(1, 2, 3085))[
        "bars"
    ].to_pandas()
    assert bars.dtypes.astype(str).drop("word").to_dict() == {
        "row": "int16", "place": "int32", "cosine": "float32", "kind": "int8",
    }  # fmt: skip
    assert bars["row"].tolist() == [0, 1, 2]
    assert bars["place"].tolist() == [1, 2, 3085]
    assert bars["word"].tolist() == ["a", "b", "c"]
    assert cosine_bars_data(("a", "b"), (1, 0), (0, 0))["bars"].to_pandas()["place"].tolist() == [1, 2]


@pytest.mark.parametrize("look", [LIGHT, style("dark", "projector")], ids=["light", "projector"])
def test_it_can_be_drawn_in_a_figure(look) -> None:  # type: ignore[no-untyped-def]
    words = CosineWords(axis="cosine with it")
    spec = compose([{"a": cosine_bars(look, count=3, words=words, title="T", outer_width=300).to_dict()}])
    frames = cosine_bars_data(("ki<ng", "queen", "猫"), (0.9, 0.5, -0.25), (GIVEN, WANTED, PLAIN), places=(1, 2, 30000))
    svg = to_svg(spec, compose_data({"a": frames}), look)
    for text in ("○ ki&lt;ng", "▸ queen", "猫", "0.900", "−0.250", "30000.", "cosine with it", "T"):
        assert f">{text}<" in svg


def test_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match=r"words \(1\), cosines \(2\), kinds \(1\) and places \(1\) must be as many"):
        cosine_bars_data(("a",), (1, 2), (0,))
    with pytest.raises(ValueError, match=r"count \(0\) must be at least 1"):
        cosine_bars(LIGHT, count=0)
