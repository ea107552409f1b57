"""Figures that move, in a real browser: by mouse, keyboard and touch, on paper, on the pages."""

import random
import re

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from chaingrad import Node, nn
from chaingrad.losses import mse_loss
from chainview import replay, transposes, vary
from tests.axe import severe
from tests.site.audit import DESKTOP, PHONE, reading
from tests.site.conftest import Show, themed

CONTROLS = {"depth": [2, 5, 9], "scale": [0.5, 1.4, 3], "activation": ["tanh", "relu"]}


def norms(depth: int, scale: float, activation: str) -> tuple[list[float], str]:
    rng = np.random.default_rng(0)
    H, target = rng.normal(size=(2, 16, 8))
    layers = [nn.Linear(8, 8, bias=False, rng=rng) for _ in range(depth)]
    for layer in layers:
        layer.weight.data = layer.weight.data * scale
        H = getattr(layer(H), activation)()
    mse_loss(H, target).backward()
    found = [float(np.linalg.norm(layer.weight.grad)) for layer in layers]
    return found, f"The first is {found[0]:.3g}."


def lines(log: bool = True):
    return vary(norms, CONTROLS, x="layer", y="norm", start=(5, 1.4, "relu"), log=log)


def product():
    generator = np.random.default_rng(1)
    X, W = (
        Node(generator.integers(-3, 4, size), name) for size, name in [((4, 3), "X"), ((2, 3), "W")]
    )
    Z = X @ W.T
    Z.label = "Z"
    Z.backward(generator.integers(-3, 4, (4, 2)))
    return X, W, Z


def ticks(figure: Locator | Page) -> list[tuple[float, float]]:
    """The numbers on the vertical axis: how high they stand, and what they say."""
    texts = figure.locator("svg.chaingrad > text").evaluate_all(
        "all => all.map(t => [t.style.textAnchor, +t.getAttribute('y'), t.textContent])"
    )
    return [(y, float(text.replace("−", "-"))) for anchor, y, text in texts if anchor == "end"]


def read_off(figure: Locator | Page, log: bool = True) -> list[float]:
    """The numbers of the line that is drawn, by the axis beside it."""
    (low, least), *_, (high, most) = ticks(figure)
    scale = np.log10 if log else np.asarray
    d = figure.locator(".cg-line").get_attribute("d") or ""
    heights = [float(y) for y in re.findall(r"[ML]\S+ (-?[\d.]+)", d)]
    # A tick's text stands a little below its tick, everywhere by as much.
    path = figure.locator("svg.chaingrad > use").evaluate_all(
        "all => all.map(u => +u.getAttribute('y'))"
    )
    shift = min((low - y for y in path if low - y > 0), default=0)
    share = (low - shift - np.array(heights)) / (low - high)
    values = scale(least) + share * (scale(most) - scale(least))
    return list(10**values if log else values)


def set_controls(page: Page | Locator, setting: tuple) -> None:
    for (name, values), value in zip(CONTROLS.items(), setting, strict=True):
        control = page.locator("label", has_text=name).locator("input, select")
        if isinstance(value, str):
            control.select_option(value)
        else:
            control.fill(str(values.index(value)))


@pytest.mark.parametrize("log", [True, False])
def test_random_settings_show_what_the_engine_gives(show: Show, log: bool) -> None:
    page, chance = show(lines(log).html), random.Random(0)
    for _ in range(8):
        setting = tuple(chance.choice(values) for values in CONTROLS.values())
        set_controls(page, setting)
        numbers, words = norms(*setting)
        expect(page.locator(".cg-words")).to_have_text(words)
        far = 0 if log else 0.005 * ticks(page)[-1][1]  # a pixel
        np.testing.assert_allclose(read_off(page, log), numbers, rtol=0.03, atol=far)
        label = page.get_by_role("img").get_attribute("aria-label") or ""
        assert label.endswith(words)
        if not log:
            peak = page.locator(".cg-at-peak").text_content() or ""
            assert float(peak.removeprefix("peak ")) == pytest.approx(max(numbers), rel=5e-3)


def test_controls_by_keyboard(show: Show) -> None:
    page = show(lines().html)
    page.keyboard.press("Tab")
    depth = page.get_by_role("slider", name="depth")
    expect(depth).to_be_focused()
    for key, value in [("ArrowRight", 9), ("Home", 2), ("ArrowUp", 5), ("End", 9)]:
        page.keyboard.press(key)
        expect(depth).to_have_attribute("aria-valuetext", str(value))
        expect(page.locator(".cg-words")).to_have_text(norms(value, 1.4, "relu")[1])
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".cg-words")).to_have_text(norms(9, 1.4, "tanh")[1])
    assert page.locator(".cg-words").get_attribute("aria-live") == "polite"


