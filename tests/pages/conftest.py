"""Small apps, driven without a browser; whatever Streamlit warns of in its log fails the test."""

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.testing.v1 import AppTest

from pages.components import arriving, warm
from tests.pages.apps import Start

HARMLESS = "missing ScriptRunContext"  # AppTest prepares a run outside the thread that runs it


@pytest.fixture(autouse=True, scope="session")
def _no_packaged_components() -> Iterator[None]:
    """AppTest looks through all installed packages for components, 70 ms for each app; ours are in none of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BidiComponentManager, "discover_and_register_components", lambda *_, **__: None)
        yield


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page computes in the background has arrived when a run is over."""
    monkeypatch.setattr(arriving, "PATIENCE", 120.0)


@pytest.fixture(autouse=True)
def _quiet_log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Streamlit's loggers keep their messages to themselves; here they pass them on, and nothing may be in them."""
    for name, logger in logging.root.manager.loggerDict.items():
        if name.startswith("streamlit") and isinstance(logger, logging.Logger):
            monkeypatch.setattr(logger, "propagate", True)
    yield
    warnings = [r.getMessage() for r in caplog.get_records("call") if r.levelno >= logging.WARNING]
    assert [text for text in warnings if HARMLESS not in text] == []


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    ready = threading.Event()
    ready.set()
    monkeypatch.setattr(warm, "start", lambda: ready)  # nothing here needs torch or transformers

    def begin(
        app: Callable[..., None],
        query: dict[str, Any] | None = None,
        *,
        locale: str | None = "en-GB",
        theme: str | None = None,
        **arguments: object,
    ) -> AppTest:
        at = AppTest.from_function(app, default_timeout=30, kwargs=arguments)
        at.query_params.update(query or {})
        at.context.update({"locale": locale, "theme": theme, "url": "https://atlas.example/masks"})
        at.run()
        assert not at.exception, at.exception
        return at

    return begin
