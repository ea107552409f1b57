"""The site for readers without a mouse or with a screen reader; its chapters: `test_audit`."""

import re

import pytest
from playwright.sync_api import Browser

from tests.axe import severe
from tests.site.audit import DESKTOP, IDLE, reading, switch


@pytest.mark.walk
@pytest.mark.parametrize("name", ["search", "genindex", "py-modindex"])
def test_no_severe_violation_in_generated_pages(browser: Browser, address: str, name: str) -> None:
    with reading(browser, address, DESKTOP, "light") as opened:
        opened.open(name)
        assert not severe(opened.page, every=False)
        assert switch(opened.page) == []
        assert not severe(opened.page, colours=True, every=False)
        assert not opened.foreign


@pytest.mark.walk
def test_folded_parts_open_by_keyboard(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/chapters/foundations/computational-graph.html")
    page.evaluate(IDLE)
    folds = page.locator("main details > summary:visible").all()
    assert folds
    for summary in folds:
        summary.focus()
        before = summary.evaluate("e => e.parentElement.open")
        page.keyboard.press("Enter")
        assert summary.evaluate("e => e.parentElement.open") != before
        page.keyboard.press("Space")
        assert summary.evaluate("e => e.parentElement.open") == before
    page.close()


def test_without_scripts_code_and_figures_are_as_light_as_their_page(
    browser: Browser, address: str
) -> None:
    page = browser.new_page(java_script_enabled=False, color_scheme="dark")
    page.goto(f"{address}/chapters/foundations/computational-graph.html")
    ink = page.locator("svg.chaingrad text:visible").first.evaluate("e => getComputedStyle(e).fill")
    assert max(map(int, re.findall(r"\d+", ink))) < 50, ink
    for part in ("body", ".cell_input .highlight pre", ".cell_input"):
        ground = page.locator(part).first.evaluate("e => getComputedStyle(e).backgroundColor")
        levels = [float(level) for level in re.findall(r"[\d.]+", ground)]
        assert min(levels[:3]) > 200 or levels[3:] == [0], (part, ground)
    page.close()
