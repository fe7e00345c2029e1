"""The registry: pages are imported when they are first opened."""

import importlib
import sys
import threading

import pytest

from pages.components import lab, registry, warm


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
