"""The page of learning heads: every view, every control, in every language, with and without what ships."""

import itertools
from functools import partial

import numpy as np
import pytest

from core.labs.learning_heads import SEEDS, Settings, train
from core.labs.learning_heads_task import NAMES
from core.labs.record import Record
from core.labs.settings import plain
from core.labs.shipped import Run, Shipped, shipped
from pages.components import lab
from tests.pages import apps
from tests.pages.apps import changed, charts, checked, take_preset, verdicts, words

LANGUAGES = ("en", "zh_CN")
VIEWS = ("train", "seeds")
MADE = shipped("learning_heads")
NOTHING = Shipped("", "", "", 0.0, ())

opened = partial(apps.opened, "learning_heads")


@pytest.fixture
def without_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "results", lambda name: NOTHING)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
def test_opens(language: str, view: str) -> None:
    app = opened(language=language, view=view)
    title = {"en": "Heads while learning", "zh_CN": "学习中的头"}[language]
    assert f"<h1>{title}</h1>" in words(app)
    assert len(app.get("vega_lite_chart")) == 1
    assert words(app).count("atlas-claim ") == {"train": 3, "seeds": 4}[view]
    assert "undecided" not in verdicts(app)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.usefixtures("without_results")
def test_opens_without_any_results(language: str, view: str) -> None:
    app = opened(language=language, view=view)
    assert not verdicts(app)
    drawn = charts(app)
    curves = [data for name, data in drawn.items() if name.endswith("_curves")]
    assert curves
    assert all(data.empty for data in curves)


def test_the_comparison_has_every_seed() -> None:
    assert len(MADE.runs) % SEEDS == 0
    assert MADE.of(Settings()) is not None


# --------------------------------------------------------------------------------------------------------- one run


def test_what_is_drawn_is_what_was_found() -> None:
    run = MADE.of(Settings())
    assert run is not None
    drawn = charts(opened(shown="8"))
    found = run.record.found["8"]
    assert drawn["focus_cells"]["value"].tolist() == pytest.approx(np.ravel(found["focus"]).tolist())
    maps = np.asarray(found["attention"]) / 100
    for head in range(8):
        assert drawn["maps_cells"][f"head_{head}"].tolist() == pytest.approx(maps[head].ravel().tolist())
    for number, heads in enumerate((1, 2, 4, 8)):
        history = run.record.found[str(heads)]["history"]
        for name, values in (("accuracies", history["accuracy"]), ("logits", history["logits"]["effective"])):
            curve = drawn[f"{name}_curves"]
            assert curve["y"][curve["s"] == number].tolist() == pytest.approx(values)
        losses = drawn["losses_curves"]
        assert losses["y"][losses["s"] == number].tolist() == pytest.approx(run.record.curves[str(heads)].losses)


def test_rows_are_queries_with_what_they_want() -> None:
    run = MADE.of(Settings())
    assert run is not None
    example = run.record.found["2"]["example"]
    letters = ["ABCDEFGHIJKL"[name] for name in example["names"]]
    first = f"{letters[0]}: {' '.join(letters[place] for place in example['places'][0])}"
    assert first in apps.spec(opened())


@pytest.mark.parametrize(
    ("control", "values"),
    [
        ("look_ups", (1, 2, 4)),
        ("heads", ("2", "4", "8")),
        ("mlp", (False, True)),
        ("d_model", (16, 32, 64)),
        ("steps", (100, 1000, 3000)),
        ("seed", (0, 4, 99)),
        ("shown", ("1", "2", "4", "8")),
        ("measure", ("effective", "stable", "numerical")),
    ],
)
def test_every_control_changes_the_picture(control: str, values: tuple[object, ...]) -> None:
    apps_shown = [opened(language="en", **{control: value}) for value in values]
    shown = [(charts(app), apps.spec(app)) for app in apps_shown]  # what is not trained yet has axes and names only
    for one, other in itertools.combinations(shown, 2):
        assert changed(one[0], other[0]) or one[1] != other[1]


