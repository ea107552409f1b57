"""Cells that run in the reader's browser, driven by a reader in a real one."""

import functools
import http.server
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from conftest import Quiet
from support import ROOT, lacking
from tools import live

COLD = 120_000  # the longest that the first start of Python may take on any machine, in ms
HEAD = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---
# A page
"""
CELLS = {
    "torch": "import torch\ny = torch.ones(2)\nTHREE = 3",
    "six": "x = 6\nx",
    "seven": "x + 1",
    "wrong": "def fails():\n    return 1 / 0\n\nfails()",
    "figure": "import matplotlib.pyplot as plt\n_ = plt.plot([1, 4, 9])",
    "drawing": "from chaingrad.draw import draw_graph\nfrom chaingrad.node import Node\n"
    "draw_graph(Node(2.0) * Node(3.0))",
    "progress": "from tqdm.auto import tqdm\nfor _ in tqdm(range(3), disable=False):\n    pass",
    "script": "from IPython.display import HTML\n"
    'HTML(\'<p id="said">no</p><script>said.textContent = "yes"</script>\')',
    "module": "%%writefile local.py\nfrom chaingrad import Node\nNINE = 9",
    "import": "from local import NINE\nNINE",
    "builds on torch": "y + 1",
    "kept": "THREE",
    "taken out": "1 + 1",
}
OPTIONS = {"wrong": ":tags: [raises-exception]\n", "taken out": ":live: takes too long here\n"}

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
CHECK = """async () => (await axe.run('main')).violations.map((v) => ({
    rule: v.id, impact: v.impact, where: v.nodes.map((node) => node.failureSummary),
}))"""


def write_book(folder: Path) -> None:
    for name in ("_config.yml", "references.bib"):
        shutil.copyfile(ROOT / name, folder / name)
    for name in ("_ext", "img"):
        ignored = shutil.ignore_patterns("node_modules", "__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: chapters/page\n")
    cells = (
        f"\n```{{code-cell}} ipython3\n{OPTIONS.get(name, '')}{code}\n```\n"
        for name, code in CELLS.items()
    )
    (folder / "chapters").mkdir()
    (folder / "chapters" / "page.md").write_text(HEAD + "".join(cells))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of one page, with the runtime in it."""
    book = tmp_path_factory.mktemp("book")
    write_book(book)
    build = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "build.py"), str(book)],
        capture_output=True,
        text=True,
    )
    assert build.returncode == 0, build.stderr
    try:
        live.assemble()
    except SystemExit:
        lacking("the runtime of live cells, from PyPI")
    live.publish(book / "_build" / "html" / "_live")
    return book / "_build" / "html"


