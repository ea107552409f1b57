"""The site for readers without a mouse or with a screen reader; its chapters: `test_audit`."""

import pytest
from playwright.sync_api import Browser

from tests.axe import severe
from tests.site.audit import DESKTOP, IDLE, reading


@pytest.mark.parametrize("name", ["search", "genindex", "py-modindex"])
@pytest.mark.parametrize("system", ["light", "dark"])
def test_no_severe_violation_in_generated_pages(
    browser: Browser, address: str, name: str, system: str
) -> None:
    with reading(browser, address, DESKTOP, system) as opened:
        opened.open(name)
        assert not severe(opened.page)
        assert not opened.foreign


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_folded_parts_open_by_keyboard(browser: Browser, address: str, key: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/chapters/foundations/computational-graph.html")
    page.evaluate(IDLE)
    folds = page.locator("main details > summary:visible").all()
    assert folds
    for summary in folds:
        summary.focus()
        before = summary.evaluate("e => e.parentElement.open")
        page.keyboard.press(key)
        assert summary.evaluate("e => e.parentElement.open") != before
        page.keyboard.press(key)
    page.close()
