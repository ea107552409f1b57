"""How the site reads: how soon a page stands, how it unfolds, and the search."""

import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import fonts
from tests.site.audit import DESKTOP, IDLE, reading
from tests.site.built import SAMPLE, Site, numbered, toc_documents
from tests.support import each, sampled
from tools import reading as measures

LONGEST = "chapters/atlas/five-exercises-in-detail"
THROTTLE, SOON = 4, 6.0  # times slower; seconds
WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
    shifts.push(...list.getEntries().filter((entry) => !entry.hadRecentInput));
}).observe({ type: "layout-shift", buffered: true });"""
MOVED = """(since) => shifts.filter(({ startTime }) => startTime >= since)
    .reduce((sum, { value }) => sum + value, 0)"""
STANDS = """async () => {
    if (document.readyState !== "complete") await new Promise((r) => addEventListener("load", r));
    await document.fonts.ready;
    await new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
    return performance.now() / 1000;
}"""


@pytest.mark.walk
def test_the_longest_page_stands_soon(browser: Browser, address: str) -> None:
    """All of it: nothing is set or moved afterwards."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.add_init_script(WATCH)
    session = context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": THROTTLE})
    page.goto(f"{address}/{LONGEST}.html", wait_until="commit")
    seconds = page.evaluate(STANDS)
    assert not page.locator(".math:not(:has(.katex))").count()
    assert page.locator(".math .katex").count() > 200
    assert page.evaluate(MOVED, 0) < 0.05
    context.close()
    print(f"{LONGEST} stands after {seconds:.1f} s at {THROTTLE}x throttling (aim: {SOON} s)")


