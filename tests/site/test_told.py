"""A told page: what leads to its checks, what stands under its figures, what has moved there."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.axe import severe
from tests.support import serve

pytestmark = pytest.mark.xdist_group("live")


@pytest.fixture
def address(live_site: Path) -> Iterator[str]:
    with serve(live_site) as address:
        yield f"{address}/chapters"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.on("pageerror", lambda error: pytest.fail(f"script error: {error}"))
    yield page
    page.close()


def test_a_formula_leads_to_its_check_which_unfolds(page: Page, address: str) -> None:
    page.goto(f"{address}/told.html")
    section = page.locator("#how-this-page-is-checked > details")
    check = page.locator("#check-eq-told-slope > details")
    assert not section.evaluate("fold => fold.open")
    page.get_by_role("link", name="How this formula is checked").click()
    expect(check.get_by_text("assert abs")).to_be_in_viewport()
    page.get_by_role("link", name="(1.1)").click()
    expect(page.locator("[id='equation-eq-told-slope']")).to_be_in_viewport()


@pytest.mark.parametrize("place", ["how-this-page-is-checked", "check-eq-told-slope"])
def test_an_address_unfolds_what_it_leads_to(page: Page, address: str, place: str) -> None:
    page.goto(f"{address}/told.html#{place}")
    expect(page.get_by_text("independent source")).to_be_visible()


def test_the_contents_lead_to_the_checks(page: Page, address: str) -> None:
    page.goto(f"{address}/told.html")
    page.locator("#pst-secondary-sidebar").get_by_role("link", name="checked").click()
    expect(page.get_by_role("heading", name="How this page is checked")).to_be_in_viewport()
    expect(page.get_by_text("independent source")).to_be_visible()
    assert severe(page) == []


@pytest.mark.parametrize("width", [1440, 390])
def test_a_caption_stands_under_its_figure(browser: Browser, address: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(f"{address}/told.html")
    caption, text = page.locator("section > p.caption"), page.locator("section > p").first
    under, beside = caption.bounding_box(), text.bounding_box()
    drawn = page.locator("svg.chaingrad").first.bounding_box()
    assert under["x"] == beside["x"]
    assert 0 < under["y"] - drawn["y"] - drawn["height"] < 32
    style = "e => [getComputedStyle(e).fontStyle, parseFloat(getComputedStyle(e).fontSize)]"
    assert caption.locator("> em").evaluate(style) == ["normal", 15]
    assert caption.locator("em em").evaluate(style)[0] == "italic"
    captions = page.locator("article p.caption").all_inner_texts()
    assert [words.partition(" The")[0] for words in captions] == ["Figure 1.1", "Figure 1.2"]
    page.close()


@pytest.mark.parametrize("width", [1200, 1199, 390])
def test_what_is_for_the_margin_stands_there_where_there_is_room(
    browser: Browser, address: str, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(f"{address}/told.html")
    asides = page.locator(".beside > .in-margin").all()
    assert [aside.inner_text() for aside in asides] == [
        "A parent is what went in.",
        "Figure 1.2 The graph of a cube.",
    ]
    blocks = page.locator(".beside > p:not(.caption), .beside .cell_output").all()
    for block, aside in zip(blocks, asides, strict=True):
        before, box = block.bounding_box(), aside.bounding_box()
        beyond = box["x"] - before["x"] - before["width"]
        below = box["y"] - before["y"] - before["height"]
        assert beyond >= 16 if width >= 1200 else below >= 0
        assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.close()


@pytest.mark.parametrize("by", ["address", "click"])
def test_a_link_to_what_has_moved_leads_to_its_new_place(page: Page, address: str, by: str) -> None:
    page.goto(f"{address}/page.html{'#checks' if by == 'address' else ''}")
    if by == "click":
        page.evaluate("location.hash = 'checks'")
    page.wait_for_url("**/told.html#how-this-page-is-checked")
    expect(page.get_by_text("independent source")).to_be_visible()


def test_what_has_moved_within_its_page_is_found_there(page: Page, address: str) -> None:
    page.goto(f"{address}/page.html#older")
    page.wait_for_url("**/page.html#a-page")


def test_other_anchors_stay(page: Page, address: str) -> None:
    page.goto(f"{address}/page.html#a-page")
    page.evaluate("location.hash = 'elsewhere'")
    assert page.url.endswith("/page.html#elsewhere")
    page.goto(f"{address}/told.html#slope")
    assert page.locator("#moved-anchors").count() == 0
    assert page.url.endswith("/told.html#slope")
