"""The nudge of *The chain rule* in a real browser: dragged, by the keyboard, small and on paper."""

from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from chainlab.lessons.chain_rule import AT, SCALES, drag, moved
from tests.axe import severe
from tests.site.conftest import Show

# What stands at each line and between two: values, moves, ratios; and where the bars end.
STATE = """() => {
    const numbers = (choice) => [...document.querySelectorAll(choice)]
        .map((e) => +e.textContent.replace("−", "-"));
    const bars = document.querySelector(".cg-moved").getAttribute("d").split("H").slice(1);
    return [...[".cg-name i", ".cg-move", ".cg-factor i"].map(numbers), bars.map(parseFloat)];
}"""


def check(page: Page, nudge: float, scale: float) -> None:
    """Check that the figure shows what Python computes for a nudge."""
    values, moves, ratios, bars = page.evaluate(STATE)
    known = moved(nudge)
    assert values == pytest.approx([a + move for a, move in zip(AT, known, strict=True)], abs=6e-5)
    assert moves == pytest.approx(known, rel=6e-4)
    found = [move / last for last, move in pairwise(known)]
    assert ratios == pytest.approx(found, abs=6e-5)
    assert bars == pytest.approx([100 * move / scale for move in known], abs=0.06)


def test_at_every_scale_and_end_stands_what_python_computes(show: Show) -> None:
    page = show(drag().html)
    check(page, 0.6, 1)
    slider = page.get_by_role("slider")
    for scale in SCALES:
        page.get_by_role("button", name=f"{scale:g}", exact=True).press("Enter")
        assert page.locator(".cg-threads:visible").count() == 1
        for key, part in (("Home", -1), ("End", 1)):
            slider.press(key)
            check(page, part * scale, scale)
    slider.press("ArrowLeft")
    check(page, 0.00099, 0.001)


def test_the_dot_is_under_the_pointer_that_drags_it(show: Show) -> None:
    page = show(drag().html, viewport={"width": 390, "height": 700})
    lines, slider = page.locator(".cg-drawing"), page.get_by_role("slider")
    box, row = lines.bounding_box(), slider.bounding_box()
    assert box
    assert row
    middle, unit = box["x"] + box["width"] / 2, box["width"] / 3.2
    page.mouse.move(middle + 0.6 * unit, row["y"] + row["height"] / 2)
    page.mouse.down()
    for part in (0.3, -0.75):
        page.mouse.move(middle + part * unit, row["y"] + 30)
        assert int(slider.input_value()) == pytest.approx(100 * part, abs=3)
    page.mouse.up()


def test_no_nudge_has_no_ratio(show: Show) -> None:
    page = show(drag().html)
    page.get_by_role("slider").fill("0")
    assert page.locator(".cg-factor i").all_inner_texts() == ["?"] * 3
    expect(page.locator(".cg-words")).to_contain_text("0 ÷ 0")


@pytest.mark.parametrize(("theme", "width"), [("light", 1000), ("dark", 360)])
def test_it_fits_and_can_be_read(show: Show, theme: str, width: int) -> None:
    page = show(
        drag().html, head=f' data-theme="{theme}"', viewport={"width": width, "height": 700}
    )
    if theme == "dark":
        page.add_style_tag(content="body { background: #14181e; color: #eee }")
    page.get_by_role("button", name="0.001").click()
    for key in ("Home", "End"):
        page.get_by_role("slider").press(key)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not severe(page)


@pytest.mark.parametrize("scripts", [False, True])
def test_it_stands_without_scripts_and_on_paper(show: Show, scripts: bool) -> None:
    page = show(drag().html, java_script_enabled=scripts)
    page.emulate_media(media="print")
    assert "0.3952" in page.locator(".cg-lines").inner_text()
    assert not page.locator("button:visible, input:visible").count()
