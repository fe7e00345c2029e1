"""Curves of trainings, as parts of a figure."""

import pytest

from core.labs.record import POINTS
from core.labs.spread import Spread
from pages.components.lab_curves import bands_data
from tests.pages.apps import Start, shown


def app() -> None:
    import streamlit as st

    from core.labs.events import Step
    from core.labs.record import Record
    from pages.components.lab_curves import losses

    record = Record()
    for step in range(1, 251):
        record.add(Step("b", step, 1 / step, 10, step, 250))
    drawn = losses(
        "losses", "Title", record, {"a": "first", "b": "second"},
        steps=250, domain=(0.0, 1.0), y_title="loss", share=0.5, height=100,
    )  # fmt: skip
    st.json({"series": dict(drawn.settings)["series"], **drawn.frames["curves"].to_pandas().to_dict("list")})


def test_a_curve_that_has_not_begun_keeps_its_place(start: Start) -> None:
    drawn = shown(start(app))
    assert drawn["series"] == ["first", "second"]
    assert set(drawn["s"]) == {1}
    assert len(drawn["x"]) <= POINTS
    assert [drawn["x"][0], drawn["x"][-1]] == [1, 250]


def test_a_band_by_hand() -> None:
    spreads = [[Spread((1.0, 2.0, 6.0)), None, Spread((4.0,))], [Spread((0.0, 1.0))]]
    data = bands_data([[10, 20, 30], [10]], spreads, marks=[20])
    assert data["curves"].to_pandas()[["s", "x", "y", "low", "high"]].values.tolist() == [
        [0, 10, 3, 1, 6],
        [0, 30, 4, 4, 4],
        [1, 10, 0.5, 0, 1],
    ]
    assert data["marks"]["x"].to_pylist() == [20]


@pytest.mark.parametrize(("x", "spreads"), [([[1, 2]], [[Spread((1.0,))]]), ([[1], [1]], [[Spread((1.0,))]])])
def test_places_and_spreads_must_be_as_many(x: list[list[float]], spreads: list[list[Spread | None]]) -> None:
    with pytest.raises(ValueError, match="zip"):
        bands_data(x, spreads)
