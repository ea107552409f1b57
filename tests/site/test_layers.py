"""Figures with controls of their own in a browser, by mouse and keyboard."""

import numpy as np
import pytest
from playwright.sync_api import Locator, Page

from chainlab.lessons.layers_of_today import attention, told, uses
from chainlab.lessons.normalization import ROW, UPSTREAM, blind, parts
from chainlab.lessons.rematerialization import LAYERS, Moment, alive, moments
from chainlab.lessons.time_and_flops import count, products, written
from tests.axe import severe
from tests.site.conftest import Show, themed


def bars(page: Page, name: str) -> list[float]:
    """The numbers that a panel shows."""
    texts = page.locator(f".cg-{name} g text").all_text_contents()
    return [float(text.replace("−", "-")) for text in texts]


def check(page: Page, x: list[float], d: list[float]) -> None:
    for name, expected in parts(x, d).items():
        np.testing.assert_allclose(bars(page, name), expected, atol=0.0051)


def slider(page: Page, panel: str, feature: int) -> Locator:
    return page.locator(f".cg-{panel} g").nth(feature)


def test_what_a_row_deletes_follows_keys_mouse_and_buttons(show: Show) -> None:
    page = show(blind().html)
    x, d = [*ROW], [*UPSTREAM]
    check(page, x, d)
    slider(page, "x", 1).press("ArrowUp")
    slider(page, "d", 3).press("PageDown")
    x[1], d[3] = 1.5, 0.2
    check(page, x, d)
    box = slider(page, "d", 0).locator("circle").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.mouse.up()
    d[0] = bars(page, "d")[0]
    assert d[0] < UPSTREAM[0] - 0.5
    check(page, x, d)
    page.get_by_role("button", name="Start again").click()
    check(page, [*ROW], [*UPSTREAM])
    for name in ("Let all ones arrive", "Let x̂ arrive"):
        page.get_by_role("button", name=name).press("Enter")
        assert not any(bars(page, "out"))
    before = bars(page, "hat")
    for name in ("Shift the row", "Stretch the row") * 3:
        page.get_by_role("button", name=name).press("Enter")
        assert bars(page, "hat") == before


def test_users_light_up_with_their_shares(show: Show) -> None:
    page = show(uses().html)
    page.get_by_role("button", name="Attention").press("Enter")
    scene = attention()
    for name, its in scene.uses.items():
        page.locator(f".cg-scene:not(.cg-off) g[data-name='{name}']").press("Enter")
        assert page.locator(".cg-words:visible").inner_text() == told(scene, name)
        lit = page.locator(".cg-scene:not(.cg-off) .cg-lit")
        users = [box.get_attribute("data-name") for box in lit.all()]
        assert sorted(map(str, users)) == sorted(use.user for use in its)
        assert page.locator("text.cg-share:visible").count() == len(its)


def test_the_products_of_a_step_follow_the_network(show: Show) -> None:
    page = show(count().html)
    page.get_by_role("slider", name="examples").press("End")
    page.get_by_role("slider", name="hidden units").press("Home")
    page.get_by_role("slider", name="layers").press("ArrowRight")
    page.get_by_role("slider", name="layers").press("ArrowRight")
    for asked in (False, True):
        step = products(4096, 16, 5, input_gradient=asked)
        cells = page.locator("tbody td span").all_text_contents()
        expected = [flops for layer in step for flops in layer]
        assert cells == [written(flops) if flops else "not needed" for flops in expected]
        forward = sum(layer.forward for layer in step)
        backward = sum(layer.weights + layer.inputs for layer in step)
        words = page.locator(".cg-words").inner_text()
        assert written(forward) in words
        assert written(backward) in words
        assert f"{backward / forward:.2f} times" in words
        page.get_by_role("checkbox").press("Space")


def test_what_is_alive_follows_the_layers_that_are_kept(show: Show) -> None:
    page = show(alive().html)

    def check(kept: list[int]) -> None:
        step = moments(kept)
        for name in ("forward", "again", "backward"):
            drawn = page.locator(f".cg-columns .cg-{name}")
            tall = [float(str(bar.get_attribute("height"))) / 9 for bar in drawn.all()]
            assert tall == [m.results for m in step if m.kind == name]
        words = page.locator(".cg-words").inner_text()
        assert f"most {max(map(height, step))} arrays" in words
        assert f"again: {sum(m.kind == 'again' for m in step)} layers" in words

    def height(moment: Moment) -> int:
        return moment.results + moment.adjoints

    check([*range(1, LAYERS)])
    page.get_by_role("button", name="keep layer 5", exact=True).press("Enter")
    check([n for n in range(1, LAYERS) if n != 5])
    page.get_by_role("button", name="Keep only the last").click()
    check([])
    for layer in (6, 11, 15):
        page.get_by_role("button", name=f"keep layer {layer}", exact=True).click()
    check([6, 11, 15])
    page.get_by_role("button", name="Keep every 4th").press("Space")
    check([4, 8, 12])


@pytest.mark.parametrize(("theme", "width"), [("light", 800), ("dark", 360)])
def test_they_fit_and_can_be_read(show: Show, theme: str, width: int) -> None:
    page = themed(show, theme, width, uses().html, blind().html, count().html, alive().html)
    for name in ("Convolution", "Attention", "Embedding"):
        page.get_by_role("button", name=name).click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not severe(page)


def test_they_stand_without_scripts(show: Show) -> None:
    page = show(uses().html, blind().html, java_script_enabled=False)
    assert bars(page, "out") == [0.1, -0.5, 0.1, 0.3]
    assert "(1.4, 0.6)" in page.locator(".chaingrad-uses .cg-words:visible").first.inner_text()
    assert not page.locator("button:visible").count()
