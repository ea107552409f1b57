"""The cards of *The training loop* in a browser, by mouse, keyboard and touch."""

import pytest
from playwright.sync_api import Page, expect

from chainlab.lessons.training_loop import CALLS, RIGHT, orders, perform, told
from tests.axe import severe
from tests.site.conftest import Show, themed


def cards(page: Page) -> str:
    """The calls that take part, from top to bottom."""
    names = {text: call for call, text in CALLS.items()}
    return "".join(names[text] for text in page.locator("li:not(.cg-out) code").all_inner_texts())


def check(page: Page, calls: str) -> None:
    """Check what the figure says of this order against Python."""
    assert cards(page) == calls
    words = page.get_by_role("status").inner_text()
    done = perform(calls)
    assert words.startswith(told(calls))
    assert done.error in words
    drawn = page.locator(".cg-yours").get_attribute("d")
    assert drawn is not None
    assert drawn.count("L") == len(done.losses) - 1


def test_orders_follow_the_buttons(show: Show) -> None:
    page = show(orders().html)
    check(page, RIGHT)
    page.get_by_role("button", name=f"Move up: {CALLS['s']}").press("Enter")
    check(page, "zfbsc")
    expect(page.get_by_role("button", name=f"Move up: {CALLS['s']}")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    check(page, "zsfbc")
    page.get_by_role("button", name=f"Leave out: {CALLS['z']}").press("Space")
    check(page, "sfbc")
    page.get_by_role("button", name=f"Put back: {CALLS['z']}").press("Space")
    page.get_by_role("button", name=f"Move down: {CALLS['f']}").press("Enter")
    check(page, "zsbfc")
    page.get_by_role("button", name="Start again").press("Enter")
    check(page, RIGHT)


def drag(page: Page, call: str, to: str) -> None:
    boxes = [page.locator("li").filter(has_text=CALLS[name]).bounding_box() for name in (call, to)]
    assert all(boxes)
    (x, y), (_, end) = ((b["x"] + 16, b["y"] + b["height"] / 2) for b in boxes if b)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, (y + end) / 2)
    page.mouse.move(x, end)
    page.mouse.up()


def test_cards_can_be_dragged(show: Show) -> None:
    page = show(orders().html)
    drag(page, "z", "b")
    check(page, "fbzcs")
    drag(page, "s", "f")
    check(page, "sfbzc")


@pytest.mark.parametrize(("theme", "width"), [("light", 1000), ("dark", 360)])
def test_it_fits_and_can_be_read(show: Show, theme: str, width: int) -> None:
    page = themed(show, theme, width, orders().html)
    figure = page.locator(".chaingrad-loop")
    size = figure.bounding_box()
    for call in "zcs":
        page.get_by_role("button", name=f"Leave out: {CALLS[call]}").press("Enter")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert figure.bounding_box() == size
    assert not severe(page)


def test_without_scripts_the_right_order_stands_there(show: Show) -> None:
    page = show(orders().html, java_script_enabled=False)
    check(page, RIGHT)
    assert not page.locator("button:visible").count()
