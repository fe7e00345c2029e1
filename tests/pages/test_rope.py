"""The RoPE page: every view and control, in every language, and odd addresses."""

import itertools
import re
from dataclasses import replace
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from core.models import ModelError, ModelProblem
from core.positions.distance import Vectors
from core.positions.scalings import Method, ntk_base
from pages.components import rope_claims, rope_distance, rope_scene, rope_turn, translator
from tests.pages import apps
from tests.pages.apps import changed, charts, checked, spec, take_preset, words

LANGUAGES = ("en", "zh_CN")
VIEWS = ("turn", "distance", "pairings", "extend")


opened = partial(apps.opened, "rope")


def scores(app: AppTest) -> list[str]:
    """The score and what the pair adds, as they stand on the page."""
    return re.findall(r'class="atlas-result">([+-][\d.]+)<', words(app))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
def test_opens(language: str, view: str) -> None:
    app = opened(language=language, view=view)
    title = {"en": "RoPE", "zh_CN": "旋转位置编码"}[language]
    assert f"<h1>{title}</h1>" in words(app)
    assert words(app).count("atlas-claim ") == {"turn": 3, "distance": 2, "pairings": 2, "extend": 2}[view]
    assert len(app.get("vega_lite_chart")) == 1
    assert all(len(frame) for name, frame in charts(app).items() if not name.endswith("_marks"))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("view", "control", "values"),
    [
        ("turn", "head_dim", (16, 64, 128)),
        ("turn", "pair", (0, 31)),
        ("turn", "shift", (0, 100)),
        ("turn", "m", (0, 64)),
        ("turn", "n", (0, 64)),
        ("turn", "base", (1000, 1_000_000)),
        ("turn", "seed", (0, 99)),
        ("distance", "kind", ("random", "equal", "one_sign", "real")),
        ("distance", "method", ("none", "linear", "ntk", "dynamic_ntk", "yarn", "llama3")),
        ("distance", "head_dim", (16, 64, 128)),
        ("distance", "draw", (1, 100)),
        ("distance", "trained", (1024, 16_384)),
        ("distance", "target", (2048, 131_072)),
        ("distance", "base", (1000, 1_000_000)),
        ("pairings", "paired_dim", (4, 8, 12)),
        ("pairings", "position", (0, 100)),
        ("pairings", "paired", (0, 3)),
        ("pairings", "base", (1000, 1_000_000)),
        ("pairings", "seed", (0, 99)),
        ("extend", "extended_dim", (64, 128, 256)),
        ("extend", "trained", (1024, 16_384)),
        ("extend", "target", (2048, 131_072)),
        ("extend", "base", (1000, 1_000_000)),
    ],
)
def test_every_control_changes_the_picture(language: str, view: str, control: str, values: tuple[object, ...]) -> None:
    far = {"pairings": {"position": 7}, "distance": {"target": 32_768}}.get(view, {})
    apps = [opened(language=language, view=view, **(far | {control: value})) for value in values]
    for one, other in itertools.pairwise(apps):
        assert changed(charts(one), charts(other)) or spec(one) != spec(other)
        if control != "method":  # NTK and dynamic NTK are the same at the target length
            assert changed(charts(one), charts(other))


@pytest.mark.parametrize("layer", [1, 3])
@pytest.mark.parametrize("head", [1, 4])
def test_every_real_head(layer: int, head: int) -> None:
    first = charts(opened(view="distance", kind="real", layer=2, head=2))
    assert "methods_profiles" in changed(first, charts(opened(view="distance", kind="real", layer=layer, head=head)))


@pytest.mark.parametrize("pair", [0, 3, 31])
def test_moving_both_leaves_every_digit_and_moving_one_does_not(pair: int) -> None:
    here = opened(pair=pair, m=9, n=4)
    assert len(scores(here)) == 2
    for shift in (1, 37, 100):
        both = opened(pair=pair, m=9, n=4, shift=shift)
        assert scores(both) == scores(here)
        assert changed(charts(here), charts(both)) == {"plane_arrows", "plane_turns"}
        assert "rounding" in words(both)
    assert scores(opened(pair=pair, m=10, n=4))[0] != scores(here)[0]
    assert scores(opened(pair=pair, m=9, n=5))[0] != scores(here)[0]


