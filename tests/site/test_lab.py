"""JupyterLab: pages open as notebooks, run, and are saved as they were."""

import difflib
import os
import re
import subprocess
import sys
from typing import Any

import nbformat
import pytest
from jupyter_cache import get_cache
from playwright.sync_api import Browser, expect

from tests.site import test_moving, test_player
from tests.site.built import Site, toc_documents, with_code
from tests.site.jupyterlab import SETTINGS, Lab, ran, run_all, window
from tests.support import ROOT, each

PAGES = [name.removeprefix("chapters/") for name in toc_documents()]
WITH_CODE = [name.removeprefix("chapters/") for name in with_code()]
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def test_make_lab_starts_this_server() -> None:
    done = subprocess.run(
        ["make", "--dry-run", "lab"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert f'JUPYTER_CONFIG_PATH="{SETTINGS}$' in done.stdout
    assert "jupyter lab chapters" in done.stdout


@pytest.mark.walk
@pytest.mark.parametrize(
    "pages", [PAGES[:3], pytest.param(PAGES[3:], marks=pytest.mark.full)], ids=["three", "all"]
)
def test_saving_a_page_leaves_it_as_it_was(
    lab: Lab, pages: list[str], subtests: pytest.Subtests
) -> None:
    for page in pages:
        with subtests.test(page):
            before = lab.text(page)
            notebook = lab.open(page)
            notebook.metadata["kernelspec"] = KERNEL
            assert lab.save(page, notebook) == before


def of_the_build(site: Site, lab: Lab, page: str) -> Any:
    """The notebook of a page with the outputs that the same cells had when the site was built."""
    cache = get_cache(site.folder.parent / ".jupyter_cache")
    notebook = lab.open(page)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    ran = [r for r in cache.list_cache_records() if r.uri.endswith(f"/chapters/{page}.md")]
    found = cache.get_cache_bundle(max(ran, key=lambda record: record.created).pk).nb.cells
    assert [cell.source for cell in cells] == [cell.source for cell in found]
    assert [cell.metadata for cell in cells] == [cell.metadata for cell in found]
    for cell, executed in zip(cells, found, strict=True):
        cell.outputs, cell.execution_count = executed.outputs, executed.execution_count
    return notebook


def of_a_new_run(lab: Lab, page: str) -> Any:
    """The notebook of a page, run where the page lies."""
    path = lab.folder / f"{page}.ipynb"
    nbformat.write(lab.open(page), path)
    command = [sys.executable, "-m", "jupyter", "execute", "--inplace", "--timeout=300", str(path)]
    done = subprocess.run(
        command, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True
    )
    executed = nbformat.read(path, as_version=4)
    path.unlink()
    assert not done.returncode, done.stderr[-3000:]
    return executed


def changed(lab: Lab, page: str, executed: Any) -> list[str]:
    """The lines of a page that are others once a cell of its notebook got one more line."""
    before = lab.text(page)
    cells = [cell for cell in executed.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells if cell.source.strip())
    cells[len(cells) // 2].source += "\n# an edit"
    after = lab.save(page, executed)
    (lab.folder / f"{page}.md").write_text(before)
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line for line in lines if line[0] in "+-"]


@pytest.mark.walk
@each("page", WITH_CODE)
def test_an_edit_of_a_page_that_ran_is_all_that_changes(site: Site, lab: Lab, page: str) -> None:
    assert changed(lab, page, of_the_build(site, lab, page)) == ["+ # an edit"]


@pytest.mark.walk
@pytest.mark.full
@pytest.mark.parametrize("page", WITH_CODE)
def test_a_page_runs_where_it_lies(lab: Lab, page: str) -> None:
    assert changed(lab, page, of_a_new_run(lab, page)) == ["+ # an edit"]


VARY = """from chainview import vary
vary(lambda n: ([1, n], f"It ends at {n}."), {"n": [2, 3, 5]}, x="k", y="size")"""


@pytest.mark.walk
def test_figures_move_and_arrows_are_their_own(browser: Browser, lab: Lab) -> None:
    cells = [test_moving.CELL + "nudge(y)", "order(y)", VARY, test_player.CELL]
    with ran(browser, lab, *cells) as page:
        shown = page.locator(".jp-OutputArea")
        moving = shown.locator(".chaingrad-moving[data-ready]")
        expect(moving).to_have_count(2)
        test_moving.check_both(moving.nth(0), moving.nth(1))
        figure = shown.locator(".chaingrad-lookup").first
        slider = figure.get_by_role("slider", name="n")
        slider.press("ArrowUp")
        page.keyboard.press("ArrowRight")
        expect(slider).to_be_focused()
        expect(figure.locator(".cg-words")).to_have_text("It ends at 5.")
        player = shown.locator(".chaingrad-player")
        player.locator(".cg-live .cg-scroll").focus()
        last = test_player.play_by_keyboard(page, player)
        assert test_player.read_off(last) == test_player.expected()


@pytest.mark.walk
def test_a_double_click_opens_a_page_as_a_notebook_that_runs(browser: Browser, lab: Lab) -> None:
    page = window(browser, lab)
    page.goto(f"{lab.address}/lab?token={lab.token}&reset")
    before = lab.text("reference/notation")
    page.locator(".jp-DirListing-item", has_text="reference").dblclick()
    page.locator(".jp-DirListing-item", has_text="notation.md").dblclick()
    page.locator(".jp-MarkdownCell .myst-admonition").first.wait_for()
    run_all(page)
    last = page.locator(".jp-CodeCell .jp-InputPrompt").last
    expect(last).to_have_text(re.compile(r"\[\d+\]:"))
    assert not page.locator('.jp-OutputArea-output[data-mime-type*="error"]').count()
    page.keyboard.press("Control+s")
    expect(page.locator(".lm-TabBar-tab.jp-mod-dirty")).to_have_count(0)
    assert lab.text("reference/notation") == before
