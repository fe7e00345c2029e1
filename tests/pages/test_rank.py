"""The rank page: every view, every control, in every language, and odd input."""

import re
from functools import partial
from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest

from core import rank, rank_heads
from core.charts.columns import ALL
from core.heads import merge_heads
from core.models import ModelError, ModelProblem
from pages.components import rank_scene, translator
from tests.pages import apps
from tests.pages.apps import changed, charts, checked, take_preset, words

LANGUAGES = ("en", "zh_CN")
VIEWS = ("spectrum", "dims", "rebuild", "depth")
SMALL = {"seq_len": 16, "num_heads": 2, "head_dim": 3}


opened = partial(apps.opened, "rank")


def cells(app: AppTest) -> list[list[str]]:
    """The table: matrix, size, rank with torch's tolerance and with the stated one, effective, stable, energy."""
    lines = re.findall(r"<tr>(.*?)</tr>", words(app))[1:]
    return [re.findall(r"<td><span[^>]*>(.*?)</span></td>", line) for line in lines]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("source", ["random", "model"])
def test_opens(language: str, view: str, source: str) -> None:
    app = opened(language=language, view=view, source=source)
    title = {"en": "Rank", "zh_CN": "秩"}[language]
    assert f"<h1>{title}</h1>" in words(app)
    assert len(app.get("vega_lite_chart")) == 1
    assert words(app).count("atlas-claim ") == {"spectrum": 4, "dims": 2, "rebuild": 2, "depth": 1}[view]


def test_the_table_says_which_matrix_has_which_rank() -> None:
    app = opened(seq_len=16, num_heads=2, head_dim=3, tolerance=-3)
    heads = rank_heads.random_heads(2, 16, 3, generator=torch.Generator().manual_seed(0))
    trace = rank_heads.attend(heads)
    joined = merge_heads(trace.output)
    for row, matrix in zip(cells(app), (trace.scores[0], trace.weights[0], joined), strict=True):
        values = torch.linalg.svdvals(matrix)
        assert row[1] == f"{matrix.shape[0]} × {matrix.shape[1]}"
        assert int(row[2]) == torch.linalg.matrix_rank(matrix)
        assert int(row[3]) == torch.linalg.matrix_rank(matrix, rtol=1e-3)
        assert row[4] == f"{float(rank.effective_rank(values)):.1f}"
        assert row[5] == f"{float(values.square().sum() / values[0] ** 2):.1f}"
        assert int(row[6]) == int(rank.energy_rank(values, share=0.9))
    assert cells(app)[0][2] == "3"
    assert "head_dim 3 bounds the logits: rank 3" in words(app)


@pytest.mark.parametrize("source", ["random", "model"])
@pytest.mark.parametrize(
    ("control", "values"),
    [
        ("mask", ("none", "causal", "window")),
        ("head", (1, 2)),
        ("temperature", (0.1, 4.0)),
        ("tolerance", (-15, -1)),
        ("share", (0.5, 0.99)),
    ],
)
def test_every_control_of_a_spectrum_changes_the_picture(source: str, control: str, values: tuple[object, ...]) -> None:
    shown = [charts(opened(**({"source": source, **SMALL} | {control: value}))) for value in values]
    assert all(changed(shown[0], other) for other in shown[1:])


@pytest.mark.parametrize(
    ("view", "control", "values"),
    [
        *(
            (view, control, values)
            for view in ("spectrum", "dims", "rebuild")
            for control, values in (("seq_len", (8, 24)), ("num_heads", (2, 1, 3)), ("seed", (0, 99)))
            if (view, control) != ("rebuild", "num_heads")  # one head is drawn, and drawn first
        ),
        ("spectrum", "head_dim", (1, 64)),
        ("rebuild", "head_dim", (1, 64)),
        ("rebuild", "head", (1, 2)),
        ("rebuild", "temperature", (0.1, 4.0)),
        ("rebuild", "k", (0, 8, 16)),
        ("rebuild", "mask", ("none", "causal", "window")),
        ("dims", "head", (1, 2)),
        ("dims", "temperature", (0.1, 4.0)),
        ("dims", "tolerance", (-15, -1)),
        ("dims", "share", (0.5, 0.99)),
        ("depth", "scale", (0.1, 4.0)),
        ("depth", "layers", (1, 12)),
        ("depth", "tokens", (4, 64)),
        ("depth", "d_model", (16, 64)),
        ("depth", "seed", (0, 99)),
    ],
)
def test_every_control_of_random_heads_changes_the_picture(view: str, control: str, values: tuple[object, ...]) -> None:
    shown = [charts(opened(**({"view": view, **SMALL} | {control: value}))) for value in values]
    assert all(changed(shown[0], other) for other in shown[1:])


