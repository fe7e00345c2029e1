"""A training on the page: its buttons, what is shown, and what is said of everything that can happen."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.labs.desk import Desk
from core.labs.events import Found, Step
from core.labs.record import Record
from core.labs.settings import plain
from core.labs.shipped import Run, Shipped, shipped, write
from core.labs.training import Reason, State, Training
from pages.components import i18n, lab, lab_words
from tests.core.labs.fakes import CATALOGUE, COMMAND, HANGING, over, until
from tests.core.labs.tiny_lab import Settings
from tests.pages.apps import Start, press, shown

DEFAULT = Settings()
BUTTONS = ["tiny.start", "tiny.stop"]

Use = Callable[..., Desk]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Use]:
    """use(places=1, …): the page's desk has such settings, with quick workers; one run of `DEFAULT` ships."""
    desks: list[Desk] = []

    def make(places: int = 1, **settings: Any) -> Desk:
        desks.append(Desk(places, **{"catalogue": CATALOGUE, "command": COMMAND, "every": 0.02, **settings}))
        monkeypatch.setattr(lab, "desk", lambda: desks[-1])
        return desks[-1]

    record = Record()
    record.add(Step("a", 1, 9.0, 10, 1, 1))
    record.add(Found("a", "is", "shipped"))
    made = Shipped("2026-11-30", "python tools/train_labs.py tiny", "2.13.0", 1.0, (Run(plain(DEFAULT), record),))
    write(made, "tiny", tmp_path)
    monkeypatch.setattr(lab, "results", lambda name: shipped(name, tmp_path))
    yield make
    for desk in desks:
        desk.close()


def app(settings: object) -> None:
    import streamlit as st

    from pages.components.lab import Lab, Seen

    if "settings" not in st.session_state:
        st.session_state["settings"] = settings
    lab = Lab("tiny", st.session_state["settings"])
    lab.bar()

    def picture(seen: Seen) -> str:
        st.json([seen.source, seen.running, seen.record.done, seen.record.total])
        return f"drawn: {seen.source}"

    st.text(lab.show(picture))


def trainings(at: AppTest) -> list[Training]:
    found: list[Training] = at.session_state["lab.trainings"]
    return found


def said(at: AppTest) -> str:
    return " ".join([*(one.value for one in at.caption), *(one.text for one in at.progress)])


def enabled(at: AppTest) -> list[bool]:
    assert [button.key for button in at.button][:2] == BUTTONS
    return [not button.disabled for button in at.button][:2]


def change(at: AppTest, settings: Settings) -> AppTest:
    at.session_state["settings"] = settings
    return at.run()


def begun(at: AppTest) -> AppTest:
    """After Start, once the first step has been told."""
    press(at, "tiny.start")
    until(lambda: trainings(at)[-1].progress[0])
    return at.run()


# -------------------------------------------------------------------------------------------------------- what is shown


def test_nothing_is_trained_before_somebody_asks(start: Start, use: Use) -> None:
    desk = use()
    at = start(app, settings=DEFAULT)
    assert shown(at) == ["shipped", False, 1, 1]
    assert said(at) == "Shipped result, made on 2026-11-30 by `python tools/train_labs.py tiny`."
    assert enabled(at) == [True, False]
    assert (desk.running, desk.waiting) == (0, 0)


def test_a_page_gets_what_its_picture_returned(start: Start, use: Use) -> None:
    use()
    assert start(app, settings=DEFAULT).text[0].value == "drawn: shipped"


def test_other_settings_have_no_result_yet(start: Start, use: Use) -> None:
    use()
    at = start(app, settings=Settings(seed=7))
    assert shown(at) == ["none", False, 0, 0]
    assert said(at) == "Not trained yet with these settings: press Start."


def test_a_run_to_its_end(start: Start, use: Use) -> None:
    use()
    at = press(start(app, settings=DEFAULT), "tiny.start")
    over(trainings(at)[0])
    at.run()
    assert shown(at) == ["yours", False, 5, 5]
    assert said(at).startswith("Your run: 5 steps in ")
    assert enabled(at) == [True, False]

    press(at, "tiny.back")
    assert shown(at) == ["shipped", False, 1, 1]
    assert len(at.button) == 2


def test_while_it_runs(start: Start, use: Use) -> None:
    use(command=HANGING)
    at = begun(start(app, settings=DEFAULT))
    until(lambda: trainings(at)[0].progress == (5, 5))
    at.run()
    assert shown(at) == ["yours", True, 5, 5]
    assert enabled(at) == [False, True]
    assert said(at).startswith("Step 5 of 5 · loss 0.20 · ")
    assert at.progress[0].value == 100


