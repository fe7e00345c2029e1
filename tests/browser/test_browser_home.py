"""The map: a click on a block opens the page that explains it."""

import pytest

from tests.browser.conftest import Open
from tests.browser.looks import MAIN, title
from tools.browser import CHART, Server, page_paths, settle

pytestmark = pytest.mark.browser

BLOCKS = f"{CHART} .linked_marks path"


def test_a_block_leads_to_its_page(server: Server, open_page: Open) -> None:
    page = open_page(server.url)
    home = title(page)
    assert page.locator(BLOCKS).count() > 0
    for number in range(page.locator(BLOCKS).count()):
        page.locator(BLOCKS).nth(number).click(force=True)  # its label lies above it
        page.wait_for_url(lambda address: address.rstrip("/") != server.url)
        settle(page)
        assert title(page) != home
        page.go_back()
        settle(page)
        assert title(page) == home


def test_links_lead_to_every_page(server: Server, open_page: Open) -> None:
    """For those who cannot click on a picture."""
    page = open_page(server.url)
    links = page.locator(f'{MAIN} [data-testid="stPageLink"] a').evaluate_all("links => links.map(link => link.href)")
    assert links == [server.url + path for path in page_paths() if path != "/"]
