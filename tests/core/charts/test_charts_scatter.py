"""Words as points: places, names that do not cover each other, shapes for all groups."""

from __future__ import annotations

import numpy as np
import pytest

from core.charts import style, to_svg
from core.charts.compose import compose, compose_data
from core.charts.scatter import ASPECT, SHAPES, ScatterWords, legend, legend_data, scatter, scatter_data

LIGHT = style("light")
NAMES = ("north", "east", "south-west")
POINTS = [[0.0, 2.0], [4.0, 0.0], [-1.0, -1.0]]


def test_the_points_fill_the_picture_and_keep_their_distances() -> None:
    points = scatter_data(POINTS, (0, 0, 1), NAMES)["points"].to_pandas()
    assert points.dtypes.astype(str).to_dict() == {
        "w": "int16", "near": "int16", "x": "float32", "y": "float32", "size": "float32", "group": "int8",
        "faint": "int8", "nonce": "int8",
    }  # fmt: skip
    assert points["group"].tolist() == [0, 0, 1]
    seen = points[["x", "y"]].to_numpy()
    ratios = [
        np.linalg.norm(seen[a] - seen[b]) / np.linalg.norm(np.subtract(POINTS[a], POINTS[b]))
        for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    assert ratios == pytest.approx([ratios[0]] * 3, rel=1e-5)
    assert np.abs(seen).max(axis=0) == pytest.approx([0.86 * ASPECT, 0.86 * ASPECT * 3 / 5])  # 5 wide, 3 high
    assert seen.min(axis=0) == pytest.approx(-seen.max(axis=0))


def test_a_reach_keeps_the_picture_still() -> None:
    """Points that are turned keep their size on the screen, and 0 stays in the middle."""
    one = scatter_data(POINTS, (0, 0, 1), NAMES, reach=4.0)["points"].to_pandas()
    assert one["x"].tolist() == pytest.approx([0, 0.86, -0.215])
    assert one["y"].tolist() == pytest.approx([0.43, 0, -0.215])


def test_what_is_nearer_to_the_eye_is_larger() -> None:
    sizes = scatter_data([[0, 0, -9.0], [1, 0, 0], [0, 1, 9.0]], (0, 0, 0), NAMES, reach=9.0)["points"].to_pandas()[
        "size"
    ]
    assert sizes.tolist() == sorted(sizes)
    assert sizes[1] == 1
    assert scatter_data(POINTS, (0, 0, 0), NAMES)["points"].to_pandas()["size"].tolist() == [1, 1, 1]


def test_a_chosen_word_has_lines_rings_and_a_strong_name() -> None:
    frames = scatter_data(POINTS, (0, 0, 1), NAMES, chosen=1, linked=[2], near=(1, 0, 0), nonce=203)
    points = frames["points"].to_pandas().set_index("w")
    assert frames["links"].to_pandas()[["x", "y"]].iloc[0].tolist() == points.loc[1, ["x", "y"]].tolist()
    assert frames["links"].to_pandas()[["x2", "y2"]].iloc[0].tolist() == points.loc[2, ["x", "y"]].tolist()
    assert frames["rings"].to_pandas()["strong"].tolist() == [1, 0]
    assert frames["names"].to_pandas().set_index("w")["strong"].to_dict() == {0: 0, 1: 1, 2: 1}
    assert points["near"].tolist() == [1, 0, 0]
    assert set(points["nonce"]) == {3}


def test_without_a_chosen_word_there_are_no_lines() -> None:
    frames = scatter_data(POINTS, (0, 0, 1), NAMES, linked=[2])
    assert frames["links"].to_pandas().empty
    assert frames["rings"].to_pandas().empty
    assert set(frames["points"].to_pandas()["near"]) == {-1}


def test_arrows_and_their_target() -> None:
    frames = scatter_data(
        POINTS, (0, 0, 1), NAMES, arrows=[[[0, 2], [4, 0]], [[-1, -1], [-1, 3]]], target=[-1, 3], ringed=[0]
    )
    arrows, points, target = frames["arrows"].to_pandas(), frames["points"].to_pandas(), frames["target"].to_pandas()
    assert arrows[["x", "y"]].iloc[0].tolist() == points[["x", "y"]].iloc[0].tolist()
    assert arrows[["x2", "y2"]].iloc[0].tolist() == points[["x", "y"]].iloc[1].tolist()
    assert arrows["tilt"].tolist() == pytest.approx([np.degrees(np.arctan2(4, -2)), 0])
    assert target[["x", "y"]].iloc[0].tolist() == arrows[["x2", "y2"]].iloc[1].tolist()
    assert target["below"].tolist() == [1]  # it stands on top


@pytest.mark.parametrize(("x", "align"), [(-1.0, 2), (1.0, 1), (4.0, 0)])
def test_the_target_s_name_stays_in_the_picture(x: float, align: int) -> None:
    frames = scatter_data(POINTS, (0, 0, 1), NAMES, target=[x, 0.5], target_name="king − man + woman", height=300)
    assert frames["target"].to_pandas()["align"].tolist() == [align]


def test_what_is_framed_decides_what_is_seen() -> None:
    frames = scatter_data([*POINTS, [1.0, 1.0], [90.0, 0.0]], [0] * 5, [*NAMES, "in", "out"], framed=3)
    assert frames["points"].to_pandas()["w"].tolist() == [0, 1, 2, 3]
    assert sorted(frames["names"].to_pandas()["w"]) == [0, 1, 2, 3]
    pair = scatter_data(POINTS, (0, 0, 1), NAMES)["points"].to_pandas()
    assert frames["points"].to_pandas()["x"][:3].tolist() == pair["x"].tolist()


def boxes(frames: dict[str, object], names: list[str], height: int) -> list[tuple[float, float, float, float]]:
    """Where the names stand, roughly, in pixels: left, top, right, bottom."""
    found = []
    for row in frames["names"].to_pandas().itertuples():  # type: ignore[attr-defined]
        x, y, wide = row.x * height / 2, -row.y * height / 2, 6.0 * len(names[row.w])
        left = {0: x + 8, 1: x - 8 - wide, 2: x - wide / 2, 3: x - wide / 2}[row.side]
        top = {0: y - 6, 1: y - 6, 2: y - 19, 3: y + 7}[row.side]
        found.append((left, top, left + wide, top + 12))
    return found


@pytest.mark.parametrize("count", [25, 300, 2000])
def test_names_of_many_words_do_not_cover_each_other(count: int) -> None:
    points = np.random.default_rng(0).normal(size=(count, 2))
    names = [f"word{number}" for number in range(count)]
    frames = scatter_data(points, [0] * count, names, height=340)
    found = boxes(frames, names, 340)
    assert len(found) > 5
    for number, (left, top, right, bottom) in enumerate(found):
        for left2, top2, right2, bottom2 in found[:number]:
            assert min(right, right2) - max(left, left2) < 1 or min(bottom, bottom2) - max(top, top2) < 1


def test_few_words_all_have_their_names() -> None:
    frames = scatter_data(np.zeros((14, 2)), [0] * 14, [f"word{number}" for number in range(14)])
    assert sorted(frames["names"].to_pandas()["w"]) == list(range(14))


def test_a_map_that_is_no_longer_right_is_pale_and_says_so() -> None:
    frames = scatter_data(POINTS, (0, 0, 1), NAMES, faint=True, note=0)
    assert set(frames["points"].to_pandas()["faint"]) == {1}
    assert frames["names"].to_pandas().empty
    assert frames["note"].to_pandas()["n"].tolist() == [0]


def test_no_points_at_all() -> None:
    frames = scatter_data(np.zeros((0, 2)), (), (), note=1)
    (only,) = frames["points"].to_pandas().itertuples(index=False)
    assert (only.w, only.near, only.size) == (-1, 1, 0)  # unseen, and heard as the note
    spec = compose([{"a": scatter(LIGHT, (), ("g",), words=ScatterWords(notes=("one", "two"))).to_dict()}])
    assert ">two<" in to_svg(spec, compose_data({"a": frames}), LIGHT)


@pytest.mark.parametrize(
    ("points", "groups", "near"),
    [
        (np.zeros((2, 2)), (0, 0, 0), ()),
        (np.zeros((3, 4)), (0, 0, 0), ()),
        (POINTS, (0,), ()),
        (POINTS, (0, 0, 0), (1,)),
    ],
)
def test_shapes_must_fit(points: np.ndarray, groups: tuple[int, ...], near: tuple[int, ...]) -> None:  # type: ignore[type-arg]
    with pytest.raises(ValueError, match=r"and names \(3\) must fit"):
        scatter_data(points, groups, NAMES, near=near)


@pytest.mark.parametrize("look", [LIGHT, style("dark", "projector")], ids=["light", "projector"])
@pytest.mark.parametrize("space", [False, True])
def test_it_can_be_drawn_in_a_figure(look, space: bool) -> None:  # type: ignore[no-untyped-def]
    names = ("a<b", "word", "猫")
    chart = scatter(
        look,
        names,
        ("one", "two"),
        axes=("", "") if space else ("across", "up"),
        axis_names=("PC 1", "PC 2", "PC 3") if space else (),
        words=ScatterWords(target="the sum"),
        title="T",
        outer_width=430,
    )
    frames = scatter_data(
        np.hstack((POINTS, np.ones((3, 1)))) if space else POINTS,
        (0, 1, 1),
        names,
        chosen=0,
        linked=[2],
        arrows=[[[0, 1], [1, 1]]],
        target=[1, 1],
        spokes=np.eye(3)[:, :2] if space else (),
        reach=4.0 if space else None,
    )
    spec = compose([{"l": legend(look, ("one", "two"), outer_width=430).to_dict()}, {"a": chart.to_dict()}])
    svg = to_svg(spec, compose_data({"l": legend_data(("one", "two")), "a": frames}), look)
    texts = ("a&lt;b", "word", "猫", "the sum", "one", "two", "T")
    texts += ("PC 1", "PC 2", "PC 3") if space else ("across", "up")
    assert [text for text in texts if f">{text}<" not in svg] == []


def test_a_unit_is_as_long_across_as_up() -> None:
    for width in (340, 700):
        spec = scatter(LIGHT, NAMES, ("g",), outer_width=width, height=300).to_dict()
        encoding = next(layer["encoding"] for layer in spec["layer"] if layer.get("name") == "points")
        across, up = (encoding[axis]["scale"]["domain"] for axis in "xy")
        assert spec["width"] / (across[1] - across[0]) == pytest.approx(spec["height"] / (up[1] - up[0]))
        assert across[1] >= ASPECT - 1e-9
        assert up[1] >= 1 - 1e-9


def test_every_group_has_a_shape_of_its_own() -> None:
    spec = scatter(LIGHT, NAMES, [f"g{number}" for number in range(len(SHAPES))]).to_dict()
    encoding = next(layer["encoding"] for layer in spec["layer"] if layer.get("name") == "points")
    assert len(set(encoding["shape"]["scale"]["range"])) == len(SHAPES) == 8
    assert len(encoding["color"]["scale"]["range"]) == 8


@pytest.mark.parametrize("count", [0, 9])
def test_there_are_only_so_many_shapes(count: int) -> None:
    for build in (lambda groups: scatter(LIGHT, NAMES, groups), lambda groups: legend(LIGHT, groups)):
        with pytest.raises(ValueError, match=rf"groups \({count}\) must be between 1 and 8"):
            build(["g"] * count)


def test_the_legend_has_room_for_its_names() -> None:
    places = legend_data(("a", "a very long name of a group, longer than there is room for", "b"))[
        "groups"
    ].to_pandas()["x"]
    assert places.is_monotonic_increasing
    assert places[2] - places[1] < 160
