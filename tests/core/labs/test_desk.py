"""Whose turn it is, and that nothing is left behind: no process, no place, no memory."""

import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.labs import process as process_module
from core.labs.desk import Desk
from core.labs.training import Reason, State, Training
from tests.core.labs.fakes import CATALOGUE, COMMAND, HANG, over, until
from tests.core.labs.tiny_lab import Settings

New = Callable[..., Desk]


@pytest.fixture
def new() -> Iterator[New]:
    """Desks with quick workers; they are closed in the end."""
    desks: list[Desk] = []

    def make(places: int = 1, **settings: object) -> Desk:
        usual = {"catalogue": CATALOGUE, "command": COMMAND, "every": 0.02}
        desks.append(Desk(places, **{**usual, **settings}))  # type: ignore[arg-type]
        return desks[-1]

    yield make
    for desk in desks:
        desk.close()
        assert desk.processes() == []


def ask(desk: Desk, *, present: Callable[[], bool] = lambda: True, **settings: object) -> Training:
    return desk.submit_plain("tiny", settings, present=present)


def alive(number: int) -> bool:
    """Whether there is such a process, be it a zombie."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def told(training: Training) -> None:
    """Wait for its first step."""
    until(lambda: training.progress[0])


def number_of(desk: Desk) -> int:
    """Of the one process that runs."""
    until(desk.processes)
    return desk.processes()[0]


# --------------------------------------------------------------------------------------------------------- one training


def test_a_training_to_its_end(new: New) -> None:
    desk = new()
    training = over(ask(desk, steps=4))
    assert (training.state, training.reason, training.active) == (State.FINISHED, None, False)
    record = training.record
    assert record.curves["a"].steps == [1, 2, 3, 4]
    assert record.curves["a"].losses == [1, 1 / 2, 1 / 3, 1 / 4]
    assert (record.done, record.total, record.tokens) == (4, 4, 40)
    request = {"module": CATALOGUE["tiny"], "settings": {"steps": 4}}
    assert record.found == {"a": {"asked": request}}
    assert (training.progress, training.loss, training.place) == ((4, 4), 0.25, 0)
    until(lambda: desk.running == 0)


def test_settings_of_a_dataclass_travel(new: New) -> None:
    training = over(new().submit("tiny", Settings(steps=2, rate=0.5)))
    settings = {"steps": 2, "rate": 0.5, "seed": 0, "trouble": ""}
    assert training.settings == settings
    assert training.record.found["a"]["asked"]["settings"] == settings


def test_speed_and_time_left(new: New) -> None:
    desk = new()
    training = ask(desk, steps=400, sleep=0.01)
    assert (training.tokens_per_second, training.seconds_left, training.loss) == (None, None, None)
    until(lambda: training.progress[0] >= 20)
    rate, left = training.tokens_per_second, training.seconds_left
    assert rate is not None
    assert left is not None
    assert 0 < rate <= 10 / 0.01
    assert left >= 0
    assert 0 < training.seconds < 60


def test_a_record_can_be_read_while_it_grows(new: New) -> None:
    training = ask(new(), steps=3000)
    while training.active:
        record = training.record
        for curve in record.curves.values():
            assert len(curve.steps) == len(curve.losses) == record.done
            assert record.tokens == 10 * record.done
    assert training.record.done == 3000


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"end": "1"}, Reason.ERROR),
        ({"end": "3"}, Reason.DIVERGED),
        ({"end": "killed"}, Reason.KILLED),
        ({"end": "half"}, Reason.KILLED),
        ({"end": "nonsense"}, Reason.ERROR),
        ({"end": "long"}, Reason.ERROR),
        ({"total": process_module.MOST_STEPS + 1}, Reason.SIZE),
    ],
)
def test_a_failure_has_a_reason_and_frees_its_place(new: New, settings: dict[str, object], reason: Reason) -> None:
    desk = new()
    training, after = ask(desk, **settings), ask(desk)
    assert (over(training).state, training.reason) == (State.FAILED, reason)
    assert over(after).state is State.FINISHED


def test_who_tells_too_much_is_ended(new: New, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "MOST_BYTES", 500)
    training = over(ask(new(), steps=10_000))
    assert (training.state, training.reason) == (State.FAILED, Reason.SIZE)
    assert 0 < training.record.done < 10


def test_a_program_that_is_not_there(new: New) -> None:
    desk = new(command=["/nowhere/python"])
    one, other = over(ask(desk)), over(ask(desk))
    assert [(each.state, each.reason) for each in (one, other)] == [(State.FAILED, Reason.ERROR)] * 2


def test_an_unknown_experiment_fails(new: New) -> None:
    training = new().submit_plain("os", {})
    assert (training.state, training.reason) == (State.FAILED, Reason.ERROR)


def test_too_long(new: New) -> None:
    desk = new(seconds=0.3)
    training, after = ask(desk, **HANG), ask(desk, **HANG)
    assert (over(training).state, training.reason) == (State.FAILED, Reason.TIME)
    until(lambda: after.place == 0)


@pytest.mark.parametrize("name", ["places", "queue_length"])
def test_negative_numbers_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} \(-1\) must not be negative"):
        Desk(**{"places": 1, name: -1})  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------------ the queue


def test_places_and_order(new: New) -> None:
    desk = new(2)
    first, second, third, fourth, fifth = (ask(desk, **HANG) for _ in range(5))
    assert [each.state for each in (first, second, third)] == [State.RUNNING, State.RUNNING, State.WAITING]
    assert [each.place for each in (first, second, third, fourth, fifth)] == [0, 0, 1, 2, 3]
    assert (desk.running, desk.waiting) == (2, 3)

    fourth.stop()
    assert (fourth.state, fourth.reason) == (State.STOPPED, Reason.ASKED)
    assert [each.place for each in (third, fourth, fifth)] == [1, 0, 2]

    first.stop()
    until(lambda: third.state is State.RUNNING)
    assert [each.place for each in (second, third, fifth)] == [0, 0, 1]
    second.stop()
    until(lambda: fifth.state is State.RUNNING)
    assert (desk.running, desk.waiting) == (2, 0)


def test_they_begin_in_the_order_in_which_they_were_asked_for(new: New) -> None:
    desk = new()
    trainings = [ask(desk) for _ in range(5)]
    order = []
    for training in trainings:
        over(training)
        order.append([each.active for each in trainings].count(True))
    assert order == sorted(order, reverse=True)
    assert all(training.state is State.FINISHED for training in trainings)


def test_a_full_queue_refuses(new: New) -> None:
    desk = new(1, queue_length=2)
    trainings = [ask(desk, **HANG) for _ in range(4)]
    assert [each.active for each in trainings] == [True, True, True, False]
    assert (trainings[3].state, trainings[3].reason) == (State.FAILED, Reason.FULL)
    trainings[1].stop()
    assert ask(desk).state is State.WAITING


def test_no_queue_at_all(new: New) -> None:
    desk = new(1, queue_length=0)
    first = ask(desk, **HANG)
    assert first.state is State.RUNNING
    assert ask(desk).reason is Reason.FULL


def test_a_server_may_forbid_it(new: New) -> None:
    training = ask(new(0))
    assert (training.state, training.reason) == (State.FAILED, Reason.FORBIDDEN)
    assert training.ended.is_set()


def test_forty_at_once(new: New) -> None:
    """They press Start together: each gets a result or a clear place, and the order holds."""
    desk = new(2)
    together = threading.Barrier(40)
    trainings: list[Training] = []

    def press() -> None:
        together.wait()
        trainings.append(ask(desk, steps=2))

    people = [threading.Thread(target=press) for _ in range(40)]
    for one in people:
        one.start()
    most = 0
    while any(one.is_alive() for one in people) or any(training.active for training in trainings):
        most = max(most, len(desk.processes()))
        assert all(training.place <= 38 for training in list(trainings))
        time.sleep(0.005)
    assert len(trainings) == 40
    assert [over(training).state for training in trainings] == [State.FINISHED] * 40
    assert 1 <= most <= 2
    until(lambda: desk.running == 0)
    assert desk.waiting == 0


# --------------------------------------------------------------------------------------------------- stopped, abandoned


def test_stop_keeps_what_there_is(new: New) -> None:
    desk = new()
    training = ask(desk, steps=5, **HANG)
    until(lambda: training.record.found)
    number = number_of(desk)
    training.stop()
    assert (training.state, training.reason) == (State.STOPPED, Reason.ASKED)
    until(lambda: desk.running == 0)
    assert not alive(number)
    assert training.record.done == 5
    training.stop(Reason.ABSENT)
    assert training.reason is Reason.ASKED, "the first end counts"


def test_stop_at_once(new: New) -> None:
    """Before its process is there."""
    desk = new()
    for _ in range(10):
        ask(desk, **HANG).stop()
    until(lambda: desk.running == 0)
    assert over(ask(desk)).state is State.FINISHED


@pytest.mark.skipif(sys.platform == "win32", reason="there is no signal to be deaf to")
def test_a_process_that_does_not_listen_is_killed(new: New, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "GRACE", 0.2)
    desk = new()
    training = ask(desk, end="deaf")
    told(training)
    number = number_of(desk)
    training.stop()
    until(lambda: desk.running == 0)
    assert not alive(number)


@pytest.mark.parametrize("queued", [False, True])
def test_an_abandoned_browser_frees_its_place(new: New, queued: bool) -> None:
    desk = new(absence=0.2)
    there = threading.Event()
    there.set()
    first = ask(desk, present=(lambda: True) if queued else there.is_set, **HANG)
    second = ask(desk, present=there.is_set if queued else (lambda: True), **HANG)
    abandoned, other = (second, first) if queued else (first, second)
    time.sleep(0.5)
    assert abandoned.active
    there.clear()
    over(abandoned)
    assert (abandoned.state, abandoned.reason) == (State.STOPPED, Reason.ABSENT)
    until(lambda: other.state is State.RUNNING)
    assert desk.waiting == 0


def test_a_short_absence_is_forgiven(new: New) -> None:
    """The network of a lecture room."""
    looks = 0

    def present() -> bool:
        nonlocal looks
        looks += 1
        return looks % 10 == 0

    desk = new(absence=2.0, every=0.01)
    training = ask(desk, present=present, **HANG)
    until(lambda: looks >= 400)  # twice as long as is allowed in one piece
    assert training.active


def test_nobody_looks(new: New) -> None:
    """A browser that is connected but sleeps."""
    desk = new(patience=2.0)
    seen, unseen = ask(desk, **HANG), ask(desk, **HANG)
    until(lambda: seen.look() or not unseen.active)  # type: ignore[func-returns-value]
    assert (unseen.state, unseen.reason) == (State.STOPPED, Reason.ABSENT)
    assert seen.active


# ----------------------------------------------------------------------------------------------- nothing is left behind


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_process_is_noticed_and_the_next_begins(new: New) -> None:
    desk = new()
    training, after = ask(desk, **HANG), ask(desk)
    until(lambda: training.record.found)
    os.kill(number_of(desk), signal.SIGKILL)
    assert (over(training).state, training.reason) == (State.FAILED, Reason.KILLED)
    assert training.record.done == 3
    assert over(after).state is State.FINISHED


def test_closing_ends_everything(new: New) -> None:
    desk = new(2)
    trainings = [ask(desk, **HANG) for _ in range(4)]
    told(trainings[0])
    numbers = desk.processes()
    desk.close()
    assert {(each.state, each.reason) for each in trainings} == {(State.STOPPED, Reason.CLOSED)}
    assert not any(alive(number) for number in numbers)
    assert ask(desk).reason is Reason.CLOSED
    desk.close()


SERVER = """
import sys, time
from core.labs.desk import Desk
from tests.core.labs.fakes import CATALOGUE, COMMAND, until
desk = Desk(1, catalogue=CATALOGUE, command=COMMAND)
training = desk.submit_plain("tiny", {"end": "hang"})
until(lambda: training.progress[0])
print(desk.processes()[0], flush=True)
if sys.argv[1] == "hang":
    time.sleep(60)
