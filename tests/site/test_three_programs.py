"""The three programs of *The backward pass in JAX* in a browser, by keyboard and mouse."""

import pytest
from playwright.sync_api import Page, expect

from chainlab.lessons.jax_backward_pass import PROGRAMS, RECORDED, three_programs, values
from tests.axe import severe
from tests.site.conftest import Show, themed

LINES = [name for _, _, lines, _ in PROGRAMS for name, *_ in lines]


def check(page: Page, x: float, changes: str) -> None:
    """Check that the figure shows what Python computes, and what JAX said."""
    v = values(x, changes)
    texts = page.locator(".cg-value").all_text_contents()
    assert [float(text.replace("−", "-")) for text in texts] == pytest.approx(
        [v[name] for name in LINES], abs=6e-4
    )
    theirs = page.locator(".cg-jax span b").all_text_contents()
    assert [float(text.replace("−", "-")) for text in theirs] == [*RECORDED[round(10 * x)]]


def test_numbers_follow_the_input_and_the_change(show: Show) -> None:
    page = show(three_programs().html)
    check(page, 0.7, "x")
    page.get_by_role("button", name="dx = 0, dy = 1").press("Enter")
    check(page, 0.7, "y")
    slider = page.locator(".cg-controls input")
    slider.press("ArrowRight")
    check(page, 0.8, "y")
    slider.press("End")
    check(page, 3.0, "y")
    page.get_by_role("button", name="dx = 1, dy = 0").click()
    check(page, 3.0, "x")


def test_a_step_lights_a_line_and_the_product_that_it_mirrors(show: Show) -> None:
    page = show(three_programs().html)
    step = page.get_by_role("slider", name="Step")
    step.press("Home")
    assert page.locator(".cg-later.cg-line").count() == len(LINES) - 1
    for k, name in enumerate(LINES):
        expect(page.locator(".cg-lit")).to_have_attribute("data-line", name)
        mirrored = page.locator(".cg-mirror").evaluate_all("all => all.map(e => e.dataset.line)")
        assert mirrored == {"s̄": ["dw"], "ȳ": ["dq"], "x̄₁": ["ds"]}.get(name, [])
        assert page.locator(".cg-told div:visible").count() == 1
        if k + 1 < len(LINES):
            page.get_by_role("button", name="One step forward").click()


@pytest.mark.parametrize(("theme", "width"), [("light", 800), ("dark", 360)])
def test_it_fits_and_can_be_read(show: Show, theme: str, width: int) -> None:
    page = themed(show, theme, width, three_programs().html)
    for key in ("Home", "End"):
        page.get_by_role("slider", name="Step").press(key)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not severe(page)


@pytest.mark.parametrize("scripts", [False, True])
def test_it_stands_without_scripts_and_on_paper(show: Show, scripts: bool) -> None:
    page = show(three_programs().html, java_script_enabled=scripts)
    page.emulate_media(media="print")
    assert "2.5297" in page.locator(".cg-jax").inner_text()
    assert not page.locator("button:visible, input:visible").count()
