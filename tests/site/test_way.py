"""A sense of the way: the sidebar's folded parts, and the card of the next page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.site.built import Site

CHAIN_RULE = "chapters/foundations/chain-rule"


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with browser.new_context() as context:
        page = context.new_page()
        page.on("pageerror", lambda error: pytest.fail(f"script error: {error}"))
        page.goto(f"{address}/{CHAIN_RULE}.html")
        yield page


def test_only_the_sidebars_part_of_the_page_is_open(page: Page, address: str) -> None:
    opened = page.locator(".bd-links details[open] > summary")
    expect(opened).to_have_text("Foundations")
    other = page.locator(".bd-links summary", has_text="What it costs")
    other.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Time and FLOPs").first).to_be_visible()
    page.goto(f"{address}/chapters/intro.html")
    expect(opened).to_have_text("Foundations")


def test_a_page_ends_with_what_the_next_one_asks_and_draws(site: Site) -> None:
    card = site.document("chapters/foundations/computational-graph").select_one(".right-next")
    assert "2. The chain rule" in card.get_text()
    assert card.select_one(".ahead-asks").get_text().endswith("?")
    picture = card.select_one("img.ahead-picture")
    assert picture["alt"] == ""
    assert (site.folder / CHAIN_RULE / ".." / picture["src"]).resolve().exists()
