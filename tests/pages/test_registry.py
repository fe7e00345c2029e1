"""The registry: pages are imported when they are first opened."""

import importlib
import itertools
import sys
import threading

import pytest

from pages.components import lab, registry, warm
from tools.browser import page_paths


def test_what_a_page_imports_is_frozen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen: list[bool] = []
    monkeypatch.setattr(warm, "start", threading.Event)  # it freezes, too, when it is ready
    monkeypatch.setattr(warm, "freeze", lambda: frozen.append("pages.home" in sys.modules))
    monkeypatch.delitem(sys.modules, "pages.home", raising=False)
    opened: list[str] = []
    monkeypatch.setattr(lab, "stay", opened.append)  # there is no session that could train anything
    rendered: list[str] = []

    class Home:
        @staticmethod
        def render() -> None:
            rendered.append("home")

    def imported(name: str) -> type[Home]:
        monkeypatch.setitem(sys.modules, name, Home)
        return Home

    monkeypatch.setattr(importlib, "import_module", imported)
    render = registry._lazily("home")
    render()
    render()
    assert rendered == ["home", "home"]
    assert frozen == [True]  # after the import
    assert opened == ["home", "home"]  # so that what is trained on another page ends


def test_no_address_ends_with_another_one() -> None:
    """Streamlit takes the name of a page off the end of an address, whichever page it is."""
    pairs = itertools.permutations((path.strip("/") for path in page_paths() if path != "/"), 2)
    assert [(one, other) for one, other in pairs if one.endswith(other)] == []
