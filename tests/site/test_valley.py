"""The valley of the first lesson in a real browser: steps, knobs, the point, no scripts."""

import pytest
from playwright.sync_api import Page, expect

from chainlab.lessons.valley import gradient_at, loss_at, valley
from tests.axe import severe
from tests.site.conftest import Show


def numbers(page: Page, choice: str) -> list[float]:
    texts = page.locator(f".chaingrad-valley {choice}").all_inner_texts()
    return [float(text.replace("−", "-")) for text in texts]


def check(page: Page) -> None:
    """Check the numbers that stand there against Python's."""
    at = numbers(page, ".cg-at")
    assert numbers(page, ".cg-loss b")[0] == pytest.approx(loss_at(*at), abs=0.01)
    assert numbers(page, ".g b") == pytest.approx(gradient_at(*at), abs=0.02)


def test_steps_are_those_of_the_page(show: Show) -> None:
    page = show(valley().html)
    check(page)
    said, take = page.get_by_role("status"), page.get_by_role("button", name="Take the step")
    take.press("Enter")
    expect(said).to_contain_text("0.7234 → 0.0045")
    check(page)
    page.get_by_role("button", name="Start again").press("Enter")
    size = page.get_by_role("slider", name="step size")
    for _ in range(5):
        size.press("ArrowRight")
    assert size.get_attribute("aria-valuetext") == "0.1"
    take.press("Enter")
    expect(said).to_contain_text("0.7234 → 1.0236")
    expect(said).to_contain_text("too long")
    size.press("End")
    take.press("Enter")
    expect(said).to_contain_text("left the picture")


def test_the_point_goes_by_keys_by_sliders_and_by_touch(show: Show) -> None:
    page = show(valley().html, has_touch=True)
    page.get_by_role("application").press("ArrowUp")
    assert numbers(page, ".cg-at") == [0.5, -0.19]
    page.get_by_role("slider", name="w").fill("1")
    assert numbers(page, ".cg-at") == [1, -0.19]
    box = page.locator(".cg-frame").evaluate("e => e.getBoundingClientRect().toJSON()")
    page.touchscreen.tap(box["x"] + 20, box["y"] + 20)
    w, b = numbers(page, ".cg-at")
    assert w < -0.4
    assert b > 0.4
    point = page.locator(".cg-point circle").last.evaluate(
        "e => e.getBoundingClientRect().toJSON()"
    )
    page.mouse.move(point["x"] + 7, point["y"] + 7)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 50, box["y"] + box["height"] / 2)
    page.mouse.up()
    assert numbers(page, ".cg-at") == pytest.approx([1.6, -0.25], abs=0.02)
    check(page)


@pytest.mark.parametrize(("theme", "width"), [("light", 1000), ("dark", 360)])
def test_it_fits_and_can_be_read(show: Show, theme: str, width: int) -> None:
    page = show(
        valley().html, head=f' data-theme="{theme}"', viewport={"width": width, "height": 844}
    )
    if theme == "dark":
        page.add_style_tag(content="body { background: #14181e; color: #eee }")
    figure = page.locator(".chaingrad-valley")
    size = figure.bounding_box()
    for _ in range(4):
        page.get_by_role("button", name="Take the step").press("Enter")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert figure.bounding_box() == size
    assert not severe(page)


def test_without_scripts_it_says_where_a_step_leads(show: Show) -> None:
    page = show(valley().html, java_script_enabled=False)
    check(page)
    expect(page.get_by_role("status")).to_contain_text("0.7234 to 0.0045")
    assert not page.locator("button:visible, input:visible").count()
