"""The heads page, as a person uses it: what can be clicked in its pictures."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.looks import query
from tools.browser import CHART, PATIENCE, Server, settle

pytestmark = pytest.mark.browser

OFF = ".st-key-heads_off input"


def click(page: Page, across: float, down: float) -> None:
    """At a place of the picture, both from 0 to 1."""
    box = page.locator(CHART).first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + across * box["width"], box["y"] + down * box["height"])


def test_a_head_is_chosen_on_the_board(server: Server, open_page: Open) -> None:
    page = open_page(f"{server.url}/heads")
    thumb = page.locator(".st-key-heads_head input[type=range]")
    for across, down, head in ((0.22, 0.85, "2"), (0.38, 0.12, "4"), (0.53, 0.5, "3")):  # weights, Q, the heads of K
        click(page, across, down)
        expect(thumb).to_have_value(head, timeout=PATIENCE)
    settle(page)
    assert query(page) == "heads_head=3"


def test_a_head_is_enlarged(server: Server, open_page: Open) -> None:
    page = open_page(f"{server.url}/heads?heads_view=gallery")
    click(page, 0.35, 0.38)  # a small map of the decoder
    expect(page.locator(".atlas-look")).to_contain_text("D2.3 is drawn large", timeout=PATIENCE)


def test_a_head_is_switched_off_and_on_again(server: Server, open_page: Open) -> None:
    page = open_page(f"{server.url}/heads?heads_view=off")
    for listed in ("E1.1", ""):
        click(page, 0.02, 0.33)
        expect(page.locator(OFF)).to_have_value(listed, timeout=PATIENCE)
        settle(page)
        assert ("heads_off=E1.1" in query(page)) == bool(listed)
