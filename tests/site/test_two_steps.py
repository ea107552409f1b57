"""The two steps of *Second derivatives* in a real browser: surfaces, the point, no scripts."""

import pytest
from playwright.sync_api import Page, expect

from chainlab.lessons.second_derivatives import SURFACES, landings, two_steps
from tests.axe import severe
from tests.site.conftest import Show, themed


def losses(page: Page) -> list[float]:
    texts = page.locator(".cg-row b").all_text_contents()
    return [float(text.replace("−", "-").replace(",", "")) for text in texts]


def check(page: Page, name: str, at: tuple[float, float], step: float) -> None:
    """Check the three losses against those of our engine's gradient and Hessian."""
    surface = SURFACES[name]
    expected = [surface.loss(x) for x in (at, *landings(surface, at, step))]
    for found, wanted in zip(losses(page), expected, strict=True):
        assert found == pytest.approx(wanted, abs=0.5 if abs(wanted) >= 1000 else 6e-4)


def test_both_steps_are_those_of_the_engine(show: Show) -> None:
    page = show(two_steps().html)
    point = page.get_by_role("application")
    for name, surface in SURFACES.items():
        page.get_by_role("button", name=name).press("Enter")
        check(page, name, surface.start, surface.step)
        at = surface.start
        for key, move in {"ArrowLeft": (-0.05, 0), "Shift+ArrowDown": (0, -0.25)}.items():
            point.press(key)
            at = at[0] + move[0], at[1] + move[1]
            check(page, name, at, surface.step)
        page.get_by_role("slider", name="step size").press("Home")
        check(page, name, at, 0.005)
        page.get_by_role("button", name="Start again").press("Enter")
        check(page, name, surface.start, 0.005)


def test_a_step_is_taken_and_the_point_is_dragged(show: Show) -> None:
    page = show(two_steps().html)
    page.get_by_role("button", name="Take the gradient step").press("Enter")
    check(page, "narrow bowl", (-1.8 * 0.91, 0.5 * -0.8), 0.09)
    page.get_by_role("button", name="Take the Newton step").press("Enter")
    assert losses(page) == [0, 0, 0]
    frame = page.locator(".cg-frame").bounding_box()
    handle = page.locator(".cg-point circle").last.bounding_box()
    assert frame
    assert handle
    page.mouse.move(handle["x"] + 6, handle["y"] + 6)
    page.mouse.down()
    page.mouse.move(frame["x"] + frame["width"] + 40, frame["y"] - 40)
    page.mouse.up()
    check(page, "narrow bowl", (2, 1.75), 0.09)
    page.get_by_role("slider", name="step size").press("End")
    expect(page.get_by_role("status")).to_contain_text("leaves the picture")
    expect(page.get_by_role("button", name="Take the gradient step")).to_be_disabled()


def test_the_curvatures_are_said(show: Show) -> None:
    page = show(two_steps().html)
    page.get_by_role("button", name="saddle").click()
    said = page.get_by_role("status")
    expect(said).to_contain_text("by 2.00 one way and by −0.73")
    expect(said).to_contain_text("uphill")


@pytest.mark.parametrize(("theme", "width"), [("light", 900), ("dark", 360)])
def test_it_fits_and_can_be_read(show: Show, theme: str, width: int) -> None:
    page = themed(show, theme, width, two_steps().html)
    for name in SURFACES:
        page.get_by_role("button", name=name).click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not severe(page)


def test_without_scripts_both_landing_points_stand(show: Show) -> None:
    page = show(two_steps().html, java_script_enabled=False)
    check(page, "narrow bowl", (-1.8, 0.5), 0.09)
    assert not page.locator("button:visible, input:visible").count()
