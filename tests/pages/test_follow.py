"""A slider that runs only the picture again: it shows what a fresh page at the same address shows."""

import io

import pandas as pd
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

PAGES = (
    "translation",
    "masks",
    "qkv",
    "recurrence",
    "sinusoidal",
    "rope",
    "heads",
    "rank",
    "gqa",
    "embeddings",
    "transformer",
)


def opened(page: str, **address: str) -> AppTest:
    app = AppTest.from_string(f"from pages import {page}; {page}.render()", default_timeout=120)
    app.query_params.update(address)
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    assert not app.exception, app.exception[0].message
    return app


def charts(app: AppTest) -> dict[str, dict[str, pd.DataFrame]]:
    """The data of every chart, by its widget."""
    return {
        chart.proto.id or str(number): {
            dataset.name: pa.ipc.open_stream(io.BytesIO(dataset.data.data)).read_pandas()
            for dataset in chart.proto.datasets
        }
        for number, chart in enumerate(app.get("vega_lite_chart"))
    }


def words(app: AppTest) -> str:
    return " ".join(element.proto.body for element in app.get("html") if "atlas-look" in element.proto.body)


@pytest.mark.parametrize("page", PAGES)
def test_what_runs_alone_shows_what_the_whole_page_would(page: str) -> None:
    begun = opened(page)
    for key in [slider.key for slider in begun.slider]:
        app = opened(page)
        slider = app.slider(key=key)
        value = slider.max if slider.value != slider.max else slider.min
        slider.set_value(value)
        moved, fresh = checked(app.run()), opened(page, **{key: str(value)})
        assert words(moved) == words(fresh)
        seen, expected = charts(moved), charts(fresh)
        assert list(seen) == list(expected)
        for chart, frames in seen.items():
            for name, frame in frames.items():
                pd.testing.assert_frame_equal(frame, expected[chart][name])
