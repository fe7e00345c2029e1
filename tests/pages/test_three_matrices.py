"""The page of the experiment on sharing matrices: every view, every control, in every language."""

import re
from functools import partial
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.claims import Verdict
from core.labs.events import Found, Step
from core.labs.record import Record
from core.labs.shipped import Shipped, shipped
from core.labs.three_matrices import SEEDS, VARIANTS, Settings
from core.labs.three_matrices_seeds import over_seeds
from core.labs.three_matrices_task import NAMES
from pages.components import lab, three_matrices_claims, three_matrices_seeds
from pages.components.lab import Seen
from tests.pages import apps
from tests.pages.apps import changed, charts, checked, spec, take_preset, verdicts, words

LANGUAGES = ("en", "zh_CN")
VIEWS = ("train", "seeds")

opened = partial(apps.opened, "three_matrices")


def rows(app: AppTest) -> list[list[str]]:
    """The table: matrices, all, accuracy, loss, looks right, at most, asymmetry of scores and of weights."""
    lines = re.findall(r"<tr>(.*?)</tr>", words(app))[1:]
    return [re.findall(r"<td>(.*?)</td>", line) for line in lines]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
def test_opens(language: str, view: str) -> None:
    app = opened(language=language, view=view)
    title = {"en": "Three matrices", "zh_CN": "三个矩阵"}[language]
    assert f"<h1>{title}</h1>" in words(app)
    assert len(app.get("vega_lite_chart")) == 1
    assert words(app).count("atlas-claim ") == 4


def test_what_ships_is_shown() -> None:
    run = shipped("three_matrices").of(Settings())
    assert run is not None
    app = opened()
    shown = charts(app)
    for number, variant in enumerate(VARIANTS):
        found: Any = run.record.found[variant]
        cells = shown[f"{variant}_cells"]["value"].to_numpy().reshape(NAMES, NAMES)
        assert np.allclose(100 * cells, found["example"]["weights"], atol=1e-4)
        accuracies = shown["accuracies_curves"].query(f"s == {number}")
        assert accuracies["y"].tolist() == pytest.approx([share for _step, share in found["accuracies"]])
        assert shown["losses_curves"].query(f"s == {number}")["x"].tolist() == run.record.curves[variant].steps
        assert rows(app)[number][:2] == [f"{found['projections']:,}", f"{found['parameters']:,}"]
        assert rows(app)[number][3] == f"{found['measured']['loss']:.2f}"
    tags: Any = run.record.found[VARIANTS[0]]["tags"]
    assert f"A{tags[0]}" in spec(app)


@pytest.mark.parametrize(
    ("control", "value"),
    [
        ("task", "copy"),
        ("task", "three"),
        ("task", "successor"),
        ("look_at_self", False),
        ("skip", True),
        *((variant, False) for variant in VARIANTS),
        ("d_model", 8),
        ("d_model", 64),
        ("head_dim", 1),
        ("steps", 100),
        ("steps", 3000),
        ("seed", 1),
        ("seed", 99),
    ],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_control_changes_what_is_shown(control: str, value: object, language: str) -> None:
    before, after = opened(language=language), opened(language=language, **{control: value})
    assert changed(charts(before), charts(after))


def test_without_a_run_the_sizes_and_bounds_are_told() -> None:
    app = opened(d_model=16, head_dim=5, task="three")
    assert [row[:6] for row in rows(app)] == [
        [f"{3 * 80:,}", f"{28 * 16 + 3 * 80 + 80:,}", "–", "–", "–", "100%"],
        ["160", f"{28 * 16 + 160 + 80:,}", "–", "–", "–", "100%"],
        ["160", f"{28 * 16 + 160 + 80:,}", "–", "–", "–", "67%"],
        ["0", f"{28 * 16 + 256:,}", "–", "–", "–", "67%"],
    ]
    assert not len(charts(app)["losses_curves"])
    assert charts(app)["none_cells"]["value"].isna().all()


def test_masked_cells_are_drawn_as_such() -> None:
    cells = charts(opened(look_at_self=False))["separate_cells"]
    assert (cells["attend"] == (cells["q"] != cells["k"])).all()


def test_a_run_that_has_just_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    record = Record()
    record.add(Found("separate", "tags", [1] * NAMES))
    record.add(Step("separate", 1, 2.0, 768, 1, 3200))
    monkeypatch.setattr(lab.Lab, "seen", Seen(record, "yours", running=True))
    shown = charts(opened())
    assert shown["losses_curves"]["y"].tolist() == [2.0]
    assert shown["separate_cells"]["value"].isna().all()


def test_the_drawing_stays_while_a_run_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    run = shipped("three_matrices").of(Settings())
    assert run is not None
    begun = Record(found={"separate": {"tags": run.record.found["separate"]["tags"]}})
    specs = []
    for seen in (Seen(begun, "yours"), Seen(run.record, "yours")):
        monkeypatch.setattr(lab.Lab, "seen", seen)
        specs.append(spec(opened()))
    assert specs[0] == specs[1]


def test_without_variants_there_is_nothing_to_train() -> None:
    none: dict[str, Any] = dict.fromkeys(VARIANTS, False)
    app = opened(**none)
    assert "choose at least one variant" in app.info[0].value
    assert not app.get("vega_lite_chart")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ({}, "of two tags it does not know whose is whose"),
        ({"skip": True}, "take it off what it has fetched"),
        ({"look_at_self": False}, "symmetric scores forbid nothing"),
        ({"task": "three"}, "at most 66.7% look right"),
        ({"task": "three", "look_at_self": False}, "at most 66.7% look right"),
        ({}, "a near tie"),
        ({"task": "copy"}, "look most at themselves"),
        ({"task": "copy", "look_at_self": False}, "hides a token only as a key"),
        ({"task": "copy", "skip": True}, "nobody has to look anywhere"),
    ],
)
def test_what_to_look_for(address: dict[str, Any], said: str) -> None:
    assert said in words(opened(**address))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("measure", ["probability", "looking_right", "loss"])
