"""The figure of *A batch, and softmax* in a browser, by mouse and keyboard."""

import pytest
from playwright.sync_api import Locator, Page, expect

from chainlab.lessons.batch import LINES, SIZES, axes, batch, is_array
from tests.axe import severe
from tests.site.conftest import Show, themed

CODES = [line.code for line in LINES]


def tile(page: Page, code: str) -> Locator:
    return page.locator(".cg-tile").nth(CODES.index(code))


def size(of: Locator) -> tuple[int, int]:
    """How many rows and columns of cells it takes."""
    box = of.bounding_box()
    assert box
    return round(box["height"] / 9), round(box["width"] / 9)


def check_sizes(page: Page, n: int) -> None:
    sizes = {**SIZES, "n": n}
    for line in LINES:
        for place, name in enumerate(filter(is_array, line.drawn)):
            shape = [sizes[axis] for axis in axes(name)]
            its = tile(page, line.code)
            assert size(its.locator(".cg-grid").nth(place)) == tuple([1, *shape][-2:])
            told = its.locator(".cg-tag").nth(place).inner_text().split("\n")[1]
            assert told == str(tuple(shape))


def test_what_has_a_row_an_example_grows_with_the_batch(show: Show) -> None:
    page = show(batch().html, reduced_motion="reduce")
    check_sizes(page, 4)
    for key, n in (("End", 8), ("Home", 1), ("ArrowRight", 2)):
        page.get_by_role("slider").press(key)
        check_sizes(page, n)


def test_an_entry_lights_what_makes_it(show: Show) -> None:
    page = show(batch().html, reduced_motion="reduce")
    product = tile(page, "dW1 = dZ.T @ X")
    box = product.locator(".cg-grid").first.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] - 4, box["y"] + box["height"] - 4)
    lit = product.locator(".cg-lit")
    expect(page.get_by_role("status")).to_contain_text("dW1[2, 1] multiplies row 2 of dZ.T")
    page.get_by_role("slider").press("End")
    assert [lit.nth(i).evaluate("e => e.style.cssText") for i in range(3)] == [
        "--y: 2; --x: 1; --t: 1; --w: 1;",
        "--y: 2; --x: 0; --t: 1; --w: 8;",
        "--y: 0; --x: 1; --t: 8; --w: 1;",
    ]
    expect(page.get_by_role("status")).to_contain_text("8 products")
    bias = tile(page, "db1 = dZ.sum(axis=0)")
    bias.press("Enter")
    bias.press("ArrowRight")
    expect(page.get_by_role("status")).to_contain_text("db1[1] adds up column 1 of dZ")
    expect(lit.first).to_be_hidden()
    row = tile(page, "H = np.maximum(Z, 0)")
    row.press("ArrowDown")
    for _ in range(9):
        row.press("ArrowDown")
    page.get_by_role("slider").press("Home")
    expect(page.get_by_role("status")).to_contain_text("H[0, 0] reads the same entry of Z")


@pytest.mark.parametrize(("theme", "width"), [("light", 800), ("dark", 360)])
def test_it_fits_and_can_be_read(show: Show, theme: str, width: int) -> None:
    page = themed(show, theme, width, batch().html)
    page.get_by_role("slider").press("End")
    tile(page, "dW2 = dO.T @ H").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not severe(page)


def test_it_stands_without_scripts(show: Show) -> None:
    page = show(batch().html, java_script_enabled=False)
    check_sizes(page, 4)
    assert not page.get_by_role("slider").count()