@pytest.mark.parametrize("view", ["spectrum", "rebuild"])
@pytest.mark.parametrize(("control", "values"), [("layer", ("1", "3")), ("sentence", ("Bonjour.", "Le chat dort."))])
def test_what_the_model_reads_changes_the_picture(view: str, control: str, values: tuple[str, str]) -> None:
    one, other = (charts(opened(**{"view": view, "source": "model", control: value})) for value in values)
    assert changed(one, other)


@pytest.mark.parametrize("window", [0, 3, 15])
def test_a_window_hides_what_came_long_before(window: int) -> None:
    shown = charts(opened(view="rebuild", mask="window", window=window, **SMALL))["maps_cells"]
    distance = shown["q"].astype(int) - shown["k"].astype(int)
    assert (shown["attend"] == ((distance >= 0) & (distance <= window))).all()
    assert (shown["weights"][shown["attend"] == 0] == 0).all()


def test_a_window_is_not_longer_than_the_sequence() -> None:
    assert opened(mask="window", **SMALL).slider(key="rank_window").max == 15


@pytest.mark.parametrize("view", ["spectrum", "dims", "rebuild"])
def test_a_sentence_that_is_cut_is_said_to_be(view: str) -> None:
    assert "cut after 64 tokens" in words(opened(view=view, source="model", sentence="le chat et " * 30))
    assert "cut after" not in words(opened(view=view, source="model"))


def test_tokens_that_are_equal_stay_on_the_logarithmic_axis() -> None:
    drawn = charts(opened(view="depth", tokens=4, d_model=16))["residuals_curves"]["y"]
    assert drawn.min() == pytest.approx(1e-16)


def test_a_causal_mask_makes_triangular_weights_and_says_so() -> None:
    app = opened(mask="causal", head_dim=1, seq_len=16, num_heads=1)
    assert "their exact rank is 16" in words(app)
    assert cells(app)[0][2] == "1"  # logits, before the mask


def test_a_reconstruction_is_the_nearest_matrix() -> None:
    app = opened(view="rebuild", k=2, **SMALL)
    heads = rank_heads.random_heads(2, 16, 3, generator=torch.Generator().manual_seed(0))
    weights = rank_heads.attend(heads).weights[0]
    u, values, vh = torch.linalg.svd(weights)
    nearest = (u[:, :2] * values[:2]) @ vh[:2]
    shown = charts(app)
    assert shown["maps_cells"]["weights"].tolist() == pytest.approx(weights.flatten().tolist(), abs=1e-6)
    assert shown["maps_cells"]["nearest"].tolist() == pytest.approx(nearest.flatten().tolist(), abs=1e-6)
    error = float((weights - nearest).norm() / weights.norm())
    assert shown["errors_curves"]["y"][2] == pytest.approx(error, abs=1e-6)
    assert f"off by {error:.1%}" in words(app)
    assert shown["errors_marks"]["x"].tolist() == [2]


def test_only_what_is_an_attention_map_is_called_one() -> None:
    assert "It is no attention map" in words(opened(view="rebuild", k=2, **SMALL))
    assert "it is an attention map" in words(opened(view="rebuild", k=16, **SMALL))


def test_the_energy_of_tokens_that_see_only_themselves_is_even() -> None:
    assert "15 of 16 singular values hold 90%" in words(opened(mask="window", window=0, **SMALL))
    assert "its singular values are uneven" in words(opened(**SMALL))


def test_large_maps_are_drawn_coarser_and_the_page_says_so() -> None:
    app = opened(view="rebuild", seq_len=136, num_heads=1, mask="causal")
    assert "Drawn coarser" in words(app)
    shown = charts(app)["maps_cells"]
    assert shown["q"].max() == 45  # ⌈136 / 3⌉ blocks
    assert shown.groupby("q")["weights"].sum().tolist() == pytest.approx([1] * 46, abs=1e-5)
    assert "Drawn coarser" not in words(opened(view="rebuild", seq_len=64, num_heads=1))


def test_a_click_on_a_column_chooses_its_head() -> None:
    app = opened(**SMALL)
    assert charts(app)["heads_mark"]["p"].tolist() == [0]
    app.slider(key="rank_head").set_value(2)
    assert charts(checked(app.run()))["heads_mark"]["p"].tolist() == [1]
    assert charts(app)["heads_columns"]["p"].tolist() == [0, 1, ALL]


