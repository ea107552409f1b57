"""Nudge and order in a real browser: by mouse, keyboard and touch, on paper, on the pages."""

import html
import random
import re

import numpy as np
import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from chaingrad import Node
from chaingrad.backward import adjoints
from chainview import nudge, order
from chainview.read.reading import read
from tests.axe import severe
from tests.site.audit import DESKTOP, reading
from tests.site.conftest import Show, check_focus, themed

AT = {"x": 2.0, "b": -1.2, "w": 0.4}
Where = Locator | FrameLocator | Page


def computed(x: Node, b: Node, w: Node) -> Node:
    u = x + b
    p = (w * u).tanh()
    q = (u * x).relu()
    y = p * q + np.maximum(b, w) / (2.0 + x * x) + w**2
    for name, node in {"u": u, "p": p, "q": q, "y": y}.items():
        node.label = name
    return y


def graph(**at: float) -> Node:
    return computed(**{name: Node(at.get(name, AT[name]), name) for name in AT})


def additions() -> Node:
    a = Node(3.0, "a")
    b = a + a
    c = b + b
    b.label, c.label = "b", "c"
    return c


def parsed(text: str) -> float:
    return float(text.replace("−", "-"))


def shown(page: Where) -> dict[str, list[float]]:
    """The value and the gradient in each box of the graph."""
    found = {}
    for box in page.locator(".cg-live g[data-node]").locator("visible=true").all():
        texts = box.locator("text").all_text_contents()
        numbers = [t.rpartition(" ")[2] for t in texts if re.match(r"data|grad|[−\d]", t)]
        found[box.get_attribute("data-node")] = list(map(parsed, numbers))
    return found


def expected(root: Node) -> dict[str, list[float]]:
    items = read(root, "test", 100)
    grads = adjoints(root, root.seed(), [item.node for item in items])
    return {
        item.id: [item.node.data, *([grads[item.node]] if item.node in grads else [])]
        for item in items
    }


def agree(found: dict[str, list[float]], right: dict[str, list[float]]) -> None:
    assert found.keys() == right.keys()
    for name, numbers in right.items():
        np.testing.assert_allclose(found[name], numbers, rtol=6e-3, atol=1e-9, err_msg=name)


def words(page: Where) -> str:
    return page.locator(".cg-words").inner_text()


# --- nudge --------------------------------------------------------------------------------------


def test_what_it_shows_is_what_the_engine_computes(show: Show) -> None:
    """Twenty settings of the sliders, on both sides of the kinks."""
    figure = nudge(graph())
    page = show(figure.html)
    agree(shown(page), expected(graph()))
    generator = random.Random(1)
    leaves = figure.data["leaves"]
    sliders = {leaf["text"]: page.get_by_role("slider", name=leaf["text"]) for leaf in leaves}
    at = dict(AT)
    for _ in range(20):
        leaf = generator.choice(leaves)
        steps = generator.randrange(-100, 101)
        sliders[leaf["text"]].fill(str(steps))
        at[leaf["text"]] = leaf["at"] + leaf["reach"] * steps / 100
        root = graph(**at)
        agree(shown(page), expected(root))
        grads = {item.label: item.node.grad for item in run_backward(root)}
        value, slope = re.search(r"y = (\S+), ∂y/∂\w = (\S+)\.", words(page)).groups()  # type: ignore[union-attr]
        np.testing.assert_allclose(parsed(value), root.data, rtol=6e-3)
        np.testing.assert_allclose(parsed(slope), grads[leaf["text"]], rtol=6e-3)
        rises = re.search(
            r"by 0\.1, the tangent rises by (\S+), the curve by (\S+)\.$", words(page)
        )
        assert rises
        step = graph(**at | {leaf["text"]: at[leaf["text"]] + 0.1}).data - root.data
        np.testing.assert_allclose(
            [*map(parsed, rises.groups())], [0.1 * grads[leaf["text"]], step], rtol=6e-3
        )
        expect(page.locator("label.cg-on")).to_contain_text(leaf["text"])


def run_backward(root: Node) -> list:
    root.backward()
    return read(root, "test", 100)