def test_the_curve_passes_through_the_score() -> None:
    app = opened(m=40, n=11, pair=7)
    shown = charts(app)["distance_curves"]
    here = shown[shown["x"] == 29]["y"].tolist()
    assert here == pytest.approx([float(score) for score in scores(app)], abs=1e-6)


def test_a_slider_that_moves_runs_the_picture_alone() -> None:
    app = opened()
    before = charts(app)
    app.slider(key="rope_m").set_value(31)
    assert "plane_arrows" in changed(before, charts(checked(app.run())))


def test_a_click_on_a_bar_chooses_the_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    put: dict[str, object] = {}

    class Panel:
        def put(self, values: dict[str, object]) -> None:
            put.update(values)

    monkeypatch.setattr(rope_turn, "picked", lambda key, selection, field: {"pairs_pair": 5.0}.get(selection))
    rope_turn._clicked(Panel())  # type: ignore[arg-type]
    assert put == {"pair": 5}


def test_both_forms_are_shown_and_made_one() -> None:
    app = opened(view="pairings", position=7)
    grid = charts(app)["vectors_vectors"].pivot(index="r", columns="d", values="value").to_numpy()
    q, half, inter, difference, _reordered, _turned, put_back, rest = grid
    assert difference == pytest.approx(half - inter, abs=1e-6)
    assert abs(difference).max() > 0.1
    assert put_back == pytest.approx(half, abs=1e-6)
    assert abs(rest).max() < 1e-12
    assert sorted((half**2).round(4)) != sorted((q**2).round(4))
    assert (half**2).sum() == pytest.approx((q**2).sum(), rel=1e-5)
    for family in ("llama", "gpt_neox", "roformer", "gptj"):
        assert family in words(app)


def test_the_base_of_ntk_and_the_positions_of_interpolation() -> None:
    said = words(opened(view="extend"))
    assert "20,221" in said
    assert "0 0.5 1 1.5 2 2.5 3 3.5" in said
    assert "0 0 1 1 2 2 3 3" in said
    assert f"{ntk_base(128, 4.0):,.0f}" in words(opened(view="extend", target=8192))


def test_errors_of_small_numbers_up_to_a_million() -> None:
    shown = charts(opened(view="extend"))["precision_curves"]
    last = shown[shown["end"] == 1]
    assert last["x"].tolist() == [1_000_000, 1_000_000]
    assert 0.001 < last["y"].iloc[0] < 0.5 < last["y"].iloc[1] <= 2


@pytest.mark.parametrize("kind", ["random", "equal", "one_sign", "real"])
@pytest.mark.parametrize("base", [1000, 1_000_000])
def test_no_curve_leaves_its_axis(kind: str, base: int) -> None:
    app = opened(view="distance", kind=kind, method="yarn", trained=1024, target=131_072, base=base)
    (axis,) = set(re.findall(r'"domain": ?\[-(\d+), ?\1\]', spec(app)))
    settings = rope_distance.Settings(Vectors(kind), Method.YARN, 64)
    found = rope_distance.compute(rope_distance.Chosen(settings, 1, base, 1024, 131_072))
    assert max(float(scores.abs().max()) for scores in found.scores.values()) < int(axis)
    assert max(float(waves.wavelengths.max()) for waves in found.waves.values()) < 1e9
    assert "5, 1000000000.0" in spec(app)


@pytest.mark.parametrize("head_dim", rope_turn.SIZES)
def test_no_bar_or_curve_of_a_turned_pair_leaves_its_axis(head_dim: int) -> None:
    pairs = scores = 0.0
    for seed, base in itertools.product(range(100), (1000, 1_000_000)):
        found = rope_turn.compute(rope_turn.Chosen(head_dim, 0, 0, 9, 4, base, seed))
        scores = max(scores, float(found.scores.abs().max()))
        sizes = (found.turned.q.norm(dim=-1) * found.turned.k.norm(dim=-1)).max()  # the score if a pair's arrows align
        pairs = max(pairs, float(sizes) / head_dim**0.5)
    assert scores < rope_turn.TALLEST_SCORE
    assert pairs < rope_turn.TALLEST_PAIRS[head_dim]