def test_another_measure_is_drawn(measure: str, language: str) -> None:
    before, after = (charts(opened(language=language, view="seeds", measure=name)) for name in ("accuracy", measure))
    assert {"self_dots", "others_dots", "heads_dots", "skips_dots"} & changed(before, after)


def test_every_seed_is_a_dot() -> None:
    shown = charts(opened(view="seeds"))["self_dots"]
    assert len(shown) == 4 * len(VARIANTS) * SEEDS
    spread = over_seeds(shipped("three_matrices").runs, Settings(), "query_is_key")
    assert shown.query("p == 1 and s == 2")["value"].tolist() == pytest.approx(spread.values)
    assert three_matrices_seeds.in_short(spread) in words(opened(view="seeds"))


def test_only_what_is_bounded_has_a_bound() -> None:
    assert charts(opened(view="seeds"))["self_bounds"]["value"].tolist() == pytest.approx([9 / 16, 17 / 24, 89 / 96])
    looking = charts(opened(view="seeds", measure="looking_right"))["others_bounds"]
    assert dict(zip(looking["p"], looking["value"], strict=True)) == pytest.approx({0: 0, 2: 2 / 3, 3: 11 / 12})
    assert not len(charts(opened(view="seeds", measure="loss"))["self_bounds"])


def test_a_cost_that_is_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(three_matrices_claims, "costs", lambda _one: False)
    monkeypatch.setattr(three_matrices_claims, "cost_verdict", lambda _every: Verdict.DOES_NOT_HOLD)
    app = opened(view="seeds")
    assert words(app).count("In none of the") == 3
    assert verdicts(app)[:3] == ["does_not_hold"] * 3


@pytest.mark.parametrize("view", VIEWS)
def test_without_what_ships_the_page_opens(view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Shipped("", "", "", 0.0, ())
    for module in (lab, three_matrices_claims, three_matrices_seeds):
        monkeypatch.setattr(module, "results", lambda _name: nothing)
    app = opened(view=view)
    assert "atlas-claim " not in words(app)
    assert bool(app.info) is (view == "seeds")


@pytest.mark.parametrize("label", ["No look at oneself", "Rock, paper, scissors", "A narrow head"])
def test_presets(label: str) -> None:
    app = opened()
    before = charts(app)
    assert changed(before, charts(take_preset(app, label)))


@pytest.mark.parametrize(
    "address",
    [
        {"view": "<b>"},
        {"task": "sort"},
        {"head_dim": 0},
        {"d_model": 9},
        {"steps": 1_000_000},
        {"seed": "x"},
        {"view": "seeds", "measure": "beauty"},
    ],
)
def test_an_impossible_address_falls_back_and_says_so(address: dict[str, Any]) -> None:
    assert "atlas-refused" in words(opened(**address))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("part", ["formula", "code", "downloads", "reading"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_folded_part_opens(language: str, part: str, view: str) -> None:
    app = opened(language=language, view=view)
    app.session_state[f"three_matrices_{view}.opened"] = part
    checked(app.run())
