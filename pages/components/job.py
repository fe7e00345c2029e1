"""Work that takes seconds: in the background, on demand, with progress and a Stop button.

Streamlit ends a run at any click, so nothing long may happen in it. One worker per server measures for everybody, one
piece after the other: measurements must not disturb each other, nor a page that someone else is using. Another one
fetches, so that a slow network keeps nobody from measuring.
"""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import streamlit as st

from pages.components.i18n import _

EVERY = 0.5  # seconds between two looks at the progress

Work = Callable[[Callable[[int, int], None], Callable[[], bool]], Any]
"""work(on_progress, cancelled): calls on_progress(done, total), and stops soon after cancelled() is true."""


@dataclass(slots=True, eq=False)
class Job:
    """A piece of work, from the click that asked for it to its result, or to the error that ended it."""

    work: Work
    done: int = 0
    total: int = 1
    started: bool = False
    finished: threading.Event = field(default_factory=threading.Event)
    cancel: threading.Event = field(default_factory=threading.Event)
    result: Any = None
    error: BaseException | None = None

    @property
    def running(self) -> bool:
        """Under way, or waiting for its turn."""
        return not self.finished.is_set()

    @property
    def failed(self) -> bool:
        """Ended by an error, and not because somebody stopped it."""
        return self.error is not None and not self.cancel.is_set()

    def run(self) -> None:
        if self.cancel.is_set():
            return
        self.started = True
        try:
            self.result = self.work(self._report, self.cancel.is_set)
        except BaseException as error:  # whatever it is, it belongs to the page that asked, not to the worker
            self.error = error
        finally:
            self.finished.set()

    def stop(self) -> None:
        self.cancel.set()
        if not self.started:
            self.finished.set()

    def _report(self, done: int, total: int) -> None:
        self.done, self.total = done, total


@st.cache_resource(show_spinner=False)
def _queue(name: str) -> queue.Queue[Job]:
    """The jobs that wait for this worker; it is a daemon, so that a server that stops need not wait for it."""
    waiting: queue.Queue[Job] = queue.Queue()

    def work() -> None:
        while True:
            waiting.get().run()

    threading.Thread(target=work, name=name, daemon=True).start()
    return waiting


def begin(work: Work, worker: str) -> Job:
    """Put work behind whatever this worker still has to do."""
    new = Job(work)
    _queue(worker).put(new)
    return new


def job(
    key: str,
    label: str,
    work: Work,
    *,
    help: str | None = None,
    unit: int = 1,
    worker: Literal["measure", "fetch"] = "measure",
) -> Job | None:
    """Draw the button that starts `work`, and its progress while it runs, counted in `unit`s.

    Returns: the job of this session, if any; a finished one has a result, or the error that ended it.
    """
    current: Job | None = st.session_state.get(key)
    running = current is not None and current.running

    def start() -> None:
        st.session_state[key] = begin(work, worker)

    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(label, key=f"{key}.start", on_click=start, disabled=running, help=help, icon=":material/speed:")
        if current is not None and running:
            st.button(_("Stop"), key=f"{key}.stop", on_click=current.stop)

    @st.fragment(run_every=EVERY if running else None)
    def watch() -> None:
        if current is None or not running:
            return
        if not current.running:
            st.rerun()
        counted = f"{current.done // unit} / {current.total // unit}"
        text = counted if current.started else _("waiting for other work on this server")
        st.progress(min(1.0, current.done / max(1, current.total)), text=text)

    watch()
    return current
