"""The controls of a page: in the sidebar, bounded, bound to the address, the same on every page.

    with Panel("masks") as panel:
        query = panel.slider("query", _("Query token"), 0, 8, default=4)
        kind = panel.choice("kind", _("Mask"), {"causal": _("Causal"), "prefix": _("Prefix")}, default="causal")
        panel.finish(presets={_("Look ahead"): {"kind": "prefix"}}, play="query")

A control keeps its value in the session's state under `<page>_<parameter>`, and the address says the same, so that an
address reproduces the screen; a default stays out of it. Where an address asks for what a control does not allow, the
default is used, and `Panel.refused` says so.
"""

import re
import time
import unicodedata
import urllib.parse
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

import streamlit as st

from pages.components.i18n import _, language

Number = TypeVar("Number", int, float)

PLAY_SECONDS = 0.9
LONGEST_QUOTE = 40  # characters of a refused value that are shown
MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_{}[]()<>#+-.!|~$:"})  # to be read as they are
JOINERS = "\u200c\u200d"
TEXT_LINE, TEXT_MARGIN = 24, 20  # pixels: of a line of a text with several, and around them
FEW = 4  # so many short options stand side by side; more go into a list


class Panel:
    """Draws the controls of one page, and remembers them for Reset, presets, Share and Play."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._defaults: dict[str, Any] = {}
        self._values: dict[str, Any] = {}  # what the controls returned
        self._bounds: dict[str, tuple[float, float]] = {}
        self._refusals: list[str] = []
        self._container = st.sidebar.container(key=f"{page}_panel", gap="small")

    def __enter__(self) -> Self:
        self._container.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._container.__exit__(kind, error, trace)

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
        key, asked = self._begin(name, default)
        self._bounds[name] = low, high
        if low >= high:
            return low
        if key in st.session_state:
            wanted = st.session_state[key] + (step if st.session_state.pop(_next(key), False) else 0)
            st.session_state[key] = _nearest(wanted, low, high, step)  # the bounds may have moved since
        start = _nearest(default, low, high, step)  # what is the usual value may be too much for a short sentence
        found = st.slider(label, low, high, start, step, key=key, help=help, format=format, bind="query-params")
        value = self._values[name] = _nearest(found, low, high, step)
        if asked is not None and not _same_number(asked, value):
            self._refuse(label, asked, value)
        return value

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

        Streamlit writes the label that is shown into the address. So that a choice survives a change of language, its
        widget is bound to nothing and made anew for each language, and the address is kept here.
        """
        key, asked = self._begin(name, default)
        if asked in options:
            st.session_state[key] = asked
        elif st.session_state.get(key) not in options:
            st.session_state[key] = default
        if asked is not None and asked not in options:
            self._refuse(label, asked, options[default])
        widget = f"{key}.{language()}"
        st.session_state[widget] = st.session_state[key]
        _draw_choice(label, options, key, widget, help, on_change, in_a_list=narrow or not _fits(options))
        chosen: str = st.session_state[key]
        self._values[name] = chosen
        write_address(key, chosen, default)
        return chosen

    def toggle(self, name: str, label: str, *, default: bool, help: str | None = None) -> bool:
        key, asked = self._begin(name, default)
        value = self._values[name] = st.toggle(label, default, key=key, help=help, bind="query-params")
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

        lines: how many lines are seen without scrolling.
        spoken: the language of a sentence; what was typed in it on another page is offered here.
        """
        key, asked = self._begin(name, default)
        found = _draw_text(label, default, lines, max_chars, key, help, on_change)[:max_chars]
        if asked is not None and len(asked) > max_chars:
            self._refuse(label, asked, found)
        kept = (_visible(line) for line in re.split(r"\r\n|\r|\n", found)) if lines > 1 else [_visible(found)]
        value = self._values[name] = "\n".join(kept)
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
            f"“{_quoted(others[-1])}”".translate(MARKDOWN),
            key=self._own(f"{name}.offer"),
            on_click=take,
            type="tertiary",
            icon=":material/content_paste:",
            help=_("Typed on another page: click to use it here."),
        )

    def hidden(self, name: str, label: str, *, default: str, pattern: str) -> str:
        """A value without a widget, set by a click in a plot (`put`) and kept like all others; it matches `pattern`."""
        key, asked = self._begin(name, default)
        if asked is not None and not re.fullmatch(pattern, asked):
            self._refuse(label, asked, default or "–")
            asked = None
        st.session_state.setdefault(key, default if asked is None else asked)
        value: str = st.session_state[key]
        self._values[name] = value
        write_address(key, value, default)
        return value

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
        defaults = st.session_state.setdefault(self._own("defaults"), {})  # also of controls that are not drawn now
        defaults.update(self._defaults)
        if self._refusals:
            st.session_state[self._own("refused")] = (self._refusals, self._values)
        if presets:
            with st.container(horizontal=True, gap="small", key=self._own("presets")):
                for label, values in presets.items():
                    everything = {**defaults, **values}
                    st.button(label, on_click=self._apply, args=(everything,), type="tertiary", icon=":material/bolt:")
        with st.container(horizontal=True, gap="small", key=self._own("actions")):
            st.button(_("Reset"), key=self._own("reset"), on_click=self._apply, args=(dict(defaults),))
            with st.popover(_("Share")):
                st.write(_("This address opens the page as you see it now:"))
                st.code(address(), language=None, wrap_lines=True)
            if play is not None:
                self._play(play)

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
            if at_end:
                st.session_state[key] = low

        def stop() -> None:
            st.session_state.pop(played, None)  # a second press may follow before the button is gone

        @st.fragment(run_every=PLAY_SECONDS if playing else None)
        def advance() -> None:
            now = time.monotonic()
            if playing and now - st.session_state.get(played, now) > PLAY_SECONDS / 2:  # not the run that drew the page
                st.session_state[played] = now
                st.session_state[_next(key)] = True
                st.rerun()

        if playing:
            st.button(_("Stop"), key=self._own("stop"), on_click=stop, icon=":material/pause:")
        else:
            nothing = low >= high
            st.button(_("Play"), key=self._own("play"), on_click=start, disabled=nothing, icon=":material/play_arrow:")
        advance()

    # ------------------------------------------------------------------------------------------------- the address

    @property
    def refused(self) -> list[str]:
        """What the address asked for in vain, as sentences; forgotten once a control has moved."""
        complaints, values = st.session_state.get(self._own("refused"), ([], None))
        if values != self._values:
            st.session_state.pop(self._own("refused"), None)
            return []
        return list(complaints)

    def _refuse(self, label: str, asked: str, used: object) -> None:
        sentence = _("The address asks for {label} = “{asked}”, which is not possible here. The page shows {used}.")
        self._refusals.append(sentence.format(label=label, asked=_quoted(asked), used=_quoted(str(used))))

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


def choose_everywhere(name: str, label: str, options: Mapping[str, str], *, default: str) -> None:
    """A choice that holds on every page, under `name` in the state and in the address."""
    st.session_state.setdefault(name, default)
    widget = f"{name}.{language()}"
    st.session_state[widget] = st.session_state[name]
    _draw_choice(label, options, name, widget, in_a_list=not _fits(options))


def read_everywhere(name: str, options: Mapping[str, str], *, default: str) -> str:
    """The value of such a choice, before it is drawn: from the state, or from the address of a new session."""
    if st.session_state.get(name) not in options:
        asked = st.query_params.get(name)
        st.session_state[name] = asked if asked in options else default
    value: str = st.session_state[name]
    write_address(name, value, default)
    return value


def write_address(key: str, value: str, default: str) -> None:
    """Let the address say `value`, or nothing if it is the default. Only a change is sent to the browser."""
    said = st.query_params.get(key)
    if value != default and said != value:
        st.query_params[key] = value
    elif value == default and said is not None:
        del st.query_params[key]


def address() -> str:
    """The address that reproduces what is on the screen."""
    query = urllib.parse.urlencode(st.query_params.to_dict())
    return (st.context.url or "").partition("?")[0] + (f"?{query}" if query else "")


def _draw_text(
    label: str,
    default: str,
    lines: int,
    max_chars: int,
    key: str,
    help: str | None,
    on_change: Callable[[], None] | None,
) -> str:
    if lines == 1:
        return st.text_input(
            label, default, max_chars=max_chars, key=key, help=help, on_change=on_change, bind="query-params"
        )
    return st.text_area(
        label,
        default,
        height=TEXT_MARGIN + TEXT_LINE * lines,
        max_chars=max_chars,
        key=key,
        help=help,
        on_change=on_change,
        bind="query-params",
    )


def _draw_choice(
    label: str,
    options: Mapping[str, str],
    key: str,
    widget: str,
    help: str | None = None,
    on_change: Callable[[], None] | None = None,
    *,
    in_a_list: bool,
) -> None:
    names = list(options)
    adopt = partial(_adopt, key, widget, on_change)
    if not in_a_list:
        st.segmented_control(
            label,
            names,
            format_func=options.__getitem__,
            key=widget,
            help=help,
            required=True,
            on_change=adopt,
        )
    else:
        st.selectbox(label, names, format_func=options.__getitem__, key=widget, help=help, on_change=adopt)


def _adopt(key: str, widget: str, on_change: Callable[[], None] | None) -> None:
    st.session_state[key] = st.session_state[widget]
    if on_change is not None:
        on_change()


def _quoted(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def _next(key: str) -> str:
    return f"{key}.next"


def _visible(text: str) -> str:
    """The text without control characters; a tab or a line break becomes a space, so that words stay apart.

    What Unicode calls a space or a joiner stays: French, Persian and emoji are spelled with them.
    """
    spaced = (" " if c.isspace() and unicodedata.category(c) != "Zs" else c for c in text)
    return "".join(c for c in spaced if c.isprintable() or c.isspace() or c in JOINERS)


def _nearest(value: Number, low: Number, high: Number, step: Number) -> Number:
    """The nearest number that the slider can stand at: an address may hold one between two steps."""
    if value <= low or value >= high:
        return low if value <= low else high
    decimals = max(len(f"{x:.10f}".rstrip("0").partition(".")[2]) for x in (low, step))
    return type(low)(min(high, round(low + round((value - low) / step) * step, decimals)))


def _same_number(text: str, value: float) -> bool:
    try:
        return float(text) == value
    except ValueError:
        return False


def _fits(options: Mapping[str, str]) -> bool:
    """Whether the options can stand side by side in the sidebar; a Chinese character is as wide as two letters."""
    width = sum(3 + sum(2 if ord(c) > 0x2E80 else 1 for c in label) for label in options.values())
    return len(options) <= FEW and width <= 34