def test_a_mean_that_is_never_negative_has_words_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "It goes below 0 at distance" in words(opened())
    measured = rope_claims._decays
    monkeypatch.setattr(
        rope_claims, "_decays", lambda: {kind: replace(one, first_negative=None) for kind, one in measured().items()}
    )
    said = words(opened())
    assert "It never goes below 0." in said
    assert "It goes below 0 at distance" not in said


def test_the_table_of_wavelengths() -> None:
    app = opened(view="distance", method="yarn")
    assert not app.dataframe
    app.session_state["rope.table"] = True
    (table,) = checked(app.run()).dataframe
    assert len(table.value) == 32
    assert table.value["θ"].iloc[-1] == pytest.approx(10000 ** (-62 / 64))
    assert len(table.value.columns) == 7


def test_a_pair_that_hardly_turns_has_its_digits() -> None:
    app = opened(base=1_000_000, pair=31, shift=100)
    assert f"×\N{NO-BREAK SPACE}{1e6 ** (-62 / 64):.6g}</td>" in words(app)
    assert f"turned by {100 * 1e6 ** (-62 / 64):.3g} rad more" in words(app)


def test_claims_are_measured() -> None:
    turn, pairings, extend = (words(opened(view=view)) for view in ("turn", "pairings", "extend"))
    assert "0.000133" in turn
    assert "raises an error" in pairings
    assert "wrong numbers, in silence" in pairings
    assert "20,221" in extend
    assert "4 of 8 tokens share" in extend
    assert turn.count("does_not_hold") == 1
    assert turn.count("only_if") == 2
    assert extend.count("does_not_hold") == 2


@pytest.mark.parametrize("number", [0, 1, 2])
def test_presets(number: int) -> None:
    app = opened()
    before = charts(app)
    assert changed(before, charts(take_preset(app, number)))


@pytest.mark.parametrize(
    "address",
    [
        {"pair": "99"},
        {"pair": "-1"},
        {"m": "65"},
        {"shift": "x"},
        {"base": "0"},
        {"base": "nan"},
        {"view": "<b>"},
        {"head_dim": "63"},
        {"view": "distance", "kind": "😀"},
        {"view": "extend", "trained": "1e99"},
        {"view": "extend", "trained": "8192", "target": "4096"},
    ],
)
def test_an_impossible_address_falls_back_and_says_so(address: dict[str, str]) -> None:
    app = opened(**address)
    assert "atlas-refused" in words(app)
    assert charts(app)


def test_a_smaller_head_has_fewer_pairs() -> None:
    app = opened(pair=31)
    app.session_state["rope_head_dim"] = "16"
    assert checked(app.run()).slider(key="rope_pair").value == 7


def test_without_the_model_there_are_no_real_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModelError(ModelProblem.MISSING, name)

    monkeypatch.setattr(translator, "load", missing)
    rope_scene._of_a_head.clear()
    app = opened(view="distance", kind="real")
    assert "atlas-refused" in words(app)
    assert charts(app)["kinds_curves"]["s"].max() == 2


def test_nothing_grows_with_the_settings() -> None:
    largest = opened(view="distance", head_dim=128, target=131_072, kind="real")
    assert sum(len(frame) for frame in charts(largest).values()) < 2500


@pytest.mark.parametrize("part", ["formula", "code", "downloads", "reading"])
@pytest.mark.parametrize("view", VIEWS)
def test_the_folded_parts_open(view: str, part: str) -> None:
    app = opened(view=view)
    page = "rope" if view == "turn" else f"rope_{view}"
    app.session_state[f"{page}.opened"] = part
    app = checked(app.run())
    if part == "formula":
        assert len(app.latex) == 4
    elif part == "code":
        assert len(app.code) >= 4
    elif part == "downloads":
        assert len(app.get("download_button")) == 4
    else:
        assert sum("arxiv.org" in text.value for text in app.markdown) >= 1
