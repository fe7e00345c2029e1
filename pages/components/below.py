"""What stands below a picture that may run alone, and need not run with it: the row of buttons that open its parts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import streamlit as st


class Below:
    """Places for a picture, for a row below it, and for what the row opens."""

    def __init__(self) -> None:
        self.picture, self._row, self.opened = (st.container() for _place in range(3))
        self.draw_row: Callable[[], None] | None = None  # known once the picture has folded something

    @contextmanager
    def known(self) -> Iterator[None]:
        """Meanwhile `here()` finds these places."""
        token = _HERE.set(self)
        try:
            yield
        finally:
            _HERE.reset(token)

    def finish(self) -> None:
        """Draw the row, if there is one."""
        if self.draw_row is not None:
            with self._row:
                self.draw_row()


_HERE: ContextVar[Below | None] = ContextVar("below", default=None)


def here() -> Below | None:
    """The places below the picture that is being drawn; None for one that runs with the whole page."""
    return _HERE.get()
