"""The memory of *Five exercises* in a browser: dragged, cut, small, dark, without scripts."""

import pytest
from playwright.sync_api import Page

from chainlab.lessons.exercises import CUTS, STATES, crosses, memory, predicts, trains
from tests.axe import severe
from tests.site.conftest import Show, themed


def check(page: Page, n: int, h: int, optimizer: str, cut: str, limit: int) -> None:
    """Check the totals, the lengths of the bars, and what fits, against Python."""
    parts = trains(n, h, STATES[optimizer])
    rows = [predicts(n, h), *parts["whole"], *parts[cut]]
    totals = [sum(row.values()) for row in rows]
    texts = page.locator(".cg-row b").all_inner_texts()
    assert [text.replace("\xa0", " ") for text in texts] == [f"{t / 1e6:.2f} MB" for t in totals]
    over = page.locator(".cg-row").evaluate_all("e => e.map(e => e.matches('.cg-over'))")
    assert over == [total > 1e6 * limit for total in totals]
    assert f"{crosses(n, h)[cut] / 1e6:.3f}\xa0MB cross" in page.get_by_role("status").inner_text()
    widths = page.locator(".cg-track").evaluate_all(
        "e => e.map(e => [...e.children].map(i => i.getBoundingClientRect().width))"
    )
    unit = sum(widths[1]) / totals[1]
    for row, found in zip(rows, widths, strict=True):
        expected = [row.get(kind, 0) * unit for kind in parts["whole"][0]]
        assert found == pytest.approx(expected, abs=0.3)
        assert sum(found) < page.locator(".cg-track").first.bounding_box()["width"]


def test_the_bars_are_what_python_counts(show: Show) -> None:
    page = show(memory().html)
    check(page, 256, 256, "Adam", "layers", 4)
    for cut, name in CUTS.items():
        page.get_by_role("button", name=name).press("Enter")
        check(page, 256, 256, "Adam", cut, 4)
    page.get_by_role("button", name="SGD").click()
    page.get_by_role("slider", name="batch size").press("Home")
    page.get_by_role("slider", name="hidden units").press("End")
    page.get_by_role("slider", name="megabytes of a device").press("ArrowRight")
    check(page, 2, 2048, "SGD", "batch", 8)
    page.get_by_role("slider", name="batch size").press("End")
    page.get_by_role("button", name="the hidden units").click()
    check(page, 4096, 2048, "SGD", "units", 8)


@pytest.mark.parametrize(("theme", "width"), [("light", 800), ("dark", 360)])
def test_it_fits_and_can_be_read(show: Show, theme: str, width: int) -> None:
    page = themed(show, theme, width, memory().html)
    for button in page.get_by_role("button").all():
        button.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not severe(page)


def test_it_stands_without_scripts(show: Show) -> None:
    page = show(memory().html, java_script_enabled=False)
    check(page, 256, 256, "Adam", "layers", 4)
    assert not page.locator("button:visible, input:visible").count()
