"""The player in a real browser: by keyboard, on paper, on a phone, in a page."""

import html
import re
from collections.abc import Callable

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from chaingrad import Node
from chaingrad.graph import toposort
from chainview import Player, play, play_toposort
from tests.axe import severe
from tests.site.audit import DESKTOP, PHONE, SETTLED, reading
from tests.site.built import Site
from tests.site.conftest import Show, check_focus, themed

SORTED = {"a": [], "b": [], "c": ["a", "b"], "d": ["c"], "e": ["c"]}
AT = {"w": 0.4, "x": -1.5, "b": 0.2}
FITTED = ".cg-live svg.chaingrad[style*=width]"  # which it has once there is room


def neuron(w, x, b):
    error = (w * x + b).tanh() - 0.5
    return error * error + 0.1 * w * w


def scalar():
    root = neuron(*(Node(value, name) for name, value in AT.items()))
    root.label = "J"
    return play(root)


def arrays():
    X, W, V = matrices()
    H = (Node(X, "X", requires_grad=False) @ Node(W, "W").T).relu()
    root = (H @ Node(V, "V").T).squared_norm()
    root.label = "J"
    return play(root)


def matrices():
    generator = np.random.default_rng(1)
    return [generator.normal(size=shape) for shape in [(4, 3), (5, 3), (2, 5)]]


def words(player: Locator | FrameLocator | Page) -> Locator:
    return player.locator(".cg-words")


def play_by_keyboard(page: Page, player: Locator | FrameLocator | Page) -> str:
    """Walk from the first step to the last with the arrow key; the last step's words."""
    button = player.get_by_role("button", name="One step forward")
    page.keyboard.press("Home")
    while button.is_enabled():
        page.keyboard.press("ArrowRight")
    return words(player).inner_text()


def read_off(text: str) -> dict[str, float]:
    """The gradients in the words of a step."""
    found = re.findall(r"∂J/∂(\w) = ([−\d.e]+\d)", text)
    return {name: float(number.replace("−", "-")) for name, number in found}


def expected() -> dict[str, float]:
    leaves = {
        name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for name, value in AT.items()
    }
    neuron(**leaves).backward()
    return {name: float(f"{leaf.grad.item():.4g}") for name, leaf in leaves.items()}


# --- the keyboard and what is read out ----------------------------------------------------------


def test_the_final_gradients_by_keyboard_are_those_of_pytorch(show: Show) -> None:
    page = show(scalar().html)
    for _ in range(4):  # three phases, and the graph
        page.keyboard.press("Tab")
    expect(page.locator(".cg-live .cg-scroll")).to_be_focused()
    assert read_off(play_by_keyboard(page, page)) == expected()
    for name, gradient in expected().items():
        node = page.locator(".cg-live g.node", has=page.get_by_text(name, exact=True))
        shown = node.locator("[data-slot=grad]").text_content() or ""
        assert float(shown.removeprefix("grad ").replace("−", "-")) == gradient