@pytest.mark.walk
@pytest.mark.fonts
@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_no_setting_moves_what_follows(show: Show, width: int) -> None:
    told = vary(lambda k: ([1.0], "four words and one " * k), {"k": [1, 3, 9]}, x="x", y="y")
    page = show(told.html, viewport={"width": width, "height": 800})
    tall = set()
    for place in "021":
        page.get_by_role("slider").fill(place)
        tall.add((page.locator(".chaingrad-lookup").bounding_box() or {})["height"])
    assert len(tall) == 1


def check_entry(page: Page | Locator, name: str, row: int, column: int) -> None:
    """The chosen entry is the engine's, and what is lit adds up to it."""
    X, W, _ = product()
    grad = (W if name == "dW" else X).grad
    total = f"{grad[row, column]:g}".replace("-", "−")
    expect(page.locator(".cg-words")).to_contain_text(f"= {total}")
    expect(page.locator("[aria-pressed=true]")).to_have_text(total)
    lit: dict[str, dict[str, float]] = {}
    for cell in page.locator(".cg-lit").all():
        order, text, title = cell.evaluate(
            """e => [e.style.getPropertyValue('--n'), e.textContent,
                e.closest('table').caption.textContent]"""
        )
        lit.setdefault(title.split(" ")[0], {})[order] = float(text.replace("−", "-"))
    assert set(lit) == ({"dZ", "X"} if name == "dW" else {"dZ", "W"})
    first, second = lit.values()
    assert len(first) == len(second) == (4 if name == "dW" else 2)
    assert sum(first[n] * second[n] for n in first) == grad[row, column]


def entry(page: Page | Locator, name: str, row: int, column: int) -> Locator:
    return page.get_by_role("button", name=f"{name}, row {row + 1}, column {column + 1}:")


def test_pointing_at_each_entry_lights_what_makes_it(show: Show) -> None:
    page = show(transposes(product()[2]).html)
    for name, shape in [("dW", (2, 3)), ("dX", (4, 3))]:
        for row, column in np.ndindex(*shape):
            entry(page, name, row, column).hover()
            check_entry(page, name, row, column)


@pytest.mark.walk
def test_a_tap_chooses(show: Show) -> None:
    page = show(
        transposes(product()[2]).html, has_touch=True, viewport={"width": 390, "height": 700}
    )
    for name, row, column in [("dX", 3, 0), ("dW", 1, 2)]:
        entry(page, name, row, column).tap()
        check_entry(page, name, row, column)


def test_entries_by_keyboard(show: Show) -> None:
    page = show(transposes(product()[2]).html)
    page.keyboard.press("Tab")
    check_entry(page, "dW", 0, 0)
    at = np.array([0, 0])
    moves = {"ArrowRight": (0, 1), "ArrowDown": (1, 0), "ArrowLeft": (0, -1), "ArrowUp": (-1, 0)}
    for key in (
        "ArrowRight",
        "ArrowDown",
        "ArrowDown",
        "ArrowRight",
        "ArrowRight",
        "ArrowLeft",
        "ArrowUp",
    ):
        page.keyboard.press(key)
        at = np.clip(at + moves[key], 0, [1, 2])
        expect(entry(page, "dW", *at)).to_be_focused()
        check_entry(page, "dW", *at)
    page.keyboard.press("Tab")
    check_entry(page, "dX", 0, 0)
    page.keyboard.press("Shift+Tab")
    expect(entry(page, "dW", *at)).to_be_focused()


@pytest.mark.walk
def test_the_sum_runs_only_for_those_who_like_that(show: Show) -> None:
    for motion, runs in [("reduce", False), ("no-preference", True)]:
        page = show(transposes(product()[2]).html, reduced_motion=motion)
        entry(page, "dW", 1, 1).hover()
        last = page.locator(".cg-words span").last
        assert (last.evaluate("e => getComputedStyle(e).animationName") != "none") == runs
        expect(last).to_have_css("opacity", "1")


@pytest.mark.walk
@pytest.mark.parametrize(("theme", "width"), [("light", 1000), ("dark", 390)])
def test_axe_finds_nothing_serious_and_a_phone_need_not_scroll(
    show: Show, theme: str, width: int
) -> None:
    figures = transposes(product()[2]), lines(), lines(log=False), run()
    page = themed(show, theme, width, *(figure.html for figure in figures))
    entry(page, "dX", 1, 1).hover()
    assert not severe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    smallest = page.evaluate(
        """() => Math.min(...[...document.querySelectorAll('.chaingrad-lookup *')]
            .filter(e => e.matches('text, p, label, b, select, caption, td, button, span'))
            .map(e => {
                const { a, b } = e.ownerSVGElement ? e.getScreenCTM() : { a: 1, b: 0 };
                return parseFloat(getComputedStyle(e).fontSize) * Math.hypot(a, b);
            }))"""
    )
    assert smallest >= 10.9