def test_stop(start: Start, use: Use) -> None:
    desk = use(command=HANGING)
    at = begun(start(app, settings=Settings(steps=3)))
    until(lambda: trainings(at)[0].progress == (3, 3))
    press(at, "tiny.stop")
    assert trainings(at)[0].reason is Reason.ASKED
    assert shown(at) == ["yours", False, 3, 3]
    assert said(at) == "Your run, stopped after 3 of 3 steps."
    assert enabled(at) == [True, False]
    until(lambda: desk.running == 0)


def test_a_run_belongs_to_its_settings(start: Start, use: Use) -> None:
    """Whoever moves a slider and moves it back finds the run again."""
    use()
    at = press(start(app, settings=DEFAULT), "tiny.start")
    over(trainings(at)[0])
    change(at, Settings(seed=7))
    assert shown(at)[0] == "none"
    change(at, DEFAULT)
    assert shown(at)[0] == "yours"


def test_a_run_with_other_settings_goes_on(start: Start, use: Use) -> None:
    use(command=HANGING)
    at = begun(start(app, settings=DEFAULT))
    change(at, Settings(seed=7))
    assert shown(at)[0] == "none"
    assert said(at).startswith("Under way, with other settings than these: Step ")
    assert enabled(at) == [True, True]

    press(at, "tiny.start")
    old, new = trainings(at)
    assert (old.state, old.reason) == (State.STOPPED, Reason.ASKED)
    assert new.settings["seed"] == 7


def test_so_many_runs_are_kept(start: Start, use: Use) -> None:
    use()
    at = start(app, settings=DEFAULT)
    for seed in range(lab.KEPT + 3):
        change(at, Settings(steps=1, seed=seed))
        press(at, "tiny.start")
        over(trainings(at)[-1])
    assert [training.settings["seed"] for training in trainings(at)] == list(range(3, lab.KEPT + 3))


def test_the_browser_looks_again_only_while_it_runs(start: Start, use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    use(command=HANGING)
    asked: list[float | None] = []
    original = lab.st.fragment

    def remember(*, run_every: float | None) -> Any:
        asked.append(run_every)
        return original(run_every=run_every)

    monkeypatch.setattr(lab.st, "fragment", remember)
    at = start(app, settings=DEFAULT)
    other = start(app, settings=DEFAULT)
    assert asked == [None] * 4
    begun(at)
    asked.clear()
    at.run()
    assert asked == [lab.EVERY, lab.EVERY]
    asked.clear()
    press(other, "tiny.start")
    assert asked == [lab.EVERY_IN_QUEUE, None], "forty who wait shall not keep the server busy"
    asked.clear()
    press(at, "tiny.stop")
    assert asked == [None, None]


# ------------------------------------------------------------------------------------------------------------ the queue


def test_places_in_the_queue(start: Start, use: Use) -> None:
    use(2, command=HANGING)
    people = [press(start(app, settings=DEFAULT), "tiny.start") for _ in range(4)]
    ships = "Shipped result, made on 2026-11-30 by `python tools/train_labs.py tiny`."
    assert said(people[2].run()) == f"You are number 1 in the queue: 2 trainings come before yours. {ships}"
    assert said(people[3].run()) == f"You are number 2 in the queue: 3 trainings come before yours. {ships}"
    assert shown(people[3]) == ["shipped", False, 1, 1]
    assert enabled(people[3]) == [False, True]

    press(people[0], "tiny.stop")
    until(lambda: trainings(people[2])[0].progress[0])
    assert shown(people[2].run())[:2] == ["yours", True]
    assert said(people[3].run()).startswith("You are number 1 in the queue: 2 trainings")
    press(people[3], "tiny.stop")
    assert said(people[3]) == ships


def test_forty_people(start: Start, use: Use) -> None:
    """Forty press Start together: forty results, and meanwhile each knows its place."""
    desk = use(2)
    people = [start(app, settings=Settings(steps=2, seed=seed)) for seed in range(40)]
    for at in people:
        press(at, "tiny.start")
    for at in people:
        at.run()
        assert "queue" in said(at) or "Step" in said(at) or "Starting" in said(at) or "Your run" in said(at)
    for seed, at in enumerate(people):
        assert over(trainings(at)[0]).state is State.FINISHED
        at.run()
        assert shown(at) == ["yours", False, 2, 2]
        assert trainings(at)[0].record.found["a"]["asked"]["settings"]["seed"] == seed, "nobody gets another's result"
    until(lambda: desk.running == 0)


# ----------------------------------------------------------------------------------------------------------- what fails


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("reason", Reason)
def test_every_end_has_a_sentence(reason: Reason, language: str, use: Use) -> None:
    desk = use()
    training = Training("tiny", {}, present=lambda: True, stop=lambda *_: None, place=lambda _: 0)
    training.begin()
    training.add(Step("a", 1, 1.0, 10, 1, 5))
    stopped = reason in (Reason.ASKED, Reason.ABSENT, Reason.CLOSED)
    training.end(State.STOPPED if stopped else State.FAILED, reason)
    with i18n.settled(language):
        sentence = lab_words.ended(training, desk)
        others = [lab_words._failure(training, desk)]
    assert len(sentence) > 8
    assert sentence.endswith("." if language == "en" else "。")
    assert (sentence == others[0]) == (reason is not Reason.ASKED)


def test_a_server_that_trains_nothing_says_so(start: Start, use: Use) -> None:
    use(0)
    at = start(app, settings=DEFAULT)
    assert enabled(at) == [False, False]
    assert said(at).endswith(" This server trains nothing: whoever runs it has switched that off.")
    assert said(at).startswith("Shipped result")
    assert said(change(at, Settings(seed=7))).startswith("Nothing ships for these settings. This server")


def test_a_full_queue_says_so(start: Start, use: Use) -> None:
    use(1, queue_length=1, command=HANGING)
    one, two, three = (press(start(app, settings=DEFAULT), "tiny.start") for _ in range(3))
    assert said(three.run()).startswith("The queue is full: 1 training waits already. Try again in a few minutes. Ship")
    assert shown(three)[0] == "shipped"
    assert enabled(three) == [True, False]
    press(one, "tiny.stop")
    until(lambda: trainings(two)[0].state is State.RUNNING)
    press(three, "tiny.start")
    assert "number 1 in the queue" in said(three)


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("import os; os.kill(os.getpid(), 9)", "The training’s process was ended from outside"),
        ("import sys; sys.exit(1)", "The training ended with an error"),
        ("import sys; sys.exit(3)", "The loss grew beyond all numbers"),
    ],
)
def test_a_process_that_dies_is_told_and_one_may_try_again(start: Start, use: Use, program: str, sentence: str) -> None:
    use(command=[COMMAND[0], "-c", program])
    at = press(start(app, settings=DEFAULT), "tiny.start")
    over(trainings(at)[0])
    at.run()
    assert said(at).startswith(sentence)
    assert shown(at)[0] == "shipped"
    use()
    over(trainings(press(at, "tiny.start"))[-1])
    assert shown(at.run())[0] == "yours"


