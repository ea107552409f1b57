"""What a told page shows, pasted into an empty Python session, runs."""

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from nbformat import NotebookNode

from tests.site.built import SAMPLE, numbered
from tests.site.test_pages import is_visible
from tests.support import ROOT, each, sampled
from tools.execute import Page

END = re.compile(r"^## (Summary|Exercises)$", re.MULTILINE)
BOX = re.compile(r"^`{3,}\{\w+-(start|end)\}", re.MULTILINE)  # around cells: deeper, solutions


def main_line(page: Page) -> list[NotebookNode]:
    """The visible cells down to the summary, without those in boxes."""
    found, boxes = [], 0
    for cell in page.notebook.cells:
        if cell.cell_type == "code":
            found += [cell] if is_visible(cell) and not boxes else []
        elif END.search(cell.source):
            break
        else:
            boxes += sum(1 if side == "start" else -1 for side in BOX.findall(cell.source))
    return found


def program(cells: Iterable[NotebookNode]) -> str:
    """The cells one after the other; after one that may fail, the session goes on."""
    return "\n".join(
        f"try:\n    exec({cell.source!r})\nexcept Exception:\n    pass"
        if "raises-exception" in cell.metadata.get("tags", [])
        else cell.source
        for cell in cells
    )


def paste(cells: Iterable[NotebookNode], folder: Path) -> str:
    """What a session that gets these cells complains of."""
    command = [sys.executable, "-"]
    done = subprocess.run(command, input=program(cells), cwd=folder, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(numbered(), *SAMPLE))
def test_the_visible_cells_of_a_told_page_run_by_themselves(name: str, tmp_path: Path) -> None:
    assert paste(main_line(Page(ROOT, ROOT / f"{name}.md")), tmp_path) == ""


@each("name", numbered)
def test_no_visible_cell_of_a_told_page_is_about_glue(name: str) -> None:
    page = Page(ROOT, ROOT / f"{name}.md")
    assert [cell.source for cell in page.code if is_visible(cell) and "glue" in cell.source] == []


HEAD = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---
# A page
"""


def cell(source: str, tag: str = "") -> str:
    tags = f":tags: [{tag}]\n" if tag else ""
    return f"\n```{{code-cell}} ipython3\n{tags}{source}\n```\n"


def page(folder: Path, *parts: str) -> Page:
    (folder / "page.md").write_text(HEAD + "".join(parts))
    return Page(folder, folder / "page.md")


def test_the_main_line_ends_at_the_summary_and_leaves_boxes_out(tmp_path: Path) -> None:
    made = page(
        tmp_path,
        cell("one = 1"),
        cell("plumbing()", "hide-input"),
        "\n```{deeper-start} More\n```\n",
        cell("deeper()"),
        "\n```{deeper-end}\n```\n\n## On\n",
        cell("two = one + 1"),
        "\n## Summary\n\nThat was it.\n",
        cell("after()"),
    )
    assert [cell.source for cell in main_line(made)] == ["one = 1", "two = one + 1"]


def test_what_a_session_lacks_is_told(tmp_path: Path) -> None:
    parts = cell("one = 1"), cell("{}['key']", "raises-exception"), cell("print(one)")
    assert paste(main_line(page(tmp_path, *parts)), tmp_path) == ""
    hidden = page(tmp_path, cell("two = 2", "hide-input"), cell("print(two)"))
    assert "NameError: name 'two' is not defined" in paste(main_line(hidden), tmp_path)
