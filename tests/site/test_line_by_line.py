"""The engine's lines beside the graph, in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from chainlab.lessons.line_by_line import LINES, recorded, run_lines
from chainview.player.names import brief
from tests.axe import severe
from tests.site.conftest import Show


def running(page: Page) -> str:
    """Return the line that is lit, which the code has scrolled into view."""
    line = page.locator(".cg-runs")
    box, pane = line.bounding_box(), page.locator(".cg-code").bounding_box()
    assert pane["y"] <= box["y"]
    assert box["y"] + box["height"] <= pane["y"] + pane["height"]
    return line.inner_text().strip()


def test_each_stop_shows_its_line_its_nodes_and_all_gradients(show: Show) -> None:
    page = show(run_lines().html, reduced_motion="reduce")
    stops, named = recorded()
    names = {node: name for name, node in named.items()}
    for k, stop in enumerate(stops):
        page.get_by_role("slider").fill(str(k))
        assert running(page) == LINES[stop["line"] - 1].strip()
        lit = page.locator(".cg-lit").evaluate_all("all => all.map((e) => e.dataset.node)")
        assert sorted(lit) == sorted(names[node] for node in stop["lit"])
        shown = page.locator(".cg-grad").all_text_contents()
        assert shown == [brief(stop["grads"].get(node, 0.0)) for node in names]


def test_by_keyboard_from_part_to_part(show: Show) -> None:
    page = show(run_lines().html, reduced_motion="reduce")
    assert page.locator(".cg-box:visible").count() == 5  # the leaves and what the first line makes
    push = page.get_by_role("button", name="Push")
    push.press("Enter")
    expect(push).to_have_attribute("aria-pressed", "true")
    assert running(page) == "node.grad = 0.0"
    push.press("ArrowLeft")
    expect(page.get_by_role("button", name="Sort")).to_have_attribute("aria-pressed", "true")
    push.press("End")
    expect(page.locator("[data-node=w] .cg-grad")).to_have_text("4.464")


@pytest.mark.parametrize(("theme", "width"), [("light", 800), ("dark", 360)])
def test_it_fits_and_can_be_read(show: Show, theme: str, width: int) -> None:
    page = show(
        run_lines().html,
        head=f' data-theme="{theme}"',
        viewport={"width": width, "height": 900},
        reduced_motion="reduce",
    )
    if theme == "dark":
        page.add_style_tag(content="body { background: #14181e; color: #eee }")
    tops = set()
    for k in range(len(recorded()[0])):
        page.get_by_role("slider").fill(str(k))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        tops.add(page.locator(".cg-transport").bounding_box()["y"] + page.evaluate("scrollY"))
    assert len(tops) == 1  # the bar stays where it is
    assert not severe(page)


@pytest.mark.parametrize("scripts", [False, True])
def test_it_stands_without_scripts_and_on_paper(show: Show, scripts: bool) -> None:
    page = show(run_lines().html, java_script_enabled=scripts, reduced_motion="reduce")
    page.emulate_media(media="print")
    assert page.locator(".cg-code").inner_text().count("\n") >= 44
    assert not page.locator("button:visible, input:visible").count()
    if not scripts:
        expect(page.locator("[data-node=z] .cg-grad")).to_have_text("2.976")
