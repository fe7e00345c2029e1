"""The controls of every page, as a person uses them: sliders, language, Reset, Share, and the browser's own buttons."""

import random
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Open
from tests.browser.looks import (
    EXPERIMENTS,
    LANGUAGE,
    MAIN,
    PRESETS,
    REFUSED,
    RESET,
    choose,
    pictures,
    press,
    query,
    select,
    shared_address,
    sliders,
    step,
    title,
)
from tools.browser import PATIENCE, Server, page_paths, settle

pytestmark = pytest.mark.browser

PAGES = page_paths()
FEWEST_PICTURES = 3  # different ones, while a slider is dragged from one end to the other
NEVER_POSSIBLE = "nonsense"


@pytest.mark.parametrize("path", PAGES)
def test_a_slider_changes_address_and_chart(server: Server, open_page: Open, path: str) -> None:
    page = open_page(server.url + path)
    before, charts = pictures(page), []
    for key, thumb in sliders(page).items():
        step(page, thumb)
        assert f"{key}={thumb.input_value()}" in query(page)
        charts.append(pictures(page))
    if before and charts:
        assert any(after != before for after in charts)


@pytest.mark.parametrize("path", PAGES)
def test_another_language_keeps_what_was_chosen(server: Server, open_page: Open, path: str) -> None:
    page = open_page(server.url + path)
    for thumb in sliders(page).values():
        step(page, thumb)
    asked, english, values = query(page), title(page), [thumb.input_value() for thumb in sliders(page).values()]

    choose(page, LANGUAGE, "简体中文")

    assert title(page) != english
    assert [thumb.input_value() for thumb in sliders(page).values()] == values
    assert set(query(page).split("&")) == {*filter(None, asked.split("&")), "language=zh_CN"}

    choose(page, LANGUAGE, "English")

    assert title(page) == english
    assert set(query(page).split("&")) == set(asked.split("&"))


@pytest.mark.parametrize("path", PAGES)
def test_reset_clears_the_address(server: Server, open_page: Open, path: str) -> None:
    page = open_page(server.url + path)
    before = pictures(page)
    for thumb in sliders(page).values():
        step(page, thumb)
    if page.locator(RESET).count():
        press(page, RESET)
        page.wait_for_url(lambda url: "?" not in url)  # a slider whose bounds move takes one more run
        settle(page)
    assert query(page) == ""
    assert pictures(page) == before


@pytest.mark.parametrize("path", PAGES)
def test_a_bad_address_is_named(server: Server, open_page: Open, path: str) -> None:
    for key in sliders(open_page(server.url + path)):
        page = open_page(f"{server.url}{path}?{key}={NEVER_POSSIBLE}")
        expect(page.locator(REFUSED)).to_contain_text(NEVER_POSSIBLE)
        assert NEVER_POSSIBLE not in query(page)


@pytest.mark.parametrize("path", PAGES)
def test_a_shared_address_opens_the_same_screen(server: Server, open_page: Open, path: str) -> None:
    page = open_page(server.url + path)
    known = sliders(page)
    if not known:
        return
    for thumb in known.values():
        step(page, thumb)
    choose(page, LANGUAGE, "简体中文")

    other = open_page(shared_address(page))

    assert title(other) == title(page)
    assert [thumb.input_value() for thumb in sliders(other).values()] == [
        thumb.input_value() for thumb in sliders(page).values()
    ]
    assert pictures(other) == pictures(page)


# Sliders of experiments choose what shall be trained, which is not seen before it is.
@pytest.mark.parametrize("path", [path for path in PAGES if path not in EXPERIMENTS])
def test_plots_follow_a_dragged_slider(server: Server, open_page: Open, path: str) -> None:
    """New pictures come while the pointer is down; the last one is that of the value where it was released."""
    page = open_page(server.url + path)
    thumb = next(filter(follows, sliders(page).values()), None)
    if thumb is None or not pictures(page):
        return
    knob, track = (thumb.locator(f"xpath=ancestor::*[@data-rac][{level}]").bounding_box() for level in (1, 2))
    assert knob is not None
    assert track is not None
    y = knob["y"] + knob["height"] / 2

    page.mouse.move(knob["x"] + knob["width"] / 2, y)
    page.mouse.down()
    seen = []
    for place in (0, 1 / 4, 1 / 2, 3 / 4, 1):
        page.mouse.move(track["x"] + track["width"] * place, y, steps=5)
        settle(page)
        seen.append(tuple(pictures(page)))
    assert len(set(seen)) >= FEWEST_PICTURES
    page.mouse.up()
    page.wait_for_timeout(1000)  # a slow machine may not have begun with the last one yet
    settle(page)

    assert thumb.input_value() == thumb.get_attribute("max")
    assert pictures(page) == pictures(open_page(page.url))