def test_where_nothing_ships_an_end_is_told_once(start: Start, use: Use) -> None:
    """Its sentence says what to do: "Not trained yet … press Start" beside it would say something else, or the same."""
    use(command=[COMMAND[0], "-c", "import os; os.kill(os.getpid(), 9)"])
    at = press(start(app, settings=Settings(seed=7)), "tiny.start")
    over(trainings(at)[0])
    assert said(at.run()).endswith("Press Start to try again.")


# -------------------------------------------------------------------------------------------------------- who goes away


def leaves(page: str) -> None:
    from pages.components import lab

    lab.stay(page)


@pytest.mark.parametrize(("page", "goes_on"), [("masks", False), ("tiny", True)])
def test_leaving_the_page_stops_it(start: Start, use: Use, page: str, goes_on: bool) -> None:
    use(command=HANGING)
    at = begun(start(app, settings=DEFAULT))
    other = AppTest.from_function(leaves, kwargs={"page": page})
    other.session_state["lab.trainings"] = trainings(at)
    assert not other.run().exception
    assert trainings(at)[0].active == goes_on


def test_a_browser_that_is_closed_stops_it(start: Start, use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = use(absence=0.1, command=HANGING)
    there = threading.Event()
    there.set()
    asked: list[str] = []

    class Server:
        def is_active_session(self, session: str) -> bool:
            asked.append(session)
            return there.is_set()

    at = begun(start(app, settings=DEFAULT))
    assert trainings(at)[0].present(), "without a server, as in tests, somebody is there"
    with monkeypatch.context() as patch:
        patch.setattr(lab.runtime, "get_instance", Server)
        until(lambda: len(asked) > 20)
        assert trainings(at)[0].active
        there.clear()
        assert over(trainings(at)[0]).reason is Reason.ABSENT
    assert set(asked) == {"test session id"}
    until(lambda: desk.running == 0)
    assert said(at.run()).startswith("The training was stopped: for a while nobody was there")


def test_another_view_of_the_page_counts_as_looking(start: Start, use: Use) -> None:
    use(command=HANGING)
    at = begun(start(app, settings=DEFAULT))
    before = trainings(at)[0]._looked
    other = AppTest.from_function(leaves, kwargs={"page": "tiny"})
    other.session_state["lab.trainings"] = trainings(at)
    other.run()
    assert trainings(at)[0]._looked > before


def test_looking_counts_as_being_there(start: Start, use: Use) -> None:
    use(patience=60, command=HANGING)
    at = begun(start(app, settings=DEFAULT))
    before = trainings(at)[0]._looked
    at.run()
    assert trainings(at)[0]._looked > before


def test_the_desk_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for everybody, with as many places as its owner says."""
    monkeypatch.setenv("ATLAS_TRAININGS", "3")
    lab.desk.clear()
    try:
        assert lab.desk().places == 3
        assert lab.desk() is lab.desk()
        lab.desk().close()
    finally:
        lab.desk.clear()
