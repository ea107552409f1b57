"""A sense of the way: marks at lessons, folded parts, the course as a graph, the next card."""

from collections.abc import Iterator
from itertools import product

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.axe import severe
from tests.site.audit import DESKTOP, PHONE
from tests.site.built import Site

CHAIN_RULE = "chapters/foundations/chain-rule"
PROGRESS = "chapters/reference/progress"


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with browser.new_context() as context:
        page = context.new_page()
        page.on("pageerror", lambda error: pytest.fail(f"script error: {error}"))
        page.goto(f"{address}/{CHAIN_RULE}.html")
        yield page


def mark(page: Page) -> Locator:
    return page.locator(".bd-links").get_by_role("link", name="2. The chain rule")


def test_a_lesson_is_begun_and_then_finished(page: Page, address: str) -> None:
    expect(mark(page)).to_have_attribute("data-state", "")
    page.get_by_role("button", name="Skip the question").first.click()
    expect(mark(page)).to_have_accessible_name("2. The chain rule, begun")
    page.locator(".prev-next-area").scroll_into_view_if_needed()
    expect(mark(page)).to_have_attribute("data-state", "begun")  # other questions are open
    for skip in page.get_by_role("button", name="Skip the question").all()[::-1]:
        skip.click()
    expect(mark(page)).to_have_accessible_name("2. The chain rule, finished")
    page.goto(f"{address}/{PROGRESS}.html")
    drawn = page.locator(".course-graph a[data-state='finished']")
    expect(drawn).to_have_accessible_name("2. The chain rule, finished")
    drawn.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{address}/{CHAIN_RULE}.html")


def test_only_the_sidebars_part_of_the_page_is_open(page: Page, address: str) -> None:
    opened = page.locator(".bd-links details[open] > summary")
    expect(opened).to_have_text("Foundations")
    other = page.locator(".bd-links summary", has_text="What it costs")
    other.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="14. Time and FLOPs").first).to_be_visible()
    page.goto(f"{address}/chapters/intro.html")
    expect(opened).to_have_text("Foundations")


def test_a_page_ends_with_what_the_next_one_asks_and_draws(site: Site) -> None:
    card = site.document("chapters/foundations/computational-graph").select_one(".right-next")
    assert "2. The chain rule" in card.get_text()
    assert card.select_one(".ahead-asks").get_text().endswith("?")
    picture = card.select_one("img.ahead-picture")
    assert picture["alt"] == ""
    assert (site.folder / CHAIN_RULE / ".." / picture["src"]).resolve().exists()


@pytest.mark.walk
def test_axe_finds_nothing_serious(page: Page, address: str) -> None:
    page.get_by_role("button", name="Never veil").first.click()
    page.locator(".prev-next-area").scroll_into_view_if_needed()
    expect(mark(page)).to_have_attribute("data-state", "finished")
    page.goto(f"{address}/{PROGRESS}.html")
    for theme, width in product(("light", "dark"), (PHONE, DESKTOP)):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        assert not severe(page, within="body", colours=theme == "dark")
