"""Long work: in the background, one piece at a time, with progress, Stop, and errors that stay off the page."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.components import job as module
from tests.pages.apps import Start, press, shown

Report = Callable[[int, int], None]


@pytest.fixture(autouse=True)
def _a_worker_of_its_own() -> Iterator[None]:
    module._queue.clear()
    yield
    module._queue.clear()


class Work:
    """Work that waits for the test: go on to the next report, and finally return or raise."""

    def __init__(self, outcome: object = "done") -> None:
        self.outcome = outcome
        self.started = threading.Event()
        self.reported = threading.Event()
        self.go_on = threading.Event()
        self.was_cancelled: bool | None = None

    def __call__(self, on_progress: Report, cancelled: Callable[[], bool]) -> Any:
        self.started.set()
        on_progress(30, 100)
        self.reported.set()
        assert self.go_on.wait(20)
        self.was_cancelled = cancelled()
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return None if self.was_cancelled else self.outcome


@pytest.fixture
def work() -> Iterator[Work]:
    work = Work()
    yield work
    work.go_on.set()


def app(work: object, unit: int = 1) -> None:
    import streamlit as st

    from pages.components.job import job

    current = job("p.measure", "Measure", work, help="Takes a while.", unit=unit)
    st.json(
        {
            "there": current is not None,
            "running": current is not None and current.running,
            "result": current.result if current else None,
            "error": type(current.error).__name__ if current and current.error else None,
        }
    )


NOTHING_YET = {"there": False, "running": False, "result": None, "error": None}
RUNNING = {"there": True, "running": True, "result": None, "error": None}


def until(condition: Callable[[], object]) -> None:
    """Wait for what another thread does next."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def finished(at: AppTest) -> dict[str, Any]:
    """What the page shows once the work has ended."""
    until(lambda: not at.session_state["p.measure"].running)
    at.run()
    assert [button.key for button in at.button] == ["p.measure.start"]
    assert not at.button[0].disabled
    assert len(at.progress) == 0
    return shown(at)


def test_nothing_runs_before_it_is_asked_for(start: Start, work: Work) -> None:
    at = start(app, work=work)
    assert shown(at) == NOTHING_YET
    assert [(button.label, button.disabled) for button in at.button] == [("Measure", False)]
    assert len(at.progress) == 0
    assert not work.started.is_set()


def test_progress_and_result(start: Start, work: Work) -> None:
    at = press(start(app, work=work), "p.measure.start")
    assert work.reported.wait(20)
    at.run()
    assert shown(at) == RUNNING
    assert (at.progress[0].value, at.progress[0].text) == (30, "30 / 100")
    assert [(button.label, button.disabled) for button in at.button] == [("Measure", True), ("Stop", False)]
    work.go_on.set()
    assert finished(at) == {**RUNNING, "running": False, "result": "done"}
    assert work.was_cancelled is False


def test_progress_is_counted_in_units(start: Start, work: Work) -> None:
    at = press(start(app, work=work, unit=10), "p.measure.start")
    assert work.reported.wait(20)
    assert at.run().progress[0].text == "3 / 10"


@pytest.mark.parametrize("error", [ValueError("length (0) must be positive"), KeyboardInterrupt(), MemoryError()])
def test_an_error_is_kept_and_never_reaches_the_page(start: Start, error: BaseException) -> None:
    work = Work(error)
    work.go_on.set()
    at = press(start(app, work=work), "p.measure.start")
    assert finished(at) == {**RUNNING, "running": False, "error": type(error).__name__}
    assert at.session_state["p.measure"].error is error


def test_after_an_error_one_may_try_again(start: Start) -> None:
    work = Work(ValueError())
    work.go_on.set()
    at = press(start(app, work=work), "p.measure.start")
    assert finished(at)["error"] == "ValueError"
    work.outcome = 42
    assert finished(press(at, "p.measure.start")) == {**RUNNING, "running": False, "result": 42}


def test_stop_tells_the_work(start: Start, work: Work) -> None:
    at = press(start(app, work=work), "p.measure.start")
    assert work.started.wait(20)
    press(at.run(), "p.measure.stop")
    assert shown(at) == RUNNING  # until the work has noticed
    press(at, "p.measure.stop")
    work.go_on.set()
    assert finished(at) == {**RUNNING, "running": False}
    assert work.was_cancelled


def test_the_work_of_one_waits_for_the_work_of_another(start: Start, work: Work) -> None:
    one = press(start(app, work=work), "p.measure.start")
    assert work.started.wait(20)
    later = Work("mine")
    later.go_on.set()
    other = press(start(app, work=later), "p.measure.start")
    assert (other.progress[0].value, other.progress[0].text) == (0, "waiting for other work on this server")
    assert shown(other) == RUNNING
    assert not later.started.is_set()
    work.go_on.set()
    assert finished(other)["result"] == "mine"
    assert finished(one)["result"] == "done"


def test_waiting_work_that_is_stopped_never_begins(start: Start, work: Work) -> None:
    press(start(app, work=work), "p.measure.start")
    assert work.started.wait(20)
    later = Work()
    other = press(press(start(app, work=later), "p.measure.start"), "p.measure.stop")
    assert finished(other) == {**RUNNING, "running": False}
    work.go_on.set()
    assert not later.started.is_set()


def test_one_session_does_not_see_the_work_of_another(start: Start, work: Work) -> None:
    press(start(app, work=work), "p.measure.start")
    assert shown(start(app, work=work)) == NOTHING_YET


def test_the_page_notices_the_end_by_itself(start: Start, work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end comes after the run began and before its fragment looks: the fragment asks for a run that shows it."""
    at = press(start(app, work=work), "p.measure.start")
    assert work.started.wait(20)
    original = module.st.fragment

    def end_now(*, run_every: float | None) -> Any:
        work.go_on.set()
        until(lambda: not at.session_state["p.measure"].running)
        return original(run_every=run_every)

    monkeypatch.setattr(module.st, "fragment", end_now)
    at.run()
    assert shown(at)["result"] == "done"
    assert len(at.progress) == 0


def test_the_browser_is_asked_to_look_again_only_while_it_runs(
    start: Start, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float | None] = []
    original = module.st.fragment

    def remember(*, run_every: float | None) -> Any:
        asked.append(run_every)
        return original(run_every=run_every)

    monkeypatch.setattr(module.st, "fragment", remember)
    at = press(start(app, work=work), "p.measure.start")
    work.go_on.set()
    finished(at)
    assert asked == [None, module.EVERY, None]