@pytest.mark.walk
def test_the_plot_is_of_the_engines_numbers(show: Show) -> None:
    page = show(nudge(graph()).html)
    page.get_by_role("slider", name="b").fill("40")
    ticks = [parsed(t) for t in page.locator(".cg-plot text").all_text_contents()[:4]]
    low, high, least, most = ticks
    assert (low, high) == (-3.0, 0.6)
    wide, high_ = (
        float(page.locator(".cg-plot svg").get_attribute(key) or 0) for key in ("width", "height")
    )

    def read_off(x: str, y: str) -> tuple[float, float]:
        return low + 3.6 * float(x) / wide, most - (most - least) * float(y) / high_

    line = page.locator(".cg-curve").get_attribute("d") or ""
    across = [float(x) for x in re.findall(r"[ML](\S+)", line)]
    np.testing.assert_allclose(across, np.linspace(0, wide, 91), atol=1e-9)
    room = 0.005 * (most - least)
    for x, y in re.findall(r"[ML](\S+?) (-?[\d.]+)", line):
        b, value = read_off(x, y)
        assert abs(value - graph(b=b).data) < room
    root = graph(b=-0.48)
    slope = next(item.node.grad for item in run_backward(root) if item.label == "b")
    path = page.locator(".cg-tangent").get_attribute("d") or ""
    (x1, y1), (x2, y2) = (read_off(*end) for end in re.findall(r"[ML](\S+?) (-?[\d.]+)", path))
    assert (y2 - y1) / (x2 - x1) == pytest.approx(slope, rel=0.01)
    assert y1 + slope * (-0.48 - x1) == pytest.approx(root.data, rel=0.01)


def test_leaves_by_keyboard(show: Show) -> None:
    page = show(nudge(graph(), direction="LR").html)
    x = page.get_by_role("slider", name="x")
    for _ in range(5):
        page.keyboard.press("Tab")
        if x.evaluate("e => e === document.activeElement"):
            break
    expect(x).to_be_focused()
    page.keyboard.press("ArrowRight")
    assert x.get_attribute("aria-valuetext") == "2.03"
    agree(shown(page), expected(graph(x=2.03)))
    page.keyboard.press("End")
    agree(shown(page), expected(graph(x=5.0)))
    expect(page.locator("[aria-live]")).to_have_text(re.compile(r"^y = \S+, slope \S+$"))
    page.keyboard.press("Tab")
    expect(page.locator(".cg-plot text").nth(4)).to_have_text("b")  # the plot goes along
    page.get_by_role("button", name="Start again").press("Enter")
    agree(shown(page), expected(graph()))


def drag(page: Page, at: Locator, right: int) -> None:
    at.scroll_into_view_if_needed()
    box = at.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right / 2, y)
    page.mouse.move(x + right, y)
    page.mouse.up()
    page.mouse.move(0, 0)


def test_a_leaf_is_dragged_in_the_graph(show: Show) -> None:
    page = show(nudge(graph(), direction="LR").html)
    leaf = page.locator(".cg-live g.node", has=page.get_by_text("w", exact=True))
    drag(page, leaf, 20)
    agree(shown(page), expected(graph(w=0.6)))
    expect(page.get_by_role("slider", name="w")).to_be_focused()
    drag(page, leaf, -400)
    agree(shown(page), expected(graph(w=-0.6)))


@pytest.mark.walk
def test_the_point_is_dragged_in_the_plot(show: Show) -> None:
    page = show(nudge(graph(), direction="LR").html)
    before = words(page)
    drag(page, page.locator(".cg-plot"), -30)
    assert words(page) != before
    moved = re.match(r"w = (\S+):", words(page))
    assert moved
    assert -0.1 < parsed(moved[1]) < 0.2
    agree(shown(page), expected(graph(w=parsed(moved[1]))))


@pytest.mark.walk
def test_where_there_is_no_number_there_is_no_curve(show: Show) -> None:
    x = Node(0.5, "x")
    y = x.log() + 1.0 / x
    y.label = "y"
    page = show(nudge(y).html)
    page.get_by_role("slider").fill("-80")
    assert "y = NaN" in words(page)
    path = page.locator(".cg-curve").get_attribute("d") or ""
    assert path.startswith("M")
    assert "NaN" not in path
    assert "NaN" not in (page.locator(".cg-tangent").get_attribute("d") or "NaN")


NUMBERS = {
    0.0: "0.0", 2.0: "2.0", -3.0: "−3.0", 1.99999: "2.000", -0.0012344: "−0.001234",
    0.00012345: "1.23e−4", 123456.0: "1.235e+5", 2.5e7: "2.50e+7", 1e6: "1.00e+6",
}  # fmt: skip