def still(page: Page) -> None:
    for picture in page.locator(".cg-line").all():
        assert picture.is_visible()
    assert not page.get_by_role("slider").count()
    expect(page.locator(".cg-setting")).to_be_visible()


def test_without_scripts_the_first_setting_stands(show: Show) -> None:
    page = show(lines().html, transposes(product()[2]).html, java_script_enabled=False)
    still(page)
    np.testing.assert_allclose(read_off(page), norms(5, 1.4, "relu")[0], rtol=0.03)
    expect(page.locator(".cg-setting")).to_have_text("depth 5, scale 1.4, activation relu")
    check_entry(page.locator(".chaingrad-lookup").last, "dW", 0, 0)


def test_on_paper_what_was_chosen_stands(show: Show) -> None:
    page = show(lines().html)
    set_controls(page, (9, 0.5, "tanh"))
    expect(page.locator(".cg-setting")).not_to_be_visible()
    page.emulate_media(media="print")
    still(page)
    expect(page.locator(".cg-setting")).to_have_text("depth 9, scale 0.5, activation tanh")


def test_two_on_a_page_do_not_mind_each_other(show: Show) -> None:
    page = show(transposes(product()[2]).html, transposes(product()[2]).html)
    first, second = page.locator(".chaingrad-lookup").all()
    entry(second, "dX", 2, 1).hover()
    check_entry(second, "dX", 2, 1)
    check_entry(first, "dW", 0, 0)


# --- a run, played again ------------------------------------------------------------------------

STEPS, WHERE = 20, np.linspace(-1, 1, 5)
SLOPES = np.linspace(-1, 2, STEPS)


def run():
    loss = np.geomspace(1, 0.01, STEPS)
    whole, part = np.outer(SLOPES, WHERE), np.outer(SLOPES**2, WHERE)

    def record(size, seed):
        curves = {"whole": whole, "part": part} if size == 2 else {"whole": whole}
        return curves, loss * 10.0**-seed

    return replay(WHERE, record, {"size": [1, 2], "seed": [0, 1]}, start=(2, 0), every=5)


def check_step(page: Page | Locator, k: int) -> None:
    """The figure shows step k in its words and curves, with its mark, and each curve's name."""
    expect(page.locator(".cg-count")).to_have_text(f"step {5 * k} of 95")
    tops = []
    for i in (0, 1):
        d = page.locator(f".cg-curve-{i}").get_attribute("d") or ""
        tops.append([float(y) for y in re.findall(r"[ML]\S+ (-?[\d.]+)", d)])
    rises = [line[0] - line[-1] for line in tops]
    assert rises[1] == pytest.approx(rises[0] * SLOPES[k], abs=1.5)
    names = page.locator("text.cg-name").evaluate_all("all => all.map(t => +t.getAttribute('y'))")
    assert abs(names[0] - names[1]) >= 13.9
    words = page.locator(".cg-setting").text_content() or ""
    value = page.locator(".cg-mark text").text_content() or ""
    assert words == f"size 2, seed 0, step {5 * k} of 95, loss {value}"
    assert float(value) == pytest.approx(0.01 ** (k / (STEPS - 1)), rel=1e-3)
    assert page.get_by_role("img").get_attribute("aria-label") == words


def test_a_run_by_keyboard(show: Show) -> None:
    page = show(run().html, reduced_motion="reduce")
    check_step(page, 0)
    slider = page.get_by_role("slider", name="Step")
    for focused in (page.get_by_role("button", name="Play"), slider):
        focused.focus()
        moves = [("ArrowRight", 1), ("End", 19), ("ArrowLeft", 18), ("Home", 0), ("ArrowRight", 1)]
        for key, k in moves:
            page.keyboard.press(key)
            check_step(page, k)
            expect(slider).to_have_attribute("aria-valuetext", re.compile(rf"^{5 * k} of 95, loss"))
        page.keyboard.press("Home")


def test_a_run_plays_to_its_end_and_stops_when_it_is_told_to(show: Show) -> None:
    page = show(run().html, reduced_motion="reduce")
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(3_050)
    page.get_by_role("button", name="Pause").click()
    check_step(page, 10)
    page.clock.run_for(2_000)
    check_step(page, 10)
    page.get_by_role("slider").press(" ")
    page.clock.run_for(9_000)
    check_step(page, STEPS - 1)
    page.get_by_role("button", name="Play").click()
    check_step(page, 0)


