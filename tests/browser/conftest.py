"""The app in a real Chromium: `pytest -m browser`. CHROMIUM names the browser if it is not /usr/bin/chromium."""

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response

from tools.browser import DESKTOP, Server, chromium, settle

OFFLINE = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")  # nobody answers there
"""The app needs no network: a server that tried to use it would fail."""

PROBES = ("/_stcore/health", "/_stcore/host-config")
"""Under /<page>/ Streamlit's frontend looks for these first, gets a 404, and goes on at the root."""

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def running_server() -> Iterator[Server]:
    with Server(environment=OFFLINE) as server:
        yield server


@pytest.fixture
def server(running_server: Server) -> Iterator[Server]:
    """The server that the tests share; it must not have complained by the end of the test."""
    before = len(running_server.log())
    yield running_server
    assert "Traceback" not in running_server.log()[before:]


@pytest.fixture
def fresh_server() -> Iterator[Server]:
    """A server that has shown nothing yet."""
    with Server(environment=OFFLINE) as server:
        yield server
        assert "Traceback" not in server.log()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """open_page(url, language="en", scheme="light", size=…): a browser that has seen nothing yet, at this address.

    By the end of the test no page may have reported an error or asked another host for anything.
    """
    contexts = []
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

    def opened(url: str, *, language: str = "en-US", scheme: str = "light", size: tuple[int, int] = DESKTOP) -> Page:
        context = browser.new_context(
            locale=language, color_scheme=scheme, viewport={"width": size[0], "height": size[1]}
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", console)
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("response", response)
        page.on("request", request)
        page.on("requestfailed", failed)
        page.goto(url)
        settle(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def _is_probe(url: str) -> bool:
    path = urlsplit(url).path
    return path.endswith(PROBES) and path not in PROBES