@pytest.mark.walk
def test_numbers_have_four_digits_and_room(show: Show) -> None:
    figures = []
    for value in NUMBERS:
        y = Node(value, "x") * 1.0
        y.label = "y"
        figures.append(nudge(y).html)
    said = show(*figures).locator(".cg-words").all_inner_texts()
    for text, number in zip(said, NUMBERS.values(), strict=True):
        assert f": y = {number}, " in text


# --- order --------------------------------------------------------------------------------------


def node(page: Where, name: str) -> Locator:
    return page.get_by_role("button", name=re.compile(f"^{name} holds"))


@pytest.mark.walk
@pytest.mark.parametrize("key", ["", "Enter", " "])
def test_two_additions_in_any_order(show: Show, key: str) -> None:
    page = show(order(additions()).html, '<p style="height: 3000px"></p>')
    for clicks, verdict in {
        "c b b c": r"Wrong: a has 2.0 instead of 4.0. b was too early: 1 of its 2 shares had come.",
        "c b b c b b": "Wrong: a has 6.0 instead of 4.0. b was too early.*b passed on 2 times",
        "c b c b": "Wrong: a has 3.0 instead of 4.0. b was too early",
        "c c b b": r"which now holds 4.0. Right: a has 4.0.$",
        "c b b c b": "Right, by luck: a has 4.0. b was too early: 1 of its 2.*b passed on 2 times",
        "b c b c": "Wrong: a has 1.0 instead of 4.0. b was too early: 0 of its 2 shares",
        "b b c c": "Wrong: a has 0.0 instead of 4.0. b was too early: 0 of its 2 shares",
    }.items():
        for name in clicks.split():
            if key:
                node(page, name).press(key)
            else:
                node(page, name).click()
        assert re.search(verdict, words(page).strip()), words(page)
        early = page.locator(".cg-live .cg-early").locator("visible=true")
        assert early.count() == verdict.count("too early")
        assert not page.evaluate("scrollY")
        page.get_by_role("button", name="Start again").click()
        assert words(page).startswith("c holds 1.")


def test_a_node_without_news_passes_nothing_on_and_clicks_are_undone(show: Show) -> None:
    page = show(order(additions()).html)
    for name in "ccc":
        node(page, name).click()
    assert words(page) == "c has passed on all that it holds."
    page.get_by_role("button", name="Undo").click()
    assert words(page).strip() == "c passes 1.0 × 1.0 = 1.0 to b, which now holds 1.0."
    node(page, "c").click()
    assert "which now holds 2.0" in words(page)
    edges = page.locator(".cg-live g.edge").locator("visible=true")
    lit = edges.and_(page.locator(".cg-on"))
    above = edges.locator(".cg-above")
    assert above.all_text_contents() == ["", "", "1.0", "1.0"]
    assert lit.count() == 1
    page.get_by_role("button", name="Undo").click()
    assert lit.locator(".cg-above").text_content() == "1.0"


# --- where they stand ---------------------------------------------------------------------------


@pytest.mark.walk
@pytest.mark.parametrize(("theme", "width"), [("light", 1000), ("dark", 390)])
def test_axe_finds_nothing_serious(show: Show, theme: str, width: int) -> None:
    figures = nudge(graph()), order(graph()), order(additions())
    page = themed(show, theme, width, *(figure.html for figure in figures))
    assert not severe(page)
    page.get_by_role("slider", name="b").press("ArrowRight")
    for name in "cbbc":
        node(page, name).click()
    assert not severe(page)


