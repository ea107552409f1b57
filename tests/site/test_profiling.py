"""The timeline of *Profiling* in a real browser: each batch size, by keyboard, small, on paper."""

from typing import Any

import pytest
from playwright.sync_api import Page

from chainlab.lessons.profiling import PRODUCTS, ROWS, bars, parts, recorded, step_timeline, words
from tests.axe import severe
from tests.site.conftest import Show

PLACES = """() => [...document.querySelectorAll('.cg-row')].map((row) =>
    [...row.querySelectorAll('i')].map(({ style }) => [style.left, style.width].map(parseFloat)))"""


def check(page: Page, step: dict[str, Any]) -> None:
    for found, phase in zip(page.evaluate(PLACES), ROWS, strict=True):
        known = [(a, b - a) for _, a, b, _ in bars(step, phase)]
        assert len(found) == len(known)
        for ours, theirs in zip(known, found, strict=True):
            assert theirs == pytest.approx(ours, abs=0.011)
    shown = page.locator("dd").all_inner_texts()
    assert shown == [f"{part:.0f} %" for part in parts(step).values()]
    assert page.locator(".cg-words").inner_text() == words(step)


def test_the_slider_shows_each_recording(show: Show) -> None:
    page = show(step_timeline().html)
    slider = page.get_by_role("slider", name="examples in the batch")
    slider.press("Home")
    for step in recorded()["steps"]:
        check(page, step)
        assert slider.get_attribute("aria-valuetext") == f"{step['batch']:,} examples"
        slider.press("ArrowRight")
    assert page.locator(".cg-product").count() == 8
    assert PRODUCTS == ("addmm", "mm")
    assert severe(page) == []


def test_it_fits_a_telephone_and_stands_still_where_asked(show: Show) -> None:
    page = show(step_timeline().html, viewport={"width": 390, "height": 700})
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert (
        page.locator("i").first.evaluate("bar => getComputedStyle(bar).transitionDuration") == "0s"
    )
    page.emulate_media(media="print")
    assert page.get_by_role("slider").count() == 0
    assert page.locator(".cg-rows").is_visible()
