"""The race in a real browser, by keyboard and on one clock; and the way into the course."""

import re
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from chaingrad import Node
from chainlab.lessons.race import Contest, Setting, contests, race, stack
from tests.axe import severe
from tests.site.audit import DESKTOP, reading
from tests.site.conftest import Show

NUDGING, SENDING = contests()
CONTEST = pytest.mark.parametrize("contest", [NUDGING, SENDING], ids=["nudging", "sending"])
LESSON = "chapters/foundations/computational-graph"
# Of a net of five neurons, what a drawing shows: its first and its last neuron, by their names.
FIRST = {"x": "n0", "w": "n1", "p": "n2", "h": "n3", "out": "n4"}
LAST = {"x": "more", "w": "n5", "p": "n6", "h": "n7", "out": "n8"}


# What is counted in each lane, of how many, what is said, and how many neurons a box stands for.
STATE = """() => {
    const texts = (root, choice) => [...root.querySelectorAll(choice)].map((e) => e.textContent);
    const scene = document.querySelector(".cg-scene:not(.cg-off)");
    const lanes = [...scene.querySelectorAll(".cg-lane")];
    const numbers = (choice) => lanes.map((lane) => texts(lane, choice)
        .map((text) => +text.replace(/of |,/g, "")));
    return [numbers("dd b"), numbers("dd span"), texts(scene, ".cg-words")[0],
            texts(scene, ".cg-picture:not([hidden]) [data-slot=count]")];
}"""
# Texts that reach out of their lane.
OUTSIDE = """() => [...document.querySelectorAll(".cg-scene:not(.cg-off) .cg-lane :is(dd *, text)")]
    .filter((text) => text.getBoundingClientRect().right
        >= text.closest(".cg-lane").getBoundingClientRect().right)
    .map((text) => text.textContent)"""


def counted(page: Page) -> list[list[int]]:
    """What each lane has counted."""
    counts: list[list[int]] = page.evaluate(STATE)[0]
    return counts


def words(page: Page) -> str:
    return page.locator(".cg-words:visible").inner_text()


def exactly(*rows: Any) -> list[list[int]]:
    return [list(row) for row in rows]


def choose(page: Page, contest: Contest) -> Locator:
    """Come to a contest by the keyboard; return its slider."""
    page.get_by_role("button", name=contest.button).press("Enter")
    slider = page.get_by_role("slider")
    expect(slider).to_have_accessible_name(f"{contest.unit} {contest.at_start.size:,}")
    return slider


def check_swept(page: Page, setting: Setting) -> list[str]:
    """Check what is counted and said then; return what the boxes say that stand for many."""
    counts, totals, says, more = page.evaluate(STATE)
    assert counts == exactly(setting.behind, setting.totals[1])
    assert totals == exactly(*setting.totals)
    assert says == setting.swept
    return list(more)


@CONTEST
def test_at_each_place_of_the_slider_stands_what_python_counts(
    show: Show, contest: Contest
) -> None:
    page = show(race().html)
    slider = choose(page, contest)
    slider.press("Home")
    for setting in contest.settings:
        assert slider.get_attribute("aria-valuetext") == f"{setting.size:,}"
        assert check_swept(page, setting) == [f"{setting.more:,}"] * 2 * (setting.more > 0)
        slider.press("ArrowRight")


@CONTEST
def test_both_lanes_run_to_their_ends_on_one_clock(show: Show, contest: Contest) -> None:
    page = show(race().html)
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    choose(page, contest).press("Home")
    button = page.get_by_role("button", name="Start")
    setting = contest.settings[0]
    button.press("Enter")
    page.clock.run_for(contest.sweep * 600)
    (left, right), clock = counted(page), page.locator(".cg-clock:visible").inner_text()
    place = contest.counters.index("arrows") if contest is NUDGING else 0
    assert 0 < left[place] == right[place] < contest.sweep * setting.arrows
    assert words(page) == contest.asks
    page.get_by_role("button", name="Pause").press("Enter")
    page.clock.run_for(5000)
    assert page.locator(".cg-clock:visible").inner_text() == clock
    page.get_by_role("button", name="Go on").press("Enter")
    page.clock.run_for(1000 * setting.seconds)
    assert counted(page) == exactly(*setting.totals)
    assert words(page) == setting.ended
    expect(button).to_be_focused()
    arrows = page.locator(".cg-lane:visible .cg-picture:visible g.edge")
    sweeps = arrows.and_(page.locator(".cg-back"))
    assert sweeps.count() == arrows.count() / (2 if contest is NUDGING else 1)


