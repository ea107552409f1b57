"""A page saved from JupyterLab differs by the edit alone."""

import difflib
from pathlib import Path

import pytest
from nbformat import reads, writes
from nbformat.v4 import new_output

from tests.support import ROOT
from tools.lab import is_page, keep_style, read, write

PAGES = sorted((ROOT / "chapters").rglob("*.md"))
PAGE = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# A page
```{code-cell} ipython3
---
tags: [hide-input]
nbgrader:
  grade: true
  points: 2
  grade_id: a
mystnb:
  image:
    alt: >-
      One line, and one more: folded so that
      the lines stay short.
---
x = 1

```
Prose.

```{exercise-end}
```
```{code-cell} ipython3
:tags: [b, a]
y = 2
```
"""


def saved(text: str, change=lambda notebook: None) -> str:
    """The page after JupyterLab has opened it as a notebook, changed it and saved it."""
    notebook = read(text)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    notebook.metadata["kernelspec"] = kernel
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    change(notebook)
    return keep_style(text, write(notebook))


def differences(old: str, new: str) -> list[str]:
    lines = difflib.ndiff(old.splitlines(keepends=True), new.splitlines(keepends=True))
    return [line for line in lines if line[0] in "+-"]


def test_jupytext_alone_would_restyle_the_page():
    assert len(differences(PAGE, write(read(PAGE)))) > 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "pages", [PAGES[:3], pytest.param(PAGES[3:], marks=pytest.mark.walk)], ids=["three", "all"]
)
def test_saving_a_chapter_unedited_changes_nothing(pages: list[Path], subtests: pytest.Subtests):
    for page in pages:
        with subtests.test(page.stem):
            text = page.read_text()
            assert saved(text) == text


def test_an_edited_line_is_all_that_changes():
    def change(notebook):
        notebook.cells[1].source = notebook.cells[1].source.replace("x = 1", "x = 3")

    assert differences(PAGE, saved(PAGE, change)) == ["- x = 1\n", "+ x = 3\n"]


def test_a_run_is_no_edit():
    def change(notebook):
        notebook.cells[1].outputs = [new_output("stream", text="1\n")]
        notebook.cells[1].execution_count = 1

    assert saved(PAGE, change) == PAGE


def test_another_order_of_options_is_no_edit():
    """nbformat writes keys in the order of the alphabet, whatever order the page has."""

    def change(notebook):
        for key, cell in enumerate(notebook.cells):
            options = reads(writes(notebook), as_version=4).cells[key].metadata
            assert list(options) == sorted(options)
            cell.metadata = options
        notebook.cells[1].source = notebook.cells[1].source.replace("x = 1", "x = 3")

    assert list(read(PAGE).cells[1].metadata) == ["tags", "nbgrader", "mystnb"]
    assert differences(PAGE, saved(PAGE, change)) == ["- x = 1\n", "+ x = 3\n"]


def test_prose_between_odd_blank_lines_can_be_edited():
    def change(notebook):
        notebook.cells[2].source = notebook.cells[2].source.replace("Prose.", "Verse.")

    assert differences(PAGE, saved(PAGE, change)) == ["- Prose.\n", "+ Verse.\n"]


def test_a_new_cell_is_all_that_is_added():
    def change(notebook):
        notebook.cells.append(read("```{code-cell} ipython3\nz = 3\n```\n").cells[0])

    added = "".join(line[2:] for line in differences(PAGE, saved(PAGE, change)))
    assert added == "\n```{code-cell} ipython3\nz = 3\n```\n"


def test_a_deleted_cell_is_all_that_goes():
    def change(notebook):
        del notebook.cells[3]

    gone = saved(PAGE, change)
    assert gone == PAGE.removesuffix("```{code-cell} ipython3\n:tags: [b, a]\ny = 2\n```\n")


def test_edited_options_are_kept():
    def change(notebook):
        notebook.cells[1].metadata["nbgrader"]["points"] = 5

    page = read(saved(PAGE, change))
    assert page.cells[1].metadata["nbgrader"]["points"] == 5


def test_another_kernel_is_an_edit():
    def change(notebook):
        notebook.metadata["kernelspec"] = {"display_name": "R", "language": "R", "name": "ir"}

    assert read(saved(PAGE, change)).metadata["kernelspec"]["name"] == "ir"


def test_text_typed_in_the_editor_is_left_alone(tmp_path: Path):
    file = tmp_path / "page.md"
    file.write_text(PAGE)
    typed = {"type": "file", "content": PAGE}
    assert not is_page(typed, file)
    assert is_page({"type": "file", "content": write(read(PAGE))}, file)
    assert not is_page({"type": "file", "content": write(read(PAGE))}, tmp_path / "new.md")