def serve(folder: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/chapters/page.html"
        server.shutdown()


@pytest.fixture(scope="module")
def page_address(folder: Path) -> Iterator[str]:
    yield from serve(folder)


@pytest.fixture(scope="module")
def shared(browser: Browser, page_address: str) -> Iterator[Page]:
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(COLD)
    page.goto(page_address)
    yield page
    context.close()


@pytest.fixture
def page(shared: Page) -> Page:
    """The page as it was built; Python keeps running from one test to the next."""
    shared.evaluate("document.querySelectorAll('.live-reset').forEach((b) => b.click())")
    return shared


def cell(page: Page, name: str) -> Locator:
    return page.locator("div.cell:has(.cell_input)").nth(list(CELLS).index(name))


def output(page: Page, name: str) -> Locator:
    return cell(page, name).locator(".live-output")


def run(page: Page, name: str) -> Locator:
    """Click Run, wait for the end, and give the output."""
    cell(page, name).locator(".live-run").click()
    finished(page, name)
    return output(page, name)


def finished(page: Page, name: str) -> None:
    expect(output(page, name)).to_have_count(1, timeout=COLD)
    expect(cell(page, name).locator(".live-run")).to_be_visible(timeout=COLD)


def write(page: Page, name: str, code: str) -> None:
    """Put other code into a cell's editor."""
    cell(page, name).locator(".live-edit").click()
    cell(page, name).locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(code)


def test_nothing_is_fetched_before_the_first_click(browser: Browser, page_address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page.goto(page_address)
    page.wait_for_load_state("networkidle")
    before = [url for url in asked if "/_live/" in url]
    expect(run(page, "six")).to_have_text("6", timeout=COLD)
    after = [url for url in asked if "/_live/" in url]
    context.close()
    assert not before
    assert after


def test_run_shows_output_in_place_of_the_built_one(page: Page) -> None:
    expect(run(page, "six")).to_have_text("6")
    expect(cell(page, "six").locator(".cell_output:not(.live-output)")).to_be_hidden()


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


def test_stop_ends_a_loop_and_says_that_values_are_gone(page: Page) -> None:
    box = cell(page, "six")
    write(page, "six", "print('begun')\nwhile True:\n    pass")
    page.keyboard.press("Shift+Enter")
    expect(output(page, "six")).to_contain_text("begun", timeout=COLD)  # streamed, not at the end
    box.locator(".live-stop").click()
    expect(box.locator(".live-status")).to_contain_text("Stopped")
    box.locator(".live-reset").click()
    expect(run(page, "seven")).to_have_text("7")


def test_graphs_of_any_depth_are_freed(page: Page) -> None:
    deep = "from chaingrad import Node\nx = Node(1.0)\nfor _ in range(50_000):\n    x = x + 1\n"
    write(page, "six", deep + "del x\nprint('freed')")
    expect(run(page, "six")).to_have_text("freed")


def test_python_that_ends_for_want_of_stack_says_so_and_starts_afresh(page: Page) -> None:
    write(page, "six", "x = []\nfor _ in range(100_000):\n    x = [x]\ndel x")
    cell(page, "six").locator(".live-run").click()
    status = cell(page, "six").locator(".live-status")
    expect(status).to_contain_text("deeper than the stack", timeout=COLD)
    cell(page, "six").locator(".live-reset").click()
    expect(run(page, "seven")).to_have_text("7")


def test_no_interval_is_zero(page: Page) -> None:
    write(page, "six", "from time import perf_counter as now\n-now() + now() > 0")
    expect(run(page, "six")).to_have_text("True")


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
    drawing = run(page, "drawing").locator("svg")
    expect(drawing).to_be_visible()
    assert drawing.locator("text").count() >= 3


def test_progress_bars_update_in_place(page: Page) -> None:
    shown = run(page, "progress").inner_text()
    assert "3/3" in shown
    assert "0/3" not in shown
    assert "Warning" not in shown


def test_tables_in_markdown_are_tables(page: Page) -> None:
    text = r"|name|of x|\n|:--|--:|\n|`a_b`|x \\* x|"
    write(page, "six", f"from IPython.display import Markdown\nMarkdown('{text}')")
    table = run(page, "six").locator("table")
    expect(table.locator("th")).to_have_text(["name", "of x"])
    expect(table.locator("td")).to_have_text(["a_b", "x * x"])
    expect(table.locator("td code")).to_have_text("a_b")


def test_scripts_in_outputs_run(page: Page) -> None:
    expect(run(page, "script").locator("#said")).to_have_text("yes")


def test_a_module_that_a_cell_writes_is_imported_as_it_is_now(page: Page) -> None:
    expect(run(page, "import")).to_have_text("9")
    write(page, "module", "%%writefile local.py\nNINE = 99")
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
    expect(cell(page, "six").locator(".live-reset")).to_be_focused()
    page.keyboard.press("Enter")
    expect(cell(page, "six").locator(".live-run")).to_be_focused()
    expect(cell(page, "six").locator(".live-editor")).to_have_count(0)


def test_the_focus_stays_with_the_cell_from_run_to_stop(page: Page) -> None:
    write(page, "six", "print('begun')\nwhile True:\n    pass")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(output(page, "six")).to_contain_text("begun", timeout=COLD)
    expect(cell(page, "six").locator(".live-stop")).to_be_focused()
    page.keyboard.press("Enter")
    expect(cell(page, "six").locator(".live-status")).to_contain_text("Stopped")
    expect(cell(page, "six").locator(".live-run")).to_be_focused()


def reach(page: Page, control: str) -> None:
    """Press Tab until the first such control has the focus."""
    page.evaluate("document.activeElement.blur()")
    for _ in range(100):
        page.keyboard.press("Tab")
        if page.evaluate(f"document.activeElement === document.querySelector('{control}')"):
            return
    raise AssertionError(f"{control} cannot be reached by Tab")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_what_appears(page: Page, theme: str) -> None:
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    for name in ("seven", "figure", "drawing", "progress", "wrong"):
        run(page, name)
    write(page, "six", "for i in range(3):  # with a comment\n    print(f'{i}', None)")
    write(page, "import", "print('begun')\nwhile True:\n    pass")
    page.keyboard.press("Shift+Enter")
    expect(output(page, "import")).to_contain_text("begun", timeout=COLD)
    page.evaluate(AXE)
    found = page.evaluate(CHECK)
    cell(page, "import").locator(".live-stop").click()
    assert not [rule for rule in found if rule["impact"] in ("serious", "critical")]


def test_from_a_file_the_button_says_what_to_do(browser: Browser, folder: Path) -> None:
    page = browser.new_page()
    page.goto((folder / "chapters" / "page.html").as_uri())
    cell(page, "six").locator(".live-run").click()
    expect(cell(page, "six").locator(".live-status")).to_contain_text("make serve")
    page.close()


def test_without_a_runtime_the_button_says_what_to_do(
    browser: Browser, folder: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "html"
    shutil.copytree(folder, bare, ignore=shutil.ignore_patterns("runtime"))
    config = json.loads((bare / "_live" / "config.json").read_text())
    config["runtimes"].remove("runtime/")
    (bare / "_live" / "config.json").write_text(json.dumps(config))
    page = browser.new_page()
    for address in serve(bare):
        page.goto(address)
        cell(page, "six").locator(".live-run").click()
        status = cell(page, "six").locator(".live-status")
        expect(status).to_contain_text("make live", timeout=COLD)
        expect(cell(page, "six").locator(".cell_output .output pre")).to_have_text("6\n")
        cell(page, "seven").locator(".live-run").click()  # what failed once can be asked again
        status = cell(page, "seven").locator(".live-status")
        expect(status).to_contain_text("make live", timeout=COLD)
    page.close()
