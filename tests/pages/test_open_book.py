"""The page of the open-book exam: every view, every control, in every language, and what is covered before a guess."""

import re
from functools import partial

import numpy as np
import pytest

from core.labs.events import Found, Step
from core.labs.open_book import ALL, COMPARED, SEEDS, Settings
from core.labs.open_book_exam import CLOSED, GUESSING, OPEN
from core.labs.open_book_results import Paper, Writing, attention, honest_curve, rows
from core.labs.open_book_writing import PROMPTS
from core.labs.record import Record
from core.labs.shipped import Run, Shipped, shipped
from pages.components import lab, open_book_claims, open_book_exam, open_book_seeds
from pages.components.lab import Seen
from tests.pages import apps
from tests.pages.apps import changed, charts, checked, spec, take_preset, verdicts, words

LANGUAGES = ("en", "zh_CN")
VIEWS = ("train", "exam", "seeds")
GUESSES = ("none", "closed", "open", "neither")

opened = partial(apps.opened, "open_book")


def run_of(settings: Settings | None = None) -> Run:
    found = shipped("open_book").of(settings or Settings())
    assert found is not None
    return found


def papers(record: Record) -> tuple[Paper, Paper]:
    closed, open_book = Paper.of(record, CLOSED), Paper.of(record, OPEN)
    assert closed is not None
    assert open_book is not None
    return closed, open_book


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("guess", GUESSES)
def test_opens(language: str, view: str, guess: str) -> None:
    app = opened(language=language, view=view, guess=guess)
    title = {"en": "Open-book exam", "zh_CN": "开卷考试"}[language]
    assert f"<h1>{title}</h1>" in words(app)
    assert len(app.get("vega_lite_chart")) == (0 if (view, guess) == ("seeds", "none") else 1)
    assert words(app).count("atlas-claim ") == 4


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_of_the_exam_is_seen_before_a_guess(view: str) -> None:
    app = opened(view=view)
    closed, open_book = papers(run_of().record)
    shown = words(app)
    for score in (closed.honest, open_book.honest, open_book.so_far):
        assert f"{score.loss:.2f} nats" not in shown
        assert f" {score.loss:.2f} in the exam" not in shown
    assert verdicts(app) == ["does_not_hold", "undecided", "undecided", "undecided"]
    assert "results_cells" not in charts(app)
    for writing in Writing.of(run_of().record, CLOSED, "greedy"):
        assert writing.text not in shown
    assert bool(app.info) is (view != "train")


def test_the_training_that_ships_is_drawn() -> None:
    record, shown = run_of().record, charts(opened())
    for number, curve in enumerate((CLOSED, OPEN)):
        drawn = shown["losses_curves"].query(f"s == {number}")
        assert drawn["x"].tolist() == record.curves[curve].steps
        assert drawn["y"].tolist() == pytest.approx(record.curves[curve].losses)
        cells = shown["heads_cells"][curve].to_numpy()
        assert np.allclose(cells, np.asarray(attention(record, curve)).ravel(), atol=1e-6)
    assert "it copies the answer" in words(opened())


@pytest.mark.parametrize("leak", [1, ALL])
def test_what_no_head_may_look_at_is_drawn_as_such(leak: int) -> None:
    cells = charts(opened(leak=leak))["heads_cells"]
    distance = cells["k"].astype(int) - 8
    assert (cells["closed_mask"] == (distance <= 0)).all()
    assert (cells["open_mask"] == (distance <= leak)).all()


def test_the_exam_that_ships_is_shown() -> None:
    record, app = run_of().record, opened(view="exam", guess="open")
    closed, open_book = papers(record)
    shown, placed = charts(app), charts(opened(view="exam", guess="open", across="places"))
    for number, curve in enumerate((CLOSED, OPEN)):
        drawn, quizzes = shown["losses_curves"].query(f"s == {number}"), honest_curve(record, curve)
        assert drawn["x"].tolist() == quizzes.steps
        assert drawn["y"].tolist() == pytest.approx(quizzes.losses)
        drawn = placed["losses_curves"].query(f"s == {number}")
        assert drawn["y"].tolist() == pytest.approx((closed, open_book)[number].by_place)
        assert drawn["x"].tolist() == list(range(1, 65))
    guessing = shown["losses_curves"].query("s == 2")
    assert guessing["y"].tolist() == pytest.approx([GUESSING, GUESSING])
    results = shown["results_cells"]["text"].tolist()
    assert results[1] == f"{closed.honest.loss:.2f}"
    assert results[5] == f"{open_book.honest.loss:.2f}"
    assert results[6] == open_book_exam.choices(open_book.honest)


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ("closed", "✓ You predicted right: the closed book wins."),
        ("open", "✕ You predicted wrong: the closed book wins."),
        ("neither", "✕ You predicted wrong: the closed book wins."),
    ],
)
def test_the_prediction_is_judged(guess: str, said: str) -> None:
    assert said in words(opened(view="exam", guess=guess))
    count = len(COMPARED) * len(SEEDS)
    assert f"{said} In {count} of {count} exams." in words(opened(view="seeds", guess=guess))


