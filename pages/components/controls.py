"""The controls of a page: in the sidebar, bounded, bound to the address, the same on every page.

    with Panel("masks") as panel:
        kind = panel.choice("kind", _("Mask"), {"causal": _("Causal"), "prefix": _("Prefix")}, default="causal")
    panel.follow(lambda: panel.slider("query", _("Query token"), 0, 8, default=4, step=1), lambda query: …)
    panel.finish(presets={_("Look ahead"): {"kind": "prefix"}}, play="query")

A control keeps its value in the session's state under `<page>_<parameter>`, and the address says the same, so that an
address reproduces the screen; a default stays out of it. Where an address asks for what a control does not allow, the
default is used, and a sentence below the title says so.

Most sliders change the picture and nothing else. They belong into `Panel.follow`: when one of them moves, only they and
the picture run again. What is neither computed nor sent nor drawn again makes up most of a page.
"""

import html
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.components import address
from pages.components.below import Below
from pages.components.choices import draw_choice
from pages.components.i18n import _, language, settled
from pages.components.typed import clean, nearest, quoted, same_number

Number = TypeVar("Number", int, float)
Chosen = TypeVar("Chosen")

AGAIN = "panel.again"  # in the session's state: the browser shall ask for one more run
STARTS = "panel.starts"  # there, too: the defaults of the page's sliders, by key, as an address has them
NEXT = "panel.next"  # there, too: the key of the slider that Play moves on in the next run
PLAY_SECONDS = 0.9
HALF = 110  # pixels, of a control beside another; what it really gets is half of the sidebar (frame.css)
MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_{}[]()<>#+-.!|~$:"})  # to be read as they are
TEXT_LINE, TEXT_MARGIN = 24, 20  # pixels: of a line of a text with several, and around them