def test_keys_and_buttons(show: Show) -> None:
    page = show(scalar().html, reduced_motion="reduce")
    count, player = page.locator(".cg-count"), scalar()
    last = len(player.steps)
    page.locator(".cg-live .cg-scroll").focus()
    for key, at in [("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("End", last)]:
        page.keyboard.press(key)
        expect(count).to_have_text(f"step {at} of {last}")
    for name in ("Backward", "Sort", "Forward"):
        page.get_by_role("button", name=name, exact=True).click()
        first = next(i for i, step in enumerate(player.steps) if step.phase == name)
        expect(count).to_have_text(f"step {first + 1} of {last}")
        chosen = page.locator("button[aria-current=step]")
        expect(chosen).to_have_text(name)
    slider = page.get_by_role("slider", name="Step")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(count).to_have_text(f"step 2 of {last}")
    assert slider.get_attribute("aria-valuetext") == f"2 of {last}, Forward"


def test_space_plays_to_the_end_and_pauses(show: Show) -> None:
    page = paused(show(play_toposort(SORTED, "d").html))
    assert not page.locator(".cg-top").count()  # it has one phase
    page.get_by_label("Speed").select_option("4")
    page.locator(".cg-live .cg-scroll").focus()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.keyboard.press(" ")
    page.clock.run_for(8 * 1400 // 4)  # as many steps at this speed
    expect(page.locator(".cg-count")).to_have_text("step 8 of 8")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    assert f"[{', '.join(toposort('d', SORTED))}]" in words(page).inner_text()


@pytest.mark.walk
def test_keys_that_belong_to_others(show: Show) -> None:
    page = paused(show(scalar().html, '<p style="height: 3000px"></p>', reduced_motion="reduce"))
    count, last = page.locator(".cg-count"), len(scalar().steps)
    playing = page.get_by_role("button", name="Pause")
    forward = page.get_by_role("button", name="One step forward")
    forward.press(" ")  # a button's own key
    expect(count).to_have_text(f"step 2 of {last}")
    expect(playing).to_have_count(0)
    stage = page.locator(".cg-live .cg-scroll")
    for modifier in ("Control", "Alt", "Meta"):
        stage.press(f"{modifier}+ArrowRight")
    expect(count).to_have_text(f"step 2 of {last}")
    for element in (page.get_by_role("slider", name="Step"), stage):
        element.press(" ")
        expect(playing).to_be_visible()
        element.press(" ")
        expect(playing).to_have_count(0)
    expect(count).to_have_text(f"step 2 of {last}")  # it goes on from where it is
    stage.press("End")
    assert page.evaluate("scrollY") == 0  # and no key scrolls the page


@pytest.mark.walk
def test_the_ends_have_one_way_on(show: Show) -> None:
    page = paused(show(scalar().html, reduced_motion="reduce"))
    back = page.get_by_role("button", name="One step back")
    forward = page.get_by_role("button", name="One step forward")
    stage, last = page.locator(".cg-live .cg-scroll"), len(scalar().steps)
    for key, ends in {
        "ArrowRight": (True, True),
        "End": (True, False),
        "Home": (False, True),
    }.items():
        stage.press(key)
        assert (back.is_enabled(), forward.is_enabled()) == ends
    stage.press("End")
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".cg-count")).to_have_text(f"step 1 of {last}")


@pytest.mark.walk
def test_a_player_that_is_taken_away_stops(show: Show) -> None:
    page = paused(show(scalar().html))
    page.get_by_role("button", name="Play").click()
    page.evaluate("""() => {
        window.count = document.querySelector(".cg-count");
        document.querySelector(".chaingrad-player").remove();
    }""")
    page.clock.run_for(9000)
    assert page.evaluate("count.textContent").startswith("step 1 of")


def paused(page: Page) -> Page:
    """The page, whose time a test has in its hand."""
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    return page


@pytest.mark.walk
@pytest.mark.parametrize("make", [scalar, lambda: play(Node(2.0, "x"))], ids=["scalar", "leaf"])
def test_going_back_shows_what_was_shown(show: Show, make: Callable[[], Player]) -> None:
    page = show(make().html, reduced_motion="reduce")
    stage, count = page.locator(".cg-live .cg-scroll"), len(make().steps)
    stage.focus()
    ways = []
    for key in ("ArrowRight", "ArrowLeft"):
        seen = []
        for _ in range(count):
            seen.append((stage.inner_html(), words(page).inner_text()))
            page.keyboard.press(key)
        ways.append(seen)
    there, back = ways
    assert there == back[::-1]
    assert len(set(there)) == count
    page.keyboard.press("Home")
    shown = page.locator(".cg-live .cg-number").all_text_contents()
    assert set(shown) == {""}  # nothing is sorted yet


def test_each_step_is_announced(show: Show) -> None:
    player = scalar()
    page = show(player.html)
    region = words(page)
    assert region.get_attribute("aria-live") == "polite"
    page.evaluate(
        """() => {
            window.heard = [];
            const region = document.querySelector('[aria-live]');
            new MutationObserver(() => window.heard.push(region.textContent))
                .observe(region, { childList: true });
        }"""
    )
    page.locator(".cg-live .cg-scroll").focus()
    play_by_keyboard(page, page)
    heard = page.evaluate("window.heard")
    told = [html.unescape(re.sub("<[^>]*>", "", step.words)) for step in player.steps]
    assert heard == told[1:]


@pytest.mark.walk
@pytest.mark.parametrize(("theme", "width"), [("light", 1000), ("dark", 390)])
def test_axe_finds_nothing_serious(show: Show, theme: str, width: int) -> None:
    page = themed(show, theme, width, scalar().html, arrays().html, play_toposort(SORTED, "d").html)
    for summary in page.locator("summary").all():
        summary.click()
    for key in ("Home", "ArrowRight", "End"):
        for stage in page.locator(".cg-live .cg-scroll").all():
            stage.focus()
            page.keyboard.press(key)
        assert not severe(page)


def test_focus_is_seen(show: Show) -> None:
    page = show(scalar().html)
    check_focus(page, 8)


# --- where it stands ----------------------------------------------------------------------------


def test_two_on_a_page_do_not_mind_each_other(show: Show) -> None:
    page = show(scalar().html, arrays().html)
    first, second = page.locator(".chaingrad-player").all()
    expect(page.locator(".cg-live")).to_have_count(2)
    second.locator(".cg-live .cg-scroll").focus()
    assert "leaves have their gradients" in play_by_keyboard(page, second)
    assert words(first).inner_text().startswith("Leaves have their values")


def test_a_player_that_is_inserted_later_starts(show: Show) -> None:
    page = show()
    page.evaluate(
        "piece => document.body.append(document.createRange().createContextualFragment(piece))",
        scalar().html,
    )
    page.locator(".cg-live .cg-scroll").focus()
    assert read_off(play_by_keyboard(page, page)) == expected()


def test_in_a_sandboxed_frame(show: Show) -> None:
    """As in Colab, which isolates each output; only scripts are allowed there."""
    source = html.escape(f"<!doctype html><html><body>{scalar().html}</body></html>")
    heights = set()
    for room in (300, 900):  # which may grow with what it holds
        size = f"width=800 height={room}"
        page = show(f'<iframe sandbox="allow-scripts" {size} srcdoc="{source}"></iframe>')
        frame = page.frame_locator("iframe")
        heights.add(frame.locator(FITTED).evaluate("svg => svg.clientHeight"))
    assert len(heights) == 1
    frame.locator(".cg-live .cg-scroll").focus()
    assert read_off(play_by_keyboard(page, frame)) == expected()


def key_frames(page: Page) -> list[str]:
    return [frame.inner_text() for frame in page.locator(".chaingrad-player figcaption").all()]


def check_key_frames(page: Page) -> None:
    forward, middle, final = key_frames(page)
    assert forward.startswith("Forward pass.")
    assert " = 0.3" not in middle
    assert middle.startswith("A gradient accumulates.")
    assert read_off(final) == expected()
    for picture in page.locator("figure svg.chaingrad").all():
        assert picture.is_visible()


def test_without_scripts_three_key_frames_stand(show: Show) -> None:
    page = show(scalar().html, java_script_enabled=False)
    assert not page.locator(".cg-live").count()
    check_key_frames(page)


def test_on_paper_three_key_frames_stand(show: Show) -> None:
    page = show(scalar().html)
    assert not page.locator("figure").first.is_visible()
    page.emulate_media(media="print")
    assert not page.locator(".cg-live").is_visible()
    check_key_frames(page)


WIDE = "a label as wide as a phone"


def wide():
    total = Node(0.0, "x")
    for i in range(40):
        total = total + Node(float(i), f"{WIDE} {i}") * Node(2.0, f"{WIDE} too {i}")
    return play(total)


@pytest.mark.walk
def test_what_is_too_large_for_a_phone_scrolls_and_not_the_page(show: Show) -> None:
    page = show(wide().html, viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    for stage in page.locator(".cg-live .cg-scroll").all():
        stage.focus()
        for _ in range(30):
            page.keyboard.press("ArrowRight")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            assert smallest_type(page.locator(".chaingrad-player")) >= 11
            off = stage.evaluate(OFF)
            assert max(off) < 0.9, off


# How far the marked nodes stand from the middle of their place, or from where it begins if they are
# larger; at an end of what scrolls no more can be done.
OFF = """stage => {
    const view = stage.getBoundingClientRect();
    const marked = [...stage.querySelectorAll("g.node.cg-on")].map(e => e.getBoundingClientRect());
    const off = (low, high, size, at, last) => {
        const from = Math.min(...marked.map(box => box[low]));
        const to = Math.max(...marked.map(box => box[high]));
        const middle = (from + to - view[low] - view[high]) / 2;
        const off = to - from > view[size] - 24 ? from - view[low] - 12 : middle;
        return (at < 1 && off < 0) || (at > last - 1 && off > 0) ? 0 : Math.abs(off);
    };
    const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } = stage;
    return [off("left", "right", "width", scrollLeft, scrollWidth - clientWidth),
            off("top", "bottom", "height", scrollTop, scrollHeight - clientHeight)];
}"""


def test_it_moves_only_for_those_who_like_that(show: Show) -> None:
    for motion, dots in [("reduce", 0), ("no-preference", 1)]:
        page = paused(show(scalar().html, reduced_motion=motion))
        page.get_by_role("button", name="Backward").click()
        page.get_by_role("button", name="One step forward").click()
        assert page.locator(".cg-dot").count() == dots


DOT = "dot => [dot.cx.baseVal.value, dot.cy.baseVal.value]"
ENDS = """path => [1, 0].map(part => path.getPointAtLength(part * path.getTotalLength()))
    .map(({ x, y }) => [x, y])"""


@pytest.mark.walk
def test_the_dot_runs_from_the_child_to_its_parent(show: Show) -> None:
    page = paused(show(scalar().html))
    page.get_by_role("button", name="Backward").click()
    forward, dot = page.get_by_role("button", name="One step forward"), page.locator(".cg-dot")
    forward.click()
    child, parent = page.locator(".cg-live g.edge.cg-on path").evaluate(ENDS)
    assert dot.evaluate(DOT) == pytest.approx(child, abs=0.1)
    page.clock.run_for(690)
    assert dot.evaluate(DOT) == pytest.approx(parent, abs=3)
    page.clock.run_for(30)
    assert not dot.count()
    page.get_by_label("Speed").select_option("4")
    forward.click()
    assert dot.count()
    page.clock.run_for(230)
    assert not dot.count()
    forward.click()
    page.get_by_role("button", name="Forward", exact=True).click()  # no edge passes anything on
    assert not dot.count()


# --- on the site --------------------------------------------------------------------------------

CELL = """from chaingrad import Node
from chainview import play

w, x, b = Node(0.4, "w"), Node(-1.5, "x"), Node(0.2, "b")
error = (w * x + b).tanh() - 0.5
J = error * error + 0.1 * w * w
J.label = "J"
play(J)"""


PLACES = {
    "atlas/museum": 1,
    "atlas/orders-and-sorts": 1,
    "foundations/autograd-engine": 1,
    "mlp/forward-and-backward": 1,
    "practice/own-engine": 1,
}
FOLDED = {"atlas/what-jax-saves": 1}


def test_these_are_all_pages_with_players(site: Site) -> None:
    chapters = site.folder / "chapters"
    found = {
        page.relative_to(chapters).with_suffix("").as_posix(): page.read_text("utf-8")
        for page in chapters.rglob("*.html")
    }
    player = re.compile(r'<div class="chaingrad-player [^>]*(?<!data-kind="drills") role="group"')
    counts = {name: len(player.findall(text)) for name, text in found.items()}
    assert {name: count for name, count in counts.items() if count} == PLACES | FOLDED


LAST = re.compile(
    r"leaves have their gradients|leaves end with|Sorted list: \[f, d, c, b, a, x\]|^Done: "
)


@pytest.mark.walk
@pytest.mark.parametrize("place", PLACES)
def test_the_players_of_the_pages_play(browser: Browser, address: str, place: str) -> None:
    with reading(browser, address, DESKTOP, "light") as opened:
        opened.open(f"chapters/{place}")
        players = opened.page.locator(".chaingrad-player")
        expect(players).to_have_count(PLACES[place])
        for player in players.all():
            player.locator(".cg-live .cg-scroll").focus()
            opened.page.keyboard.press("End")
            expect(words(player)).to_have_text(LAST)


# --- it fits ------------------------------------------------------------------------------------

SCREENS = [(DESKTOP, 900), (1024, 768), (PHONE, 844)]
SMALLEST = """svg => Math.min(...[...svg.querySelectorAll('text, tspan')]
    .filter((text) => text.textContent.trim())
    .map((text) => parseFloat(getComputedStyle(text).fontSize)))
    * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width"""
# How a player stands in the window, at every step.
STANDS = f"""player => {{
    const smallest = {SMALLEST};
    const box = (name) => player.querySelector(name).getBoundingClientRect();
    const stage = player.querySelector('.cg-live .cg-scroll');
    const next = player.querySelector('[aria-label="One step forward"]');
    const steps = [];
    for (;;) {{
        const [live, svg] = [box('.cg-live'), box('.cg-live svg.chaingrad')];
        steps.push({{
            bottom: live.bottom, top: live.top,
            inside: svg.left >= live.left && svg.right <= live.right
                && svg.top >= live.top && svg.bottom <= box('.cg-transport').top,
            hidden: [stage.scrollWidth - stage.clientWidth,
                     stage.scrollHeight - stage.clientHeight],
            page: document.documentElement.scrollWidth,
            type: smallest(player.querySelector('.cg-live svg.chaingrad')),
            count: player.querySelector('.cg-count').textContent,
        }});
        if (next.disabled) return steps;
        next.click();
    }}
}}"""


def smallest_type(player: Locator) -> float:
    """The size in pixels of the smallest type in the graph, as it is shown."""
    return round(player.locator(".cg-live svg.chaingrad").evaluate(SMALLEST), 2)


@pytest.mark.walk
@pytest.mark.fonts
@pytest.mark.parametrize("place", PLACES)
def test_all_of_a_player_is_in_view(browser: Browser, address: str, place: str) -> None:
    """The whole graph, the line that says what happens, and the controls; at every step."""
    with reading(browser, address, DESKTOP, "light") as opened:
        page = opened.page
        for width, height in SCREENS:
            page.set_viewport_size({"width": width, "height": height})
            if width in (DESKTOP, PHONE):  # on the other it is turned
                opened.open(f"chapters/{place}")
            page.evaluate(SETTLED)
            for player in page.locator(".chaingrad-player").all():
                check_view(page, player, width, height)


def check_view(page: Page, player: Locator, width: int, height: int) -> None:
    player.evaluate("player => player.scrollIntoView()")
    header = page.evaluate(
        "parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop)"
    )
    player.locator(".cg-live .cg-scroll").evaluate("stage => stage.focus({preventScroll: true})")
    page.keyboard.press("Home")
    steps = player.evaluate(STANDS)
    last = len(steps)
    assert [step["count"] for step in steps] == [f"step {i} of {last}" for i in range(1, last + 1)]
    for step in steps:
        assert step["hidden"] == [0, 0]
        assert step["inside"]
        assert header <= step["top"]
        assert step["bottom"] <= height
        assert step["page"] <= width
        assert step["type"] >= 11
    assert len({step["bottom"] for step in steps}) == 1  # nothing moves


LATER = {
    "a wider font": "letter-spacing: 0.3em !important",
    "larger text": "font-size: 19px !important",
}


@pytest.mark.walk
@pytest.mark.parametrize("later", LATER)
def test_nothing_moves_after_a_change_of_type(show: Show, later: str) -> None:
    page = show(scalar().html, viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    player = page.locator(".chaingrad-player")
    before = words(player).bounding_box()
    page.add_style_tag(content=f".chaingrad-player .cg-live p {{ {LATER[later]} }}")
    page.evaluate(SETTLED)
    assert words(player).bounding_box() != before
    steps = player.evaluate(STANDS)
    assert len({step["bottom"] for step in steps}) == 1
    assert {step["inside"] for step in steps} == {True}
    assert steps[0]["bottom"] - steps[0]["top"] <= 844


@pytest.mark.walk
def test_a_drawing_fills_its_place_and_no_more(show: Show) -> None:
    small, view = play(Node(2.0, "x") * Node(3.0, "w")), {"width": 1600, "height": 1200}
    drawing = show(small.html, viewport=view).locator(".cg-live svg.chaingrad")
    wide, own = drawing.evaluate(
        "svg => [svg.getBoundingClientRect().width, svg.viewBox.baseVal.width]"
    )
    assert wide == pytest.approx(1.5 * own, abs=1)
    for width, height in [(1600, 450), (1600, 600), (1000, 900), (700, 900)]:
        page = show(scalar().html, viewport={"width": width, "height": height})
        for step in page.locator(".chaingrad-player").evaluate(STANDS):
            assert step["hidden"] == [0, 0]
            assert step["inside"]
            assert step["bottom"] - step["top"] <= height


@pytest.mark.walk
def test_it_fits_again_when_the_window_turns(show: Show) -> None:
    page = show(arrays().html, viewport={"width": 844, "height": 390}, reduced_motion="reduce")
    stage = page.locator(".cg-live .cg-scroll")
    stage.focus()
    page.keyboard.press("End")
    text = words(page).inner_text()
    for size in [(390, 844), (1440, 900)]:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.wait_for_function(
            "() => { const s = document.querySelector('.cg-live .cg-scroll');"
            " return s.scrollWidth <= s.clientWidth && s.scrollHeight <= s.clientHeight; }"
        )
        assert words(page).inner_text() == text
        assert page.locator(".cg-live g.node.cg-on").count()


# --- labels and details -------------------------------------------------------------------------


@pytest.mark.fonts
def test_texts_stay_inside_their_boxes(show: Show) -> None:
    page = show(scalar().html, arrays().html, reduced_motion="reduce")
    for player in page.locator(".chaingrad-player").all():
        player.locator(".cg-live .cg-scroll").focus()
        page.keyboard.press("End")
        over = player.evaluate(
            """player => [...player.querySelectorAll('.cg-live g.node')].map((node) => {
                const box = node.querySelector('.cg-box').getBoundingClientRect();
                return Math.max(...[...node.querySelectorAll('text:not(.cg-number)')]
                    .map((text) => text.getBoundingClientRect().right - box.right));
            })"""
        )
        assert max(over) <= 0


def test_the_sum_is_shown_by_keyboard(show: Show) -> None:
    x, w = Node(3.0, "x"), Node(4.0, "w")
    y = x * 2.0 + x * w
    y.label = "y"
    page = show(play(y).html, reduced_motion="reduce")
    page.locator(".cg-live .cg-scroll").focus()
    page.keyboard.press("End")
    page.locator("summary").click()
    expect(page.locator(".cg-entries")).to_have_text("The line above says all of this step.")
    page.locator("summary").click()
    page.locator(".cg-live .cg-scroll").focus()
    while "message 2 of 2 to x" not in words(page).inner_text():
        page.keyboard.press("ArrowLeft")
    while page.evaluate("document.activeElement.tagName") != "SUMMARY":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    details = page.locator(".cg-entries")
    expect(details).to_contain_text("The sum at x")
    expect(details).to_contain_text("1.0 × 2.0 + 1.0 × 4.0 = 6.0")
    page.keyboard.press("Enter")
    expect(details).to_be_hidden()