def follows(thumb: Locator) -> bool:
    """Whether it has many values, and is not one of those that wait for their release, where a move is expensive."""
    steps: float = thumb.evaluate("input => (input.max - input.min) / (Number(input.step) || 1)")
    calm: bool = thumb.evaluate("input => input.closest('[class*=_calm]') !== null")
    return steps >= FEWEST_PICTURES and not calm


@pytest.mark.parametrize("path", [path for path in PAGES if path != "/"])
def test_menu_and_back_button(server: Server, open_page: Open, path: str) -> None:
    page = open_page(server.url)
    home = title(page)

    follow(page, path)
    there = title(page)
    assert there != home
    assert page.url == server.url + path
    for thumb in sliders(page).values():
        step(page, thumb)
    asked = page.url

    page.go_back()
    settle(page)
    assert title(page) == home

    page.go_forward()
    settle(page)
    assert title(page) == there
    assert page.url == asked


def test_a_page_that_was_left_by_the_menu_still_stands_as_it_did(server: Server, open_page: Open) -> None:
    page = open_page(f"{server.url}/masks")
    step(page, sliders(page)["masks_query"])
    follow(page, "/rank")
    assert query(page) == ""
    follow(page, "/masks")
    assert query(page) == "masks_query=6"
    assert sliders(page)["masks_query"].input_value() == "6"


def follow(page: Page, path: str) -> None:
    """Open a page by the menu bar, where it stands by itself or in one of the sections."""
    link = page.locator(f'a[href$="{path}"]:visible')
    for section in page.get_by_test_id("stTopNavSection").all():
        if link.count():
            break
        section.click()
        page.get_by_role("menu").wait_for()
    link.first.click()
    page.wait_for_url(re.compile(re.escape(path)))
    settle(page)


def test_the_address_keeps_a_slider_whose_bounds_have_moved(server: Server, open_page: Open) -> None:
    page = open_page(server.url + "/translation")
    page.locator(PRESETS).nth(2).click()  # a longer sentence, at its fifth step
    page.wait_for_url(re.compile("translation_step=5"))
    settle(page)
    shown = pictures(page)
    page.reload()
    settle(page)
    assert page.locator(".st-key-translation_step input").input_value() == "5"
    assert pictures(page) == shown


def test_the_address_keeps_a_slider_whose_usual_value_has_moved(server: Server, open_page: Open) -> None:
    """Of eight dimensions the last is the usual one, of ten still the last: number 7 is then another."""
    page = open_page(f"{server.url}/sinusoidal?sinusoidal_d_model=8")
    step(page, sliders(page)["sinusoidal_d_model"])
    assert "sinusoidal_j=7" in query(page)
    shown = pictures(page)
    page.reload()
    settle(page)
    assert sliders(page)["sinusoidal_j"].input_value() == "7"
    assert pictures(page) == shown


@pytest.mark.parametrize(
    ("path", "preset", "key", "value"),
    [
        ("/rank", "Large weights", "rank_scale", "3"),
        ("/heads?heads_view=off", "One number each", "heads_head", "5"),
        ("/sinusoidal?sinusoidal_view=sentence", "512 dimensions", "sinusoidal_d_model", "512"),
    ],
)
def test_the_address_keeps_what_a_preset_of_another_view_says(
    server: Server, open_page: Open, path: str, preset: str, key: str, value: str
) -> None:
    page = open_page(server.url + path)
    page.locator(PRESETS).filter(has_text=preset).click()
    page.wait_for_url(re.compile(rf"{key}={value}\b"))
    settle(page)
    page.reload()
    settle(page)
    assert page.locator(f".st-key-{key} input").input_value() == value


