"""A sense of the way: the sidebar's folded parts, and the card of the next page."""

from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.site.built import Site

CHAIN_RULE = "chapters/foundations/chain-rule"
GRAPHS = "chapters/foundations/computational-graph"
# What a mark shows, and its contrast with the sidebar's ground.
MARK = """link => {
    const light = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
        .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0.05);
    const { content, color } = getComputedStyle(link, "::after");
    const ground = getComputedStyle(link.closest(".bd-sidebar-primary")).backgroundColor;
    const [dark, bright] = [light(color), light(ground)].sort((one, other) => one - other);
    return [content, bright / dark];
}"""


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


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lessons_that_are_finished_and_begun_keep_their_marks(
    browser: Browser, address: str, theme: Literal["light", "dark"]
) -> None:
    with browser.new_context(color_scheme=theme) as context:
        page = context.new_page()
        page.goto(f"{address}/{GRAPHS}.html")
        page.evaluate("kept.replace('reading', {})")  # questions count again
        skip = page.get_by_role("button", name="Skip the question")
        skip.first.click()
        page.goto(f"{address}/{CHAIN_RULE}.html")
        for _ in range(skip.count()):
            skip.first.click()
        finished = page.locator(".bd-links a[data-state=finished]")
        expect(finished).to_have_count(0)
        page.locator(".prev-next-area").scroll_into_view_if_needed()
        expect(finished).to_have_count(1)
        page.reload()
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        expect(finished).to_have_accessible_name("2. The chain rule, finished")
        begun = page.locator(".bd-links a[data-state=begun]")
        expect(begun).to_have_accessible_name("1. Computational graphs, begun")
        for mark, shown in ((finished, '"✓"'), (begun, '""')):
            content, contrast = mark.evaluate(MARK)
            assert content == shown
            assert contrast > 3
