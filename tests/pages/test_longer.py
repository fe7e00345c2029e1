"""The page of longer texts: every view, every control, in every language, whatever has been measured so far."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.labs.longer import METHODS, SEEDS, Kind, Settings, comparison, reading_curve
from core.labs.record import Curve, Record
from core.labs.settings import plain
from core.labs.shipped import Run, Shipped
from pages.components import lab, longer_claims, longer_seeds
from tests.pages import apps
from tests.pages.apps import changed, charts, checked, spec, take_preset, verdicts, words

LANGUAGES = ("en", "zh_CN")
VIEWS = ("position", "train", "seeds")
NONE = {kind.value: "False" for kind in Kind}

opened = partial(apps.opened, "longer")

STRANGE = {Kind.NONE: 0.5, Kind.SINUSOIDAL: 3.0, Kind.LEARNT: 0.0, Kind.ROPE: 2.0, Kind.ROPE_LONG: 0.0}
AFTER = {"none": 0.3, "linear": 0.4, "ntk": 0.1, "yarn": 0.0}


def record_of(settings: Settings) -> Record:
    """As a training might have told it, without one: 0.5 inside and in windows, more by the seed."""
    record = Record(done=1, total=1)
    usual = 0.5 + settings.seed / 100
    for kind in settings.kinds:
        record.curves[kind] = Curve([1, 2], [3.4, usual])
        beyond = [] if kind is Kind.LEARNT else [usual + STRANGE[kind]] * 28
        record.found[kind] = {"loss": [usual] * 4 + beyond, "window": [None] * 4 + [usual] * 28}
    for method in METHODS if settings.rope else ():
        curve = reading_curve(method)
        record.curves[curve] = Curve([1, 2], [3.0, 1.5])
        record.found[curve] = {"before": [usual + 1.0] * 32, "after": [usual + AFTER[method]] * 32}
    return record


def shipped(*settings: Settings) -> Shipped:
    runs = tuple(Run(plain(one), record_of(one)) for one in settings)
    return Shipped("2026-11-30", "python tools/train_labs.py longer", "2.13.0", 1.0, runs)


def ship(monkeypatch: pytest.MonkeyPatch, ships: Shipped) -> None:
    for module in (lab, longer_claims, longer_seeds):
        monkeypatch.setattr(module, "results", lambda name: ships)


@pytest.fixture(autouse=True)
def _ships(monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, shipped(*comparison()))


def drawn(app: AppTest, part: str, series: int) -> list[float]:
    curves = charts(app)[f"{part}_curves"]
    return [round(value, 4) for value in curves["y"][curves["s"] == series]]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
def test_opens(language: str, view: str) -> None:
    app = opened(language=language, view=view)
    assert f"<h1>{ {'en': 'Longer texts', 'zh_CN': '更长的文本'}[language] }</h1>" in words(app)
    assert len(app.get("vega_lite_chart")) == 1
    assert len(verdicts(app)) == {"position": 4, "train": 3, "seeds": 7}[view]


def test_it_draws_what_ships_and_says_it() -> None:
    app = opened()
    assert drawn(app, "kinds", 1) == [0.5] * 4 + [3.5] * 28
    assert drawn(app, "kinds", 3) == [0.5] * 4 + [2.5] * 28
    assert drawn(app, "kinds", 5) == [0.5] * 28
    assert drawn(app, "kinds", 0) == []
    assert drawn(app, "before", 2) == [1.5] * 32
    assert drawn(app, "after", 2) == [0.6] * 32
    assert charts(app)["kinds_marks"]["x"].tolist() == [32]
    assert charts(app)["after_marks"]["x"].tolist() == [32, 128]
    said = words(app)
    assert "sinusoidal 0.50 → 3.50 → 3.50 → 3.50; RoPE 0.50 → 2.50" in said
    assert "reach sinusoidal 0.50, RoPE 0.50" in said
    assert "1.00 nats at worst. After 50 more steps on texts of 128: YaRN, 0.00 nats." in said
    assert "Learnt positions end" not in said


def test_learnt_positions_end() -> None:
    app = take_preset(opened(), "Other kinds of positions")
    assert drawn(app, "kinds", 2) == [0.5] * 4
    assert drawn(app, "kinds", 5) == [0.5] * 28  # windows of the first kind
    assert set(charts(app)) == {"kinds_curves", "kinds_marks"}
    assert "Learnt positions end at 32" in words(app)
    assert "Trained on texts of 256 characters" in words(app)


@pytest.mark.parametrize(
    ("control", "values"),
    [
        *((kind, ("True", "False")) for kind in ("none", "learnt", "rope_long")),
        ("sinusoidal", ("False",)),
        ("rope", ("False",)),
        ("trained_len", (16, 64)),
        ("steps", (100, 600)),
        ("factor", (2, 8)),
        ("tune_steps", (0, 100)),
        ("seed", (1, 9)),
    ],
)
@pytest.mark.parametrize("view", ["position", "train"])
def test_every_control_chooses_another_training(view: str, control: str, values: Sequence[object]) -> None:
    before = opened(view=view)
    for value in values:
        app = opened(view=view, **{control: value})
        is_usual = str(getattr(Settings(), control)) == str(value)
        assert bool(changed(charts(before), charts(app))) != is_usual
        captions = " ".join(caption.value for caption in app.caption)
        assert ("press Start" in captions) != (is_usual or (control == "seed" and value in SEEDS))


@pytest.mark.parametrize("view", ["position", "train"])
def test_a_training_that_has_begun_asks_nobody_to_press_start(view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab.Lab, "seen", property(lambda self: lab.Seen(Record(), "yours", running=True)))
    said = words(opened(view=view))
    assert "Nothing is measured with these settings yet" in said
    assert "press Start" not in said


def test_what_was_not_trained_is_not_drawn() -> None:
    app = opened(steps=100)
    assert all(len(data) == 0 for name, data in charts(app).items() if name.endswith("curves"))
    assert "Guess first" in words(app)


@pytest.mark.parametrize("view", ["position", "train"])
def test_without_a_short_training_there_is_no_picture_of_it(view: str) -> None:
    parts = {name.partition("_")[0] for name in charts(opened(view=view, tune_steps=0))}
    assert parts == ({"kinds", "before"} if view == "position" else {"kinds"})


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_to_train(language: str) -> None:
    app = opened(language=language, **NONE)
    assert len(app.info) == 1
    assert not app.get("vega_lite_chart")
    assert not verdicts(app)


@pytest.mark.parametrize("view", ["position", "train"])
@pytest.mark.parametrize("known", ["curves", "some", "loss"])
def test_while_it_is_trained(view: str, known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(learnt=True, rope_long=True)
    record = record_of(settings)
    if known == "curves":
        record.found = {}
    elif known == "some":
        record.found = {"sinusoidal": {"loss": record.found["sinusoidal"]["loss"]}}
    else:
        record.found = {kind: {"loss": record.found[kind]["loss"]} for kind in settings.kinds}
    ships = replace(shipped(), runs=(Run(plain(settings), record),))
    ship(monkeypatch, ships)
    app = opened(view=view, learnt="True", rope_long="True")
    assert ("sinusoidal 0.50 → 3.50" in words(app)) == (known != "curves")
    app.session_state["longer.opened"] = "formula"
    checked(app.run())


def test_the_picture_of_a_training_keeps_its_axes() -> None:
    assert spec(opened(view="train")) == spec(opened(view="train", seed=9))
    assert drawn(opened(view="train"), "kinds", 1) == [3.4, 0.5]
    assert drawn(opened(view="train"), "again", 3) == [3.0, 1.5]


def test_bands_reach_from_the_least_to_the_largest_seed() -> None:
    app = opened(view="seeds")
    curves = charts(app)["kinds_curves"]
    first = curves[curves["s"] == 1].iloc[0]
    assert [first["low"], first["y"], first["high"]] == pytest.approx([0.5, 0.52, 0.54])
    assert drawn(app, "after", 2) == [0.62] * 32
    assert "sinusoidal 3.52 (3.50 – 3.54)" in words(app)
    assert "NTK 0.62 (0.60 – 0.64)" in words(app)


def test_verdicts_follow_what_ships() -> None:
    app = opened(view="seeds")
    assert verdicts(app) == ["holds", "holds", "does_not_hold", "does_not_hold", "only_if", "holds", "only_if"]
    told = "Trained at 32, tested at 65 to 128: 3.00 nats above what windows of 32 reach (3.00 to 3.00; seeds: 5)"
    assert told in words(app)
    assert "at worst; after 50 steps more than the 600 of the training, 0.40." in words(app)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
def test_without_a_comparison(language: str, view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, Shipped("", "", "", 0.0, ()))
    app = opened(language=language, view=view)
    assert set(verdicts(app)) == {"undecided"}
    assert all(len(data) == 0 for name, data in charts(app).items() if name.endswith("curves"))


@pytest.mark.parametrize("label", ["Other kinds of positions", "Another seed", "All seeds"])
def test_presets_show_what_ships(label: str) -> None:
    app = opened()
    before = charts(app)
    app = take_preset(app, label)
    assert changed(before, charts(app))
    assert not any("press Start" in caption.value for caption in app.caption)


@pytest.mark.parametrize(
    "address",
    [{"view": "x"}, {"trained_len": 8}, {"steps": 50}, {"factor": 9}, {"tune_steps": 55}, {"seed": 10}, {"rope": "x"}],
)
def test_an_impossible_address_falls_back_and_says_so(address: Mapping[str, Any]) -> None:
    assert "atlas-refused" in words(opened(**address))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("part", ["formula", "code", "downloads", "reading"])
@pytest.mark.parametrize("address", [{}, {"view": "train", "rope": "False"}, {"view": "seeds"}, {"seed": 9}])
def test_every_folded_part_opens(language: str, part: str, address: Mapping[str, Any]) -> None:
    app = opened(language=language, **address)
    app.session_state["longer.opened"] = part
    checked(app.run())


def test_the_formula_holds_the_numbers_of_the_screen() -> None:
    app = opened()
    app.session_state["longer.opened"] = "formula"
    checked(app.run())
    assert any("2.500 - 0.500 = 2.000" in formula.value for formula in app.latex)
    assert not any(math.isnan(value) for value in charts(app)["kinds_curves"]["y"])
