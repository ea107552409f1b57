"""Cells that run in the reader's browser, driven by a reader in a real one."""

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.axe import severe
from tests.chainlab.doctor import patients
from tests.chainview.draw.test_in_browser import OVERFLOWS
from tests.site import test_player
from tests.site.audit import IDLE
from tests.site.live import (
    CELLS,
    COLD,
    PAGE,
    RIGHT,
    SENT,
    answer,
    cell,
    finished,
    output,
    place,
    run,
    says,
    write,
)
from tests.support import ROOT, sampled, serve

sys.path.insert(0, str(ROOT / "_ext"))

from live.pyodide import PYODIDE

pytestmark = pytest.mark.xdist_group("live")


@pytest.fixture(scope="module")
def page_address(live_site: Path) -> Iterator[str]:
    with serve(live_site) as address:
        yield f"{address}/{PAGE}"


class Opened(NamedTuple):
    page: Page
    asked: list[str]  # all addresses that it has asked for
    before: int  # how many of them before anything was clicked


@pytest.fixture(scope="module")
def opened(browsers: Callable[[str], Browser], page_address: str) -> Iterator[Opened]:
    with browsers("").new_context() as context:
        asked: list[str] = []
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        page.set_default_timeout(COLD)
        page.goto(page_address)
        page.evaluate(IDLE)
        yield Opened(page, asked, len(asked))


@pytest.fixture
def page(opened: Opened) -> Page:
    """The page as it was built; Python keeps running from one test to the next."""
    opened.page.evaluate("document.querySelectorAll('.live-reset').forEach((b) => b.click())")
    return opened.page


@pytest.mark.walk
def test_nothing_is_fetched_before_it_is_wanted(page: Page, opened: Opened) -> None:
    expect(run(page, "six")).to_have_text("6")
    first = next(i for i, address in enumerate(opened.asked) if "/_live/" in address)
    assert first >= opened.before > 0


FORGET = """async () => {
    for (const name of await caches.keys()) await caches.delete(name);
}"""
SAVES = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })"


