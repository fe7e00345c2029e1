"""Whose turn it is: so many trainings at once, each in a process of its own, and a queue for the others.

    desk = Desk(places=2)
    training = desk.submit("open_book", Settings(steps=400), present=lambda: True)
    training.place, training.state, training.record, …

Nothing here outlives the server: a process ends when it is stopped, when nobody is there to see it, when it takes too
long, and when the server ends, even if that is killed (see `worker`).
"""

import atexit
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.labs.catalogue import EXPERIMENTS
from core.labs.events import JSON
from core.labs.process import WORKER, Process
from core.labs.settings import plain
from core.labs.training import Reason, State, Training


class Desk:
    """Runs trainings; any thread may call it.

    places: at once; 0 forbids all. queue_length: how many may wait. seconds: that one may run, which takes a minute if
    nothing else needs the processor, and many if much does. absence: seconds after which a training is stopped whose
    `present` says no; patience: the same for one that nobody looks at. Browsers let a hidden tab look once a minute.
    catalogue: experiment → module; command: the worker's; every: seconds between two looks at all of this.
    Raises: ValueError if places or queue_length is negative.
    """

    def __init__(
        self,
        places: int,
        *,
        queue_length: int = 60,
        seconds: float = 600.0,
        absence: float = 10.0,
        patience: float = 150.0,
        catalogue: Mapping[str, str] = EXPERIMENTS,
        command: Sequence[str] = WORKER,
        every: float = 0.5,
    ) -> None:
        for name, number in (("places", places), ("queue_length", queue_length)):
            if number < 0:
                raise ValueError(f"{name} ({number}) must not be negative")
        self.places, self.queue_length, self.seconds = places, queue_length, seconds
        self._absence, self._patience, self._every = absence, patience, every
        self._catalogue, self._command = catalogue, command
        self._change = threading.Condition(threading.RLock())  # guards all that follows
        self._waiting: list[Training] = []
        self._running: dict[Training, Process] = {}
        self._met: dict[Training, float] = {}  # when its browser was last there
        self._closed = False
        self._watcher: threading.Thread | None = None
        atexit.register(self.close)

    # ------------------------------------------------------------------------------------------------------ to call

    def submit(self, experiment: str, settings: Any, *, present: Callable[[], bool] = lambda: True) -> Training:
        """Ask for a training with these settings, a dataclass; it begins at once if a place is free.

        present: whether the browser that asked is still there; it is called from another thread.
        Returns: the training; where it cannot be had, it has failed, and its reason says why.
        """
        return self.submit_plain(experiment, plain(settings), present=present)

    def submit_plain(
        self, experiment: str, settings: Mapping[str, JSON], *, present: Callable[[], bool] = lambda: True
    ) -> Training:
        """As `submit`, with the settings as JSON."""
        training = Training(experiment, settings, present=present, stop=self._stop, place=self._place)
        with self._change:
            refusal = self._refusal(experiment)
            if refusal is not None:
                training.end(State.FAILED, refusal)
                return training
            self._waiting.append(training)
            self._fill()
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="desk", daemon=True)
                self._watcher.start()
            self._change.notify_all()
        return training

    @property
    def running(self) -> int:
        """Places that are taken."""
        with self._change:
            return len(self._running)

    @property
    def waiting(self) -> int:
        """Trainings in the queue."""
        with self._change:
            return len(self._waiting)

    def processes(self) -> list[int]:
        """The numbers of the processes that run now."""
        with self._change:
            return [process.number for process in self._running.values() if process.number is not None]

    def close(self) -> None:
        """Stop everything, and return when all processes have gone."""
        with self._change:
            self._closed = True
            for training in [*self._waiting, *self._running]:
                self._stop(training, Reason.CLOSED)
            processes = list(self._running.values())
            self._change.notify_all()
        for process in processes:
            process.wait()
        atexit.unregister(self.close)

    # ---------------------------------------------------------------------------------------------------- one by one

    def _refusal(self, experiment: str) -> Reason | None:
        if self._closed:
            return Reason.CLOSED
        if self.places == 0:
            return Reason.FORBIDDEN
        if experiment not in self._catalogue:
            return Reason.ERROR
        if len(self._running) >= self.places and len(self._waiting) >= self.queue_length:
            return Reason.FULL
        return None

    def _fill(self) -> None:
        """Begin what can begin."""
        while self._waiting and len(self._running) < self.places:
            training = self._waiting.pop(0)
            training.begin()
            request = {"module": self._catalogue[training.experiment], "settings": training.settings}
            self._running[training] = Process(training, self._command, request, self._free)

    def _free(self, training: Training) -> None:
        """Its process has gone."""
        with self._change:
            self._running.pop(training, None)
            self._met.pop(training, None)
            if not self._closed:
                self._fill()

    def _place(self, training: Training) -> int:
        with self._change:
            return self._waiting.index(training) + 1 if training in self._waiting else 0

    def _stop(self, training: Training, reason: Reason) -> None:
        with self._change:
            failed = reason in (Reason.TIME, Reason.SIZE)
            training.end(State.FAILED if failed else State.STOPPED, reason)
            if training in self._waiting:
                self._waiting.remove(training)
                self._met.pop(training, None)
            elif training in self._running:
                self._running[training].terminate()

    # ------------------------------------------------------------------------------------------------------ watching

    def _watch(self) -> None:
        """Look at everything now and then, as long as there is something."""
        with self._change:
            while not self._closed:
                if not self._waiting and not self._running:
                    self._change.wait()
                    continue
                for training in [*self._waiting, *self._running]:
                    self._inspect(training)
                self._change.wait(self._every)

    def _inspect(self, training: Training) -> None:
        if not training.active:  # it has been asked to end
            self._running[training].insist()
            return
        now = time.monotonic()
        if training.present():
            self._met[training] = now
        if now - self._met.setdefault(training, now) >= self._absence or training.unseen >= self._patience:
            self._stop(training, Reason.ABSENT)
        elif training.state is State.RUNNING and training.seconds >= self.seconds:
            self._stop(training, Reason.TIME)
