"""The products that readers of *Many devices* cut, by mouse and keyboard."""

import pytest
from playwright.sync_api import Page

from chainlab.lessons.many_devices import PRODUCTS, cut_along, cuts, told
from tests.axe import severe
from tests.site.conftest import Show, themed


def check(page: Page, axis: str, devices: int, n: int) -> None:
    expected = cut_along(axis, devices, n)
    states = [array.get_attribute("data-state") for array in page.locator(".cg-array").all()]
    assert states == [state for cut in expected for state in cut.states]
    words = page.locator(".cg-told").all_text_contents()
    assert words == [told(row[-1][0], cut) for row, cut in zip(PRODUCTS, expected, strict=True)]
    stripes = page.locator("[data-state=rows], [data-state=columns]").all()
    assert all(array.locator("i").count() == devices for array in stripes)


def test_states_and_bytes_follow_the_cut(show: Show) -> None:
    page = show(cuts().html)
    check(page, "n", 2, 128)
    page.get_by_role("slider", name="devices").press("End")
    check(page, "n", 8, 128)
    page.get_by_role("radio", name="units").click()
    check(page, "h", 8, 128)
    page.get_by_role("slider", name="examples").press("ArrowRight")
    check(page, "h", 8, 256)
    page.get_by_role("radio", name="units").press("ArrowLeft")
    check(page, "d", 8, 256)
    page.get_by_role("slider", name="devices").press("Home")
    check(page, "d", 1, 256)


def test_two_figures_on_a_page_choose_for_themselves(show: Show) -> None:
    page = show(cuts().html, cuts().html)
    page.get_by_role("radio", name="units").nth(1).click()
    page.get_by_role("radio", name="inputs").nth(0).click()
    assert page.get_by_role("radio", name="units").nth(1).is_checked()


@pytest.mark.parametrize(("theme", "width"), [("light", 800), ("dark", 360)])
def test_they_fit_and_can_be_read(show: Show, theme: str, width: int) -> None:
    page = themed(show, theme, width, cuts().html)
    page.get_by_role("slider", name="examples").press("End")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not severe(page)


def test_they_stand_without_scripts(show: Show) -> None:
    page = show(cuts().html, java_script_enabled=False)
    check(page, "n", 2, 128)
    assert not page.locator("input:visible").count()