def test_only_heads_that_are_trained_are_shown() -> None:
    app = opened(heads="2", shown="8")
    assert "atlas-refused" in words(app)
    assert charts(app)["maps_cells"].empty  # not trained yet


def test_a_run_of_the_same_layers_is_drawn_as_far_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    settings, record = Settings(heads=(1, 2), d_model=16, steps=100), Record()
    for event in train(settings):
        record.add(event)
        if record.done == 120:  # the second layer is at work
            break
    made = Shipped("2026-11-30", "", "", 0.0, (Run(plain(settings), record),))
    monkeypatch.setattr(lab, "results", lambda name: made)
    monkeypatch.setattr("pages.components.learning_heads_claims.cards", lambda view: [])
    drawn = charts(opened(heads="2", d_model=16, steps=100))
    losses = drawn["losses_curves"]
    assert losses["s"].value_counts().to_dict() == {0: 100, 1: 20}
    assert losses["x"].max() <= 100


def test_the_words_have_the_numbers() -> None:
    run = MADE.of(Settings())
    assert run is not None
    said = words(opened())
    shares = run.record.found["1"]["by_look_up"]
    assert f"1 head {run.record.found['1']['history']['accuracy'][-1]:.0%}" in said
    assert " · ".join(f"{share:.0%}" for share in shares) in said
    assert f"{run.record.found['1']['parameters']:,} parameters" in said
    ranks = run.record.found["2"]["history"]["weights"]["effective"]
    assert f"2 heads {ranks[0]:.1f} → {ranks[-1]:.1f}" in said
    assert "Guessing is right in 12.5%." in said


# -------------------------------------------------------------------------------------------------------- all seeds


@pytest.mark.parametrize(
    ("control", "values"), [("measure", ("effective", "stable", "numerical")), ("look_ups", (2, 1, 3, 4))]
)
def test_every_control_changes_what_is_compared(control: str, values: tuple[object, ...]) -> None:
    shown = [charts(opened(language="en", view="seeds", **{control: value})) for value in values]
    assert all(changed(shown[0], other) for other in shown[1:])


def test_means_and_extremes_of_the_seeds() -> None:
    drawn = charts(opened(view="seeds"))["accuracies_curves"]
    one = drawn[(drawn["s"] == 1) & (drawn["x"] == 1)]  # 2 look-ups, 1 head
    shares = [
        run.record.found["1"]["history"]["accuracy"][-1]
        for run in MADE.runs
        if run.settings == plain(Settings(seed=run.settings["seed"]))
    ]
    assert len(shares) == SEEDS
    assert one["y"].item() == pytest.approx(sum(shares) / SEEDS)
    assert (one["low"].item(), one["high"].item()) == pytest.approx((min(shares), max(shares)))


# ------------------------------------------------------------------------------------------------------------- both


@pytest.mark.parametrize("number", range(4))
def test_presets(number: int) -> None:
    app = opened()
    before = charts(app)
    assert changed(before, charts(take_preset(app, number)))


@pytest.mark.parametrize(
    "address",
    [
        {"view": "<b>"},
        {"look_ups": 5},
        {"heads": "3"},
        {"d_model": 24},
        {"steps": 99},
        {"seed": 100},
        {"shown": "3"},
        {"measure": "x"},
        {"view": "seeds", "look_ups": 0},
    ],
)
def test_an_impossible_address_falls_back_and_says_so(address: dict[str, object]) -> None:
    assert "atlas-refused" in words(opened(language="en", **address))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("part", ["formula", "code", "downloads", "reading"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_folded_part_opens(language: str, part: str, view: str) -> None:
    app = opened(language=language, view=view)
    app.session_state[f"learning_heads_{view}.opened"] = part
    checked(app.run())


def test_a_map_has_a_cell_for_every_query_and_key() -> None:
    assert len(charts(opened())["maps_cells"]) == NAMES * NAMES
