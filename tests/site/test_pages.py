"""The pages' sources: what CONTRIBUTING.md asks of each."""

import pkgutil
import re
import sys
from pathlib import Path

import pytest

import chaingrad
from tests.site.built import Site, toc_documents
from tools.build import code_cells

HIDDEN = re.compile(r"remove[-_](cell|input)")
HEX_COLOR = re.compile(r"""["'{]#[0-9a-fA-F]{3,8}["'}]""")
OWN_STYLE = re.compile(r"pyplot|plt\.|rcParams|def axes|figsize|fontsize")


def source(root: Path, document: str) -> str:
    return (root / f"{document}.md").read_text()


def test_no_cell_is_removed(root: Path, document: str) -> None:
    """Readers run these cells too, so none may be missing from the page."""
    options = [line for line in source(root, document).splitlines() if "tags" in line]
    assert not [line for line in options if HIDDEN.search(line)]


def test_figures_share_one_palette_and_one_style(root: Path, document: str) -> None:
    """Colours have names, and axes come from `chaingrad.draw.plots`."""
    text = source(root, document)
    assert not HEX_COLOR.findall(text)
    assert not OWN_STYLE.findall(text)


def test_chapters_keep_to_the_form(root: Path, document: str) -> None:
    """A lesson opens with its box and closes with a summary and three exercises, all answered."""
    if document.split("/")[1] in ("intro", "reference"):
        pytest.skip("not a lesson")
    text = source(root, document)
    exercises = re.findall(r"^`{3,}\{exercise-start\}.*\n:label: (\S+)", text, re.MULTILINE)
    solved = re.findall(r"^`{3,}\{solution-start\} (\S+)", text, re.MULTILINE)
    assert ":class: at-a-glance" in text
    assert re.search(r"^## Summary$", text, re.MULTILINE)
    assert len(exercises) >= 3
    assert solved == exercises
    levels = re.findall(r"^`{3,}\{exercise-start\} (★{1,3}) \S", text, re.MULTILINE)
    assert len(levels) == len(exercises)


def test_a_box_at_the_top_says_what_its_page_ran_with(
    site: Site, root: Path, document: str
) -> None:
    box = site.document(document).select_one(".at-a-glance")
    if box is None or not code_cells(root / f"{document}.md"):
        pytest.skip("no box, or no code")
    *_, line = box.select("p")
    python = rf"Python {sys.version_info[0]}\.{sys.version_info[1]}"
    assert re.fullmatch(
        rf"Run with {python}(, \S+ [\d.]+( \(CPU\))?)* on \d+ \w+ \d{{4}}", line.text
    )


def test_every_page_is_in_the_table_of_contents(root: Path) -> None:
    pages = {p.relative_to(root).with_suffix("").as_posix() for p in root.glob("chapters/**/*.md")}
    assert pages == set(toc_documents(root))


def test_every_module_is_on_the_interface_page(root: Path) -> None:
    page = source(root, "chapters/reference/api")
    modules = {module.name for module in pkgutil.iter_modules(chaingrad.__path__)}
    older = {"composed", "ops", "progress"}  # names that still import
    modules = {name for name in modules if not name.startswith("_")} - older
    assert modules == set(re.findall(r"automodule:: chaingrad\.(\w+)", page))
