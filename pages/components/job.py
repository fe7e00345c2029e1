"""Work that takes seconds: in the background, on demand, with progress and a Stop button.

Streamlit ends a run at any click, so nothing long may happen in it. One worker per server does the work of everybody,
one piece after the other: measurements must not disturb each other, nor a page that someone else is using.
"""

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.components.i18n import _

EVERY = 0.5  # seconds between two looks at the progress

Work = Callable[[Callable[[int, int], None], Callable[[], bool]], Any]
"""work(on_progress, cancelled): calls on_progress(done, total), and stops soon after cancelled() is true."""


@dataclass(slots=True, eq=False)
class Job:
    done: int = 0
    total: int = 1
    cancel: threading.Event = field(default_factory=threading.Event)
    future: Future[Any] | None = None

    def report(self, done: int, total: int) -> None:
        self.done, self.total = done, total

    @property
    def running(self) -> bool:
        return self.future is not None and not self.future.done()

    @property
    def result(self) -> Any:
        """What the work returned; None while it runs, and if it failed or was stopped."""
        return None if self.running or self.error is not None or self.future is None else self.future.result()

    @property
    def error(self) -> BaseException | None:
        if self.future is None or self.running:
            return None
        return CancelledError() if self.future.cancelled() else self.future.exception()


@st.cache_resource(show_spinner=False)
def _worker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="job")


def job(key: str, label: str, work: Work, *, help: str | None = None, unit: int = 1) -> Job | None:
    """Draw the button that starts `work`, and its progress while it runs, counted in `unit`s.

    Returns: the job of this session, if any; a finished one has a result, or the error that ended it.
    """
    current: Job | None = st.session_state.get(key)
    running = current is not None and current.running

    def start() -> None:
        new = Job()
        new.future = _worker().submit(work, new.report, new.cancel.is_set)
        st.session_state[key] = new

    def stop() -> None:
        if current is not None:
            current.cancel.set()
            if current.future is not None:
                current.future.cancel()

    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(label, key=f"{key}.start", on_click=start, disabled=running, help=help, icon=":material/speed:")
        if running:
            st.button(_("Stop"), key=f"{key}.stop", on_click=stop)

    @st.fragment(run_every=EVERY if running else None)
    def watch() -> None:
        if current is None or not running:
            return
        if not current.running:
            st.rerun()
        waiting = current.future is not None and not current.future.running()
        text = (
            _("waiting for other work on this server")
            if waiting
            else f"{current.done // unit} / {current.total // unit}"
        )
        st.progress(min(1.0, current.done / max(1, current.total)), text=text)

    watch()
    return current