def test_the_address_says_what_a_slider_shows_long_after_the_run(server: Server, open_page: Open) -> None:
    """On a busy machine the browser may know the end of a run well before it has drawn what the run says."""
    page = open_page(server.url + "/masks")
    page.wait_for_timeout(1500)  # nothing is looked at any more
    late = "input => { input.value = 7; input.setAttribute('value', 7) }"  # as React does it
    sliders(page)["masks_query"].evaluate(late)
    page.wait_for_url(re.compile("masks_query=7"))


def test_what_is_drawn_again_turns_pale_only_if_it_takes_long(server: Server, open_page: Open) -> None:
    page = open_page(server.url + "/masks")
    app, part = page.locator('[data-testid="stApp"]'), page.locator(f"{MAIN} [data-testid='stElementContainer']").first
    fades = "part => { part.dataset.stale = 'true'; return getComputedStyle(part).transitionProperty !== 'none' }"
    runs = "(app, state) => app.setAttribute('data-test-script-state', state)"
    assert not part.evaluate(fades)
    app.evaluate(runs, "running")
    assert not part.evaluate(fades)
    expect(app).to_have_attribute("data-long", "", timeout=PATIENCE)
    assert part.evaluate(fades)
    app.evaluate(runs, "notRunning")
    expect(app).not_to_have_attribute("data-long", "", timeout=PATIENCE)
    assert not part.evaluate(fades)


def test_back_takes_a_choice_back(server: Server, open_page: Open) -> None:
    page = open_page(server.url + "/translation")
    before = pictures(page)
    choose(page, ".st-key-translation_method-en", "Beam")
    assert "translation_method=beam" in query(page)
    page.go_back()
    expect(page.get_by_role("radio", name="Greedy", exact=True)).to_be_checked()
    settle(page)
    assert pictures(page) == before


def test_where_sliders_stood_is_no_step_of_the_history(server: Server, open_page: Open) -> None:
    page = open_page(server.url + "/masks")
    steps = "history.length"
    before = page.evaluate(steps)
    for thumb in sliders(page).values():
        step(page, thumb)
    moved = query(page)
    select(page, ".st-key-masks_view-en", "Context and gradient")
    assert page.evaluate(steps) == before + 1
    page.go_back()
    page.wait_for_url(lambda url: "masks_view" not in url)
    settle(page)
    assert query(page) == moved
    press(page, RESET)
    assert query(page) == ""
    assert page.evaluate(steps) == before + 1  # Reset took the place of what was ahead


def test_charts_change_their_colours_with_the_theme(server: Server, open_page: Open) -> None:
    page = open_page(server.url + "/translation")
    light = pictures(page)
    page.emulate_media(color_scheme="dark")
    expect(page.locator('[data-testid="stVegaLiteChart"] text').first).to_have_attribute("fill", "#e6eaf0")
    assert pictures(page) != light


def test_charts_take_the_room_that_there_is(server: Server, open_page: Open) -> None:
    page = open_page(server.url + "/translation")
    chart = page.locator(f'{MAIN} [data-testid="stVegaLiteChart"]').first
    width = "chart => chart.querySelector('svg').getBoundingClientRect().width"
    before = chart.evaluate(width)
    page.set_viewport_size({"width": 1100, "height": 900})
    expect(chart.locator("svg")).not_to_have_attribute("width", re.compile(rf"^{before:.0f}"))
    settle(page)
    assert chart.evaluate(width) < before
    assert chart.evaluate("chart => chart.scrollWidth <= chart.clientWidth + 1")


def test_keys_in_quick_succession_leave_the_page_alive(server: Server, open_page: Open) -> None:
    """Each press asks for a run before the one before is over; the picture is that of the last value all the same."""
    page = open_page(f"{server.url}/masks")
    thumb = page.locator(".st-key-masks_query input[type=range]")
    thumb.focus()
    drawn = random.Random(0)
    for _ in range(250):
        page.keyboard.press(drawn.choice(["ArrowLeft", "ArrowRight"]))
        page.wait_for_timeout(drawn.choice([5, 20, 50, 90]))
    page.wait_for_timeout(1000)  # a slow machine may not have begun with the last one yet
    settle(page)
    assert page.get_by_role("dialog").count() == 0
    last = pictures(page)
    page.reload()
    settle(page)
    assert pictures(page) == last