@pytest.mark.parametrize(
    ("closed", "open_book", "said"),
    [
        (1.0, 0.5, "✓ You predicted right: the open book wins."),
        (1.0, 1.01, "✕ You predicted wrong: neither book wins."),
    ],
)
def test_other_exams_end_otherwise(closed: float, open_book: float, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record = run_of().record.copy()
    for curve, loss in ((CLOSED, closed), (OPEN, open_book)):
        exam = {**record.found[curve]["exam"], "honest": {"loss": loss, "accuracy": 0.5}}
        record.add(Found(curve, "exam", exam))
    monkeypatch.setattr(lab.Lab, "seen", Seen(record, "yours"))
    app = opened(view="exam", guess="open")
    assert said in words(app)
    assert "sure, and wrong" not in words(app)


@pytest.mark.parametrize("way", ["greedy", "sampled"])
@pytest.mark.parametrize("prompt", [1, 2, 3])
def test_both_texts_stand_side_by_side(way: str, prompt: int) -> None:
    record, shown = run_of().record, words(opened(view="exam", guess="closed", way=way, prompt=prompt))
    for curve in (CLOSED, OPEN):
        text = Writing.of(record, curve, way)[prompt - 1].text
        assert open_book_exam.visible(text) in shown
    assert shown.count(PROMPTS[prompt - 1]) == 2


def test_text_without_words_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    record = run_of().record.copy()
    empty = {"text": "     ", "repeated": 1.0, "again": 0.0, "real": None}
    record.add(Found(OPEN, "texts", {"greedy": [empty] * 3, "sampled": [empty] * 3}))
    monkeypatch.setattr(lab.Lab, "seen", Seen(record, "yours"))
    assert "no words, repeated characters 100%" in words(opened(view="exam", guess="closed"))


@pytest.mark.parametrize(
    ("control", "value"),
    [
        ("leak", 1), ("leak", 4), ("num_layers", 1), ("num_layers", 3), ("d_model", 32), ("d_model", 96),
        ("steps", 100), ("steps", 600), ("seed", 1), ("seed", 99),
    ],
)  # fmt: skip
@pytest.mark.parametrize("view", ["train", "exam"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_control_changes_what_is_shown(control: str, value: object, view: str, language: str) -> None:
    before, after = (opened(language=language, view=view, guess="closed", **more) for more in ({}, {control: value}))
    assert changed(charts(before), charts(after))


def test_without_a_run_nothing_is_drawn_and_the_page_says_so() -> None:
    app = opened(view="exam", guess="closed", seed=99)
    assert "Nobody has been examined with these settings yet." in words(app)
    assert words(app).count("writes when its training is done") == 2
    assert set(charts(app)["results_cells"]["text"]) == {"–"}
    assert "Not measured yet." in words(app)
    train = charts(opened(seed=99, num_layers=3))
    assert not len(train["losses_curves"])
    assert train["heads_cells"]["closed"].isna().all()
    assert train["heads_cells"]["q"].max() == 11


def test_a_run_that_has_just_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    record = Record()
    record.add(Found(CLOSED, "honest_curve", {"steps": [0], "losses": [3.4]}))
    record.add(Step(CLOSED, 1, 3.3, 2048, 1, 800))
    monkeypatch.setattr(lab.Lab, "seen", Seen(record, "yours", running=True))
    assert charts(opened())["losses_curves"]["y"].tolist() == pytest.approx([3.3])
    app = opened(view="exam", guess="closed")
    assert "The exam is held when both have learnt" in words(app)
    assert charts(app)["losses_curves"].query("s == 0")["y"].tolist() == pytest.approx([3.4])


@pytest.mark.parametrize("view", ["train", "exam"])
def test_the_drawing_stays_while_a_run_grows(view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    specs = []
    for record in (Record(), run_of().record):
        monkeypatch.setattr(lab.Lab, "seen", Seen(record, "yours"))
        specs.append(spec(opened(view=view, guess="closed")))
    assert specs[0] == specs[1]


def test_all_seeds_are_drawn() -> None:
    shown = charts(opened(view="seeds", guess="closed"))
    every = rows(shipped("open_book").runs)
    assert [row.leak for row in every] == [0, *COMPARED]
    assert len(shown["losses_dots"]) == len(every) * len(SEEDS)
    assert shown["losses_means"]["value"].tolist() == pytest.approx([row.honest.mean for row in every])
    assert shown["quizzes_curves"]["s"].max() == len(COMPARED)
    lines = re.findall(r"<tr>(.*?)</tr>", words(opened(view="seeds", guess="closed")))[1:]
    assert len(lines) == len(every)
    assert f">{every[0].honest.mean:.2f} ± {every[0].honest.deviation:.2f}</td>" in lines[0]


def test_claims_are_measured_after_a_guess() -> None:
    app = opened(guess="open")
    closed, open_book = papers(run_of().record)
    assert verdicts(app) == ["does_not_hold"] * 4
    assert f"{closed.honest.loss:.2f} in the exam" in words(app)
    assert f"its loss is {open_book.so_far.loss:.2f} nats" in words(app)


def test_a_mask_may_explain_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    record = run_of().record.copy()
    exam = {**record.found[OPEN]["exam"], "so_far": {"loss": 2.0, "accuracy": 0.5}}
    record.add(Found(OPEN, "exam", exam))
    monkeypatch.setattr(lab.Lab, "seen", Seen(record, "yours"))
    app = opened(guess="open")
    assert verdicts(app)[3] == "only_if"
    assert "only in part" in words(app)


def test_a_head_may_look_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    record = run_of().record.copy()
    quiet = [[[0.05] * 17] * 4] * 2
    record.add(Found(OPEN, "attention", [*quiet[:1], [[0.05] * 6 + [0.5] + [0.05] * 10] * 4]))
    monkeypatch.setattr(lab.Lab, "seen", Seen(record, "yours"))
    assert "gives 50% of its weight to distance −2" in words(opened())


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("guess", ["none", "closed"])
def test_without_what_ships_the_page_opens(view: str, guess: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Shipped("", "", "", 0.0, ())
    for module in (lab, open_book_claims, open_book_seeds):
        monkeypatch.setattr(module, "results", lambda _name: nothing)
    app = opened(view=view, guess=guess)
    assert verdicts(app) == ["does_not_hold", "undecided", "undecided", "undecided"]


@pytest.mark.parametrize("label", ["One character ahead", "Shorter training", "Small and quick"])
def test_presets(label: str) -> None:
    app = opened()
    before = charts(app)
    assert changed(before, charts(take_preset(app, label)))


@pytest.mark.parametrize(
    "address",
    [
        {"view": "<b>"}, {"guess": "me"}, {"leak": 3}, {"num_layers": 0}, {"d_model": 40}, {"steps": 10}, {"seed": "x"},
        {"view": "exam", "guess": "open", "prompt": 4}, {"view": "exam", "guess": "open", "way": "x"},
        {"view": "exam", "guess": "open", "across": "x"},
    ],
)  # fmt: skip
def test_an_impossible_address_falls_back_and_says_so(address: dict[str, object]) -> None:
    assert "atlas-refused" in words(opened(**address))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("part", ["formula", "code", "downloads", "reading"])
@pytest.mark.parametrize("address", [{}, {"view": "exam", "guess": "closed"}, {"view": "seeds"}, {"seed": 99}])
def test_every_folded_part_opens(language: str, part: str, address: dict[str, str]) -> None:
    app = opened(language=language, **address)
    app.session_state["open_book.opened"] = part
    checked(app.run())


def test_the_formula_of_the_exam_is_covered_before_a_guess() -> None:
    for guess, count in (("none", 2), ("closed", 4)):
        app = opened(guess=guess)
        app.session_state["open_book.opened"] = "formula"
        assert len(checked(app.run()).latex) == count
