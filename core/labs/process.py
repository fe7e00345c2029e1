"""The process of one training, and the thread of this process that reads what it tells."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from core.labs.events import JSON, Step, from_line
from core.labs.training import Reason, State, Training
from core.labs.worker import DIVERGED

ROOT = Path(__file__).resolve().parent.parent.parent
WORKER = (sys.executable, "-m", "core.labs.worker")
MOST_STEPS = 20_000  # of one training
MOST_BYTES = 32 * 2**20  # that one training may tell
GRACE = 2.0  # seconds that a process has to end when it is asked to


class Process:
    """Starts the command at once, sends it the request, and calls `gone` when it has ended, whatever the end."""

    def __init__(
        self,
        training: Training,
        command: Sequence[str],
        request: Mapping[str, JSON],
        gone: Callable[[Training], None],
    ) -> None:
        self._training, self._command, self._request, self._gone = training, command, request, gone
        self._process: subprocess.Popen[bytes] | None = None
        self._asked: float | None = None  # when it was asked to end
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"training {training.experiment}", daemon=True)
        self._thread.start()

    @property
    def number(self) -> int | None:
        """The system's number of the process; None until it has one."""
        return None if self._process is None else self._process.pid

    def terminate(self) -> None:
        """Ask it to end."""
        with self._lock:
            if self._process is not None and self._asked is None:
                self._asked = time.monotonic()
                self._process.terminate()

    def insist(self) -> None:
        """End it if it was asked GRACE seconds ago and is still there."""
        with self._lock:
            if self._process is not None and self._asked is not None and time.monotonic() - self._asked >= GRACE:
                self._process.kill()

    def wait(self) -> None:
        """Return when it has gone, which was asked to."""
        self._thread.join(GRACE)
        self.insist()
        self._thread.join(GRACE)

    def _run(self) -> None:
        try:
            self._training.end(*self._outcome(self._work()))
        except OSError:  # no process can be had: too many, or no memory
            self._training.end(State.FAILED, Reason.ERROR)
        finally:
            self._gone(self._training)

    def _work(self) -> int:
        """Start it and read until it ends; what it returns. Raises: OSError if it cannot be started."""
        with subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,  # stays open: the worker ends when it closes
            stdout=subprocess.PIPE,  # its errors go where those of the server go
            env=_environment(),
            creationflags=_CALM,
        ) as process:
            with self._lock:
                self._process = process
            if not self._training.active:  # it was stopped before it had begun
                self.terminate()
            self._send(process)
            refused = self._read(process)
            if refused is not None:
                self._training.end(State.FAILED, refused)
                self.terminate()
            return process.wait()

    def _send(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is not None:
            try:
                process.stdin.write(json.dumps(self._request).encode() + b"\n")
                process.stdin.flush()
            except BrokenPipeError:
                pass  # it has ended already, and what it returns says how

    def _read(self, process: subprocess.Popen[bytes]) -> Reason | None:
        """Take events until no more come; or why they are not taken any more."""
        told = 0
        for line in process.stdout or ():
            told += len(line)
            try:
                event = from_line(line.decode())
            except ValueError:
                # A process that is killed may leave half a line.
                return Reason.ERROR if line.endswith(b"\n") else None
            if told > MOST_BYTES or (isinstance(event, Step) and event.total > MOST_STEPS):
                return Reason.SIZE
            self._training.add(event)
        return None

    @staticmethod
    def _outcome(code: int) -> tuple[State, Reason | None]:
        if code == 0:
            return State.FINISHED, None
        if code == DIVERGED:
            return State.FAILED, Reason.DIVERGED
        return State.FAILED, Reason.KILLED if code < 0 else Reason.ERROR


_CALM = 0
if sys.platform == "win32":  # elsewhere the worker itself takes the lowest priority
    _CALM = subprocess.BELOW_NORMAL_PRIORITY_CLASS | subprocess.CREATE_NO_WINDOW


def _environment() -> dict[str, str]:
    """That of this process, with one thread for mathematics, and with the folder of `core` to import from."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
