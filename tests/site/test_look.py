"""Where things stand on a page: its picture first, prose and boxes on one grid."""

import re
from typing import Literal

import pytest
from fontTools.ttLib import TTFont
from playwright.sync_api import Browser, Route, expect

from tests.site.built import Site, toc_documents
from tests.support import sampled

# How far to the right parts of sections reach, boxes left aside.
RIGHT = """(choice) => [...new Set([...document.querySelectorAll(`section ${choice}`)]
    .filter((e) => e.checkVisibility() && !e.parentElement.closest('.admonition, td, .beside'))
    .map((e) => Math.round(e.getBoundingClientRect().right
        - e.closest('section').getBoundingClientRect().left)))]"""

# The same of the words in boxes that stand in no other.
WITHIN = """() => [...document.querySelectorAll("section > :is(.note, .predict, .exercise)")]
    .filter((box) => !box.parentElement.closest(".admonition"))
    .flatMap((box) => [...box.querySelectorAll(":scope > p:not(.admonition-title)")]
        .filter((p) => p.checkVisibility())
        .map((p) => Math.round(p.getBoundingClientRect().right
            - box.parentElement.getBoundingClientRect().left)))"""
TEXT, FIGURE = 628, 920  # pixels
FACES = """() => document.fonts.ready.then(() => [...document.fonts]
    .filter((face) => face.family.startsWith("Course") && face.status === "loaded")
    .map((face) => `${face.family} ${face.style}`).sort())"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), sampled([(1280, 720), (390, 844)], (390, 844)))
def test_the_first_screen_of_the_course_moves(
    browser: Browser, address: str, width: int, height: int, theme: Literal["light", "dark"]
) -> None:
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
    page.route("**/worker.js", lambda route: route.abort())
    page.goto(f"{address}/chapters/intro.html")
    figure = page.locator("div.cell").first.locator(".chaingrad-race[data-ready]")
    drawing = figure.locator("svg.chaingrad:visible").first
    box = drawing.bounding_box()
    assert box is not None
    assert 0 < box["y"] < height * 0.8
    assert box["x"] + box["width"] <= width
    figure.get_by_role("button", name="Start").click()
    expect(figure.locator("dd b").first).not_to_have_text("0")
    expect(figure.locator(".cg-words:visible")).to_contain_text("16 minutes and 39 seconds to go")
    figure.get_by_role("slider").press("End")
    expect(figure.locator(".cg-words:visible")).to_contain_text("11 days and 14 hours to go")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.close()


@pytest.mark.walk
@pytest.mark.parametrize(
    ("system", "mode", "shown"),
    [("dark", "", "dark"), ("light", "auto", "light"), ("light", "dark", "dark")],
)
def test_a_page_stands_in_its_theme_before_the_script_of_themes_has_come(
    browser: Browser, address: str, system: Literal["light", "dark"], mode: str, shown: str
) -> None:
    page = browser.new_page(color_scheme=system)
    page.goto(f"{address}/chapters/reference/status.html")
    page.evaluate("mode => { Object.assign(localStorage, { mode, theme: mode && 'dark' }); }", mode)
    page.route("**/pydata-sphinx-theme.js*", lambda route: route.abort())
    page.goto(f"{address}/chapters/foundations/chain-rule.html")
    assert page.evaluate("document.documentElement.dataset.theme") == shown
    expect(page.locator(".navbar-brand img:visible")).to_have_class(re.compile(f"only-{shown}"))
    page.close()


@pytest.mark.walk
@pytest.mark.parametrize("_", range(3))  # the later of two imports often came first
def test_what_is_chosen_before_the_editor_has_come_stays(
    browser: Browser, address: str, _: int
) -> None:
    page = browser.new_page()
    held: list[Route] = []
    page.route("**/editor.js", lambda route: held.append(route))
    bench = page.locator("#workbench")
    choice = bench.get_by_label("Starting points")
    with page.expect_request("**/editor.js"):
        page.goto(f"{address}/chapters/practice/workbench.html")
        bench.locator("..").scroll_into_view_if_needed()
    choice.wait_for()
    held[0].continue_()
    choice.select_option("A skip connection")
    expect(bench.locator('iframe[title="graph"]:not(.bench-new)')).to_have_count(1)
    expect(bench.locator(".bench-stage:not([aria-busy])")).to_have_count(1)
    expect(bench.locator(".cm-content")).to_contain_text("y = x + h")
    page.close()


def test_plots_leave_the_colours_of_graphs_alone(site: Site) -> None:
    """Yellow is a leaf, violet what the sort has visited, red a local gradient, blue an adjoint."""
    for document in toc_documents():
        for plot in site.document(document).select(".chaingrad-plot"):
            assert not re.findall(r"--cg-(?:leaf|visited|local|global)\b", str(plot)), document


@pytest.mark.parametrize(
    "name",
    ["foundations/chain-rule", "foundations/bug-museum", "mlp/forward-and-backward",
     "cost/time-and-flops", "atlas/orders-and-sorts"],
)  # fmt: skip
def test_a_page_has_one_width_for_text_and_one_for_code(
    browser: Browser, address: str, name: str
) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{address}/chapters/{name}.html")
    assert page.evaluate(RIGHT, "> :is(p, ul, ol)") == [TEXT]
    assert set(page.evaluate(WITHIN)) <= {TEXT}
    for part in (".cell", ".cell_input", ".cell_output > :is(.stream, .text_plain)", ".veil-note"):
        assert page.evaluate(RIGHT, part) in ([FIGURE], []), part
    assert page.evaluate(RIGHT, ".cell_input") == [FIGURE]
    page.close()


def test_the_text_is_66_characters_wide(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{address}/chapters/foundations/chain-rule.html")
    page.evaluate(FACES)
    width = page.locator("section > p").first.evaluate(
        "p => p.appendChild(make('span', {style: 'display: block; width: 66ch'})).offsetWidth"
    )
    assert width == pytest.approx(TEXT, abs=1)
    page.close()


def test_faces_of_text_and_code_are_the_site_s_own_and_light(
    browser: Browser, address: str, site: Site
) -> None:
    page = browser.new_page()
    page.goto(f"{address}/chapters/foundations/chain-rule.html")
    assert page.evaluate(FACES) == [
        "Course Mono normal", "Course Serif italic", "Course Serif normal"
    ]  # fmt: skip
    page.close()
    files = [*site.folder.glob("_static/course-*.woff2")]
    assert sum(file.stat().st_size for file in files) <= 120_000
    for file in files:
        font = TTFont(file)
        assert {*"x\u0304w\u0302−×·→∂Σ≤≈²₀"} <= {*map(chr, font.getBestCmap())}, file
        features = font["GPOS"].table.FeatureList.FeatureRecord
        assert "mark" in {feature.FeatureTag for feature in features}
