"""Exercises that are answered in the page: what their boxes show, and what checks an answer.

Both come from the exercise's cells, as its notebook does (`coursework.release`).
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx_exercise.nodes import is_exercise_node

from coursework.exercise.pages import parse
from coursework.exercise.problems import Problem
from coursework.release import page_exercise

NOTEBOOKS_ARE_WRITTEN = 900  # the stubs come later, because notebooks don't hold them


def problems(app: Sphinx, page: str) -> dict[str, Problem]:
    """Return the exercises of a page that a program can check, by label.

    Engines of the reader's own are left out: they start from a file, and have the doctor.
    """
    path = Path(app.env.doc2path(page))
    found = parse(path.read_text(encoding="utf-8"), str(path))
    return {n: q for n, q in found.items() if q.answer and q.parts and not q.start}


def place(problem: Problem) -> nodes.container:
    """Build the place for the answer: it shows every reader the code to start from."""
    stub = nodes.literal_block(problem.stub, problem.stub, language="python")
    says = nodes.paragraph("", "Start from this:", classes=["live-from"])
    return nodes.container("", says, stub, classes=["live-answer"])


def add_places(app: Sphinx, document: nodes.document, page: str) -> None:
    if app.builder.format != "html":
        return
    found = problems(app, page)
    for box in document.findall(is_exercise_node):
        problem = next((found[name] for name in box["ids"] if name in found), None)
        if problem is not None:
            box.children[-1] += place(problem)


def describe(app: Sphinx, document: nodes.document, page: str) -> list[dict[str, Any]]:
    """Return what the page tells its scripts about each place for an answer, in order."""
    found = problems(app, page)
    boxes = document.findall(is_exercise_node)
    return [page_exercise(found[name]) for box in boxes for name in box["ids"] if name in found]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", add_places, priority=NOTEBOOKS_ARE_WRITTEN + 50)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
