"""The pages' sources: what CONTRIBUTING.md asks of each."""

import ast
import pkgutil
import re
import sys
from collections import Counter
from pathlib import Path

from nbformat import NotebookNode

import chaingrad
from common.numbers import as_number, half_digit
from tests.site.built import Site, toc_documents
from tests.support import each
from tools.build import code_cells
from tools.execute import Page

HIDDEN = re.compile(r"remove[-_](cell|input)")
HEX_COLOR = re.compile(r"""["'{]#[0-9a-fA-F]{3,8}["'}]""")
OWN_STYLE = re.compile(r"pyplot|plt\.|rcParams|def axes|figsize|fontsize")


def source(root: Path, document: str) -> str:
    return (root / f"{document}.md").read_text()


@each("document", toc_documents)
def test_no_cell_is_removed(root: Path, document: str) -> None:
    """Readers run these cells too, so none may be missing from the page."""
    options = [line for line in source(root, document).splitlines() if "tags" in line]
    assert not [line for line in options if HIDDEN.search(line)]


@each("document", toc_documents)
def test_figures_share_one_palette_and_one_style(root: Path, document: str) -> None:
    """Colours have names, and axes come from `chainview.plots`."""
    text = source(root, document)
    assert not HEX_COLOR.findall(text)
    assert not OWN_STYLE.findall(text)


def names(cell: str) -> tuple[set[str], set[str]]:
    """Those that a cell binds and keeps, and those that it uses without binding them."""
    tree = ast.parse(re.sub(r"^[%!].*", "pass", cell, flags=re.MULTILINE))
    kept, inner, used = set[str](), set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else kept).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            kept.add(node.name)
        elif isinstance(node, ast.alias):
            kept.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.arg):
            inner.add(node.arg)
    return kept, used - kept - inner


def is_visible(cell: NotebookNode) -> bool:
    return not {"hide-input", "hide-cell"} & set(cell.metadata.get("tags", []))


@each("document", toc_documents)
def test_what_a_visible_cell_uses_is_not_made_in_a_check(root: Path, document: str) -> None:
    """A fold called *Checked* can be left closed; what answers hand to predictions is `glue`."""
    known, checks = set[str](), set[str]()
    for cell in Page(root, root / f"{document}.md").code:
        if cell.source.startswith("%%"):
            continue
        made, used = names(cell.source)
        told = cell.metadata.get("mystnb", {}).get("code_prompt_show", "")
        if is_visible(cell):
            assert not (used - known - {"glue"}) & checks, cell.source
        if told.startswith("Checked"):
            checks |= made
        else:
            known |= made


@each("document", toc_documents)
def test_no_cell_of_the_text_hands_on_what_a_prediction_needs(root: Path, document: str) -> None:
    """That is plumbing, in a fold; an answer is a fold itself."""
    page, text = Page(root, root / f"{document}.md"), source(root, document)
    answers = re.compile(r"^`{3,}\{solution-start\}.*?^`{3,}\{solution-end\}", re.M | re.S)
    spans = [[text.count("\n", 0, end) for end in found.span()] for found in answers.finditer(text)]
    for number, cell in enumerate(page.code, 1):
        line = page.line(number)
        if is_visible(cell) and line and not any(a <= line <= b for a, b in spans):
            assert "glue(" not in cell.source, f"line {line}"


@each("document", toc_documents)
def test_chapters_keep_to_the_form(root: Path, document: str) -> None:
    """A lesson opens with its box and closes with a summary and three exercises, all answered."""
    if document.split("/")[1] in ("intro", "atlas", "practice", "reference"):
        return  # not a lesson
    text = source(root, document)
    exercises = re.findall(r"^`{3,}\{exercise-start\}.*\n:label: (\S+)", text, re.MULTILINE)
    solved = re.findall(r"^`{3,}\{solution-start\} (\S+)", text, re.MULTILINE)
    assert ":class: at-a-glance" in text
    assert re.search(r"^## Summary$", text, re.MULTILINE)
    assert len(exercises) >= 3
    assert solved == exercises
    levels = re.findall(r"^`{3,}\{exercise-start\} (★{1,3}) \S", text, re.MULTILINE)
    assert len(levels) == len(exercises)


@each("document", toc_documents)
def test_an_exercise_is_answered_here_or_says_what_an_answer_has(root: Path, document: str) -> None:
    text = re.sub(r"^````text$.*?^````$", "", source(root, document), flags=re.M | re.S)
    boxes = re.findall(r"^`{3,}\{exercise-start\}.*?\{exercise-end\}", text, re.M | re.S)
    answers = re.findall(r"^`{3,}\{solution-start\}.*?\{solution-end\}", text, re.M | re.S)
    for box, answer in zip(boxes, answers, strict=True):
        here = "{predict}" in box or "role: check" in answer or "own-engine.md" in box
        assert here != ("*For paper or a notebook. A full answer has* " in box), box


@each("document", toc_documents)
def test_the_foot_of_a_page_says_what_it_ran_with(site: Site, root: Path, document: str) -> None:
    if not code_cells(root / f"{document}.md"):
        return
    *_, line = site.document(document).select("article section > p")
    python = rf"Python {sys.version_info[0]}\.{sys.version_info[1]}"
    assert re.fullmatch(
        rf"Run with {python}(, \S+ [\d.]+( \(CPU\))?)* on \d+ \w+ \d{{4}}\.", line.text
    )


@each("document", toc_documents)
def test_a_right_prediction_is_told_why(site: Site, document: str) -> None:
    for box in site.document(document).select(".predict"):
        if not box.select(".predict-choices"):  # each choice has its reason
            right, within = (float(str(box[f"data-{name}"])) for name in ("right", "within"))
            numbers = {term.text: as_number(term.text) for term in box.select("dl dt")}
            told = [
                number is not None and abs(number - right) <= max(within, half_digit(text), 1e-9)
                for text, number in numbers.items()
            ]
            assert any(told), (box["id"], right)


CODE = re.compile(r"^```\{code-cell\}.*?^```$|`[^`\n]+`|\]\([^)]*\)", re.MULTILINE | re.DOTALL)


def test_a_word_is_spelt_in_one_way(root: Path) -> None:
    """Where some write -ise and others -ize: in the text, not in names of the code."""
    text = " ".join(CODE.sub(" ", source(root, name)) for name in toc_documents(root))
    words = set(re.findall(r"\w{3,}?i[sz](?:e[ds]?|ing|ations?)\b", text.lower()))
    ways = Counter(re.sub(r"i[sz](\w+)$", r"i_\1", word) for word in words)
    assert not [word for word, count in ways.items() if count > 1]


def test_every_page_is_in_the_table_of_contents(root: Path) -> None:
    pages = {p.relative_to(root).with_suffix("").as_posix() for p in root.glob("chapters/**/*.md")}
    assert pages == set(toc_documents(root))


def test_every_module_is_on_the_interface_page(root: Path) -> None:
    page = source(root, "chapters/reference/api")
    modules = {module.name for module in pkgutil.iter_modules(chaingrad.__path__)}
    modules = {name for name in modules if not name.startswith("_")}
    assert modules == set(re.findall(r"auto(?:module|function):: chaingrad\.(\w+)", page))
