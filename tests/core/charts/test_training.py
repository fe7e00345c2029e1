"""Losses while they come: the picture stays as it is, only its curves grow."""

import numpy as np
import pytest

from core.charts.theme import style
from core.charts.training import training_curves, training_curves_data

SERIES = ("causal", "bidirectional")


def build(**changes: object) -> dict[str, object]:
    settings = {"steps": 400, "losses": (0.0, 3.5), "x_title": "step", "y_title": "loss", "width": 500, **changes}
    spec: dict[str, object] = training_curves(style("light"), SERIES, **settings).to_dict()  # type: ignore[arg-type]
    return spec


def scales(spec: dict[str, object]) -> dict[str, set[tuple[float, ...]]]:
    """Channel → every domain that a layer gives it."""
    found: dict[str, set[tuple[float, ...]]] = {"x": set(), "y": set()}
    for layer in spec["layer"]:  # type: ignore[attr-defined]
        for channel, domains in found.items():
            scale = layer["encoding"].get(channel, {}).get("scale")
            if scale:
                assert scale["type"] == "linear"
                domains.add(tuple(scale["domain"]))
    return found


def test_both_axes_stay_as_they_are() -> None:
    assert scales(build()) == {"x": {(0, 400)}, "y": {(0.0, 3.5)}}
    assert scales(build(steps=100, losses=(1, 2))) == {"x": {(0, 100)}, "y": {(1, 2)}}


def test_series_and_their_names() -> None:
    spec = build()
    assert [param["expr"] for param in spec["params"] if "expr" in param] == ['["causal", "bidirectional"]']  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, r"steps \(0\) must be at least 1"),
        ({"losses": (2.0, 2.0)}, r"losses \(\(2.0, 2.0\)\) must rise"),
    ],
)
def test_what_makes_no_chart(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(**changes)


def test_without_series_there_is_no_chart() -> None:
    with pytest.raises(ValueError, match="from 1 to"):
        training_curves(style("dark"), [], steps=1, losses=(0, 1), x_title="x", y_title="y")


def test_the_data_by_hand() -> None:
    """The second curve has not begun."""
    data = training_curves_data([[1, 2, 3], []], [[3.0, 2.5, 2.0], []])
    curves = data["curves"].to_pandas()
    assert curves["s"].tolist() == [0, 0, 0]
    assert curves["x"].tolist() == [1, 2, 3]
    assert curves["y"].tolist() == [3.0, 2.5, 2.0]
    assert curves["end"].tolist() == [0, 0, 1]
    assert len(data["marks"]) == 0
    assert curves.dtypes.map(str).tolist() == ["int8", *["float32"] * 4, "int8"]


def test_it_grows() -> None:
    steps, losses = np.arange(1, 6), np.linspace(3, 1, 5)
    before = training_curves_data([steps[:3]], [losses[:3]])["curves"].to_pandas()
    after = training_curves_data([steps], [losses])["curves"].to_pandas()
    assert after[["x", "y"]][:3].equals(before[["x", "y"]])
    assert len(after) == 5


def test_nothing_told_yet() -> None:
    assert training_curves_data([[], []], [[], []])["curves"].to_pandas().empty


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="must be of one shape"):
        training_curves_data([[1, 2]], [[1.0]])
