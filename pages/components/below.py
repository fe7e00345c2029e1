"""What stands below a picture that may run alone, and need not run with it: a link, the row of buttons of its parts.

As long as nothing is opened, this stands outside, and is not drawn again with the picture. What is opened is part of
the picture, and then so is all that stands between the two.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import streamlit as st


class Below:
    """What is known about the parts below a picture."""

    def __init__(self) -> None:
        self._outside: list[Callable[[], None]] = []
        self._said: list[Hashable] = []  # what each part says that was drawn, in their order
        self._before: list[Hashable] | None = None  # what they said when the page was drawn

    @contextmanager
    def known(self) -> Iterator[None]:
        """Meanwhile `draw_below` finds it."""
        self._outside, self._said = [], []
        token = _HERE.set(self)
        try:
            yield
        finally:
            _HERE.reset(token)

    def draw(self, part: Callable[[], None], *, outside: bool, says: Hashable) -> None:
        """Draw the part here and now, or outside of the picture once that is complete."""
        place = len(self._said)
        self._said.append((outside, says if outside else None))
        if self._before is not None and self._before[place : place + 1] != self._said[place:]:
            st.rerun()  # it says something else than when the page was drawn, or something was opened or closed
        if outside:
            self._outside.append(part)
        else:
            part()

    def finish(self) -> None:
        """Draw the parts that stand outside."""
        self._before = self._said
        for part in self._outside:
            part()


_HERE: ContextVar[Below | None] = ContextVar("below", default=None)


def draw_below(part: Callable[[], None], *, outside: bool, says: Hashable = None) -> None:
    """Draw a part below the picture that is being drawn; here and now if that runs with the whole page.

    outside: whether nothing that belongs to the picture follows it.
    says: what decides how the part looks, beside the language.
    """
    below = _HERE.get()
    if below is None:
        part()
    else:
        below.draw(part, outside=outside, says=says)
