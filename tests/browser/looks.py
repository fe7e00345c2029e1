"""What the browser tests look at and touch, named once."""

import re

from playwright.sync_api import Locator, Page

from tools.browser import CHART, SLIDER, settle

MAIN = '[data-testid="stMain"]'
SIDEBAR = '[data-testid="stSidebar"]'
LANGUAGE = f'{SIDEBAR} [class*="st-key-language-"]'
TEXT_SIZE = f'{SIDEBAR} [class*="st-key-size-"]'
PRESETS = f'{SIDEBAR} [class*="-presets-"] button'
RESET = f'{SIDEBAR} [class*="-reset"] button'
SHARE = f'{SIDEBAR} [class*="-share"] button'
ADDRESS = f'{SIDEBAR} [data-testid="stCode"] code'
REFUSED = f"{MAIN} .atlas-refused"
ERRORS = f'{MAIN} :is([data-testid="stException"], [data-testid="stAlertContentError"])'

EXPERIMENTS = ("/open_book", "/three_matrices", "/longer", "/learning_heads")

# Vega numbers its clipping paths, and does not renew the label of an axis whose data change.
UNSEEN = r"""(?<=\bclip)\d+|(?<=\bgradient_)\d+| aria-label="[^"]*\""""


def title(page: Page) -> str:
    return page.locator(f"{MAIN} h1").first.inner_text()


def query(page: Page) -> str:
    return page.url.partition("?")[2]


def sliders(page: Page) -> dict[str, Locator]:
    """The sliders that can be moved, by key."""
    thumbs = page.locator(f"{SIDEBAR} {SLIDER} input[type=range]:enabled").all()
    return {
        thumb.evaluate(r"input => /st-key-(\w+)/.exec(input.closest('[class*=st-key-]').className)[1]"): thumb
        for thumb in thumbs
    }


def step(page: Page, thumb: Locator) -> None:
    """Move a slider by one step: up, or down where it is at its end. The address says so once it is at rest."""
    at_end = thumb.evaluate("input => Number(input.value) >= Number(input.max)")
    before = page.url
    thumb.press("ArrowLeft" if at_end else "ArrowRight")
    page.wait_for_url(lambda url: url != before)
    settle(page)


def pictures(page: Page) -> list[str]:
    """What every chart shows, as texts that differ where the pictures do."""
    read = "charts => charts.map(c => c.querySelector('canvas')?.toDataURL() ?? c.querySelector('svg').outerHTML)"
    return [parts(re.sub(UNSEEN, "", picture)) for picture in page.locator(CHART).evaluate_all(read)]


def parts(picture: str) -> str:
    """The elements of a picture in one order: Vega draws the ticks of a changed axis in another order than at first."""
    return "".join(sorted(re.split(r"(?=<)", picture)))


def choose(page: Page, place: str, label: str) -> None:
    """Choose one of the options that stand side by side in this place."""
    page.locator(place).get_by_role("radio", name=label, exact=True).click()
    settle(page)


def select(page: Page, place: str, label: str) -> None:
    """Choose from the list in this place."""
    page.locator(f'{place} button[aria-haspopup="listbox"]').click()
    page.get_by_role("option", name=label, exact=True).click()
    settle(page)


def press(page: Page, selector: str) -> None:
    page.locator(selector).click()
    settle(page)


def shared_address(page: Page) -> str:
    """What the Share button offers."""
    page.locator(SHARE).click()
    settle(page)
    return page.locator(ADDRESS).inner_text()