def test_a_link_into_a_page_holds_its_heading(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.add_init_script(WATCH)
    page.goto(f"{address}/{LONGEST}.html")
    last = page.locator("article section[id] > h2").nth(-3).locator("xpath=..").get_attribute("id")
    page.goto("about:blank")
    page.goto(f"{address}/{LONGEST}.html#{last}")
    heading = page.locator(f"[id='{last}'] > h2")
    top = heading.bounding_box()["y"]
    page.evaluate(IDLE)
    page.evaluate(STANDS)
    assert 0 <= heading.bounding_box()["y"] < 200
    assert abs(heading.bounding_box()["y"] - top) < 2
    # Before, less than a screen of what follows the heading may have come in.
    parsed = page.evaluate("performance.getEntriesByType('navigation')[0].domInteractive")
    assert page.evaluate(MOVED, parsed) < 0.1
    page.close()


@pytest.mark.parametrize("name", sampled(numbered(), *SAMPLE))
def test_a_chapter_fits_its_screens(browser: Browser, address: str, name: str) -> None:
    """In a window of one screen, with the veils lifted, down to the summary."""
    page = browser.new_page(viewport=measures.SCREEN)
    count = measures.screens(name, page, f"{address}/")
    page.close()
    assert count <= measures.load(measures.MEASURED)[name].bounds["screens"]


def test_screens_do_not_depend_on_the_fonts_of_a_machine(
    browsers: Callable[[str], Browser], address: str
) -> None:
    counts = []
    for font in fonts.TWO:
        page = browsers(font).new_page(viewport=measures.SCREEN)
        counts.append(measures.screens("chapters/foundations/bug-museum", page, f"{address}/"))
        page.close()
    assert counts[0] == pytest.approx(counts[1], abs=0.001)


# A question, and the sections that a reader who asks it wants to see.
QUESTIONS = {
    "why transpose": {"chapters/atlas/jacobians-and-prod.html#where-the-transposes-come-from"},
    "softmax derivative": {
        "chapters/mlp/matrix-equations.html#the-gradient-of-softmax-and-cross-entropy-p-y",
        "chapters/mlp/matrix-equations.html#softmax-and-cross-entropy",
    },
    "vanishing gradient": {"chapters/atlas/watching-gradients.html#watching-gradients"},
    "chain rule": {"chapters/foundations/chain-rule.html#the-chain-rule"},
    "jax": {"chapters/frameworks/jax-backward-pass.html#the-backward-pass-in-jax"},
    "grad is None": {"chapters/reference/symptoms.html#grad-is-none-why-is-my-gradient-none"},
    "loss is nan": {"chapters/reference/symptoms.html#the-loss-is-nan"},
    "nan only with where": {
        "chapters/reference/symptoms.html#nan-only-with-where-the-double-where"
    },
    "memory grows every step": {
        "chapters/reference/symptoms.html#memory-grows-every-step-a-leak-in-the-training-loop"
    },
    "layers in a list are not trained": {
        "chapters/reference/symptoms.html#layers-in-a-list-are-not-trained-model-parameters-is-empty"
    },
    "backward through the graph a second time": {
        "chapters/reference/symptoms.html"
        "#trying-to-backward-through-the-graph-a-second-time-retain-graph-or-detach"
    },
    "gradient of embedding with repeated indices": {
        "chapters/mlp/layers-of-today.html#embedding-a-table-that-is-read"
    },
    "memory": {"chapters/cost/memory-and-rematerialization.html#memory-and-rematerialization"},
}


def found(page: Page) -> list[str]:
    """The sections found, without what the address says besides."""
    status = page.locator("#search-results .search-status")
    expect(status).not_to_be_empty()
    links = page.locator("#search-results li a").all()
    return [re.sub(r"^(\./)?(.*)\?found=[^#]*#", r"\2#", str(link.get_attribute("href")))
            for link in links]  # fmt: skip


@pytest.mark.walk
@each("question", QUESTIONS)
def test_a_question_finds_its_section(browser: Browser, address: str, question: str) -> None:
    with reading(browser, address, DESKTOP, "light") as opened:
        page = opened.page
        page.goto(f"{address}/search.html?q={question.replace(' ', '+')}")
        first = found(page)[:3]
        assert set(first) & QUESTIONS[question], first
        excerpts = page.locator("#search-results .hit-text").all_inner_texts()
    assert len(excerpts) >= 3
    assert not [text for text in excerpts if re.search(r"\\[a-z(\[]|^\W*\.\.\.|\$", text)][:3]


def test_a_result_leads_to_its_section_with_the_hit_shown(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/chapters/intro.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("vanishing gradient")
    expect(page.locator("#pst-search-dialog li a").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/watching-gradients.html?found=*#vanishing-exploding-level")
    hide = page.get_by_role("button", name="Hide")
    hide.wait_for()
    shown = page.evaluate(
        """() => [...CSS.highlights.get("found")].map((range) => {
            const box = range.getBoundingClientRect();
            return [range.toString().toLowerCase(), box.top > 0 && box.bottom < innerHeight];
        })"""
    )
    assert {text for text, _ in shown} >= {"vanishing", "gradient"}
    assert any(visible for _, visible in shown)
    page.keyboard.press("Escape")
    expect(hide).to_have_count(0)
    assert not page.evaluate("CSS.highlights.has('found')")
    assert "found=" not in page.url
    page.close()


def test_search_is_loaded_when_it_is_asked_for(browser: Browser, address: str) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/chapters/intro.html")
    page.evaluate(IDLE)
    assert not [url for url in asked if "searchindex" in url or "/search/index" in url]
    page.keyboard.press("Control+k")
    page.wait_for_function("Boolean(window.courseSections && window.MiniSearch)")
    page.close()


def test_a_site_on_a_disk_can_be_searched(browser: Browser, site: Site) -> None:
    page = browser.new_page()
    page.goto(f"{(site.folder / 'search.html').as_uri()}?q=toposort")
    assert any("orders-and-sorts" in address for address in found(page)[:3])
    page.close()


def test_a_title_unfolds_its_solution(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/chapters/foundations/autograd-engine.html")
    solution = page.locator("details.solution").first
    title = solution.locator("> summary")
    assert re.match(r"Answer\s*to Exercise 3\.", title.text_content() or "")
    box = title.bounding_box()
    for x in (12, box["width"] / 2, box["width"] - 12):  # anywhere on the bar
        before = solution.evaluate("e => e.open")
        title.click(position={"x": x, "y": box["height"] / 2})
        assert solution.evaluate("e => e.open") != before
    link = solution.locator(".fold-origin a")
    assert link.inner_text().startswith("Exercise 3.")
    link.click()
    assert page.url.partition("#")[2]
    page.close()


@pytest.mark.parametrize(("page", "count"), [("kinks", 4), ("notation", 3)])
def test_pages_without_a_number_count_from_one(site: Site, page: str, count: int) -> None:
    titles = site.document(f"chapters/reference/{page}").select(".exercise .admonition-title")
    numbers = [re.match(r"\s*Exercise (\d+) ", title.get_text()) for title in titles]
    assert [number and number[1] for number in numbers] == [str(n) for n in range(1, count + 1)]


def test_licences_of_all_that_is_carried(site: Site) -> None:
    """A page of every file's origin, that every page links to."""
    text = site.document("licences").get_text()
    for name in ("KaTeX", "MiniSearch", "Font Awesome", "Bootstrap", "Sphinx", "CodeMirror",
                 "Graphviz", "Pyodide", "NumPy", "Matplotlib"):  # fmt: skip
        assert name in text
    assert "Eclipse Public License - v 2.0" in text
    assert "gitlab.com/graphviz/graphviz" in text
    for document in toc_documents():
        assert site.document(document).select_one('footer a[href$="licences.html"]')


@pytest.mark.walk
@pytest.mark.parametrize("width", [390, 1280])
def test_controls_are_large_enough(browser: Browser, address: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, has_touch=width < 500)
    page.goto(f"{address}/chapters/foundations/computational-graph.html")
    page.evaluate(IDLE)
    buttons = page.locator(".live-bar button:visible").all()
    assert buttons
    least = 44 if width < 500 else 24
    assert min(button.bounding_box()["height"] for button in buttons) >= least - 0.5
    page.close()


@pytest.mark.usefixtures("browser")  # the command starts one of its own
def test_a_command_prints_the_measures_of_a_page(site: Site) -> None:
    command = [sys.executable, measures.__file__, "foundations/computational"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    heads, line, _ = printed.splitlines()
    names, (page, *numbers) = heads.replace("|", "").split(), re.findall(r"[\w.-]+", line)
    found = dict(zip(names[1:], map(float, numbers), strict=True))
    assert page == "computational-graph"
    boxes = site.document(f"chapters/foundations/{page}").select("section > .predict")
    assert found["asks"] == len([box for box in boxes if not box.find_parent(id="exercises")])
    assert found["visible"] == round(100 * found["code"] / (found["code"] + found["folded"]))
    assert 5 < found["screens"] < 40
