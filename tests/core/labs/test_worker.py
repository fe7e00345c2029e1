"""The process of one training: it tells, it is calm, and it never outlives who started it."""

import importlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.labs.catalogue import EXPERIMENTS
from core.labs.desk import Desk
from core.labs.events import Event, Found, Step, from_line
from core.labs.process import ROOT, WORKER
from core.labs.training import Reason, State
from core.labs.worker import DIVERGED, write
from tests.core.labs import tiny_lab
from tests.core.labs.fakes import CATALOGUE, over, until

FEW: dict[str, dict[str, Any]] = {
    "open_book": {"steps": 2, "d_model": 16, "num_layers": 1},
    "three_matrices": {"steps": 100, "variants": ("none",)},
    "longer": {"steps": 2, "tune_steps": 0, "sinusoidal": False, "trained_len": 8},
    "learning_heads": {"steps": 100, "heads": (1,)},
}
"""What makes each experiment as short as can be."""


def started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)


def request(**settings: object) -> bytes:
    return json.dumps({"module": CATALOGUE["tiny"], "settings": settings}).encode() + b"\n"


def told(process: subprocess.Popen[bytes], asked: bytes) -> tuple[list[Event], int, str]:
    """What it told until its end, what it returned, and what it complained of; its input stays open."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        process.stdin.write(asked)
        process.stdin.flush()
        lines = process.stdout.read().decode().splitlines()
        complaints = process.stderr.read().decode()
        return [from_line(line) for line in lines], process.wait(60), complaints


def test_it_tells_what_the_experiment_yields_with_one_thread() -> None:
    """The same settings give the same events, here and there."""
    settings = tiny_lab.Settings(steps=7, seed=3, trouble="prints")
    events, code, complaints = told(started(), request(steps=7, seed=3, trouble="prints"))
    expected = list(tiny_lab.train(settings))
    assert events == [*expected[:-1], Found("fit", "threads", 1)]
    assert len(events) == 9
    assert code == 0
    assert complaints == "a library says hello\n", "what is printed is no event"


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [({"steps": 0}, "steps (0) must be at least 1"), ({"stepz": 1}, "unexpected keyword argument")],
)
def test_bad_settings_end_it_with_an_error(settings: dict[str, object], complaint: str) -> None:
    events, code, complaints = told(started(), request(**settings))
    assert (events, code) == ([], 1)
    assert complaint in complaints


def test_a_loss_that_is_no_number_ends_it() -> None:
    events, code, _ = told(started(), request(steps=500, rate=10.0))
    assert code == DIVERGED
    assert 0 < len(events) < 500


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only there is the limit kept")
def test_memory_is_bounded() -> None:
    events, code, complaints = told(started(), request(trouble="memory"))
    assert code == 1
    assert len(events) == 5
    assert "memory" in complaints


def test_it_ends_when_its_input_ends() -> None:
    """As when the server is killed."""
    process = started()
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(request(steps=10_000_000))
        process.stdin.flush()
        assert process.stdout.readline().startswith(b'{"event":"step"')
        process.stdin.close()
        process.stdout.read()
        assert process.wait(60) == 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells")
def test_it_is_calm_and_deaf_to_the_keyboard() -> None:
    process = started()
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(request(steps=10_000_000))
        process.stdin.flush()
        process.stdout.readline()
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == 19
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() != b""
        assert process.poll() is None
        process.kill()


def test_it_needs_neither_transformers_nor_streamlit() -> None:
    """They take seconds and memory."""
    program = (
        "import sys\n"
        "from core.labs.catalogue import EXPERIMENTS\n"
        "import core.labs.desk, core.labs.worker, core.labs.shipped\n"
        "print('torch' in sys.modules)\n"
        "import torch\n"
        "from importlib import import_module\n"
        "from importlib.util import find_spec\n"
        "[import_module(name) for name in EXPERIMENTS.values() if find_spec(name)]\n"
        "print({'transformers', 'streamlit', 'altair', 'pandas', 'sklearn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "set()"]


class Pipe(io.BytesIO):
    """It counts how often it is written to, and takes a few bytes at a time."""

    def __init__(self, most: int = 2**20) -> None:
        super().__init__()
        self.writes, self.most = 0, most

    def write(self, data: object) -> int:
        self.writes += 1
        return super().write(bytes(data)[: self.most])  # type: ignore[call-overload]


def steps(number: int) -> Iterator[Step]:
    return (Step("a", step, 1.0, 1, step, number) for step in range(1, number + 1))


@pytest.mark.parametrize(("each", "writes"), [(0.001, 20), (0.0625, 1000), (1.0, 1000)])
def test_quick_steps_are_written_together(each: float, writes: int) -> None:
    """At most some twenty writes a second, however many steps there are."""
    time = 0.0

    def events() -> Iterator[Step]:
        nonlocal time
        for step in steps(1000):
            time += each
            yield step

    pipe = Pipe()
    write(events(), pipe, clock=lambda: time)
    assert abs(pipe.writes - writes) <= 2
    assert len(pipe.getvalue().splitlines()) == 1000


def test_a_pipe_that_takes_a_part_only_gets_the_rest() -> None:
    pipe = Pipe(most=7)
    write(steps(20), pipe, clock=lambda: 0.0)
    assert [from_line(line) for line in pipe.getvalue().decode().splitlines()] == list(steps(20))


# ---------------------------------------------------------------------------------------------- the desk and the worker


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk(2, catalogue=CATALOGUE, every=0.05)
    yield desk
    desk.close()


def test_the_desk_runs_it_and_the_same_settings_give_the_same_record(desk: Desk) -> None:
    one, same, other = (desk.submit("tiny", tiny_lab.Settings(steps=30, seed=seed)) for seed in (1, 1, 2))
    assert [over(training).state for training in (one, same, other)] == [State.FINISHED] * 3
    assert one.record.plain() == same.record.plain() != other.record.plain()


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_runs_and_gives_the_same_again(experiment: str) -> None:
    settings = replace(importlib.import_module(EXPERIMENTS[experiment]).Settings(), **FEW[experiment])
    desk = Desk(2)
    try:
        one, same = (over(desk.submit(experiment, settings)) for _ in range(2))
    finally:
        desk.close()
    assert [training.state for training in (one, same)] == [State.FINISHED] * 2
    record = one.record
    assert record.done == record.total > 0
    assert record.found
    assert record.plain() == same.record.plain()


def test_bad_settings_are_a_failure_with_a_reason(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    training = over(desk.submit_plain("tiny", {"steps": -1}))
    assert (training.state, training.reason) == (State.FAILED, Reason.ERROR)
    assert "steps (-1) must be at least 1" in capfd.readouterr().err, "the server's log says what it was"


def test_stop_ends_the_real_process(desk: Desk) -> None:
    training = desk.submit("tiny", tiny_lab.Settings(steps=20_000, rate=0.001))
    until(lambda: training.progress[0])
    training.stop()
    until(lambda: desk.running == 0)
    assert training.state is State.STOPPED
