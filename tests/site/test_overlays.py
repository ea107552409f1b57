"""What opens over a page can be read there: search, side bars, tips, by the pixels that are drawn.

An overlay is pictured as it is, without its text, and without the page behind it.
"""

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from tests.site.audit import DESKTOP, PHONE, switch

DOCUMENT = "chapters/foundations/chain-rule"
SEARCH, COURSE, CONTENTS = (
    f"#pst-{name}" for name in ("search-dialog", "primary-sidebar-modal", "secondary-sidebar-modal")
)
TIP = ".tooltip-inner"
OPENERS = {
    SEARCH: ".search-button__button",
    COURSE: ".primary-toggle",
    CONTENTS: ".secondary-toggle",
}
ENOUGH = 4.5  # WCAG's contrast of text
SHOWN = 4  # pixels of a line whose ink is full: fewer are no letter
# What is about to move does so in the next frame. (Chromium may never tell of an animation that it
# ran out of sight that it has ended.)
STILL = """async () => {
    const frames = () => new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(done)));
    await frames();
    for (const move of document.getAnimations())
        if (move.effect.getComputedTiming().endTime < Infinity) move.finish();
    await frames();
}"""
# The box of an overlay without its round corners, and within it those of its lines of text.
LINES = """(over) => {
    const { left, top, right, bottom } = over.getBoundingClientRect();
    const inner = new DOMRect(left + 8, top + 3, right - left - 16, bottom - top - 6);
    const cut = (box, by) => ({
        left: Math.max(box.left, by.left), top: Math.max(box.top, by.top),
        right: Math.min(box.right, by.right), bottom: Math.min(box.bottom, by.bottom) });
    const seen = (box, around) => {
        for (box = cut(box, inner); around !== over; around = around.parentElement)
            if (getComputedStyle(around).overflowY !== "visible")
                box = cut(box, around.getBoundingClientRect());
        return box;
    };
    const walker = document.createTreeWalker(over, NodeFilter.SHOW_TEXT);
    const lines = [];
    while (walker.nextNode()) {
        const { currentNode: text } = walker;
        if (!text.data.trim() || !text.parentElement.checkVisibility()) continue;
        const range = new Range();
        range.selectNodeContents(text);
        for (const box of range.getClientRects())
            lines.push([text.data.trim(), seen(box, text.parentElement)]);
    }
    for (const input of over.querySelectorAll("input:not([hidden])")) {
        const { x, y, height } = input.getBoundingClientRect();
        const before = parseFloat(getComputedStyle(input).paddingLeft);  // where an icon may be
        lines.push([input.value, seen(new DOMRect(x + before, y, 80, height), input)]);
    }
    const isWhole = ([_, box]) => box.right - box.left > 3 && box.bottom - box.top > 9;
    const within = ([text, box]) => [text, [box.left - inner.x, box.top - inner.y,
        box.right - inner.x, box.bottom - inner.y].map(Math.round)];
    return [inner.toJSON(), lines.filter(isWhole).map(within)];
}"""
WITHOUT_TEXT = """{ -webkit-text-fill-color: transparent !important;
    text-decoration-color: transparent !important; }"""


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with browser.new_context(reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(f"{address}/{DOCUMENT}.html")
        yield page


def opened(page: Page, over: str) -> None:
    """Open an overlay; search, with results in it."""
    page.locator(f"{OPENERS[over]}:visible").first.click()
    page.mouse.move(1, 1)  # a line under it is drawn as one that is pointed at, sooner or later
    if over == SEARCH:
        page.keyboard.type("vjp")
        expect(page.locator(f"{SEARCH} a.hit")).to_have_count(12)
    expect(page.locator(over)).to_be_visible()


def picture(page: Page, box: Any, style: str = "") -> np.ndarray:
    """A part of the window, under one more style."""
    page.evaluate("css => document.head.append(make('style', { id: 'more' }, css))", style)
    page.evaluate(STILL)
    shot = page.screenshot(clip={name: box[name] for name in ("x", "y", "width", "height")})
    page.evaluate("document.getElementById('more').remove()")
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), float)


def luminance(pixels: np.ndarray) -> np.ndarray:
    part = pixels / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def contrast(written: np.ndarray, ground: np.ndarray) -> float:
    """Of a line's ink, where it is fullest, and of the ground that suits it least."""
    apart = abs(written - ground).sum(axis=-1).ravel()
    ink = luminance(written).ravel()[np.argsort(apart)[-SHOWN:]].mean()
    light = luminance(ground).ravel()
    return float(((np.maximum(light, ink) + 0.05) / (np.minimum(light, ink) + 0.05)).min())


def faults(page: Page, over: str) -> list[object]:
    """The lines too like what lies behind them, and whether the page shines through."""
    page.evaluate(STILL)
    box, lines = page.locator(over).evaluate(LINES)
    assert lines
    for _ in range(3):  # what Chromium draws late is no page that shines through
        drawn = picture(page, box)
        alone = picture(page, box, "body > :not(dialog, .tooltip) { opacity: 0 }")
        if is_opaque := np.array_equal(drawn, alone):
            break
    found: list[object] = [] if is_opaque else ["the page shines through"]
    ground = picture(page, box, f"{over}, {over} * {WITHOUT_TEXT}")
    for text, (left, top, right, bottom) in lines:
        much = contrast(drawn[top:bottom, left:right], ground[top:bottom, left:right])
        found += [(text, round(much, 2))] if much < ENOUGH else []
    return found


@pytest.mark.walk
@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_what_opens_over_a_page_can_be_read(
    page: Page, width: int, subtests: pytest.Subtests
) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    found = page.locator("dialog, .dropdown-menu").evaluate_all("all => all.map((e) => '#' + e.id)")
    assert set(found) == set(OPENERS)
    for theme in ("light", "dark"):
        for over in [SEARCH] if width == DESKTOP else OPENERS:
            opened(page, over)
            with subtests.test(f"{over}, {theme}"):
                assert not faults(page, over)
            page.keyboard.press("Escape")
        switch(page)


@pytest.mark.walk
def test_tips_can_be_read(page: Page, subtests: pytest.Subtests) -> None:
    for button in page.locator("[data-bs-toggle=tooltip]:visible").all():
        button.hover()
        expect(page.locator(TIP)).to_have_count(1)
        with subtests.test(page.locator(TIP).inner_text()):
            assert not faults(page, TIP)
        page.mouse.move(600, 700)
        expect(page.locator(TIP)).to_have_count(0)


@pytest.mark.walk
def test_what_a_tip_lies_over_can_be_clicked(page: Page) -> None:
    page.set_viewport_size({"width": PHONE, "height": 700})
    page.locator(f"{OPENERS[CONTENTS]}:visible").focus()
    clicked = page.locator(TIP).evaluate(
        """(tip) => {
            const { left, top, width, height } = tip.getBoundingClientRect();
            return document.elementFromPoint(left + width / 2, top + height / 2).className;
        }"""
    )
    assert "tooltip" not in clicked


def test_the_search_box_has_one_ring(page: Page) -> None:
    opened(page, SEARCH)
    rings = page.locator(f"{SEARCH} :is(form, input)").evaluate_all(
        """all => all.map((e) => getComputedStyle(e)).filter(({ outlineStyle, boxShadow }) =>
            outlineStyle !== "none" || boxShadow !== "none").length"""
    )
    assert rings == 1
