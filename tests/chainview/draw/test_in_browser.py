"""Drawings in a real browser: text inside its box, and the colours of the page's theme."""

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from chaingrad import Node
from chainview import draw_gradient_flow, draw_graph, draw_toposort
from chainview.draw.palette import COLORS
from tests.fonts import TWO

OVERFLOWS = """() => [...document.querySelectorAll('g.node')].flatMap(node => {
    const boxes = [...node.querySelectorAll('polygon, ellipse, path')]
        .map(shape => shape.getBoundingClientRect());
    const left = Math.min(...boxes.map(box => box.left));
    const right = Math.max(...boxes.map(box => box.right));
    return [...node.querySelectorAll('text')].filter(text => {
        const box = text.getBoundingClientRect();
        return box.left < left || box.right > right;
    }).map(text => text.textContent);
})"""
# Of each drawing: which of its pictures is shown, whether it's cut, and its smallest type.
SHOWN = """() => [...document.querySelectorAll('.chaingrad-either')].map((both) => {
    const boxes = [...both.querySelectorAll('.chaingrad-drawing')];
    const shown = boxes.filter((box) => box.checkVisibility());
    const svg = shown[0].querySelector('svg');
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const sizes = [...svg.querySelectorAll('text')].map((e) => e.getAttribute('font-size'));
    return [shown.length, boxes.indexOf(shown[0]), shown[0].scrollWidth > shown[0].clientWidth,
        scale * Math.min(...sizes)];
})"""
COLOR = "() => getComputedStyle(document.querySelector('text')).fill"


def drawings() -> str:
    x = Node(0.123456, "the mean over all images of a batch")
    w = Node(np.array([[1.25, -2.5, 0.0], [1, 2, 3]]), "W")
    y = ((x * w).tanh() ** 2).logsumexp(axis=0).sum()
    y.backward()
    shown = [
        draw_graph(y),
        draw_graph(y, style="shapes"),
        draw_toposort({"a": [], "b": ["a"], "a longer one": []}, "b"),
        draw_gradient_flow(y),
    ]
    return "".join(drawing._repr_mimebundle_()["text/html"] for drawing in shown)


def show(browser: Browser, html: str = "", body: str = "", **options: object) -> Page:
    page = browser.new_page(**options)
    page.set_content(f"<!doctype html><html {html}><body {body}>{drawings()}</body></html>")
    return page


def rgb(color: str) -> str:
    return "rgb({}, {}, {})".format(*(int(color[i : i + 2], 16) for i in (1, 3, 5)))


@pytest.mark.parametrize("font", TWO)
def test_text_stays_inside_its_box(browser):
    page = show(browser)
    page.add_style_tag(content=".chaingrad { font-family: sans-serif }")
    assert page.evaluate(OVERFLOWS) == []


@pytest.mark.parametrize(
    ("html", "body", "scheme", "dark"),
    [
        ("", "", "light", False),
        ("", "", "dark", True),
        ('data-theme="light"', "", "dark", False),
        ('data-theme="dark"', "", "light", True),
        ("", 'data-jp-theme-light="true"', "dark", False),
        ("", 'data-jp-theme-light="false"', "light", True),
    ],
)
def test_colours_follow_the_pages_theme(browser, html, body, scheme, dark):
    page = show(browser, html, body, color_scheme=scheme)
    assert page.evaluate(COLOR) == rgb(COLORS["ink"][dark])


def test_print_is_light(browser):
    page = show(browser, 'data-theme="dark"')
    page.emulate_media(media="print")
    assert page.evaluate(COLOR) == rgb(COLORS["ink"][False])


def test_a_phone_scrolls_the_drawing_and_not_the_page(browser):
    page = show(browser, viewport={"width": 390, "height": 800})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


def lesson() -> str:
    w, x, b = Node(0.5, "w"), Node(1.5, "x"), Node(-0.2, "b")
    loss = ((w * x + b).tanh() + b - 0.05) ** 2
    loss.backward()
    shown = [
        draw_graph(loss),
        draw_graph([Node(float(i)).tanh() for i in range(8)], direction="TB"),
    ]
    return "".join(drawing._repr_mimebundle_()["text/html"] for drawing in shown)


def test_a_drawing_turns_where_it_would_be_cut(browser):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.set_content(f"<!doctype html><body>{lesson()}")
    on_a_phone = page.evaluate(SHOWN)
    assert [seen[:3] for seen in on_a_phone] == [[1, 1, False]] * 2
    assert min(size for *_, size in on_a_phone) > 10.95
    page.set_viewport_size({"width": 1440, "height": 800})
    assert [seen[:3] for seen in page.evaluate(SHOWN)] == [[1, 0, False]] * 2
    page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(media="print")  # paper is as wide as it is, whatever the screen was
    assert [seen[:2] for seen in page.evaluate(SHOWN)] == [[1, 0]] * 2
