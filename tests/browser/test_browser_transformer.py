"""The page on the whole Transformer, as a person uses it: what can be clicked in its pictures."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Open
from tests.browser.looks import ERRORS, query, title
from tools.browser import CHART, PATIENCE, Server, settle

pytestmark = pytest.mark.browser

FACTS = ".atlas-facts"


def text(page: Page, words: str, number: int = 0) -> Locator:
    return page.locator(f"{CHART} svg text", has_text=words).nth(number)


def click(page: Page, words: str, number: int = 0) -> None:
    """Click what these words lie on, when the picture stands: one that is being drawn again hears no click."""
    settle(page)
    text(page, words, number).click(force=True)


def test_a_block_is_chosen_in_the_diagram_and_in_the_table(server: Server, open_page: Open) -> None:
    page = open_page(f"{server.url}/transformer")
    for words, number, shown in (
        ("Cross-attention", 0, "Cross-attention · Decoder · 6 layers"),
        ("Normalisation", 2, "Normalisation · Decoder · 6 layers"),
        ("126 M", 0, "Feed-forward · Encoder · 6 layers"),  # a number in the table
        ("Output scores", 0, "Scores every token"),
    ):
        click(page, words, number)
        expect(page.locator(FACTS)).to_contain_text(shown, timeout=PATIENCE)
    settle(page)
    assert query(page) == "transformer_block=decoder.output"


def test_a_click_beside_the_blocks_changes_nothing(server: Server, open_page: Open) -> None:
    page = open_page(f"{server.url}/transformer")
    click(page, "126 M")
    expect(page.locator(FACTS)).to_contain_text("Feed-forward · Encoder", timeout=PATIENCE)
    click(page, "Cross-attention")
    expect(page.locator(FACTS)).to_contain_text("Cross-attention · Decoder", timeout=PATIENCE)
    for words in ("1 × 9 × 37000", "Decoder ·"):
        click(page, words)
        settle(page)
    assert page.locator(ERRORS).count() == 0
    expect(page.locator(FACTS)).to_contain_text("Cross-attention · Decoder")


def test_a_block_leads_to_the_page_that_explains_it(server: Server, open_page: Open) -> None:
    page = open_page(f"{server.url}/transformer?transformer_block=decoder.self_attention")
    page.get_by_test_id("stPageLink-NavLink").click()
    page.wait_for_url("**/masks")
    settle(page)
    assert title(page) == "Masks"


def test_a_normalisation_leads_to_the_choices(server: Server, open_page: Open) -> None:
    page = open_page(f"{server.url}/transformer?transformer_block=encoder.norm.feed_forward")
    page.get_by_role("button", name="More about “Normalisation”").click()
    expect(page.locator(".atlas-look")).to_contain_text("post-norm decoder", timeout=PATIENCE)
    settle(page)
    assert "transformer_view=choices" in query(page)


def test_a_token_is_chosen_among_those_that_look(server: Server, open_page: Open) -> None:
    page = open_page(f"{server.url}/transformer?transformer_view=families")
    click(page, "sleeps")
    expect(page.locator(".atlas-look")).to_contain_text("“sleeps” looks at 5 of 5", timeout=PATIENCE)
    click(page, "noir")  # of the source, which the encoder reads
    settle(page)
    assert query(page) == "transformer_view=families&transformer_position=5"


def test_a_token_is_chosen_in_either_heatmap(server: Server, open_page: Open) -> None:
    page = open_page(f"{server.url}/transformer?transformer_view=stream")
    for words, asked in (
        ("0.69", {"transformer_encoder=1"}),
        ("1.95", {"transformer_encoder=1", "transformer_decoder=1"}),
    ):
        click(page, words)
        page.wait_for_function("asked => asked.every(each => location.search.includes(each))", arg=list(asked))
        settle(page)
    assert page.locator(ERRORS).count() == 0
