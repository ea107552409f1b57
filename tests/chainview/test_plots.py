"""Plots: one style, themed SVG with a text, the same each time, and readable on a phone."""

import base64
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import combinations

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from chainview import plots
from chainview.draw.palette import COLORS
from tests.support import each

ALT = 'Two plots. Left, a "curve" <falls>. Right, points & bars.'
# What those see who lack one of the three kinds of cone, in linear RGB (Machado et al. 2009).
EYES = {
    "all": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
XYZ = np.array(
    [[0.41246, 0.35758, 0.18044], [0.21267, 0.71515, 0.07218], [0.01933, 0.11919, 0.9503]]
)
TYPE = """() => Math.min(...[...document.querySelectorAll('svg text')].map((text) => {
    const svg = text.ownerSVGElement;
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return scale * parseFloat(getComputedStyle(text).fontSize);
}))"""


def linear(color: str) -> np.ndarray:
    c = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(XYZ[1] @ linear(c)) for c in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(light: np.ndarray) -> np.ndarray:
    x, y, z = np.cbrt(XYZ @ np.clip(light, 0, 1) / XYZ.sum(axis=1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def two_panels() -> plots.Plot:
    plot, (left, right) = plots.axes(2)
    left.loglog([1, 10, 100], [1e-5, 1e-3, 1], label="curve")
    left.legend()
    right.plot([1, 2, 3], [3, 1, 2], **plots.POINTS[1])
    right.bar([1, 2], [1, 2], color=plots.color("forward"))
    right.set(title="λ < 1 & more", xlabel="x", ylabel="y")
    plot.alt = ALT
    return plot


def heat_map() -> plots.Plot:
    plot, panels = plots.grid(2, 3, width=500)
    for ax in panels.flat:
        drawn = ax.imshow(np.arange(6).reshape(2, 3))
    plot.figures[0].colorbar(drawn, ax=panels)
    plot.alt = "Six heat maps."
    return plot


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_series_stand_out_from_the_paper(theme):
    for name in (*plots.SERIES, "local", "global", "muted"):
        assert contrast(COLORS[name][theme], COLORS["paper"][theme]) >= 3
    for ground in ("paper", "forward", "backward", "constant", "aqua", "sand"):
        assert contrast(COLORS["ink"][theme], COLORS[ground][theme]) >= 4.5


@each("theme", [0, 1])
@each("eye", EYES)
def test_series_differ_for_every_eye(eye, theme):
    seen = [lab(np.asarray(EYES[eye]) @ linear(COLORS[name][theme])) for name in plots.SERIES]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 15


@pytest.mark.parametrize(
    ("styles", "other"), [(plots.LINES, "linestyle"), (plots.POINTS, "marker")]
)
def test_series_differ_without_colour(styles, other):
    assert len({str(style[other]) for style in styles}) == len(styles)


def test_an_unknown_colour_is_refused():
    with pytest.raises(KeyError, match="no colour 'mauve'; it has paper"):
        plots.color("mauve")


@pytest.mark.parametrize("alt", ["", "  \n"])
def test_a_plot_without_a_text_is_refused(alt):
    plot, _ = plots.axes()
    with pytest.raises(ValueError, match="say what it shows"):
        plot.show(alt)


def test_a_terminal_shows_the_text(capsys):
    plot, _ = plots.axes()
    plot.show("A frame.")
    assert capsys.readouterr().out == "<Plot: A frame.>\n"


def test_the_page_gets_themed_svg_and_other_front_ends_a_bitmap():
    bundle = two_panels()._repr_mimebundle_()
    root = ET.fromstring(bundle["text/html"])
    picture = root.find("div[@role='img']")
    assert picture.get("aria-label") == ALT
    assert len(picture.findall("svg")) == 2
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert bundle["image/svg+xml"].startswith("<?xml")
    assert bundle["text/plain"] == f"<Plot: {ALT}>"


def test_only_what_is_asked_for_is_drawn():
    assert set(two_panels()._repr_mimebundle_(include=["image/png"])) == {"image/png"}
    assert "image/png" not in two_panels()._repr_mimebundle_(exclude=["image/png"])


@pytest.mark.parametrize("make", [two_panels, heat_map])
def test_every_colour_follows_the_theme(make):
    drawn = re.sub(r"<style>.*?</style>", "", make().html())
    assert not re.findall(r"(?<!,)#[0-9a-f]{6}\b", drawn)
    assert "var(--cg-ink,#1f2328)" in drawn


def test_white_on_a_picture_stays_white():
    plot, ax = plots.axes()
    ax.text(0, 0, "on black", color="white")
    plot.alt = "A word."
    word = next(t for t in ET.fromstring(plot.html()).iter("text") if t.text == "on black")
    assert "fill:#ffffff" in word.get("style")


def test_a_file_is_light_and_whole():
    root = ET.fromstring(two_panels().svg().encode())
    assert root.get("aria-label") == ALT
    assert "var(" not in ET.tostring(root, encoding="unicode")
    assert int(root.get("width")) == 680


def test_text_stays_text_in_the_pages_own_type():
    texts = list(ET.fromstring(two_panels().html()).iter("text"))
    assert {"λ < 1 & more", "curve", "1e-4", "100"} <= {t.text for t in texts}
    assert not [t for t in texts if "font-family" in t.get("style", "")]


@pytest.mark.slow
def test_the_same_plot_is_the_same_text():
    assert two_panels().html() == two_panels().html()
    assert heat_map().svg() == heat_map().svg()


def test_ids_are_unique_on_a_page():
    ids = re.findall(r' id="([^"]+)"', two_panels().html() + heat_map().html())
    assert ids
    assert len(set(ids)) == len(ids)


def test_references_stay_within_the_plot():
    html = two_panels().html()
    wanted = re.findall(r'(?:href="|url\()#([\w-]+)', html)
    assert wanted
    assert set(wanted) <= set(re.findall(r' id="([^"]+)"', html))


def test_panels_share_a_scale():
    _, (left, right) = plots.axes(2, sharey=True)
    left.semilogy([1, 1e4])
    right.plot([5, 1e-3])
    assert left.get_ylim() == right.get_ylim()
    assert right.get_yscale() == "log"


@pytest.mark.parametrize("values", [[1.5, 4], [2, 90]])
def test_a_scale_within_a_power_of_ten_has_numbers(values):
    plot, ax = plots.axes()
    ax.semilogy(values)
    plot.alt = "A line."
    numbers = [t.text for t in ET.fromstring(plot.html()).iter("text") if t.get("y")]
    assert len([n for n in numbers if n in {"2", "3", "4", "10", "20", "30", "40", "60"}]) >= 1


def test_the_package_imports_without_matplotlib():
    code = "import sys, chaingrad, chainview; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def show(browser: Browser, *shown: plots.Plot, html: str = "", **options: object) -> Page:
    page = browser.new_page(**options)
    body = "".join(plot.html() for plot in shown)
    page.set_content(f"<!doctype html><html {html}><body>{body}</body></html>")
    return page


@pytest.mark.parametrize("width", [390, 1440])
def test_type_is_never_below_eleven_pixels(browser, width):
    page = show(browser, two_panels(), heat_map(), viewport={"width": width, "height": 800})
    assert page.evaluate(TYPE) >= 10.99
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "lines"), [(390, 2), (1440, 1)])
def test_panels_stand_above_each_other_on_a_phone(browser, width, lines):
    page = show(browser, two_panels(), viewport={"width": width, "height": 800})
    tops = page.evaluate(
        "() => [...document.querySelectorAll('svg')].map((e) => e.getBoundingClientRect().top)"
    )
    assert len(set(tops)) == lines


def test_what_a_phone_scrolls_takes_the_focus_and_has_a_name(browser):
    page = show(browser, two_panels(), heat_map(), viewport={"width": 390, "height": 800})
    boxes = page.locator(".chaingrad-plot").all()
    assert [box.evaluate("(e) => e.scrollWidth > e.clientWidth") for box in boxes] == [False, True]
    assert [box.get_attribute("tabindex") for box in boxes] == [None, "0"]
    assert boxes[1].get_attribute("aria-label") == "Plot"
    left = "(e) => e.querySelector('svg').getBoundingClientRect().left"
    assert boxes[1].evaluate(left) >= 0  # nothing lies to the left of where scrolling starts


@pytest.mark.parametrize(
    ("html", "scheme", "dark"),
    [("", "light", 0), ("", "dark", 1), ('data-theme="light"', "dark", 0),
     ('data-theme="dark"', "light", 1)],
)  # fmt: skip
def test_colours_follow_the_pages_theme(browser, html, scheme, dark):
    page = show(browser, two_panels(), html=html, color_scheme=scheme)
    color = COLORS["teal"][dark]
    wanted = "rgb({}, {}, {})".format(*(int(color[i : i + 2], 16) for i in (1, 3, 5)))
    strokes = page.evaluate(
        "() => [...document.querySelectorAll('path')].map((e) => getComputedStyle(e).stroke)"
    )
    assert wanted in strokes


def test_print_is_light(browser):
    page = show(browser, two_panels(), html='data-theme="dark"')
    page.emulate_media(media="print")
    ink = page.evaluate("() => getComputedStyle(document.querySelector('text')).fill")
    assert ink == "rgb(31, 35, 40)"
