"""A training on the page: Start, Stop, progress, the place in the queue; and the result that is shown meanwhile.

    lab = Lab("open_book", settings)  # of the controls; nothing is trained before somebody presses Start
    lab.bar()
    plot = lab.show(picture)  # picture(seen), again and again while a training of this session runs

What is shown belongs to the settings of the controls: this session's own run of them if there is one, else the one
that ships, else nothing yet. A session trains one thing at a time; leaving the page stops it, and so does closing the
browser.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.labs.desk import Desk
from core.labs.places import places
from core.labs.record import Record
from core.labs.settings import plain
from core.labs.shipped import Shipped, shipped
from core.labs.training import State, Training
from pages.components.i18n import _
from pages.components.lab_words import ended, forbidden, progress, queued

EVERY = 0.5  # seconds between two looks at a run
EVERY_IN_QUEUE = 2.0  # and at one that waits, of which there may be forty
KEPT = 8  # runs that a session keeps, whatever their experiments
TRAININGS = "lab.trainings"  # in the session's state: those runs, the newest last

Drawn = TypeVar("Drawn")


@dataclass(frozen=True, slots=True)
class Seen:
    """What there is to be shown for the settings of the controls."""

    record: Record  # without any curves if there is nothing
    source: Literal["yours", "shipped", "none"]
    running: bool = False


@st.cache_resource(show_spinner=False)
def desk() -> Desk:
    """The one desk of this server."""
    return Desk(places())


@st.cache_resource(show_spinner=False)
def results(experiment: str) -> Shipped:
    """What ships of an experiment, read once; it is shared, so nobody may change it."""
    return shipped(experiment)


def stay(page: str) -> None:
    """Stop what this session trains on any page but this one. Every page calls it."""
    for training in _trainings():
        if training.experiment == page:
            training.look()  # whichever view of the page is shown
        else:
            training.stop()


class Lab:
    """The training that belongs to the settings of a page.

    name: of the experiment, of the page's module, and in its address. settings: a dataclass of the experiment's own.
    """

    def __init__(self, name: str, settings: Any) -> None:
        self._name, self._settings = name, settings
        wanted = plain(settings)
        own = [training for training in _trainings() if training.experiment == name]
        self._active = next((training for training in own if training.active), None)
        self._mine = next((training for training in reversed(own) if training.settings == wanted), None)
        if self._mine is not None and self._mine.state is State.STOPPED and not self._mine.progress[1]:
            self._mine = None  # before its first step: as if it had never been
        self._shipped = results(name).of(settings)

    @property
    def seen(self) -> Seen:
        """What is to be shown now; whoever waits still sees what ships."""
        mine = self._mine
        if mine is not None and (mine.state is State.RUNNING or mine.progress[1]):  # what failed at once hides nothing
            return Seen(mine.record, "yours", mine.active)
        if self._shipped is not None:
            return Seen(self._shipped.record, "shipped")
        return Seen(Record(), "none")

    # ---------------------------------------------------------------------------------------------------------- to draw

    def bar(self) -> None:
        """The row with the buttons, and how far it is or what is shown."""
        with st.container(key="lab_bar", horizontal=True, gap="small", vertical_alignment="center"):
            again = self._mine is not None and self._mine.active
            st.button(
                _("Start"),
                key=f"{self._name}.start",
                on_click=self._start,
                disabled=again or not desk().places,
                help=_("Trains with these settings, on the server's processor."),
                icon=":material/play_arrow:",
            )
            st.button(
                _("Stop"),
                key=f"{self._name}.stop",
                on_click=self._stop,
                disabled=self._active is None,
                icon=":material/stop:",
            )
            if self.seen.source == "yours" and not again and self._shipped is not None:
                st.button(_("Shipped result"), key=f"{self._name}.back", on_click=self._forget, type="tertiary")
            self._watch()

    def show(self, picture: Callable[[Seen], Drawn]) -> Drawn:
        """Draw the picture of what there is, and again while it grows. Returns: what the first drawing returned."""
        running = self._mine is not None and self._mine.state is State.RUNNING

        @st.fragment(run_every=EVERY if running else None)
        def draw() -> Drawn:
            with st.container(key="lab_picture"):  # frame.css: what is said above may grow without pushing it down
                return picture(self.seen)

        return draw()

    # -------------------------------------------------------------------------------------------------------- its parts

    def _watch(self) -> None:
        training = self._active
        before = None if training is None else training.state
        every = {State.RUNNING: EVERY, State.WAITING: EVERY_IN_QUEUE}

        @st.fragment(run_every=every.get(before) if before else None)
        def look() -> None:
            if training is None:
                st.caption(self._label())
                return
            training.look()
            if training.state is not before:
                st.rerun()  # everything else on the page shall know, and the browser how often to ask
            self._progress(training)

        look()

    def _progress(self, training: Training) -> None:
        other = training is not self._mine
        done, total = training.progress
        waits = training.state is State.WAITING
        said = queued(training, desk().running, other=other) if waits else progress(training, other=other)
        meanwhile = self._label() if other else self._shown()
        st.progress(done / total if total else 0.0, text=f"{said} {meanwhile}")

    def _label(self) -> str:
        """How this session's own run ended, and what is shown."""
        said = "" if self._mine is None else ended(self._mine, desk())
        return f"{said} {self._shown()}".strip()

    def _shown(self) -> str:
        """What is shown, unless it is this session's own."""
        source = self.seen.source
        said = ""
        if source == "shipped":
            from_file = results(self._name)
            said = _("Shipped result, made on {date} by {program}.").format(
                date=from_file.made, program=f"`{from_file.program}`"
            )
        elif source == "none" and not desk().places:
            said = _("Nothing ships for these settings.")
        elif source == "none" and self._active is None and self._mine is None:  # else it is said how that ended
            said = _("Not trained yet with these settings: press Start.")
        return said if desk().places else f"{said} {forbidden()}".strip()

    def _start(self) -> None:
        for training in _trainings():
            training.stop()
        kept = [training for training in _trainings() if training is not self._mine]
        kept.append(desk().submit(self._name, self._settings, present=_presence()))
        st.session_state[TRAININGS] = kept[-KEPT:]

    def _stop(self) -> None:
        if self._active is not None:
            self._active.stop()

    def _forget(self) -> None:
        st.session_state[TRAININGS] = [training for training in _trainings() if training is not self._mine]


def _trainings() -> list[Training]:
    found: list[Training] = st.session_state.get(TRAININGS, [])
    return found


def _presence() -> Callable[[], bool]:
    """Tells, from any thread, whether the browser of this session is still connected."""
    context = get_script_run_ctx()
    session = "" if context is None else context.session_id

    def present() -> bool:
        try:
            return runtime.get_instance().is_active_session(session)
        except RuntimeError:  # there is no server: the page is being tested
            return True

    return present