@pytest.mark.walk
@pytest.mark.parametrize("width", [390, 1000])
def test_it_fits_a_phone_and_can_be_read(show: Show, width: int) -> None:
    a, b = Node(0.5, "a"), Node(-1.2, "b")
    sums = (a + b).tanh() * (a * b).sin() + b
    page = show(
        nudge(sums).html,
        order(sums).html,
        order(additions()).html,
        viewport={"width": width, "height": 844},
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for stage in page.locator(".cg-live .chaingrad-drawing").locator("visible=true").all():
        assert stage.evaluate("e => e.scrollWidth <= e.clientWidth")
    smallest = page.evaluate(
        """() => Math.min(...[...document.querySelectorAll('.cg-live svg text')]
            .filter(t => t.checkVisibility() && t.textContent).map(t => {
                const scale = t.getScreenCTM().a;
                return scale * parseFloat(getComputedStyle(t).fontSize);
            }))"""
    )
    assert smallest >= 10.9


def check_stills(page: Page) -> None:
    root = graph()
    stills = page.locator(".cg-still")
    assert stills.count() == 2
    grads = expected(root)
    for still in stills.all():
        picture = still.locator("svg").locator("visible=true").first
        assert picture.is_visible()
        assert picture.evaluate("e => e.parentNode.scrollWidth <= e.parentNode.clientWidth")
        assert f"grad {grads['n0'][1]:.4g}".replace("-", "−") in (picture.text_content() or "")
        assert "∂y/∂x =" in still.inner_text()


def test_without_scripts_stills_stand(show: Show) -> None:
    page = show(nudge(graph()).html, order(graph()).html, java_script_enabled=False)
    assert not page.locator(".cg-live").locator("visible=true").count()
    check_stills(page)


def test_on_paper_stills_stand(show: Show) -> None:
    page = show(nudge(graph()).html, order(graph()).html)
    page.get_by_role("slider", name="x").press("End")
    assert not page.locator(".cg-still").locator("visible=true").count()
    page.emulate_media(media="print")
    assert not page.locator(".cg-live").locator("visible=true").count()
    check_stills(page)


@pytest.mark.walk
def test_focus_is_seen(show: Show) -> None:
    page = show(nudge(graph()).html, order(graph()).html)
    check_focus(page, 10)


def test_two_on_a_page_do_not_mind_each_other(show: Show) -> None:
    page = show(order(additions()).html, order(additions()).html)
    first, second = page.locator(".chaingrad-moving").all()
    node(second, "c").click()
    assert words(first).startswith("c holds 1.")
    assert words(second).startswith("c passes")


def test_in_a_sandboxed_frame(show: Show) -> None:
    """As in Colab, which isolates each output; only scripts are allowed there."""
    source = html.escape(f"<!doctype html><html><body>{nudge(graph()).html}</body></html>")
    page = show(f'<iframe sandbox="allow-scripts" width=800 height=800 srcdoc="{source}"></iframe>')
    frame = page.frame_locator("iframe")
    frame.get_by_role("slider", name="x").press("End")
    agree(shown(frame), expected(graph(x=5.0)))


# --- on the site --------------------------------------------------------------------------------

CELL = """from chaingrad import Node
from chainview import nudge, order

a, b = Node(2.0, "a"), Node(-0.5, "b")
y = (a * b).tanh() + a
y.label = "y"
"""


def cell_graph(a: float) -> Node:
    left, right = Node(a, "a"), Node(-0.5, "b")
    y = (left * right).tanh() + left
    y.label = "y"
    return y


def check_both(first: Locator, second: Locator) -> None:
    slider = first.get_by_role("slider", name="a")
    slider.press("ArrowUp")
    agree(shown(first), expected(cell_graph(2.03)))
    expect(slider).to_be_focused()  # a notebook does not take the arrows for its own
    slider.press("End")
    agree(shown(first), expected(cell_graph(5.0)))
    node(second, "y").press("Enter")
    assert "y passes 1.0 × 1.0 = 1.0" in words(second)


def test_order_moves_on_its_page(browser: Browser, address: str) -> None:
    with reading(browser, address, DESKTOP, "light") as opened:
        opened.open("chapters/foundations/computational-graph")
        figure = opened.page.locator("[data-kind=order]")
        for name in ("loss", "error", "error", "out", "z", "z", "out", "h", "p", "p"):
            node(figure, name).click()
        said = words(figure)
        assert "b has 1.701 instead of 2.976" in said
        assert "z was too early" in said


def test_nudge_moves_on_its_page(browser: Browser, address: str) -> None:
    """At the place that the text names, the tangent lies flat."""
    with reading(browser, address, DESKTOP, "light") as opened:
        opened.open("chapters/atlas/forward-mode")
        figure = opened.page.locator("[data-kind=nudge]")
        figure.get_by_role("slider", name="w").fill("-30")
        assert words(figure).startswith("w = 0.2: loss = 1.10e−7")
        *grads, top = [abs(facts[1]) for facts in shown(figure).values() if facts[1:]]
        assert max(grads) < 2.1e-3 < 0.1 < top
