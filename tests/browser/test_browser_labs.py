"""Trainings in a real browser: to their end, stopped, left, abandoned, and killed."""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NOBODY, Open, Profiles
from tests.browser.looks import EXPERIMENTS, title
from tools.browser import CHART, PATIENCE, Server, settle

pytestmark = pytest.mark.browser

PATH = "/three_matrices"
LONGEST = 12 * 60_000  # ms for a default training; about one minute on a quiet machine
STEP = re.compile(r"Step ([\d,]+) of ")
QUEUE = "You are number 1 in the queue: 1 training comes before yours."


@pytest.fixture
def one_place(tmp_path: Path) -> Iterator[Server]:
    """A fresh server that trains one thing at a time, and leaves no process behind."""
    offline = {"http_proxy": NOBODY, "https_proxy": NOBODY, "no_proxy": "127.0.0.1", "HF_HOME": str(tmp_path)}
    with Server(environment={**offline, "ATLAS_TRAININGS": "1"}) as server:
        yield server
        assert "Traceback" not in server.log()
        workers = server.children()
    until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE / 1000
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


def bar(page: Page) -> Locator:
    return page.locator(".st-key-lab_bar")


def button(page: Page, name: str) -> Locator:
    return bar(page).get_by_role("button", name=name, exact=False)


def start(page: Page) -> Page:
    button(page, "Start").click()
    return page


def running(page: Page) -> Page:
    expect(bar(page)).to_contain_text(STEP, timeout=PATIENCE)
    return page


def waiting(page: Page) -> Page:
    expect(bar(page)).to_contain_text(QUEUE, timeout=PATIENCE)
    return page


def steps(page: Page) -> int:
    found = STEP.search(bar(page).inner_text())
    return int(found[1].replace(",", "")) if found else 0


@pytest.fixture
def visit(profiles: Profiles, one_place: Server) -> Iterator[Callable[[], Page]]:
    """visit(): the page of the experiment, as another person sees it."""
    pages: list[Page] = []

    def opened() -> Page:
        page = profiles.get("en-US", "light", (1440, 900)).new_page()
        pages.append(page)
        page.goto(one_place.url + PATH)
        settle(page)
        return page

    yield opened
    for page in pages:
        page.close()


@pytest.mark.parametrize("path", EXPERIMENTS)
def test_an_experiment_runs_to_its_end(fresh_server: Server, open_page: Open, path: str) -> None:
    """At its default settings, on a server that has shown nothing yet."""
    page = start(open_page(fresh_server.url + path))
    expect(bar(page)).to_contain_text("Your run: ", timeout=LONGEST)
    settle(page)
    assert button(page, "Start").is_enabled()
    assert fresh_server.children() == []


def test_the_curve_grows_until_stop(one_place: Server, visit: Callable[[], Page]) -> None:
    page = running(start(visit()))
    first = steps(page)
    until(lambda: steps(page) > first)
    assert len(one_place.children()) == 1
    button(page, "Stop").click()
    expect(bar(page)).to_contain_text("Your run, stopped after ", timeout=PATIENCE)
    until(lambda: one_place.children() == [])
    expect(button(page, "Start")).to_be_enabled()
    expect(button(page, "Stop")).to_be_disabled()


def test_the_picture_stays_in_place_while_more_is_said_above_it(one_place: Server, visit: Callable[[], Page]) -> None:
    page = visit()
    page.goto(f"{one_place.url}/longer?longer_steps=100&longer_tune_steps=10")
    settle(page)
    running(start(page))
    tops, said, over = set(), set(), False
    while not over:
        over = "Your run: " in bar(page).inner_text()  # and then once more, with everything said
        tops.add(round(page.evaluate(f"document.querySelector('{CHART}').getBoundingClientRect().top")))
        said.add(page.locator(".atlas-look p").count())
        time.sleep(0.1)
    assert len(said) > 1
    assert len(tops) == 1


def test_a_browser_that_is_closed_frees_its_place(one_place: Server, visit: Callable[[], Page]) -> None:
    leaving, staying = running(start(visit())), waiting(start(visit()))
    (worker,) = one_place.children()
    leaving.close()
    running(staying)
    assert one_place.children() != [worker]


def test_leaving_the_page_frees_its_place_at_once(one_place: Server, visit: Callable[[], Page]) -> None:
    leaving, staying = running(start(visit())), waiting(start(visit()))
    (worker,) = one_place.children()
    before = title(leaving)
    leaving.get_by_test_id("stTopNav").get_by_text("Map", exact=True).first.click()
    until(lambda: title(leaving) != before)
    until(lambda: worker not in one_place.children())
    running(staying)


def test_a_reload_frees_its_place(one_place: Server, visit: Callable[[], Page]) -> None:
    """To the server it is a new browser, and the old one has gone."""
    page = running(start(visit()))
    (worker,) = one_place.children()
    page.reload()
    settle(page)
    assert steps(page) == 0
    running(start(page))
    assert worker not in one_place.children()


def test_a_killed_process_is_told_and_the_next_begins(one_place: Server, visit: Callable[[], Page]) -> None:
    unlucky, next_one = running(start(visit())), waiting(start(visit()))
    os.kill(one_place.children()[0], signal.SIGKILL)
    expect(bar(unlucky)).to_contain_text("The training’s process was ended from outside", timeout=PATIENCE)
    running(next_one)
    button(next_one, "Stop").click()
    running(start(unlucky))
