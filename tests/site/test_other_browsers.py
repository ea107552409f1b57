"""What readers do on the site, in Firefox and in WebKit; all else is tested in Chromium."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from chainlab.drills.draw.small_numbers import exact
from chainlab.drills.problem import problem
from tests.site.audit import MISSING, OVERFLOW, SETTLED, UNFOLD
from tests.site.built import Site, toc_documents
from tests.site.engines import ENGINES, Reader, Watched, started
from tests.site.live import CELLS, PAGE, put_python
from tests.support import each, serve

pytestmark = [
    pytest.mark.browsers,
    pytest.mark.xdist_group("browsers"),
    pytest.mark.filterwarnings("ignore:setting remote_server_addr"),  # by Selenium itself
]
PLACE = "#ex-page-twice .live-answer"


@pytest.fixture(scope="module", params=ENGINES)
def driver(request: pytest.FixtureRequest) -> Iterator[WebDriver]:
    with started(request.param) as driver:
        yield driver


@contextmanager
def reading(driver: WebDriver, folder: Path) -> Iterator[Reader]:
    """A reader of a site who has never been there and leaves without complaints."""
    Watched.refused.clear()
    with serve(folder, Watched) as address:
        reader = Reader(driver, address)
        yield reader
        assert not reader.complaints()
        driver.get("about:blank")


@pytest.fixture
def course(driver: WebDriver, site: Site) -> Iterator[Reader]:
    with reading(driver, site.folder) as reader:
        yield reader


@pytest.fixture
def page(driver: WebDriver, live_site: Path) -> Iterator[Reader]:
    """The page with live cells of every kind."""
    with reading(driver, live_site) as reader:
        reader.open(PAGE)
        yield reader


# --- every page ---------------------------------------------------------------------------------


@each("document", toc_documents)
def test_a_page_is_complete_and_fits(course: Reader, document: str) -> None:
    for show in (course.open, lambda path: course.open_narrow(path, 390)):
        show(f"{document}.html")
        assert not course.ask(MISSING)
        course.ask(f"() => {{ {UNFOLD} }}")
        course.ask(f"() => {SETTLED}")
        assert course.ask(OVERFLOW) <= 0


IN_VIEW = """async (element) => {
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame); // it has scrolled by then
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const isWhole = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    return isWhole && element === document.activeElement;
}"""


def test_a_node_that_has_the_focus_is_in_view(course: Reader) -> None:
    """In a drawing that is higher than the window, which has what 400 % leave of 1280 by 1024."""
    course.open_narrow("chapters/foundations/computational-graph.html", 320, 256)
    course.ask("() => { document.documentElement.style.scrollBehavior = 'auto'; }")
    course.one("svg g[role=button]")
    nodes = [node for node in course.all("svg g[role=button]") if node.is_displayed()]
    course.ask("(first) => first.focus()", nodes[0])
    assert course.ask(IN_VIEW, nodes[0])
    for held, visited in (("", nodes[1:]), (Keys.SHIFT, nodes[-2::-1])):
        for node in visited:
            course.press(Keys.TAB, held=held)
            assert course.ask(IN_VIEW, node)


# --- live cells ---------------------------------------------------------------------------------


def cell(page: Reader, name: str) -> str:
    """How to choose a cell."""
    page.ask(
        """(place, name) => {
            const cells = document.querySelectorAll("div.cell:has(.cell_input)");
            cells[place].dataset.name = name;
        }""",
        list(CELLS).index(name),
        name,
    )
    return f"[data-name={name}]"


def test_cells_run_and_draw(page: Reader) -> None:
    page.click(f"{cell(page, 'seven')} .live-run")
    page.reads(f"{cell(page, 'seven')} .live-status", "Done.")
    assert page.text(f"{cell(page, 'seven')} .live-output") == "7"
    assert page.text(f"{cell(page, 'six')} .live-output") == "6"
    for name, shows in {"figure": "img", "plot": "svg", "drawing": "svg"}.items():
        page.click(f"{cell(page, name)} .live-run")
        page.one(f"{cell(page, name)} .live-output {shows}")


def test_an_endless_loop_is_stopped(page: Reader) -> None:
    six = cell(page, "six")
    page.click(f"{six} .live-edit")
    page.write(f"{six} .cm-content", "print('begun'); any(iter(int, 1))")
    page.press(Keys.ENTER, held=Keys.SHIFT)
    page.reads(f"{six} .live-output", "begun")
    page.click(f"{six} .live-stop")
    page.reads(f"{six} .live-status", "Stopped")


def test_an_edit_is_kept(page: Reader) -> None:
    page.click(f"{cell(page, 'six')} .live-edit")
    page.write(f"{cell(page, 'six')} .cm-content", "x = 41")
    page.driver.refresh()
    page.reads(f"{cell(page, 'six')} .cm-content", "x = 41")


# --- what is asked ------------------------------------------------------------------------------


def progress(page: Reader, anchor: str) -> None:
    """Wait until the page of progress says that it is right."""
    page.open("chapters/reference/progress.html")
    page.click(f".progress-page:has([href$='#{anchor}']) summary")
    page.reads(f"main .to-try li:has([href$='#{anchor}'])", "✓ right")


def test_an_answer_is_checked_and_kept(page: Reader) -> None:
    for code, verdict in [("return 3 * x", "Not right yet"), ("return x + x", "Right")]:
        if not page.all(f"{PLACE} .cm-content"):
            page.click(f"{PLACE} .live-edit")
        page.write(f"{PLACE} .cm-content", f"def twice(x): {code}")
        page.click(f"{PLACE} .live-run")
        page.reads(f"{PLACE} .live-status", verdict)
    progress(page, "ex-page-twice")


def test_a_prediction_is_compared_and_kept(page: Reader) -> None:
    box = "#predict-doubled"
    for key, says in [("", "That is the sum"), (Keys.ARROW_DOWN, "Right. Two times three.")]:
        page.click(f"{box} input") if not key else page.press(key)
        page.press(Keys.ENTER)
        page.reads(f"{box} [role=status]", says)
    progress(page, "predict-doubled")


def test_a_problem_is_answered_wrong_and_right(course: Reader) -> None:
    drill = problem("adjoints", 1, 7)
    course.open(f"chapters/practice/drills.html#{drill.name}")
    course.click(".cg-canvas input")
    course.press("99", Keys.ENTER)
    course.reads(".cg-words", "✗")
    assert course.one(".cg-canvas .cg-wrong").get_attribute("value") == "99"
    course.press("a", held=Keys.CONTROL)
    course.press(Keys.TAB.join(map(exact, drill.right)), Keys.ENTER)
    course.reads(".cg-words", "✓ Right.")


# --- functions of one's own ---------------------------------------------------------------------


def drawn(page: Reader, words: str) -> None:
    """Wait for a graph that says these words, in a frame without an origin."""
    page.driver.switch_to.frame(page.one(f".bench-stage [srcdoc*='{words}']:not(.bench-new)"))
    assert words in page.text("svg.chaingrad")
    assert page.ask("() => origin") == "null"
    page.driver.switch_to.default_content()


def test_the_workbench_draws_and_answers(course: Reader, site: Site) -> None:
    put_python(site.folder)
    course.open("chapters/practice/workbench.html")
    course.write(".cm-content", "import torch\nx = torch.tensor(2.0, requires_grad=True)\nx * x")
    course.reads(".bench-wrong li:last-child", "Line 2")
    course.reads(".bench-wrong li:last-child", "Write Node(2.0)")
    course.one(".cm-line:nth-child(2) .cm-lintRange-error")
    course.write(".cm-content", "import js\nx = Node(3.0, js.origin)\nx * x")
    drawn(course, "null, input: data 3.0, grad 6.0")  # that of Python is named, too


def test_an_embedded_starting_point_is_drawn(course: Reader) -> None:
    course.open("_static/embed.html#s=a-skip-connection")
    drawn(course, "x, input: data 0.5, grad ")


# --- figures that move --------------------------------------------------------------------------


def test_the_player_plays(course: Reader) -> None:
    course.open("chapters/atlas/orders-and-sorts.html")
    player = ".chaingrad-player"
    count = int(course.text(f"{player} .cg-count").rpartition(" of ")[2])
    course.click(f"{player} [aria-label=Play]")
    course.reads(f"{player} .cg-count", f"step {count} of {count}")
    course.click(f"{player} .cg-scroll")
    course.press(Keys.ARROW_LEFT)
    course.reads(f"{player} .cg-count", f"step {count - 1} of {count}")
    course.press(Keys.HOME)
    course.reads(f"{player} .cg-count", f"step 1 of {count}")


def test_nudge_follows_the_keys_and_the_mouse(course: Reader) -> None:
    course.open("chapters/atlas/forward-mode.html")
    figure = "[data-kind=nudge]"
    course.click(f"{figure} input[type=range]")
    course.press(Keys.HOME, *[Keys.ARROW_RIGHT] * 65)
    course.reads(f"{figure} .cg-words", "w = 0.15: loss = 2.71e−11")
    course.drag(f"{figure} .cg-live g[data-node=n0] .cg-box", 30)
    slider = course.one(f"{figure} input[type=range]")
    assert int(slider.get_attribute("value")) > -35
    assert course.ask("(e) => e === document.activeElement", slider)
    course.reads(f"{figure} .cg-words", f"w = {slider.get_attribute('aria-valuetext')}:")


# --- search -------------------------------------------------------------------------------------


def test_search_finds_by_keyboard(course: Reader) -> None:
    course.open("chapters/reference/notation.html")
    course.press("k", held=Keys.CONTROL)
    course.press("torchrun", Keys.ENTER)
    found = course.one("#search-results li a")
    assert "atlas/several-processes.html" in found.get_attribute("href")
    course.press(Keys.ENTER)
