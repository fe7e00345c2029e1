"""Charts as files: complete, opaque, and made without the network."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from core.charts import heatmap, heatmap_data, style, to_png, to_svg
from core.charts.curves import Axis, curves, curves_data

LIGHT, DARK = style("light"), style("dark", "projector")


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def test_svg_stands_on_the_looks_own_background() -> None:
    for look in (LIGHT, DARK):
        svg = to_svg(heatmap(look, ["我"], ["爱", "you"]).to_dict(), heatmap_data([[0.25, 0.75]]), look)
        assert f'fill="{look.background}"' in svg
        assert all(f">{text}<" in svg for text in ("我", "爱", "you", "0.25"))


def test_png_is_as_sharp_as_asked() -> None:
    spec, frames = heatmap(LIGHT, ["a"], ["b"], width=200).to_dict(), heatmap_data([[1.0]])
    (width, height), (width2, height2) = (size(to_png(spec, frames, LIGHT, scale=scale)) for scale in (1, 2))
    assert (width2, height2) == pytest.approx((2 * width, 2 * height), abs=2)


def test_a_chart_that_fills_its_container_gets_a_width() -> None:
    spec, frames = heatmap(LIGHT, ["a"], ["b"]).to_dict(), heatmap_data([[1.0]])
    narrow, wide = (size(to_png(spec, frames, LIGHT, width=width, scale=1))[0] for width in (400, 800))
    assert wide - narrow == 400
    assert spec["width"] == "container"  # the caller's own is left alone


def test_nothing_is_fetched(tmp_path: Any) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("q,k\n1,1\n")
    for address in ("http://127.0.0.1:9/data.csv", secret.as_uri(), str(secret)):
        spec = {"data": {"url": address}, "mark": "point", "encoding": {"x": {"field": "q", "type": "quantitative"}}}
        with pytest.raises(ValueError, match="must not load data from an address"):
            to_svg(spec, {}, LIGHT)


def test_missing_numbers_become_null() -> None:
    svg = to_svg(heatmap(LIGHT, ["a"], ["b"]).to_dict(), heatmap_data([[np.nan]]), LIGHT)
    assert ">NaN<" in svg
    json.dumps(heatmap(LIGHT, ["a"], ["b"]).to_dict(), allow_nan=False)


def test_small_numbers_are_not_rounded_away() -> None:
    """Seven decimals would lose them, and a logarithmic axis leaves out what is zero."""
    frames = curves_data([[1, 2]], [[1e-16, 1e-20]])
    spec = curves(LIGHT, ["a"], x=Axis("x"), y=Axis("y", log=True)).to_dict()
    assert to_svg(spec, frames, LIGHT).count('aria-roledescription="point"') == 2


def test_the_converter_is_loaded_only_when_asked_for() -> None:
    code = "import sys, core.charts; sys.exit('vl_convert' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
