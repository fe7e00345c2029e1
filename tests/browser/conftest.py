"""The app in a real Chromium: `pytest -m browser`. CHROMIUM names the browser if it is not /usr/bin/chromium."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response, ViewportSize

from tools.browser import DESKTOP, PATIENCE, Server, chromium, settle

NOBODY = "http://127.0.0.1:9"
"""The app needs no network: a server that tries to use it asks here, in vain."""

PROBES = ("/_stcore/health", "/_stcore/host-config")
"""Under /<page>/ Streamlit's frontend looks for these first, gets a 404, and goes on at the root."""

Language = Literal["en-US", "zh-CN"]
Scheme = Literal["light", "dark"]
Open = Callable[..., Page]


class Profiles:
    """One profile of the browser for each kind of visitor, so that Streamlit's own files are read once only."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._known: dict[tuple[Language, Scheme, tuple[int, int]], BrowserContext] = {}

    def get(self, language: Language, scheme: Scheme, size: tuple[int, int]) -> BrowserContext:
        kind = (language, scheme, size)
        if kind not in self._known:
            viewport: ViewportSize = {"width": size[0], "height": size[1]}
            context = self._browser.new_context(locale=language, color_scheme=scheme, viewport=viewport)
            context.set_default_timeout(PATIENCE)
            self._known[kind] = context
        return self._known[kind]


@pytest.fixture(scope="session")
def profiles() -> Iterator[Profiles]:
    with chromium() as browser:
        yield Profiles(browser)


@pytest.fixture(scope="session")
def running_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with _offline(tmp_path_factory.mktemp("hub")) as server:
        yield server


@pytest.fixture
def server(running_server: Server) -> Iterator[Server]:
    """The server that the tests share; it must not have complained by the end of the test."""
    before = len(running_server.log())
    yield running_server
    assert "Traceback" not in running_server.log()[before:]


@pytest.fixture
def fresh_server(tmp_path: Path) -> Iterator[Server]:
    """A server that has shown nothing yet."""
    with _offline(tmp_path) as server:
        yield server
        assert "Traceback" not in server.log()


@pytest.fixture
def open_page(profiles: Profiles) -> Iterator[Open]:
    """open_page(url, language="en-US", scheme="light", size=DESKTOP): a new session of the app, at this address.

    By the end of the test no page may have reported an error or asked another host for anything.
    """
    pages: list[Page] = []
    complaints: list[str] = []

    def console(message: ConsoleMessage) -> None:
        if message.type == "error" and not _is_probe(message.location.get("url", "")):
            complaints.append(f"console: {message.text}")

    def response(answer: Response) -> None:
        if answer.status >= 400 and not _is_probe(answer.url):
            complaints.append(f"{answer.status}: {answer.url}")

    def request(asked: Request) -> None:
        address = urlsplit(asked.url)
        if address.scheme not in ("data", "blob") and address.hostname != "127.0.0.1":
            complaints.append(f"left this machine: {asked.url}")

    def failed(asked: Request) -> None:
        if asked.failure != "net::ERR_ABORTED":  # by the page itself, on leaving
            complaints.append(f"{asked.failure}: {asked.url}")

    def opened(
        url: str, *, language: Language = "en-US", scheme: Scheme = "light", size: tuple[int, int] = DESKTOP
    ) -> Page:
        page = profiles.get(language, scheme, size).new_page()
        pages.append(page)
        page.on("console", console)
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("response", response)
        page.on("request", request)
        page.on("requestfailed", failed)
        page.goto(url)
        settle(page)
        return page

    yield opened
    for page in pages:
        page.close()
    assert complaints == []


def _offline(hub: Path) -> Server:
    """A server without network, and with an empty folder for fetched models."""
    return Server(
        environment={"http_proxy": NOBODY, "https_proxy": NOBODY, "no_proxy": "127.0.0.1", "HF_HOME": str(hub)}
    )


def _is_probe(url: str) -> bool:
    path = urlsplit(url).path
    return path.endswith(PROBES) and path not in PROBES
