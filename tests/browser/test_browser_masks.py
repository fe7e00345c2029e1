"""The masks page, as a person uses it: cells are clicked, or chosen and turned with the keyboard."""

import re
import urllib.parse

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.looks import ERRORS, MAIN, query, sliders
from tools.browser import CHART, PATIENCE, Server, settle

pytestmark = pytest.mark.browser

LOOK = f"{MAIN} .atlas-look"
TURN, REOPEN = (f".st-key-masks-{name} button" for name in ("turn", "reopen"))
OWN = "masks_kind=own&masks_sentences=" + urllib.parse.quote("The cat sat down")


def click(page: Page, heatmap: int, cell: int) -> None:
    page.locator(f"{CHART} .grids_cells_{heatmap}_marks path").nth(cell).click()


def says(page: Page, parameter: str, value: str | None) -> None:
    """Wait until the address says so of a parameter, or nothing."""
    pattern = re.compile(rf"masks_{parameter}=" + ("" if value is None else rf"{value}(&|$)"))
    if value is None:
        expect(page).not_to_have_url(pattern, timeout=PATIENCE)
    else:
        expect(page).to_have_url(pattern, timeout=PATIENCE)
    settle(page)


def test_a_click_goes_to_the_row(server: Server, open_page: Open) -> None:
    page = open_page(f"{server.url}/masks")
    click(page, 2, 9 * 6 + 3)
    says(page, "query", "7")
    expect(page.locator(LOOK)).to_contain_text("“.” may look at 7 of 9 tokens", timeout=PATIENCE)
    assert sliders(page)["masks_query"].input_value() == "7"
    assert page.locator(ERRORS).count() == 0


def test_a_cell_of_ones_own_is_closed_and_opened_again_by_clicks(server: Server, open_page: Open) -> None:
    page = open_page(f"{server.url}/masks?{OWN}")
    for closed in ("0-0-2", None):
        click(page, 1, 4 * 2 + 1)
        says(page, "closed", closed and f"{closed}-0")
        expect(page.locator(LOOK)).to_contain_text(f"may look at {3 if closed else 4} of 4", timeout=PATIENCE)


def test_a_cell_of_ones_own_is_closed_with_the_keyboard(server: Server, open_page: Open) -> None:
    page = open_page(f"{server.url}/masks?{OWN}")
    sliders(page)["masks_key"].press("ArrowRight")
    says(page, "key", "3")
    page.locator(TURN).first.press("Enter")
    says(page, "closed", "0-0-0-4")
    expect(page.locator(LOOK)).to_contain_text("“down” may not look at “sat”, number 3", timeout=PATIENCE)
    page.locator(REOPEN).first.press("Enter")
    says(page, "closed", None)
    assert "masks_key=3" in query(page)
