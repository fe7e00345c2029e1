"""Results that arrive: computed in the background without being asked for, while the page already stands.

    found = arrive("embeddings.map", settings, work, worker="maps")
    draw(found.value)  # None while it is under way
    watch("embeddings.map")  # draws the page again once it is there

A session waits for one result at each place; what it asked for before and nobody has begun is dropped. Results are kept
for everybody on the server, by their settings.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.components.job import Job, Work, begin

PATIENCE = 0.15  # seconds that a run waits: what is quicker is drawn once and not twice
EVERY = 0.25  # seconds between two looks
MOST = 200  # results that are kept


@dataclass(frozen=True, slots=True)
class Arrival:
    """What is known of a result: its value, or that it is under way, or that it failed."""

    value: Any
    waiting: bool = False
    failed: bool = False


@dataclass(slots=True, eq=False)
class _Asked:
    settings: Hashable
    job: Job
    missed: bool = False  # whether the page is drawn without the result


@st.cache_resource(show_spinner=False)
def _kept() -> OrderedDict[Hashable, Any]:
    return OrderedDict()


def arrive(place: str, settings: Hashable, work: Work, *, worker: str) -> Arrival:
    """The result of `work`, which depends on nothing but the settings; None as a result is not kept."""
    found = _kept().get(settings)
    asked: _Asked | None = st.session_state.get(_key(place))
    if found is not None:
        if asked is not None:
            asked.missed = False
        return Arrival(found)
    if asked is None or asked.settings != settings or asked.job.cancel.is_set():
        leave(place)
        asked = st.session_state[_key(place)] = _Asked(settings, begin(_keeping(settings, work), worker))
        asked.job.finished.wait(PATIENCE)
    asked.missed = asked.job.running
    if asked.missed:
        return Arrival(None, waiting=True)
    return Arrival(asked.job.result, failed=asked.job.failed)


def _keeping(settings: Hashable, work: Work) -> Work:
    def compute(on_progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> Any:
        kept = _kept()
        if settings not in kept:  # nobody computed it while this waited
            found = work(on_progress, cancelled)
            if found is None:
                return None
            kept[settings] = found
            while len(kept) > MOST:
                kept.popitem(last=False)
        return kept.get(settings)

    return compute


def leave(place: str) -> None:
    """Nobody here waits for it any more."""
    asked: _Asked | None = st.session_state.pop(_key(place), None)
    if asked is not None:
        asked.job.stop()


def watch(place: str, label: str = "") -> None:
    """Draw the page again when the result is there; meanwhile a line of progress, if it has a label."""
    asked: _Asked | None = st.session_state.get(_key(place))
    if asked is None or not asked.missed:
        return
    job = asked.job  # it may be over by now

    @st.fragment(run_every=EVERY)
    def look() -> None:
        if not job.running:
            st.rerun()
        if label:
            st.progress(min(1.0, job.done / max(1, job.total)), text=f"{label} {job.done} / {job.total}")

    look()


def _key(place: str) -> str:
    return f"arriving.{place}"
