"""One training as whoever asked for it sees it: waiting, running, or ended in one way or another."""

import threading
import time
from collections.abc import Callable, Mapping
from enum import StrEnum

from core.labs.events import JSON, Event, Step
from core.labs.record import Record


class State(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"


class Reason(StrEnum):
    """Why a training was stopped or has failed."""

    ASKED = "asked"  # somebody pressed Stop, or started another one
    ABSENT = "absent"  # nobody is there any more to see it
    CLOSED = "closed"  # the server ends
    FORBIDDEN = "forbidden"  # this server trains nothing
    FULL = "full"  # too many wait already
    KILLED = "killed"  # the process was ended from outside: by the system when memory runs out, for example
    ERROR = "error"  # an error of the program; the server's log has it
    DIVERGED = "diverged"  # the loss grew beyond all numbers
    TIME = "time"  # it took longer than is allowed
    SIZE = "size"  # it has, or tells, more than is allowed


ENDED = frozenset({State.FINISHED, State.STOPPED, State.FAILED})


class Training:
    """Made by a `Desk`; any thread may look at it.

    experiment, settings: what was asked for. ended: an event that is set as soon as it is over.
    """

    def __init__(
        self,
        experiment: str,
        settings: Mapping[str, JSON],
        *,
        present: Callable[[], bool],
        stop: Callable[["Training", Reason], None],
        place: Callable[["Training"], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.experiment = experiment
        self.settings = dict(settings)
        self.present = present
        self.ended = threading.Event()
        self._stop, self._place, self._clock = stop, place, clock
        self._lock = threading.Lock()
        self._state = State.WAITING
        self._reason: Reason | None = None
        self._record = Record()
        self._first: tuple[float, int, int] | None = None  # when the first step was told; steps and tokens by then
        self._begun = self._last = self._looked = clock()

    # ----------------------------------------------------------------------------------------------------- to look at

    @property
    def state(self) -> State:
        return self._state

    @property
    def reason(self) -> Reason | None:
        """Of one that was stopped or has failed."""
        return self._reason

    @property
    def active(self) -> bool:
        """Waiting or running."""
        return self._state not in ENDED

    @property
    def place(self) -> int:
        """In the queue, from 1, which is next; 0 for one that does not wait."""
        return self._place(self)

    @property
    def record(self) -> Record:
        """What it has told so far: a copy that does not grow, so that its parts agree."""
        if not self.active:
            return self._record
        with self._lock:
            return self._record.copy()

    @property
    def progress(self) -> tuple[int, int]:
        """Steps so far, and of the whole run; (0, 0) before the first one."""
        with self._lock:
            return self._record.done, self._record.total

    @property
    def loss(self) -> float | None:
        """The last one told, of whichever curve grows; None before the first step."""
        with self._lock:
            curves = list(self._record.curves.values())
            return curves[-1].losses[-1] if curves else None

    @property
    def tokens_per_second(self) -> float | None:
        """Since the first step was told; None before the second."""
        with self._lock:
            if self._first is None or self._last <= self._first[0]:
                return None
            return (self._record.tokens - self._first[2]) / (self._last - self._first[0])

    @property
    def seconds_left(self) -> float | None:
        """If the steps to come take as long as those so far; None before the second step."""
        with self._lock:
            if self._first is None or self._record.done <= self._first[1]:
                return None
            each = (self._last - self._first[0]) / (self._record.done - self._first[1])
            return max(0.0, each * (self._record.total - self._record.done) - (self._clock() - self._last))

    @property
    def seconds(self) -> float:
        """That it has run, or did run until its last step."""
        return (self._clock() if self.active else self._last) - self._begun

    def stop(self, reason: Reason = Reason.ASKED) -> None:
        """End it, if it has not ended; its place is free at once, or as soon as its process has gone."""
        self._stop(self, reason)

    def look(self) -> None:
        """Say that somebody is looking: what nobody looks at for long is stopped."""
        self._looked = self._clock()

    # ------------------------------------------------------------------------------------------------- for the desk

    @property
    def unseen(self) -> float:
        """Seconds since somebody looked."""
        return self._clock() - self._looked

    def begin(self) -> None:
        self._begun = self._last = self._clock()
        self._state = State.RUNNING

    def add(self, event: Event) -> None:
        """Take an event, unless it has ended meanwhile."""
        with self._lock:
            if not self.active:
                return
            self._record.add(event)
            self._last = self._clock()
            if self._first is None and isinstance(event, Step):
                self._first = (self._last, self._record.done, self._record.tokens)

    def end(self, state: State, reason: Reason | None = None) -> None:
        """The first end counts."""
        with self._lock:
            if not self.active:
                return
            self._reason = reason
            self._state = state
        self.ended.set()
