"""What stands below a picture that may run alone, and need not run with it: the row of buttons that open its parts.

As long as nothing is opened the row stands outside, and is not drawn again with the picture. What it opens is part of
the picture, and then so is the row, because it stands between the two.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import streamlit as st


class Below:
    """What is known about the row below a picture."""

    def __init__(self) -> None:
        self._later: Callable[[], None] | None = None
        self._is_outside: bool | None = None  # not known before the picture was drawn for the first time

    @contextmanager
    def known(self) -> Iterator[None]:
        """Meanwhile `here()` finds it."""
        token = _HERE.set(self)
        try:
            yield
        finally:
            _HERE.reset(token)

    def draw_row(self, row: Callable[[], None], *, outside: bool) -> None:
        """Draw the row here and now, or outside of the picture once that is complete."""
        if self._is_outside is not None and self._is_outside != outside:
            st.rerun()  # something was opened or closed since the page was drawn
        self._later = row if outside else None
        if not outside:
            row()

    def finish(self) -> None:
        """Draw the row if it stands outside."""
        self._is_outside = self._later is not None
        if self._later is not None:
            self._later()


_HERE: ContextVar[Below | None] = ContextVar("below", default=None)


def here() -> Below | None:
    """Of the picture that is being drawn; None for one that runs with the whole page."""
    return _HERE.get()
