"""The translation page, as a person uses it: every control, and what can be clicked."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.looks import (
    ERRORS,
    MAIN,
    PRESETS,
    SIDEBAR,
    TEXT_SIZE,
    choose,
    pictures,
    query,
    select,
    sliders,
    step,
)
from tools.browser import CHART, PATIENCE, Server, settle

pytestmark = pytest.mark.browser

CAT = "J'ai vu un chat noir dans le jardin."
RESULT = f"{MAIN} .atlas-result"
CANDIDATES = f"{CHART} .next_candidates_marks path"
LOOKS, CELLS = (f"{CHART} .{name}_marks path" for name in ("looks_bars", "all_cells_0"))
SAID = f"{MAIN} .atlas-tokens"
METHOD, VIEW, LAYER, HEAD = (f'[class*="st-key-translation_{name}-"]' for name in ("method", "view", "layer", "head"))
FOLDED = ".st-key-translation-folded"
PLAY, STOP = (f".st-key-translation-{name} button" for name in ("play", "stop"))


@pytest.fixture
def page(server: Server, open_page: Open) -> Page:
    return open_page(f"{server.url}/translation")


def said_of(page: Page, place: str) -> list[str | None]:
    """What assistive technology hears of the marks there."""
    return [mark.get_attribute("aria-label") for mark in page.locator(place).all()]


def unfold(page: Page, label: str) -> None:
    page.locator('[class*="st-key-translation-fold-"]').get_by_text(label).click()
    settle(page)


def write(page: Page, sentence: str) -> None:
    page.locator(".st-key-translation_sentence input").fill(sentence)
    page.keyboard.press("Enter")
    settle(page)


def test_a_sentence_is_translated(page: Page) -> None:
    before = page.locator(RESULT).inner_text()
    write(page, CAT)
    assert page.locator(RESULT).inner_text() not in ("", before)
    assert "translation_sentence=" in query(page)


def test_each_step_changes_the_picture(page: Page) -> None:
    write(page, CAT)
    settle(page)
    thumb = sliders(page)["translation_step"]
    assert all(page.locator(place).count() for place in (CANDIDATES, LOOKS, CELLS))
    seen = [pictures(page)]
    for _ in range(3):
        step(page, thumb)
        assert pictures(page) != seen[-1]
        seen.append(pictures(page))


def test_play_walks_to_the_last_step(page: Page) -> None:
    thumb = sliders(page)["translation_step"]
    page.locator(PLAY).click()
    page.locator(STOP).wait_for()
    expect(thumb).to_have_value(thumb.get_attribute("max") or "", timeout=PATIENCE)
    page.locator(PLAY).wait_for()
    assert page.locator(STOP).count() == 0


def test_stop_stays_where_it_is(page: Page) -> None:
    write(page, CAT)
    thumb = sliders(page)["translation_step"]
    page.locator(PLAY).click()
    expect(thumb).to_have_value("2", timeout=PATIENCE)
    page.locator(STOP).click()
    page.locator(PLAY).wait_for()
    settle(page)
    stopped = thumb.input_value()
    page.wait_for_timeout(2000)  # more than two steps of Play
    assert thumb.input_value() == stopped


def test_a_clicked_candidate_is_said(page: Page) -> None:
    before, own = pictures(page), page.locator(RESULT).inner_text()

    page.locator(CANDIDATES).nth(1).click(force=True)  # its bar and its name lie above it
    page.wait_for_url(re.compile("translation_forced="))
    settle(page)

    forced = page.locator(RESULT).inner_text()
    assert forced != own
    assert page.locator(ERRORS).count() == 0

    page.locator(CANDIDATES).nth(1).click(force=True)  # the same place again: nothing is there to be undone by it
    settle(page)
    assert page.locator(RESULT).inner_text() == forced

    page.locator(SIDEBAR).get_by_role("button", name="Let the model speak for itself").click()
    settle(page)
    assert page.locator(RESULT).inner_text() == own
    assert pictures(page) == before
    assert query(page) == ""


def test_a_clicked_row_of_the_alignment_is_the_step(page: Page) -> None:
    keys = page.locator(f"{MAIN} .atlas-token").count()
    assert keys > 0
    cells = page.locator(CELLS)
    last = cells.count() - 1
    cells.nth(last).click(force=True)
    page.wait_for_url(re.compile("translation_step="))
    settle(page)
    thumb = sliders(page)["translation_step"]
    assert thumb.input_value() == thumb.get_attribute("max")


def test_layer_and_head_choose_the_attention(page: Page) -> None:
    mean, candidates = pictures(page), said_of(page, CANDIDATES)
    select(page, LAYER, "2")
    layer = pictures(page)
    assert layer != mean
    select(page, HEAD, "3")
    assert pictures(page) != layer
    assert said_of(page, CANDIDATES) == candidates  # what could come next has nothing to do with it
    assert "translation_layer=2" in query(page)
    assert "translation_head=3" in query(page)


def test_beams_draw_a_tree(page: Page) -> None:
    choose(page, METHOD, "Beam")
    select(page, VIEW, "Beam tree")
    assert len(pictures(page)) == 1
    for key, thumb in sliders(page).items():
        before = page.locator(MAIN).inner_text(), pictures(page)
        step(page, thumb)
        after = page.locator(MAIN).inner_text(), pictures(page)
        assert after != before, key


def test_sampling_follows_its_seed(page: Page) -> None:
    write(page, CAT)
    choose(page, METHOD, "Sampled")
    found = sliders(page)
    found["translation_temperature"].press("End")
    settle(page)
    said = set()
    for _ in range(5):
        step(page, found["translation_seed"])
        said.add(page.locator(RESULT).inner_text())
    assert len(said) > 1

    found["translation_top_k"].press("ArrowRight")  # of one token there is nothing to choose from
    settle(page)
    first = page.locator(RESULT).inner_text()
    step(page, found["translation_seed"])
    assert page.locator(RESULT).inner_text() == first


def test_the_encoder_looks_at_itself(page: Page) -> None:
    select(page, VIEW, "Encoder")
    before = pictures(page)
    assert len(before) == 1
    select(page, HEAD, "1")
    assert pictures(page) != before
    assert "d_model" in page.locator(MAIN).inner_text()


def test_presets_show_their_point(page: Page) -> None:
    start = pictures(page)
    for button in page.locator(PRESETS).all():
        button.click()
        settle(page)
        assert pictures(page) != start
        assert page.locator(ERRORS).count() == 0


@pytest.mark.parametrize(
    "sentence",
    ["😀 🎉", "أحبك", "<img src=missing.png onerror=alert(1)><b>gras</b>", "Je t'aime. " * 900, "$x_1$ **a** :red[b]"],
)
def test_odd_sentences(page: Page, sentence: str) -> None:
    """They are translated as they are: nothing of them becomes part of the page."""
    write(page, sentence)
    assert page.locator(ERRORS).count() == 0
    assert page.locator(f"{MAIN} :is(img, .atlas-tokens b b)").count() == 0
    assert page.locator(SAID).count() > 0


def test_an_empty_sentence(page: Page) -> None:
    write(page, "")
    assert page.locator(ERRORS).count() == 0
    assert "Type a sentence" in page.locator(MAIN).inner_text()


def test_a_model_that_cannot_be_fetched(page: Page) -> None:
    """There is no network here: one sentence says so, and the bundled model stays in use."""
    own = page.locator(RESULT).inner_text()
    select(page, '[class*="st-key-translation_model-"]', "T5-small, from English")
    page.locator(SIDEBAR).get_by_role("button", name=re.compile(r"Fetch \d+ MB")).click()
    page.get_by_text("The model hub cannot be reached.").wait_for(timeout=PATIENCE)
    assert page.locator(RESULT).inner_text() == own


def test_the_folded_parts(page: Page, tmp_path: Path) -> None:
    for label, what in (("Formula", ".katex"), ("Code that ran", "code"), ("Read more", "a")):
        unfold(page, label)
        page.locator(f"{FOLDED} {what}").first.wait_for()

    unfold(page, "Take it along")
    for ending, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG"), ("ZIP", b"PK"), ("PyTorch", b"")):
        with page.expect_download() as download:
            page.locator(FOLDED).get_by_role("button", name=ending).first.click()
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        assert file.stat().st_size > 100
        assert file.read_bytes().startswith(begins)


def test_projector_size(page: Page) -> None:
    size = page.locator("html").evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
    text = page.locator(f"{MAIN} .atlas-look")
    before = text.bounding_box()
    choose(page, TEXT_SIZE, "projector")
    after = text.bounding_box()
    grown = page.locator("html").evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
    assert before is not None
    assert after is not None
    assert grown > size or after["height"] > before["height"]
    assert "size=projector" in query(page)
