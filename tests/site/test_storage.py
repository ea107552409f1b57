"""Browsers that store nothing: the site works, and says where it would have kept something."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.site.test_kept import FULL

LESSON = "chapters/foundations/chain-rule"
PAGES = (
    LESSON,
    "chapters/intro",
    "chapters/practice/drills",
    "chapters/reference/progress",
    "search",
)
DENIED = """for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name, {
        get: () => { throw new DOMException("denied", "SecurityError"); },
    });"""
WHYS = {DENIED: "allows no storage", FULL: "storage is full"}
Open = Callable[[str], Page]


@pytest.fixture
def opened(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Pages in a browser in which a script has spoiled storage; none of them ends in an error."""
    with browser.new_context(reduced_motion="reduce") as context:
        context.add_init_script(request.param)
        page = context.new_page()
        page.on("pageerror", lambda error: pytest.fail(f"script error: {error}"))

        def open_page(document: str) -> Page:
            page.goto(f"{address}/{document}.html")
            return page

        yield open_page


def themes(page: Page, times: int) -> list[str]:
    """What the button for light and dark makes of the page, time after time."""
    found = []
    for _ in range(times):
        found.append(page.evaluate("document.documentElement.dataset.mode"))
        page.locator(".theme-switch-button:visible").first.click()
    return found


def search_and_switch(page: Page) -> None:
    seen = themes(page, 4)
    assert sorted(seen[:3]) == ["auto", "dark", "light"]
    assert all(one != other for one, other in pairwise(seen))
    page.locator(".search-button__button:visible").first.click()
    page.locator("#pst-search-dialog input").press_sequentially("vjp")
    expect(page.locator("#pst-search-dialog a.hit")).to_have_count(12)


@pytest.mark.walk
@pytest.mark.parametrize("opened", [DENIED, FULL], indirect=True)
def test_search_and_the_choice_of_a_theme_work_without_storage(opened: Open) -> None:
    for document in PAGES[1:]:
        opened(document)
    search_and_switch(opened(LESSON))


@pytest.mark.walk
@pytest.mark.parametrize(
    ("opened", "why"), WHYS.items(), indirect=["opened"], ids=["denied", "full"]
)
def test_what_is_not_kept_says_so(opened: Open, why: str) -> None:
    page = opened("chapters/reference/progress")
    expect(page.locator(".progress-unkept")).to_contain_text(why)
    page = opened(LESSON)
    box = page.locator("#predict-share-of-product")
    box.get_by_label("6").check()
    box.get_by_role("button", name="Check").click()
    expect(box.locator(".predict-says")).to_contain_text(why)
    expect(page.locator(".work")).to_contain_text(why)
    page = opened("chapters/practice/drills")
    page.get_by_role("button", name="Show me").click()
    expect(page.locator(".cg-choose .cg-count")).to_contain_text(why)


def test_where_all_is_kept_nothing_is_said(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/chapters/reference/progress.html")
    expect(page.locator(".progress-sum")).to_be_visible()
    expect(page.locator(".progress-unkept")).to_be_hidden()
    assert page.evaluate("localStorage instanceof Storage")
    page.close()
