"""A Streamlit server of our own and a real Chromium, for the browser tests, the benchmark and the pictures."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from playwright.sync_api import Browser, Page, sync_playwright
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parent.parent
APP = ROOT / "streamlit_app.py"
CHART = '[data-testid="stVegaLiteChart"]'
SLIDER = '[data-testid="stSlider"]'
DESKTOP = (1440, 900)
PATIENCE = 120_000  # ms; a busy machine is slow

_CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
_ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_START = 60.0  # seconds until a server must answer

# Nothing runs, the title and every chart stand, and nothing more is coming: parts of Streamlit are loaded when needed.
_SETTLE = """async ([chart, patience]) => {
  const start = performance.now();
  let size = 0, since = start;
  while (performance.now() - since < 250) {
    await new Promise(next => setTimeout(next, 40));
    const app = document.querySelector('[data-testid="stApp"]');
    const ready = app?.getAttribute('data-test-script-state') === 'notRunning'
      && document.querySelector('[data-testid="stMain"] h1')
      && !document.querySelector('[data-testid="stSkeleton"]')
      && [...document.querySelectorAll(chart)].every(one => one.querySelector('svg, canvas'));
    const now = document.getElementsByTagName('*').length;
    if (!ready || now !== size) { size = now; since = performance.now(); }
    if (performance.now() - start > patience) throw Error('not settled: ' + app?.innerText);
  }
}"""


class Server:
    """The app (or another script) on a free port of 127.0.0.1, from `with` to the end of the block."""

    def __init__(self, script: Path = APP, environment: Mapping[str, str] | None = None) -> None:
        self._script = script
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}

    def __enter__(self) -> Self:
        self._port = _free_port()
        self._log = tempfile.NamedTemporaryFile(suffix=".log")
        options = {
            "server.port": self._port,
            "server.address": "127.0.0.1",
            "server.headless": "true",
            "server.fileWatcherType": "none",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", str(self._script)]
            + [f"--{name}={value}" for name, value in options.items()],
            cwd=ROOT,  # where .streamlit/config.toml is
            env=self._environment,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self._wait_until_it_answers()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def log(self) -> str:
        """All that the server has said so far."""
        return Path(self._log.name).read_text(encoding="utf-8")

    def memory(self) -> float | None:
        """Megabytes of resident memory, where the system tells (Linux)."""
        status = Path(f"/proc/{self._process.pid}/status")
        if not status.exists():
            return None
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024

    def children(self) -> list[int]:
        """The numbers of the processes that it has started and that have not gone, where the system tells (Linux)."""
        tasks = Path(f"/proc/{self._process.pid}/task").glob("*/children")
        return sorted(int(number) for task in tasks for number in task.read_text().split())

    def wait_until_idle(self, quiet: float = 1.0, longest: float = 60.0) -> None:
        """Wait until the background imports are over: until the server has needed no processor for `quiet` seconds.

        Where the system does not tell how busy the server is, wait for a time in which they should be over.
        """
        until, last, since = time.monotonic() + longest, None, time.monotonic()
        while time.monotonic() < until and time.monotonic() - since < quiet:
            time.sleep(0.1)
            used = self._processor_time()
            if used is None:
                time.sleep(15)
                return
            if last is None or used - last > 1:
                last, since = used, time.monotonic()

    def _processor_time(self) -> int | None:
        """In ticks, of which there are usually 100 a second."""
        stat = Path(f"/proc/{self._process.pid}/stat")
        if not stat.exists():
            return None
        fields = stat.read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def _wait_until_it_answers(self) -> None:
        until = time.monotonic() + _START
        while time.monotonic() < until and self._process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1) as answer:
                    answer.read()
                return
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                time.sleep(0.05)
        log = self.log()
        self.__exit__(None, None, None)
        raise RuntimeError(f"{self._script.name} did not start:\n{log}")


@contextmanager
def chromium(path: str | None = None) -> Iterator[Browser]:
    """A Chromium: the one at `path`, or at the environment's CHROMIUM, or at /usr/bin/chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path or _CHROMIUM, args=_ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def settle(page: Page) -> None:
    """Wait until the script has finished, and all that it shows is there."""
    page.evaluate(_SETTLE, [CHART, PATIENCE])


def page_paths() -> list[str]:
    """The address of every page in the registry, as a path: "/", "/translation", …"""
    script = (
        "import streamlit as st\n"
        "from pages.components import registry\n"
        "st.code('\\n'.join('/' + page.url_path for pages in registry.sections().values() for page in pages))"
    )
    run = AppTest.from_string(script).run(timeout=60)
    if run.exception:
        raise RuntimeError(f"the registry of pages fails: {run.exception[0].message}")
    return run.code[0].value.splitlines()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
