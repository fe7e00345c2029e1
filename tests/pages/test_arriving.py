"""Results that arrive: the page does not wait for them, and shows them when they are there."""

import threading
from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from pages.components import arriving
from tests.pages.apps import Start, shown

Report, Cancelled = Callable[[int, int], None], Callable[[], bool]


class Gate:
    """Work that is done when somebody opens the gate; it counts how often it began."""

    def __init__(self) -> None:
        self.open, self.begun = threading.Event(), 0

    def work(self, on_progress: Report, cancelled: Cancelled) -> str | None:
        self.begun += 1
        on_progress(2, 3)
        while not self.open.wait(0.005):
            if cancelled():
                return None
        return "here"


def app(settings: str, gate: object) -> None:
    import streamlit as st

    from pages.components.arriving import arrive, watch

    found = arrive("tests.place", ("tests", settings), gate.work, worker="tests")  # type: ignore[attr-defined]
    watch("tests.place", "drawn:")
    st.json([found.value, found.waiting, found.failed])


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    monkeypatch.setattr(arriving, "PATIENCE", 0.01)
    arriving._kept().clear()
    gate = Gate()
    yield gate
    gate.open.set()


def finish(at: AppTest, gate: Gate) -> None:
    gate.open.set()
    at.session_state["arriving.tests.place"].job.finished.wait(10)


def test_a_page_does_not_wait(start: Start, gate: Gate) -> None:
    at = start(app, settings="a", gate=gate)
    assert shown(at) == [None, True, False]
    assert shown(at.run()) == [None, True, False]
    assert gate.begun == 1
    finish(at, gate)
    assert shown(at.run()) == ["here", False, False]
    assert gate.begun == 1


def test_meanwhile_it_tells_how_far_it_is(start: Start, gate: Gate) -> None:
    at = start(app, settings="a", gate=gate)
    while not gate.begun:
        pass
    (bar,) = at.run().get("progress")
    assert bar.proto.text == "drawn: 2 / 3"
    finish(at, gate)
    assert not at.run().get("progress")


def app_that_is_slow_itself(gate: object) -> None:
    """The result comes after the page has looked for it, and before the page is complete."""
    import streamlit as st

    from pages.components.arriving import arrive, watch

    found = arrive("tests.place", "slow page", gate.work, worker="tests")  # type: ignore[attr-defined]
    gate.open.set()  # type: ignore[attr-defined]
    st.session_state["arriving.tests.place"].job.finished.wait(10)
    watch("tests.place")
    st.json([found.value, found.waiting, found.failed])


def test_what_arrives_before_the_page_is_complete_is_drawn(start: Start, gate: Gate) -> None:
    assert shown(start(app_that_is_slow_itself, gate=gate)) == ["here", False, False]


def test_what_is_quick_is_there_at_once(start: Start, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arriving, "PATIENCE", 30.0)
    gate.open.set()
    assert shown(start(app, settings="a", gate=gate)) == ["here", False, False]


def test_one_session_computes_for_all(start: Start, gate: Gate) -> None:
    finish(start(app, settings="a", gate=gate), gate)
    other = Gate()
    assert shown(start(app, settings="a", gate=other)) == ["here", False, False]
    assert other.begun == 0


def test_two_sessions_that_wait_compute_once(start: Start, gate: Gate) -> None:
    first, second = (start(app, settings="a", gate=gate) for _ in range(2))
    finish(first, gate)
    finish(second, gate)
    assert [shown(at.run())[0] for at in (first, second)] == ["here", "here"]
    assert gate.begun == 1


def test_what_nobody_waits_for_any_more_is_dropped(start: Start, gate: Gate) -> None:
    blocker = start(app, settings="blocks the worker", gate=gate)
    waiting = Gate()
    at = start(app, settings="old", gate=waiting)
    at.session_state["arriving.tests.place"].job.stop()  # as `arrive` does for other settings
    finish(blocker, gate)
    assert shown(at.run())[1:] == [True, False]  # asked anew
    finish(at, waiting)
    assert waiting.begun == 1


def test_other_settings_stop_what_is_under_way(start: Start, gate: Gate) -> None:
    at = start(app, settings="old", gate=gate)
    old = at.session_state["arriving.tests.place"].job
    arriving_key = at.session_state["arriving.tests.place"]
    assert arriving_key.settings == ("tests", "old")

    def change() -> None:
        from pages.components.arriving import leave

        leave("tests.place")

    leaving = AppTest.from_function(change)
    leaving.session_state["arriving.tests.place"] = arriving_key
    leaving.run()
    assert old.cancel.is_set()
    assert old.finished.wait(10)  # it noticed: the gate is still closed
    assert ("tests", "old") not in arriving._kept()


def test_a_failure_is_told_and_not_repeated(start: Start, gate: Gate) -> None:
    class Broken(Gate):
        def work(self, on_progress: Report, cancelled: Cancelled) -> str | None:
            super().work(on_progress, cancelled)
            raise ValueError("broken")

    broken = Broken()
    at = start(app, settings="b", gate=broken)
    finish(at, broken)
    assert shown(at.run()) == [None, False, True]
    assert shown(at.run()) == [None, False, True]
    assert broken.begun == 1


def test_only_so_many_results_are_kept(start: Start, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arriving, "PATIENCE", 30.0)
    monkeypatch.setattr(arriving, "MOST", 2)
    gate.open.set()
    for settings in "abc":
        assert shown(start(app, settings=settings, gate=gate)) == ["here", False, False]
    assert list(arriving._kept()) == [("tests", "b"), ("tests", "c")]
