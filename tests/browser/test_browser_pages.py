"""Every page of the registry: it opens, in each language, theme and size, to everybody."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import Open
from tests.browser.looks import ERRORS, LANGUAGE, MAIN, TEXT_SIZE, query, sliders, title
from tools.browser import CHART, Server, page_paths

pytestmark = pytest.mark.browser

PAGES = page_paths()
CHINESE = re.compile("[\u4e00-\u9fff]")
PHONE = (390, 844)

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
STREAMLITS_OWN: dict[str, str] = {}
"""Violations that are Streamlit's own and cannot be mended here: rule of axe → what the element's HTML contains."""


def ends(page: Page) -> dict[str, str]:
    """An end of every slider, where it does not stand now."""
    found = {}
    for key, thumb in sliders(page).items():
        low, high, now = (thumb.get_attribute(name) or "" for name in ("min", "max", "value"))
        found[key] = low if now == high else high
    return found


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("language", ["en-US", "zh-CN"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_opens(server: Server, open_page: Open, path: str, language: str, scheme: str) -> None:
    page = open_page(server.url + path, language=language, scheme=scheme)

    assert page.locator(ERRORS).count() == 0
    assert query(page) == ""
    assert page.title() not in ("", "Streamlit")
    assert bool(CHINESE.search(title(page))) == (language == "zh-CN")
    background = page.locator('[data-testid="stApp"]').evaluate("app => getComputedStyle(app).backgroundColor")
    assert (sum(int(part) for part in re.findall(r"\d+", background)[:3]) > 3 * 128) == (scheme == "light")


@pytest.mark.parametrize("path", PAGES)
def test_charts_are_drawn_and_described(server: Server, open_page: Open, path: str) -> None:
    page = open_page(server.url + path)
    for chart in page.locator(CHART).all():
        assert (chart.get_attribute("aria-label") or "").strip() != ""
        picture = chart.locator("svg, canvas").first.bounding_box()
        assert picture is not None
        assert picture["width"] > 50
        assert picture["height"] > 50


@pytest.mark.parametrize("path", PAGES)
def test_a_fresh_server_opened_at_a_page(server: Server, fresh_server: Server, open_page: Open, path: str) -> None:
    """The first request of a server must not bring Streamlit's older pages, which know no frame."""
    key, value = next(iter(ends(open_page(server.url + path)).items()), ("size", "projector"))

    page = open_page(f"{fresh_server.url}{path}?{key}={value}")

    assert title(page) != ""
    assert page.get_by_test_id("stTopNav").is_visible()
    assert page.locator(LANGUAGE).is_visible()
    assert query(page) == f"{key}={value}"
    if key in sliders(page):
        assert sliders(page)[key].input_value() == value


@pytest.mark.parametrize("path", PAGES)
def test_everything_fits_on_the_screen_of_a_desk(server: Server, open_page: Open, path: str) -> None:
    """1440 × 900: every control and every plot is visible without scrolling."""
    page = open_page(server.url + path)
    for chart in page.locator(CHART).all():
        box = chart.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 900
    choices = page.locator(TEXT_SIZE).bounding_box()
    assert choices is not None
    assert choices["y"] + choices["height"] <= 900


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_needs_no_sideways_scrolling(server: Server, open_page: Open, path: str) -> None:
    page = open_page(server.url + path, size=PHONE)
    for place in ("html", MAIN):
        wide, seen = page.locator(place).evaluate("e => [e.scrollWidth, e.clientWidth]")
        assert wide <= seen


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(server: Server, open_page: Open, path: str, scheme: str) -> None:
    """WCAG 2.2, levels A and AA, as far as axe-core can see."""
    page = open_page(server.url + path, scheme=scheme)
    found = Axe().run(page, options={"runOnly": WCAG}).response["violations"]
    ours = [
        f"{violation['id']}: {node['html'][:200]} {node['failureSummary']}"
        for violation in found
        for node in violation["nodes"]
        if not (violation["id"] in STREAMLITS_OWN and STREAMLITS_OWN[violation["id"]] in node["html"])
    ]
    assert ours == []