class Panel:
    """Draws the controls of one page, and remembers them for Reset, presets, Share and Play."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._stayed = st.session_state.get("panel.page") == page  # since the last run
        st.session_state["panel.page"] = page
        self._defaults: dict[str, Any] = {}
        self._values: dict[str, Any] = {}  # what the controls returned
        self._bounds: dict[str, tuple[float, float]] = {}
        # of every slider of the session: its bounds and its step
        self._steps: dict[str, tuple[float, float, float]] = st.session_state.setdefault("panel.steps", {})
        self._next: str | None = st.session_state.pop(NEXT, None)  # the slider that Play moves on now
        self._refusals: list[str] = []
        self._width: int | Literal["stretch"] = "stretch"  # of controls
        self._sliders: dict[str, tuple[str, str]] = {}  # their values and defaults, as an address has them
        self._told: dict[str, str] = {}  # which of their values are left out, as the browser knows
        self._follows = False  # whether only sliders and their picture run
        self._title: tuple[DeltaGenerator, str] | None = None

    def __enter__(self) -> Self:
        st.sidebar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        st.sidebar.__exit__(kind, error, trace)

    def follow(self, sliders: Callable[[], Chosen], picture: Callable[[Chosen], None]) -> None:
        """Draw sliders, and the picture of what they say; when one of them moves, nothing else runs again.

        sliders: draws controls in the sidebar, below the others, and returns what they say.
        """
        first, below, spoken = True, Below(), language()
        place = st.sidebar.container(key="panel_sliders", gap=None)

        @st.fragment
        def run() -> None:
            nonlocal first
            self._follows, first = not first, False
            if self._follows and st.session_state.pop(self._own("refused"), None):
                st.rerun()  # the sentence below the title speaks of another value
            with settled(spoken):  # another language draws the whole page
                with place:
                    chosen = sliders()
                    if self._follows:
                        self._tell()
                with below.known():
                    picture(chosen)

        with st.container():
            run()
        below.finish()

    # ------------------------------------------------------------------------------------------------ the controls

    def slider(
        self,
        name: str,
        label: str,
        low: Number,
        high: Number,
        *,
        default: Number,
        step: Number,
        help: str | None = None,
        format: str | None = None,
    ) -> Number:
        """A number: `low`, `low + step`, … or `high`. Where low equals high there is nothing to choose: no slider."""
        key = self._key(name)
        self._defaults[name] = default
        self._bounds[name] = low, high
        if low >= high:
            return low
        start = nearest(default, low, high, step)  # what is the usual value may be too much for a short sentence
        held: Number | None = st.session_state.get(key)
        known = self._follows and held is not None  # then Streamlit's address may be older than the slider
        new, asked = (False, None) if known else address.news(key, stayed=self._stayed)
        if new and (asked is not None or held is not None):
            number = start if asked is None else _number(asked, start)
            held = st.session_state[key] = number if low <= number <= high else start
        moved = self._have_moved(key, (low, high, step))
        if held is not None:
            wanted = held + (step if self._next == key and not self._follows else 0)
            value = nearest(wanted, low, high, step)  # the bounds may have moved since, or it lies between two steps
            if moved or value != held:
                st.session_state[key] = value
        found = st.slider(
            label, low, high, start, step, key=key, help=help, format=format, width=self._width, persist_state="session"
        )
        value = self._values[name] = nearest(found, low, high, step)
        self._sliders[key] = address.number(value), address.number(start)
        address.stands(key, *self._sliders[key])
        if new and asked is not None and not same_number(asked, value):
            self._refuse(label, asked, value)
        return value

    def _have_moved(self, key: str, bounds: tuple[float, float, float]) -> bool:
        """Whether a slider has other bounds than before: to Streamlit it is another one then, without a value."""
        before = self._steps.get(key, bounds)
        self._steps[key] = bounds
        return before != bounds

    def _say(self) -> None:
        """Let the address say what the sliders say, once the whole page has run.

        Until it runs again the browser does (live_slider.js), which is told which value of each is left out.
        """
        for key, (value, start) in self._sliders.items():
            address.write(key, value, start)
        self._told = st.session_state[STARTS] = self._starts()

    def _tell(self) -> None:
        """Tell the browser which values are left out by now, where a slider has moved the usual value of another."""
        starts = self._starts()
        if starts != self._told:
            st.html(f'<i class="atlas-starts" data-starts="{html.escape(json.dumps(starts))}"></i>')

    def _starts(self) -> dict[str, str]:
        return {key: start for key, (_value, start) in self._sliders.items()}

    def _insist(self, name: str, value: object, said: bool) -> None:
        """Let the browser ask once more, if the address does not say this value yet.

        Where a preset changes a choice, too, what the server says of that replaces what the browser has just written of
        a control that is new on the page; the run that the browser asks for says it again.
        """
        kept = self._own(f"{name}.insisted")
        if said:
            st.session_state.pop(kept, None)
        elif st.session_state.get(kept) != value:
            st.session_state[kept] = value
            st.session_state[AGAIN] = True

    def choice(
        self,
        name: str,
        label: str,
        options: Mapping[str, str],
        *,
        default: str,
        help: str | None = None,
        narrow: bool = False,
        on_change: Callable[[], None] | None = None,
    ) -> str:
        """One of the options; returns its key. `options` maps language-neutral keys to translated labels.

        narrow: there is only half the width.
        """
        key = self._key(name)
        self._defaults[name] = default
        new, asked = address.news(key, stayed=self._stayed)
        if new and asked is not None and asked not in options:
            self._refuse(label, asked, options[default])
        if new:
            st.session_state[key] = asked if asked in options else default
        elif st.session_state[key] not in options:
            st.session_state[key] = default
        draw_choice(label, options, key, help=help, on_change=on_change, in_a_list=narrow, width=self._width)
        chosen: str = st.session_state[key]
        self._values[name] = chosen
        address.write(key, chosen, default)
        return chosen

    def toggle(self, name: str, label: str, *, default: bool, help: str | None = None) -> bool:
        key, asked = self._begin(name, default)
        if key in st.session_state:
            now: bool = st.session_state[key]
            said = st.query_params.get(key, str(default)).lower() == str(now).lower()
            if not said:
                st.session_state[key] = now
            self._insist(name, now, said)
        value = self._values[name] = st.toggle(
            label, default, key=key, help=help, width=self._width, bind="query-params"
        )
        if asked is not None and asked.lower() != str(value).lower():
            self._refuse(label, asked, _("on") if value else _("off"))
        return value

    def text(
        self,
        name: str,
        label: str,
        *,
        default: str,
        max_chars: int,
        lines: int = 1,
        spoken: str | None = None,
        help: str | None = None,
        on_change: Callable[[], None] | None = None,
    ) -> str:
        """A text of at most max_chars characters, without control characters; it may hold line breaks if lines > 1.

        What is longer is cut, and the page says so: Streamlit's own limit would refuse a long text without a word.
        lines: how many lines are seen without scrolling.
        spoken: the language of a sentence; what was typed in it on another page is offered here.
        """
        key, asked = self._begin(name, default)
        whole = st.session_state.get(key, default if asked is None else asked)
        if key in st.session_state:
            said = st.query_params.get(key, default) == whole
            if not said:
                st.session_state[key] = whole
            self._insist(name, whole, said)
        if len(whole) > max_chars:
            st.session_state[key] = whole[:max_chars]
        if lines == 1:
            found = st.text_input(
                label, default, key=key, help=help, on_change=on_change, width=self._width, bind="query-params"
            )
        else:
            height = TEXT_MARGIN + TEXT_LINE * lines
            found = st.text_area(
                label,
                default,
                key=key,
                height=height,
                help=help,
                on_change=on_change,
                width=self._width,
                bind="query-params",
            )
        if len(found) > max_chars:
            st.rerun()  # it came with the address: a text box takes what stands there, whatever its key holds
        if len(whole) > max_chars:
            said = _("{length:,} characters are too many: the first {most:,} are used.")
            st.caption(said.format(length=len(whole), most=max_chars))
        value = self._values[name] = clean(found[:max_chars], several_lines=lines > 1)
        if spoken is not None:
            self._offer(name, spoken, value, default, on_change)
        return value

    def _offer(self, name: str, spoken: str, value: str, default: str, on_change: Callable[[], None] | None) -> None:
        """A button for the sentence that was last typed on another page, if it is another one."""
        typed: dict[str, dict[str, str]] = st.session_state.setdefault("typed", {})
        pages = typed.setdefault(spoken, {})
        if value.strip() and value != default and pages.get(self._page) != value:
            pages.pop(self._page, None)
            pages[self._page] = value  # the last one stands last
        others = [text for page, text in pages.items() if page != self._page and text != value]
        if not others:
            return

        def take() -> None:
            self.put({name: others[-1]})
            if on_change is not None:
                on_change()

        st.button(
            f"“{quoted(others[-1])}”".translate(MARKDOWN),
            key=self._own(f"{name}.offer"),
            on_click=take,
            type="tertiary",
            icon=":material/content_paste:",
            help=_("Typed on another page: click to use it here."),
        )

    def hidden(self, name: str, label: str, *, default: str, pattern: str) -> str:
        """A value without a widget, set by a click in a plot (`put`) and kept like all others; it matches `pattern`."""
        key = self._key(name)
        self._defaults[name] = default
        new, asked = address.news(key, stayed=self._stayed)
        if new and asked is not None and not re.fullmatch(pattern, asked):
            self._refuse(label, asked, default or "–")
            asked = None
        if new:
            st.session_state[key] = default if asked is None else asked
        value: str = st.session_state[key]
        self._values[name] = value
        address.write(key, value, default)
        return value

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Meanwhile controls have half the width, two in a row: the style sheet knows them by their width.

        A container for every row, or columns, would cost the browser more than what stands in them.
        """
        self._width = HALF
        try:
            yield
        finally:
            self._width = "stretch"

    def forget(self, name: str) -> None:
        """Give a value without a widget back to its default, also in the address."""
        key = self._key(name)
        st.session_state[key] = self._values[name] = self._defaults[name]
        address.write(key, self._defaults[name], self._defaults[name])

    def put(self, values: Mapping[str, Any]) -> None:
        """Set controls of this page; for callbacks, which run before the controls are drawn."""
        for name, value in values.items():
            st.session_state[self._key(name)] = value

    # ------------------------------------------------------------------------------- Reset, presets, Share, Play

    def finish(self, *, presets: Mapping[str, Mapping[str, Any]] | None = None, play: str | None = None) -> None:
        """Draw the buttons that act on all controls of the page; call it after the last control.

        presets: label → what it sets; every other control goes back to its default.
        play: the name of a slider that Play moves on, step by step.
        """
        self._say()
        defaults = st.session_state.setdefault(self._own("defaults"), {})  # also of controls that are not drawn now
        defaults.update(self._defaults)
        if presets:
            with st.sidebar:
                self._presets({label: {**defaults, **values} for label, values in presets.items()})
        with st.sidebar.container(horizontal=True, gap="small", key="panel_buttons"):
            st.button(_("Reset"), key=self._own("reset"), on_click=self._apply, args=(dict(defaults),))
            shared = st.button(_("Share"), key=self._own("share"))
            if play is not None:
                self._play(play)
        if shared:  # only then: the address changes with every control
            with st.sidebar:
                st.caption(_("This address opens the page as you see it now:"))
                st.code(address.whole(), language=None, wrap_lines=True)
        for name in defaults.keys() - self._defaults.keys():  # what is not drawn now may have gone back to its default
            if st.session_state.get(self._key(name)) == defaults[name]:
                address.drop(self._key(name))
        self._complain()

    def _presets(self, presets: Mapping[str, Mapping[str, Any]]) -> None:
        """One widget for all of them, in which nothing stays chosen: it is sooner on the screen than a button each."""
        widget = self._own(f"presets.{language()}")

        def apply() -> None:
            chosen = st.session_state[widget]
            st.session_state[widget] = None
            self._apply(presets[chosen])

        label = _("What to try")
        st.pills(label, list(presets), key=widget, on_change=apply, label_visibility="collapsed", format_func=_bolt)

    def _apply(self, values: Mapping[str, Any]) -> None:
        st.session_state.pop(self._own("played"), None)
        self.put(values)

    def _play(self, name: str) -> None:
        """A button, and a fragment that asks for the next step again and again until the slider stands at its end."""
        key, played = self._key(name), self._own("played")
        low, high = self._bounds[name]
        at_end = st.session_state.get(key, high) >= high
        if at_end:
            st.session_state.pop(played, None)
        playing = played in st.session_state

        def start() -> None:
            st.session_state[played] = time.monotonic()
            low, high = self._bounds[name]  # they may have moved since, with a slider that runs only the picture again
            if st.session_state.get(key, high) >= high:
                st.session_state[key] = low

        def stop() -> None:
            st.session_state.pop(played, None)  # a second press may follow before the button is gone

        @st.fragment(run_every=PLAY_SECONDS if playing else None)
        def advance() -> None:
            now = time.monotonic()
            if playing and now - st.session_state.get(played, now) > PLAY_SECONDS / 2:  # not the run that drew the page
                st.session_state[played] = now
                st.session_state[NEXT] = key
                st.rerun()

        if playing:
            st.button(_("Stop"), key=self._own("stop"), on_click=stop, icon=":material/pause:")
        else:
            nothing = low >= high
            st.button(_("Play"), key=self._own("play"), on_click=start, disabled=nothing, icon=":material/play_arrow:")
        advance()

    # ---------------------------------------------------------------------------- what the address asks for in vain

    def title(self, markup: str) -> None:
        """The page's title in HTML; sentences about the address follow it."""
        self._title = st.empty(), markup
        self._title[0].html(markup)

    @property
    def refused(self) -> list[str]:
        """What the address asked for in vain, as sentences; forgotten once a control has moved."""
        if self._refusals:
            st.session_state[self._own("refused")] = (self._refusals, dict(self._values))
        complaints, values = st.session_state.get(self._own("refused"), ([], None))
        if values != self._values:
            st.session_state.pop(self._own("refused"), None)
            return []
        return list(complaints)

    def _refuse(self, label: str, asked: str, used: object) -> None:
        sentence = _("The address asks for {label} = “{asked}”, which is not possible here. The page shows {used}.")
        self._refusals.append(sentence.format(label=label, asked=quoted(asked), used=quoted(str(used))))

    def _complain(self) -> None:
        lines = [f'<div class="atlas-refused" role="status">{html.escape(line)}</div>' for line in self.refused]
        if lines and self._title is not None:
            place, markup = self._title
            place.html(markup + "".join(lines))

    # --------------------------------------------------------------------------------------------------------- keys

    def _begin(self, name: str, default: object) -> tuple[str, str | None]:
        """The control's key, and what the address asks of it if this session sees it for the first time."""
        key = self._key(name)
        self._defaults[name] = default
        return key, None if key in st.session_state else st.query_params.get(key)

    def _key(self, name: str) -> str:
        return f"{self._page}_{name}"

    def _own(self, name: str) -> str:
        """A key for what is not a parameter and never in the address."""
        return f"{self._page}.{name}"


def _bolt(label: str) -> str:
    return f":material/bolt: {label}"


def _number(text: str, otherwise: Number) -> Number:
    """The number that an address asks for, of the kind of the other; that other one if it is none."""
    try:
        value = type(otherwise)(float(text))
    except (ValueError, OverflowError):
        return otherwise
    return value if value == value else otherwise