@pytest.mark.walk
def test_python_comes_to_who_rests_on_a_button_or_has_run_something(
    browser: Browser, page_address: str
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(page_address)
    with page.expect_worker():
        cell(page, "six").locator(".live-run").hover()
    page.mouse.move(0, 0)
    page.reload()
    with page.expect_worker():
        cell(page, "six").locator(".live-edit").focus()
    run(page, "six")
    page.mouse.move(0, 0)
    page.evaluate(FORGET)  # which may have been fetched early, where this was slow
    with page.expect_worker(), page.expect_request("**/matplotlib*"):
        page.reload()
    write(page, "six", "import sys\n'matplotlib.pyplot' in sys.modules, 'plt' in globals()")
    expect(run(page, "six")).to_have_text("(True, False)")  # imported, and no name is taken
    saving = context.new_page()
    saving.add_init_script(SAVES)
    saving.goto(page_address)
    cell(saving, "six").locator(".live-run").hover()
    saving.wait_for_timeout(1000)  # three times the rest
    assert saving.workers == []
    context.close()


def test_running_a_cell_lifts_its_veil(page: Page) -> None:
    veil = "off => kept.put('reading', 'veil', 'off', off || undefined)"
    half = page.locator("div.cell:has(.cell_input)").nth(len(CELLS))  # which answers a prediction
    page.evaluate(veil, False)
    expect(half.locator(".veil-note")).to_be_visible()
    half.locator(".live-run").click()
    expect(half.locator(".live-output")).to_have_text("0.5", timeout=COLD)
    expect(half.locator(".live-output pre")).to_be_visible()
    expect(half.locator(".veil-note")).to_have_count(0)
    page.evaluate(veil, True)


def test_run_shows_output_in_place_of_the_built_one(page: Page) -> None:
    expect(run(page, "six")).to_have_text("6")
    expect(cell(page, "six").locator(".cell_output:not(.live-output)")).to_be_hidden()


STANDS = """() => {
    const parts = [...document.querySelectorAll(
        ".bd-article :is(h1, p, .live-bar, .live-turn, .live-edit)",
    )].filter((part) => part.checkVisibility() && !part.closest(".cell_output"));
    const place = ({ x, y, width, height }) => [x, y + scrollY, width, height].join();
    const places = () => parts.map((part) => place(part.getBoundingClientRect()));
    const before = places();
    const moved = (window.moved = new Set());
    const look = () => {
        places().forEach((now, i) => now === before[i] || moved.add(parts[i].outerHTML));
        if (moved === window.moved) requestAnimationFrame(look);
    };
    look();
}"""
MOVED = "() => { const found = [...moved]; window.moved = undefined; return found; }"
LONGEST = "Stopped. Python starts afresh: what cells had computed is gone."


@pytest.mark.parametrize("name", ["six", "long"])  # with a short last line, and with a long one
def test_nothing_moves_when_a_button_is_pressed(page: Page, name: str) -> None:
    """What runs has the room of the output before it, and words have the room of the bar."""
    run(page, name)  # and those above, which may show something else than the book
    page.evaluate(STANDS)
    run(page, name)
    cell(page, name).locator(".live-edit").click()
    expect(cell(page, name).locator(".cm-content")).to_be_focused()
    cell(page, name).locator(".live-status").evaluate("(line, says) => line.append(says)", LONGEST)
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert page.evaluate(MOVED) == []


def test_a_download_says_how_far_it_is(page: Page, opened: Opened) -> None:
    page.evaluate(FORGET)
    other = opened.page.context.new_page()
    other.goto(page.url)
    line = "document.querySelectorAll('.live-status')[1]"
    watch = f"""() => {{
        window.said = [];
        const line = {line};
        const tell = () => said.push([line.textContent, getComputedStyle(line.closest(".live-bar"))
            .getPropertyValue("--loaded")]);
        new MutationObserver(tell).observe(line, {{ childList: true }});
    }}"""
    other.evaluate(watch)
    run(other, "six")
    said = [(words, part) for words, part in other.evaluate("said") if "Loading" in words]
    assert said
    assert all(re.fullmatch(r"Loading Python: [\d.]+ of [\d.]+ MB", words) for words, _ in said)
    assert all(0 < float(part.removesuffix("%")) <= 100 for _, part in said)
    other.close()


@pytest.mark.walk
def test_a_file_is_saved_before_what_reads_it_runs(page: Page) -> None:
    expect(run(page, "import")).to_have_text("9")
    write(page, "module", "%%writefile local.py\nNINE = 10")
    expect(run(page, "import")).to_have_text("10")


def test_cells_above_run_first(page: Page) -> None:
    expect(run(page, "seven")).to_have_text("7")
    expect(output(page, "six")).to_have_text("6")


def test_edited_code_runs_and_reset_brings_the_book_back(page: Page) -> None:
    write(page, "six", "x = 41\nprint('edited')")
    page.keyboard.press("Shift+Enter")
    expect(output(page, "six")).to_contain_text("edited", timeout=COLD)
    finished(page, "six")
    expect(run(page, "seven")).to_have_text("42")
    cell(page, "six").locator(".live-reset").click()
    expect(output(page, "six")).to_have_count(0)
    expect(cell(page, "six").locator(".cell_output .output pre")).to_have_text("6\n")
    expect(cell(page, "six").locator(".cell_input pre").first).to_have_text("x = 6\nx\n")
    expect(run(page, "six")).to_have_text("6")


@pytest.mark.parametrize(
    ("name", "is_folded"), sampled([("folded", False), ("claim", True)], ("claim", True))
)
def test_a_folded_cell_is_edited_and_run_in_its_fold(
    page: Page, name: str, is_folded: bool
) -> None:
    """What it shows takes the place of what the book shows: above the fold, a check's within."""
    built = cell(page, name).locator(".cell_output")
    stood = built.evaluate("e => e.parentElement.tagName")
    cell(page, name).locator("summary").click()
    write(page, name, "print('mine')\nassert 1 + 1 == 2")
    expect(run(page, name)).to_have_text("mine")
    assert built.evaluate("e => e.parentElement.tagName") == stood
    mark = "e => getComputedStyle(e.querySelector('summary p'), '::before').content"
    assert cell(page, name).evaluate(mark) == "none"
    cell(page, name).locator("summary").click()
    assert output(page, name).is_visible() != is_folded
    cell(page, name).locator("summary").click()
    cell(page, name).locator(".live-reset").click()
    assert (cell(page, name).evaluate(mark) == '"✓ "') == is_folded
    expect(built).to_have_count(1)


def test_code_that_stands_below_what_it_printed_runs(page: Page) -> None:
    """It is what the editor opens with, and what the reader's text is kept by."""
    cell(page, "told").locator("summary").click()
    expect(run(page, "told")).to_have_text("first 1\nsecond 2\n")
    cell(page, "told").locator(".live-edit").click()
    expect(cell(page, "told").locator(".cm-content")).to_contain_text("print('first', 1)")
    assert (
        page.evaluate("kept.sourcesHere().map((source) => source.trimEnd())")[
            list(CELLS).index("told")
        ]
        == CELLS["told"]
    )


def test_a_name_has_the_value_that_the_page_gave_it_there(page: Page) -> None:
    """Though a cell further down has given it another since."""
    expect(run(page, "of other")).to_have_text("('two', 'twotwo')")
    expect(run(page, "of own")).to_have_text("2")
    expect(run(page, "of other")).to_have_text("('two', 'twotwo')")


def test_an_error_stops_only_what_builds_on_it(page: Page) -> None:
    write(page, "six", "x = undefined_name")
    expect(run(page, "of own")).to_have_text("2")
    expect(output(page, "six").locator(".traceback")).to_contain_text("NameError")
    expect(output(page, "seven")).to_have_count(0)


def test_errors_are_tracebacks_of_the_readers_frames(page: Page) -> None:
    trace = run(page, "wrong").locator(".traceback")
    expect(trace).to_contain_text("return 1 / 0")
    expect(trace).to_contain_text("ZeroDivisionError: division by zero")
    expect(trace).not_to_contain_text("live_runner")
    expect(trace).not_to_contain_text("pyodide")


def test_an_error_ends_the_run_of_the_cells_below(page: Page) -> None:
    write(page, "six", "x = undefined_name")
    cell(page, "seven").locator(".live-run").click()
    expect(cell(page, "seven").locator(".live-status")).to_contain_text("cell 2", timeout=COLD)
    expect(output(page, "six").locator(".traceback")).to_contain_text("NameError")


def test_cells_that_build_on_a_changed_one_say_so(page: Page) -> None:
    expect(run(page, "seven")).to_have_text("7")
    write(page, "six", "x = 41")
    run(page, "six")
    behind = cell(page, "seven").locator(".live-status")
    expect(behind).to_contain_text("Builds on cell 2, whose code is another now")
    expect(cell(page, "kept").locator(".live-status")).to_have_text("")
    expect(run(page, "seven")).to_have_text("42")
    expect(behind).to_have_text("Done.")
    cell(page, "six").locator(".live-reset").click()
    expect(behind).to_contain_text("Builds on cell 2")


@pytest.mark.parametrize(
    ("code", "lacks"),
    [
        ("import torch", "The browser has no torch;"),
        ("from pandas.core import frame", "The browser has no pandas;"),
        ("input('?')", "The browser has no keyboard for input();"),
        ("import threading\nthreading.Thread(target=print).start()", "The browser has no threads;"),
    ],
)
def test_what_a_browser_lacks_is_said_with_a_way_out(page: Page, code: str, lacks: str) -> None:
    write(page, "six", code)
    expect(run(page, "six").locator(".traceback")).to_contain_text("Error")
    status = cell(page, "six").locator(".live-status")
    expect(status).to_contain_text(lacks)
    notebook = status.get_by_role("link", name="Download the notebook")
    assert str(notebook.get_attribute("href")).endswith("notebooks/page.ipynb")


@pytest.mark.walk
def test_the_modules_of_python_are_those_that_the_judge_knows(page: Page) -> None:
    surprising = {"antigravity", "this"}  # opens a browser; prints a poem
    known = [name for name in PYODIDE["modules"] if name[0] != "_" and name not in surprising]
    code = f"""\
import importlib.util, sys
listed = {known}
for name in listed:
    importlib.import_module(name)
public = {{name for name in sys.stdlib_module_names if name[0] != "_"}} - {surprising}
[name for name in sorted(public.difference(listed)) if importlib.util.find_spec(name)]"""
    write(page, "six", code)
    assert run(page, "six").inner_text().strip() == "[]"


def test_answers_of_others_are_not_run_for_a_cell(page: Page) -> None:
    """The check of the folded answer runs the answer it uses; a cell below runs neither."""
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    cells = page.locator("#sol-page-twice .cell")
    last = page.locator("div.cell:has(.cell_input)").last
    last.locator(".live-run").click()
    expect(last.locator(".live-status")).to_have_text("Done.", timeout=COLD)
    assert cells.count() == 2
    expect(cells.locator(".live-output")).to_have_count(0)


@pytest.mark.walk
def test_graphs_of_any_depth_are_freed(page: Page) -> None:
    deep = "from chaingrad import Node\nx = Node(1.0)\nfor _ in range(50_000):\n    x = x + 1\n"
    write(page, "six", deep + "del x\nprint('freed')")
    expect(run(page, "six")).to_have_text("freed")


@pytest.mark.walk
def test_the_doctor_ends_no_python_whatever_an_engine_keeps(page: Page) -> None:
    """A set of all nodes would free the doctor's deep graph from its root on, all at once."""
    keeps = ("self.parents, self.shares =", "ALL.add(self); self.parents, self.shares =")
    source = "ALL = set()\n" + patients.ARRAYS.replace(*keeps)
    code = "from pathlib import Path\nfrom chainlab.doctor import examine\nimport gc\n"
    code += f"Path('kept.py').write_text({source!r})\n"
    code += "for _ in range(2):\n    sound = examine('kept.py:Value', milestone=2).is_sound\n"
    write(page, "six", code + "    gc.collect()\nprint('sound' if sound else 'not sound')")
    expect(run(page, "six")).to_have_text("sound")


@pytest.mark.walk
def test_no_interval_is_zero(page: Page) -> None:
    write(page, "six", "from time import perf_counter as now\n-now() + now() > 0")
    expect(run(page, "six")).to_have_text("True")


@pytest.mark.walk
def test_a_figure_of_a_cell_that_fails_is_not_shown_by_the_next(page: Page) -> None:
    write(page, "figure", "import matplotlib.pyplot as plt\nplt.plot([1])\nmissing")
    expect(run(page, "figure").locator(".traceback")).to_contain_text("NameError")
    expect(output(page, "figure").locator("img")).to_be_visible()
    expect(run(page, "six").locator("img")).to_have_count(0)


def test_figures_appear(page: Page) -> None:
    image = run(page, "figure").locator("img")
    expect(image).to_be_visible()
    assert image.evaluate("(i) => i.decode().then(() => i.naturalWidth)") > 100


def test_drawings_are_laid_out_in_the_page(page: Page) -> None:
    drawing = run(page, "drawing").locator("svg:visible")
    expect(drawing).to_be_visible()
    assert drawing.locator("text").count() >= 3


@pytest.mark.walk
def test_text_of_drawings_fits_in_the_widest_font(page: Page) -> None:
    write(
        page,
        "six",
        "from chainview import draw_graph\nfrom chaingrad.node import Node\n"
        "x = Node(0.123456, 'the mean over all images of a batch')\ndraw_graph((x * 3).tanh())",
    )
    drawing = run(page, "six").locator("svg:visible")
    drawing.evaluate("svg => svg.style.fontFamily = 'DejaVu Sans'")
    assert drawing.locator("text").count() >= 6
    assert page.evaluate(OVERFLOWS) == []


def test_plots_are_drawn_in_the_page(page: Page) -> None:
    plot = run(page, "plot").get_by_role("img", name="A falling line.")
    expect(plot).to_be_visible()
    assert {"0.01", "0.1", "1"} <= set(plot.locator("text").all_text_contents())


@pytest.mark.walk
def test_plots_are_loaded_however_they_are_imported(page: Page) -> None:
    write(page, "six", "from chainview import color, plots\nplots.color is color")
    assert run(page, "six").inner_text().strip() == "True"


def test_a_player_plays_in_the_page(page: Page) -> None:
    write(page, "six", test_player.CELL)
    player = run(page, "six").locator(".chaingrad-player")
    player.locator(".cg-live .cg-scroll").focus()
    last = test_player.play_by_keyboard(page, player)
    assert test_player.read_off(last) == test_player.expected()


def test_progress_bars_update_in_place(page: Page) -> None:
    shown = run(page, "progress").inner_text()
    assert "3/3" in shown
    assert "0/3" not in shown
    assert "Warning" not in shown


@pytest.mark.walk
def test_tables_in_markdown_are_tables(page: Page) -> None:
    text = r"|name|of x|\n|:--|--:|\n|`a_b`|x \\* x|"
    write(page, "six", f"from IPython.display import Markdown\nMarkdown('{text}')")
    table = run(page, "six").locator("table")
    expect(table.locator("th")).to_have_text(["name", "of x"])
    expect(table.locator("td")).to_have_text(["a_b", "x * x"])
    expect(table.locator("td code")).to_have_text("a_b")


def test_scripts_in_outputs_run(page: Page) -> None:
    expect(run(page, "script").locator("#said")).to_have_text("yes")


# --- answers --------------------------------------------------------------------------------------


def test_an_answer_starts_from_its_stub(page: Page) -> None:
    expect(place(page).locator("pre").first).to_contain_text("raise NotImplementedError")
    place(page).locator(".live-run").click()
    expect(says(page)).to_contain_text("Not yet", timeout=COLD)


def test_a_wrong_answer_is_told_its_first_wrong_result_and_a_right_one_is_right(page: Page) -> None:
    answer(page, "def twice(x):\n    return 3 * x")
    expect(says(page)).to_have_text("Not right yet: numbers.")
    shown = place(page).locator(".live-wrong")
    expect(shown).to_contain_text("the first wrong result is")
    expect(shown).to_contain_text("hint")
    answer(page, RIGHT)
    expect(says(page)).to_have_text("Right.")
    expect(shown).to_have_count(0)


def test_the_model_answer_does_not_pass_for_the_readers(page: Page) -> None:
    page.locator("#sol-page-twice").evaluate("(fold) => { fold.open = true; }")
    model = page.locator("#sol-page-twice .cell").first
    model.locator(".live-run").click()
    expect(model.locator(".live-status")).to_have_text("Done.", timeout=COLD)
    answer(page, "def twice(x):\n    return 3 * x")
    expect(says(page)).to_have_text("Not right yet: numbers.")
    answer(page, "helper = 1")
    expect(place(page).locator(".traceback")).to_contain_text("it defines no twice")


def test_an_answer_that_fails_shows_its_own_lines(page: Page) -> None:
    answer(page, "def twice(x):\n    return x / (1 + nothing)")
    trace = place(page).locator(".traceback")
    expect(trace).to_contain_text("return x / (1 + nothing)")
    expect(trace).to_contain_text("NameError")
    expect(trace).not_to_contain_text("live_checker")


def test_an_answer_that_asks_for_what_a_browser_lacks_is_told_the_way_out(page: Page) -> None:
    answer(page, "import torch\n\ndef twice(x):\n    return x", said="The browser has no torch;")
    notebook = says(page).get_by_role("link", name="Download the notebook")
    assert str(notebook.get_attribute("href")).endswith("notebooks/page.ipynb")
    answer(page, "def twice(x):\n    import scipy", said="The browser has no scipy;")


CHECK_ALL = """async ([root, sent]) => {
    const worker = new Worker(new URL("worker.js", root), { type: "module" });
    const ask = (message) => new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => {
            if (data.type === "failed") reject(new Error(data.message));
            else if (["ready", "done"].includes(data.type)) resolve(data.verdicts);
        };
        worker.postMessage(message);
    });
    await ask({ type: "start", root, early: [] });
    const found = [];
    for (const [exercise, ...answers] of sent) {
        const all = [];
        for (const answer of answers) {
            const verdicts = await ask({ type: "check", exercise, answer });
            all.push(verdicts.map(({ verdict, says }) => `${verdict} ${says}`.trim()));
        }
        found.push(all);
    }
    worker.terminate();
    return found;
}"""


@pytest.mark.walk
def test_every_exercise_of_the_book_can_be_answered_in_the_page(page: Page) -> None:
    root = page.url.replace("chapters/page.html", "_live/")
    found = page.evaluate(CHECK_ALL, [root, SENT])
    for (exercise, *_), (right, empty) in zip(SENT, found, strict=True):
        assert right == ["right"] * len(exercise["checks"]), exercise["id"]
        assert {says.split()[0] for says in empty} == {"empty"}, exercise["id"]


# --- the readers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("magic", ["%%writefile local.py\n", ""])  # which a paste may take away
def test_a_module_that_a_cell_writes_is_imported_as_it_is_now(page: Page, magic: str) -> None:
    expect(run(page, "import")).to_have_text("9")
    write(page, "module", f"{magic}NINE = 99")
    expect(run(page, "module")).to_contain_text("Overwriting local.py")
    expect(run(page, "import")).to_have_text("99")


def test_definitions_of_a_cell_that_cannot_run_are_kept(page: Page) -> None:
    expect(run(page, "kept")).to_have_text("3")


@pytest.mark.parametrize(
    ("name", "why"),
    [("torch", "torch"), ("builds on torch", "torch"), ("taken out", "takes too long here")],
)
def test_a_cell_that_cannot_run_says_why(page: Page, name: str, why: str) -> None:
    expect(cell(page, name).locator(".live-status")).to_contain_text(why)
    expect(cell(page, name).locator(".live-run")).to_have_count(0)


def test_a_cell_that_comes_to_nothing_offers_nothing(page: Page) -> None:
    bar = cell(page, "glued").locator(".live-bar")
    expect(bar).to_be_visible()
    expect(bar.get_by_role("button")).to_have_count(0)


def test_the_keyboard_is_enough(page: Page) -> None:
    reach(page, ".live-edit")
    page.keyboard.press("Enter")
    expect(cell(page, "six").locator(".cm-content")).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text("'typed'")
    page.keyboard.press("Shift+Enter")
    expect(output(page, "six")).to_contain_text("typed", timeout=COLD)
    finished(page, "six")
    page.keyboard.press("Escape")
    expect(cell(page, "six").locator(".live-run")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(cell(page, "six").locator(".live-reset")).to_be_focused()
    page.keyboard.press("Enter")
    expect(cell(page, "six").locator(".live-run")).to_be_focused()
    expect(cell(page, "six").locator(".live-editor")).to_have_count(0)


def reach(page: Page, control: str) -> None:
    """Press Tab until the first such control has the focus."""
    page.evaluate("document.activeElement.blur()")
    for _ in range(100):
        page.keyboard.press("Tab")
        if page.evaluate(f"document.activeElement === document.querySelector('{control}')"):
            return
    raise AssertionError(f"{control} cannot be reached by Tab")


@pytest.mark.walk
def test_axe_finds_nothing_serious_in_what_appears(page: Page) -> None:
    for name in ("seven", "figure", "drawing", "progress", "wrong"):
        run(page, name)
    write(page, "six", "for i in range(3):  # with a comment\n    print(f'{i}', None)")
    assert not severe_in_each_theme(page, "main")


def severe_in_each_theme(page: Page, within: str) -> list[Any]:
    found: list[Any] = []
    for theme in ("dark", "light"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        found += severe(page, within=within, colours=theme == "light")
    return found


# --- the end of Python ----------------------------------------------------------------------------


def test_a_cell_that_waits_names_the_one_it_waits_for_and_can_stop_it(page: Page) -> None:
    write(page, "six", "print('begun')\nwhile True:\n    pass")
    cell(page, "seven").locator(".live-run").click()
    expect(output(page, "six")).to_contain_text("begun", timeout=COLD)
    waits = cell(page, "seven").locator(".live-status")
    expect(waits).to_have_text("Waiting for cell 2 to end …")
    expect(cell(page, "six").locator(".live-number")).to_have_text("cell 2")
    assert not severe_in_each_theme(page, ".live-busy")
    cell(page, "seven").locator(".live-stop").click()
    expect(waits).to_have_text("Stopped before it ran.")
    expect(cell(page, "six").locator(".live-status")).to_contain_text("Stopped. Python")
    expect(cell(page, "seven").locator(".live-run")).to_be_visible()


@pytest.mark.walk
def test_a_cell_that_was_stopped_does_not_run_again_for_others(page: Page) -> None:
    write(page, "six", "print('begun')\nwhile True:\n    pass")
    cell(page, "six").locator(".live-run").click()
    expect(output(page, "six")).to_contain_text("begun", timeout=COLD)
    cell(page, "six").locator(".live-stop").click()
    cell(page, "seven").locator(".live-run").click()
    said = cell(page, "seven").locator(".live-status")
    expect(said).to_contain_text("cell 2 above did not finish", timeout=COLD)
    expect(run(page, "of own")).to_have_text("2")  # builds on another
    cell(page, "six").locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text("x = 8")
    expect(run(page, "seven")).to_have_text("9")


@pytest.mark.walk
def test_python_that_ends_for_want_of_stack_says_so_and_starts_afresh(page: Page) -> None:
    write(page, "six", "x = []\nfor _ in range(100_000):\n    x = [x]\ndel x")
    cell(page, "six").locator(".live-run").click()
    status = cell(page, "six").locator(".live-status")
    expect(status).to_contain_text("deeper than the stack", timeout=COLD)
    cell(page, "six").locator(".live-reset").click()
    expect(run(page, "seven")).to_have_text("7")


SLOW = "def twice(x):\n    print('begun')\n    while True:\n        pass"


# The time is over when a test says so.
WATCH = """() => {
    window.later = setTimeout;
    window.setTimeout = (act, ms, ...more) =>
        ms === 30_000 ? ((window.overdue = act), 0) : later(act, ms, ...more);
}"""


@pytest.mark.walk
def test_the_checks_of_an_answer_end_and_the_last_text_runs_next(page: Page) -> None:
    page.evaluate(WATCH)
    answer(page, SLOW, "Checking")
    expect(place(page).locator(".live-output")).to_contain_text("begun", timeout=COLD)
    page.keyboard.press("Shift+Enter")  # the same again is the same request
    expect(says(page)).to_contain_text("Checking")
    page.evaluate("overdue()")
    expect(says(page)).to_contain_text("ran for more than 30 s")
    expect(place(page).locator(".live-run")).to_be_visible()
    answer(page, SLOW, "Checking")
    expect(place(page).locator(".live-output")).to_contain_text("begun", timeout=COLD)
    for text in ("def twice(x):\n    return x", RIGHT):
        place(page).locator(".cm-content").click()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.insert_text(text)
        page.keyboard.press("Shift+Enter")
        expect(says(page)).to_have_text("Waiting for your text before this one to end …")
    page.evaluate("overdue()")
    expect(says(page)).to_have_text("Right.", timeout=COLD)
    expect(place(page).locator(".live-stop")).to_be_hidden()
    page.evaluate("() => { window.setTimeout = later; }")


@pytest.mark.walk
def test_stop_ends_a_loop_by_keyboard_and_says_that_values_are_gone(page: Page) -> None:
    box = cell(page, "six")
    write(page, "six", "print('begun')\nwhile True:\n    pass")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(output(page, "six")).to_contain_text("begun", timeout=COLD)  # streamed, not at the end
    expect(box.locator(".live-stop")).to_be_focused()
    page.keyboard.press("Enter")
    expect(box.locator(".live-status")).to_contain_text("what cells had computed is gone")
    expect(box.locator(".live-run")).to_be_focused()
    box.locator(".live-reset").click()
    expect(run(page, "seven")).to_have_text("7")


def test_a_book_without_problems_carries_none(live_site: Path) -> None:
    assert not (live_site / "chapters" / "practice").exists()


def test_from_a_file_the_button_says_what_to_do(browser: Browser, live_site: Path) -> None:
    page = browser.new_page()
    page.goto((live_site / "chapters" / "page.html").as_uri())
    cell(page, "six").locator(".live-run").click()
    expect(cell(page, "six").locator(".live-status")).to_contain_text("make serve")
    page.close()


def test_without_a_runtime_the_button_says_what_to_do(
    browser: Browser, live_site: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "html"
    shutil.copytree(live_site, bare, ignore=shutil.ignore_patterns("runtime"))
    config = json.loads((bare / "_live" / "config.json").read_text())
    config["runtimes"].remove("runtime/")
    (bare / "_live" / "config.json").write_text(json.dumps(config))
    page = browser.new_page()
    with serve(bare) as address:
        page.goto(f"{address}/{PAGE}")
        cell(page, "six").locator(".live-run").click()
        status = cell(page, "six").locator(".live-status")
        expect(status).to_contain_text("make live", timeout=COLD)
        expect(cell(page, "six").locator(".cell_output .output pre")).to_have_text("6\n")
        cell(page, "seven").locator(".live-run").click()  # what failed once can be asked again
        status = cell(page, "seven").locator(".live-status")
        expect(status).to_contain_text("make live", timeout=COLD)
    page.close()