"""


@pytest.mark.parametrize("end", ["ends", "hang"])
def test_a_server_that_ends_leaves_no_process(end: str) -> None:
    """Whether it ends in order or is killed."""
    root = Path(process_module.__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", SERVER, end], stdout=subprocess.PIPE, cwd=root, text=True) as server:
        assert server.stdout is not None
        number = int(server.stdout.readline())
        if end == "hang":
            server.kill()
            assert server.wait(30) != 0
        else:
            assert server.wait(30) == 0
    until(lambda: not alive(number))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux tells of children")
def test_fifty_trainings_leave_nothing(new: New) -> None:
    """No zombie, no thread, no open file, and no memory that grows."""
    desk = new()

    def children() -> list[str]:
        return [file.read_text() for file in Path("/proc/self/task").glob("*/children") if file.read_text().strip()]

    def held() -> tuple[int, int]:
        until(lambda: not any(thread.name.startswith("training") for thread in threading.enumerate()))
        return threading.active_count(), len(os.listdir("/proc/self/fd"))

    def several(number: int) -> int:
        for _ in range(number):
            assert over(ask(desk, steps=200)).state is State.FINISHED
        until(lambda: desk.running == 0)
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        early = several(10)
        before = held()
        late = several(50)
    finally:
        tracemalloc.stop()
    assert children() == []
    assert held() == before
    assert late - early < 50 * 2_000, "a record of 200 steps takes more than 2 kB: records are kept"
