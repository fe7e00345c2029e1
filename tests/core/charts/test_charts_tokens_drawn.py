"""Lines between tokens, shaded text, and tokens as points."""

import numpy as np
import pytest

from core.charts import board, links, points, shaded
from core.charts.curves import Axis
from core.charts.export import to_svg
from core.charts.theme import style

LIGHT = style("light")
AXES = {"x": Axis("received", log=True, domain=(0.01, 1)), "y": Axis("moved", domain=(0, 1))}


def test_a_line_for_every_weight_that_is_seen() -> None:
    weights = np.array([[0.5, 0.5 - 1e-3, 1e-3], [0.0, 0.3, 0.7]])
    lines = links.links_data(weights)["lines"].to_pandas()
    assert sorted(zip(lines["q"], lines["k"], strict=True)) == [(0, 0), (0, 1), (1, 1), (1, 2)]
    assert lines["weight"].is_monotonic_increasing  # the strongest on top
    assert lines["x"].tolist() == pytest.approx([0.25 if q == 0 else 0.75 for q in lines["q"]])
    assert lines["x2"].tolist() == pytest.approx([(k + 0.5) / 3 for k in lines["k"]])


def test_the_chosen_token_s_lines_lie_on_top_and_fill_the_lower_row() -> None:
    weights = np.array([[0.9, 0.1], [0.4, 0.6]])
    frames = links.links_data(weights, chosen=1, nonce=250)
    assert frames["lines"].to_pandas()["quiet"].tolist() == [1, 1, 0, 0]
    assert frames["below"].to_pandas()["weight"].tolist() == pytest.approx([0.4, 0.6])
    assert frames["above"].to_pandas()["chosen"].tolist() == [0, 1]
    assert set(frames["above"].to_pandas()["nonce"]) == {50}
    assert links.links_data(weights)["below"].to_pandas()["weight"].tolist() == pytest.approx([0.65, 0.35])


def test_no_more_lines_than_a_browser_can_move() -> None:
    weights = np.full((40, 40), 0.025)
    lines = links.links_data(weights, chosen=3)["lines"].to_pandas()
    assert len(lines) == links.MOST
    assert (lines["q"] == 3).sum() == 40


@pytest.mark.parametrize("count", [1, 7, 128])
def test_lines_are_drawn_for_few_and_many_tokens(count: int) -> None:
    names = ["wördl\"'\\"] * count
    weights = np.full((count, count), 1 / count)
    svg = to_svg(links.links(LIGHT, names, names).to_dict(), links.links_data(weights, chosen=0), LIGHT)
    assert svg.count('aria-roledescription="rule mark"') == (0 if 1 / count < links.FAINTEST else count**2)


def test_lines_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"weights \(2,\) must be \(queries, keys\)"):
        links.links_data(np.zeros(2))
    with pytest.raises(ValueError, match=r"chosen \(2\) must be between 0 and 1"):
        links.links_data(np.zeros((2, 3)), chosen=2)
    with pytest.raises(ValueError, match=r"queries \(0\) and keys \(1\)"):
        links.links(LIGHT, [], ["a"])


def test_text_flows_in_lines_without_overlap() -> None:
    texts = ["word", "a", "银行", "extraordinarily"] * 17
    frame = shaded.shaded_data(texts, np.linspace(0, 1, 68), outer_width=500, chosen=[3])["tokens"].to_pandas()
    assert frame["t"].tolist() == list(range(68))
    lines = frame.groupby("top")
    assert len(lines) == shaded.lines_of(texts, outer_width=500)
    for _top, line in lines:
        assert (line["left"].to_numpy()[1:] >= line["right"].to_numpy()[:-1]).all()
        assert line["right"].max() <= board.WIDTH
    assert frame["chosen"].tolist() == [int(place == 3) for place in range(68)]


def test_a_token_that_is_wider_than_a_line_has_one_to_itself() -> None:
    texts = ["a", "x" * 300, "b"]
    assert shaded.lines_of(texts, outer_width=400) == 3
    frame = shaded.shaded_data(texts, [0, 0, 0], outer_width=400)["tokens"].to_pandas()
    assert frame["right"].max() == board.WIDTH


def test_larger_type_needs_more_lines() -> None:
    texts = ["word"] * 60
    assert shaded.lines_of(texts, outer_width=600, scale=1.35) > shaded.lines_of(texts, outer_width=600)


def test_shaded_text_is_drawn_with_readable_letters() -> None:
    texts = ["a", '"', "\\"]
    spec = shaded.shaded(LIGHT, texts, lines=1, most=0.5, outer_width=300).to_dict()
    svg = to_svg(spec, shaded.shaded_data(texts, [0.5, 0.0, np.nan], outer_width=300), LIGHT)
    assert LIGHT.light_ink in svg
    assert LIGHT.dark_ink in svg


def test_shaded_text_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match=r"values \(2,\) must be \(3,\)"):
        shaded.shaded_data(["a", "b", "c"], [1, 2], outer_width=300)
    with pytest.raises(ValueError, match=r"texts \(0\) must hold at least one token"):
        shaded.shaded(LIGHT, [], lines=1)
    with pytest.raises(ValueError, match=r"most \(0\) must be above 0"):
        shaded.shaded(LIGHT, ["a"], lines=1, most=0)


def test_points_keep_their_numbers_where_an_axis_has_no_place_for_them() -> None:
    frame = points.points_data([4, 7, 9], [0.0, 0.1, 0.4], [0.2, 0.3, 0.9], least=0.05, square=[7], chosen=9)[
        "points"
    ].to_pandas()
    assert frame["x"].tolist() == pytest.approx([0.05, 0.1, 0.4])
    assert frame["value"].tolist() == pytest.approx([0.0, 0.1, 0.4])
    assert frame["square"].tolist() == [0, 1, 0]
    assert frame["chosen"].tolist() == [0, 0, 1]
    assert frame["side"].tolist() == [0, 0, 1]  # the name of what lies at the right stands at its left


def test_names_of_points_do_not_run_together() -> None:
    near = points.points_data(range(3), [0.5, 0.5, 0.9], [0.5, 0.5, 0.1])["points"].to_pandas()
    assert near["named"].sum() == 2
    many = points.points_data(range(90), np.linspace(0, 1, 90), np.linspace(0, 1, 90) ** 2)["points"].to_pandas()
    assert 2 <= many["named"].sum() <= points.NAMED


def test_points_are_drawn() -> None:
    names = ["a", "[CLS]", '"']
    spec = points.points(LIGHT, names, kinds=("", "special"), **AXES).to_dict()
    frames = points.points_data(range(3), [0.02, 0.5, 0.1], [0.1, 0.9, 0.2], square=[1], chosen=2)
    assert to_svg(spec, frames, LIGHT).count('aria-roledescription="point"') == 3 + 1  # and the ring
    assert len(points.points_data([], [], [])["points"].to_pandas()) == 0


def test_points_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"numbers \(1\), x \(2,\) and y \(1,\) must be as many"):
        points.points_data([0], [1, 2], [1])
    with pytest.raises(ValueError, match="must hold at least one name"):
        points.points(LIGHT, [], **AXES)