def forbidden(*args: object, **settings: object) -> None:
    raise AssertionError("decomposed again")


@pytest.mark.parametrize(
    ("view", "control", "value"),
    [("spectrum", "tolerance", -2), ("spectrum", "share", 0.6), ("rebuild", "k", 3), ("dims", "share", 0.6)],
)
def test_what_is_only_counted_anew_decomposes_nothing(
    view: str, control: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(view=view, **SMALL)
    for name in ("svd", "svdvals"):
        monkeypatch.setattr(torch.linalg, name, forbidden)
    app.slider(key=f"rank_{control}").set_value(value)
    checked(app.run())


def test_another_head_decomposes_its_logits_only(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(**SMALL, seed=77)  # which no other test has decomposed
    real, shapes = torch.linalg.svdvals, []

    def counted(matrix: torch.Tensor) -> torch.Tensor:
        shapes.append(tuple(matrix.shape))
        return real(matrix)

    monkeypatch.setattr(torch.linalg, "svdvals", counted)
    app.slider(key="rank_head").set_value(2)
    checked(app.run())
    assert shapes == [(16, 16)]


def test_a_spectrum_decomposes_what_it_needs_and_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(**SMALL)
    real, shapes = torch.linalg.svdvals, []

    def counted(matrix: torch.Tensor) -> torch.Tensor:
        shapes.append(tuple(matrix.shape))
        return real(matrix)

    monkeypatch.setattr(torch.linalg, "svdvals", counted)
    monkeypatch.setattr(torch.linalg, "svd", forbidden)
    app.slider(key="rank_seed").set_value(78)
    checked(app.run())
    assert sorted(shapes) == [(2, 16, 16), (16, 6), (16, 16)]  # every head's weights, the outputs, one head's logits


@pytest.mark.parametrize("label", ["One feature", "A causal mask", "A real layer", "Large weights"])
def test_presets(label: str) -> None:
    app = opened(**SMALL)
    before = charts(app)
    assert changed(before, charts(take_preset(app, label)))


def test_a_real_layer_is_compared_with_random_heads() -> None:
    assert "of random ones of the same shape" in words(opened(source="model"))
    assert "of random ones of the same shape" not in words(opened(**SMALL))


@pytest.mark.parametrize("view", ["spectrum", "dims", "rebuild"])
@pytest.mark.parametrize("sentence", ["", "   "])
def test_without_a_sentence_there_is_nothing_to_show(view: str, sentence: str) -> None:
    app = opened(view=view, source="model", sentence=sentence or " ")
    assert "no sentence yet" in app.info[0].value
    assert not app.get("vega_lite_chart")


@pytest.mark.parametrize("view", ["spectrum", "dims", "rebuild"])
@pytest.mark.parametrize(
    "sentence",
    [
        "x",
        "😀😀😀",
        "مرحبا بالعالم",
        "<script>alert(1)</script> <b>gras</b>",
        "\u202eenvers",
        "{x} {0} $x$",
        "chat " * 2000,
    ],
)
def test_odd_sentences_get_an_answer(view: str, sentence: str) -> None:
    app = opened(view=view, source="model", sentence=sentence)
    assert "<script>" not in words(app)
    assert app.get("vega_lite_chart")


@pytest.mark.parametrize(
    "address",
    [
        {"view": "<b>"},
        {"source": "x"},
        {"seq_len": 1000},
        {"seq_len": 9},
        {"head_dim": 0},
        {"head": 5},
        {"temperature": "nan"},
        {"tolerance": 1},
        {"view": "rebuild", "k": 65},
        {"view": "depth", "scale": 0},
        {"mask": "causal", "seed": "x"},
    ],
)
def test_an_impossible_address_falls_back_and_says_so(address: dict[str, object]) -> None:
    assert "atlas-refused" in words(opened(**address))


def test_a_missing_model_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModelError(ModelProblem.MISSING, name)

    monkeypatch.setattr(translator, "load", missing)
    monkeypatch.setattr(rank_scene.translator, "load", missing)
    app = apps.begun("rank", source="model")
    assert not app.exception
    assert len(app.main.error) == 1
    assert not app.info  # no sentence would help
    assert not app.get("vega_lite_chart")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("part", ["formula", "code", "downloads", "reading"])
@pytest.mark.parametrize("address", [{"view": view} for view in VIEWS] + [{"source": "model"}])
def test_every_folded_part_opens(language: str, part: str, address: dict[str, str]) -> None:
    app = opened(language=language, **address)
    name = f"rank_{address.get('view', 'spectrum')}"
    app.session_state[f"{name}.opened"] = part
    checked(app.run())