def messages_at_once(neurons: int) -> Iterator[tuple[str, str] | None]:
    """Where a program that sends at once has sent, of what a drawing shows."""
    names: dict[Node, tuple[int, str]] = {}
    out = stack(neurons)
    node = out
    for neuron in range(neurons, 0, -1):
        below, h = node.parents
        (p,) = h.parents
        names |= {node: (neuron, "out"), h: (neuron, "h"), p: (neuron, "p")}
        names[p.parents[0]] = neuron, "w"
        node = below
    names[node] = 0, "out"

    def send(child: Node) -> Iterator[tuple[str, str] | None]:
        neuron, name = names[child]
        for parent in child.parents:
            level, label = names[parent]
            shown = {1: FIRST, neurons: LAST}.get(neuron)
            yield shown and (shown["x" if level < neuron else label], shown[name])
            yield from send(parent)

    return send(out)


def test_the_arrow_that_is_lit_is_the_one_of_the_message(show: Show) -> None:
    page = show(race().html)
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    choose(page, SENDING).press("Home")
    page.get_by_role("button", name="Start").press("Enter")
    sent = list(messages_at_once(5))
    seen = set()
    lit = page.locator(".cg-lane:visible g.edge.cg-now")
    for _ in range(40):
        page.clock.run_for(150)
        ((count,), _) = counted(page)
        edges = [(e.get_attribute("data-from"), e.get_attribute("data-to")) for e in lit.all()]
        if 0 < count < len(sent):
            assert edges == [edge for edge in [sent[count - 1]] if edge], count
            seen.update(edges)
    assert len(seen) >= 6


def test_less_motion_is_none(show: Show) -> None:
    page = show(race(small=True).html, reduced_motion="reduce")
    assert counted(page) == [[0, 0, 0]] * 2
    page.get_by_role("button", name="Start").press("Enter")
    check_swept(page, NUDGING.at_start)


@pytest.mark.parametrize(("theme", "width"), [("light", 1000), ("dark", 390)])
def test_it_fits_can_be_read_and_nothing_moves_on_a_press(
    show: Show, theme: str, width: int
) -> None:
    page = show(
        race().html, head=f' data-theme="{theme}"', viewport={"width": width, "height": 844}
    )
    if theme == "dark":
        page.add_style_tag(content="body { background: #14181e; color: #eee }")
    figure = page.locator(".chaingrad-race")
    sizes = [figure.bounding_box()]
    for contest in (SENDING, NUDGING):
        choose(page, contest).press("End")
        sizes.append(figure.bounding_box())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert not page.evaluate(OUTSIDE)
    assert sizes[0] == sizes[1] == sizes[2]
    assert not severe(page)


@pytest.mark.parametrize("scripts", [False, True])
def test_on_paper_it_stands_as_the_sweep_arrives(show: Show, scripts: bool) -> None:
    page = show(race().html, java_script_enabled=scripts)
    page.emulate_media(media="print")
    if scripts:
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
    if scripts:
        check_swept(page, NUDGING.at_start)
    assert words(page) == NUDGING.at_start.swept
    assert not page.locator("button:visible, input:visible").count()


# --- on the site --------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_way_in_becomes_the_way_on(
    browser: Browser, address: str, theme: Literal["light", "dark"]
) -> None:
    with reading(browser, address, DESKTOP, theme) as opened:
        page = opened.page
        opened.open("chapters/intro")
        link = page.locator(".begin a")
        expect(link).to_have_text(re.compile("Begin: [0-9]+ minutes"))
        link.click()
        page.wait_for_url(f"**/{LESSON}.html")
        page.wait_for_function("kept.read('reading').way")
        page.go_back()
        expect(link).to_have_text("Go on: 1. Computational graphs")
        opened.open(LESSON)
        page.locator(".prev-next-area").scroll_into_view_if_needed()
        page.wait_for_function("kept.read('reading').way.at.endsWith('chain-rule')")
        opened.open("chapters/intro")
        expect(link).to_have_text("Go on: 2. The chain rule")
        link.click()
        page.wait_for_url("**/foundations/chain-rule.html")


def test_the_race_returns_where_the_cheap_gradient_is_told(browser: Browser, address: str) -> None:
    with reading(browser, address, DESKTOP, "light") as opened:
        opened.open("chapters/cost/time-and-flops")
        figure = opened.page.locator(".chaingrad-race")
        figure.get_by_role("slider").press("End")
        expect(figure.locator(".cg-words")).to_contain_text("11 days and 14 hours to go")