@pytest.mark.parametrize(("motion", "plays"), [("reduce", False), ("no-preference", True)])
def test_a_run_plays_once_when_it_comes_into_view(show: Show, motion: str, plays: bool) -> None:
    page = show('<p style="height: 2000px"></p>', run().html, reduced_motion=motion)
    playing = page.get_by_role("button", name="Pause")
    expect(page.locator(".cg-count")).to_have_text("step 0 of 95")
    expect(playing).to_have_count(0)
    page.evaluate("scrollTo(0, 2000)")
    if plays:
        expect(page.locator(".cg-count")).to_have_text("step 95 of 95", timeout=30_000)
        page.evaluate("scrollTo(0, 0)")
        page.evaluate("scrollTo(0, 2000)")
    page.wait_for_function(
        "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"
    )
    expect(playing).to_have_count(0)


def drag_to(page: Page, share: float) -> tuple[float, float]:
    """Where in the window a share of the loss curve's width is."""
    box = page.locator(".cg-over").bounding_box()
    assert box
    return box["x"] + share * box["width"], box["y"] + box["height"] / 2


def test_dragging_along_the_loss_chooses_the_step(show: Show) -> None:
    page = show(run().html, reduced_motion="reduce")
    page.mouse.move(*drag_to(page, 0.2))
    check_step(page, 0)  # a mouse that only passes changes nothing
    page.mouse.down()
    page.mouse.move(*drag_to(page, 10 / 19))
    check_step(page, 10)
    page.mouse.move(*drag_to(page, 1.2))
    check_step(page, 19)
    page.mouse.up()
    size = {"width": 390, "height": 900}
    page = show(run().html, reduced_motion="reduce", has_touch=True, viewport=size)
    page.touchscreen.tap(*drag_to(page, 5 / 19))
    check_step(page, 5)


def test_a_switch_plays_its_run(show: Show) -> None:
    page = show(run().html, reduced_motion="reduce")
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    seed = page.get_by_role("group", name="seed")
    seed.get_by_role("button", name="1").click()
    expect(page.locator(".cg-mark text")).to_have_text("0.1")
    page.get_by_role("group", name="size").get_by_role("button", name="1").click()
    expect(seed.locator("[aria-pressed=true]")).to_have_text("1")
    expect(page.locator(".cg-curve-1")).to_have_attribute("d", "M0 0")
    page.clock.run_for(9_000)
    expect(page.locator(".cg-setting")).to_have_text("size 1, seed 1, step 95 of 95, loss 0.001000")


@pytest.mark.walk
def test_without_scripts_and_on_paper_the_end_of_a_run_stands(show: Show) -> None:
    page = show(run().html, java_script_enabled=False)
    assert not page.get_by_role("slider").count()
    expect(page.locator(".cg-setting")).to_have_text("size 2, seed 0, step 95 of 95. loss: 0.01.")
    page = show(run().html, reduced_motion="reduce")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    check_step(page, STEPS - 1)
    assert not page.get_by_role("slider").count()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    check_step(page, 0)
    page.get_by_role("slider").press("ArrowRight")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    check_step(page, 1)


# --- on the site --------------------------------------------------------------------------------

PLACES = {
    "foundations/neural-network": ["replay"],
    "atlas/where-to-start": ["vary"],
    "atlas/layers-by-hand": ["transposes"],
    "atlas/schedules-of-checkpoints": ["vary"],
}


@pytest.mark.walk
@pytest.mark.parametrize("place", PLACES)
def test_the_figures_of_the_pages_move(browser: Browser, address: str, place: str) -> None:
    with reading(browser, address, DESKTOP, "light") as opened:
        page = opened.page
        opened.open(f"chapters/{place}")
        figures = page.locator(".chaingrad-lookup")
        kinds = figures.evaluate_all("all => all.map(e => e.dataset.kind)")
        assert kinds == PLACES[place]
        for width, key, button in [(DESKTOP, "End", -1), (PHONE, "Home", 0)]:
            page.set_viewport_size({"width": width, "height": 900})
            for figure in figures.all():
                said = figure.locator(".cg-words, .cg-count")
                before = said.inner_text()
                if figure.get_attribute("data-kind") in ("vary", "replay"):
                    figure.get_by_role("slider").first.press(key)
                else:
                    figure.get_by_role("button").nth(button).click()
                expect(said).not_to_have_text(before)
                box = figure.bounding_box()
                assert box
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= width
                assert figure.evaluate("e => e.scrollWidth <= e.clientWidth")
            assert not severe(page, within=".chaingrad-lookup")
        assert not opened.errors
