"""Make an assignment's notebooks, in nbgrader's format.

A notebook has, for each exercise, its statement, the code that is given, the answer
with its bodies taken out, and the visible checks, which compare with results that are stored in the
notebook: for the inputs of seeds that everyone knows. It needs no file beside it.
"""

import hashlib
import inspect
import json
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from chaingrad import checks
from coursework.collect.roster import Student
from coursework.exercise import arithmetic
from coursework.exercise.assignments import Assignment
from coursework.exercise.imports import imported
from coursework.exercise.problems import Part, Problem
from coursework.exercise.trusted import ProblemError
from coursework.installation import engine_source, python_check, reaches_students
from coursework.sources import PACKAGES

CellJson = dict[str, Any]
NotebookJson = dict[str, Any]

VISIBLE_SEEDS = range(2)
KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
HOW_TO = """\
# {title}

{points} points. Run the cells from the top. Write your answers where it says \
`raise NotImplementedError`, in place of that line, and keep the names and arguments of the \
functions. Each answer is followed by its checks, cells of which only the first line is open. They \
say that all is right, or which result is the first that is wrong. The marks come from the same \
checks on other inputs.

Add cells as you like. Cells that you did not add should stay where they are, checks included. \
Where your answers are marked there is no network and no file of yours, and they may import \
{imports}.

{table}"""
WHOSE = """\
This notebook is for {name}. Its problems were drawn for you, and what you hand in is marked for \
them: another's answers are answers to other problems."""
SIGNED = """\
The next line says which notebook this is. Leave it as it is.

`{token}`"""
SAFE_NAME = re.compile(r"[\w@+-][\w.@+-]{0,99}")
# What the course installs and answers may have a use for.
IMPORTS = ("numpy", "scipy", "matplotlib", "torch", "jax", *PACKAGES)
OWN = re.compile(r"""\bown\[["'](\w+)["']\]""")
JUDGED = (
    "**{name}** ({points}): write it in sentences, in a text cell of your own below your answer. "
    "A person reads it."
)
HIDDEN = "# This check is run when you have handed in ({points})."
INSTALL = """\
# Run this cell first: it installs the engine of the course where it is missing.
{check}
from importlib.util import find_spec

if find_spec("chaingrad") is None:
    %pip install --quiet "chaingrad @ {source}\""""
EXPLAIN = """\
# Run this cell first: it looks for the engine of the course.
{check}
from importlib.util import find_spec

if find_spec("chaingrad") is None:
    raise ModuleNotFoundError(
        "This notebook needs chaingrad. Install it from a copy of the course, in its folder:\\n"
        "    pip install ."
    )"""


def write(assignment: Assignment, folder: Path, book: Path, secret: str) -> Path:
    """Write the notebook for all students where nbgrader looks for it; return its path."""
    name, token = assignment.name, assignment.token(secret).signed(secret)
    return _write(student_notebook(assignment, book, token), folder / "release" / name, name)


def write_for(
    student: Student, assignment: Assignment, folder: Path, book: Path, secret: str
) -> Path:
    """Write the notebook of one student, ``students/ID/NAME.ipynb``, and return its path."""
    if SAFE_NAME.fullmatch(student.id) is None:
        raise ProblemError(
            f"{student.id!r} on the roster cannot name a folder; "
            f"an id has letters, digits, '.', '-', '_', '@' and '+', and no '.' in front"
        )
    drawn = assignment.for_student(secret, student.id)
    token = drawn.token(secret, student.id).signed(secret)
    notebook = _notebook(drawn, book, student, token)
    return _write(notebook, folder / "students" / student.id, assignment.name)


def student_notebook(assignment: Assignment, book: Path, token: str = "") -> NotebookJson:
    """Return the notebook for students: no answers, and only the checks that they may see."""
    return _notebook(assignment, book, token=token)


def _write(notebook: NotebookJson, folder: Path, name: str) -> Path:
    path = folder / f"{name}.ipynb"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return path


def _notebook(
    assignment: Assignment,
    book: Path,
    student: Student | None = None,
    token: str = "",
) -> NotebookJson:
    title = _title(assignment, student, token)
    cells = [_markdown("setup-title", title), *_setup(assignment, book)]
    for problem in assignment.problems:
        cells += _cells(problem)
    metadata = KERNEL | ({"coursework": {"token": token}} if token else {})
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _cells(problem: Problem) -> Iterator[CellJson]:
    """Yield the cells of an exercise."""
    heading = f"## {problem.title}\n\n{problem.level} · {_points(problem.points)}"
    yield _markdown(f"{problem.id}-title", heading)
    for k, (kind, text) in enumerate(problem.statement, 1):
        name = f"{problem.id}-given-{k}"
        yield _markdown(name, text) if kind == "markdown" else _code(name, text)
    for k, judged in enumerate(problem.judged, 1):
        text = JUDGED.format(points=_points(judged.points), name=_plain(judged.name))
        yield _markdown(f"{problem.id}-judged-{k}", text)
    yield _code(problem.id, problem.stub, solution=True)
    for k, part in enumerate(problem.parts, 1):
        text = visible_check(problem, part, part.form) if part.visible else ""
        if text and problem.lines:
            text += "".join(f"\ncheck_lines({name})" for name in problem.names)
        text = text or HIDDEN.format(points=_points(part.points))
        cell = _code(f"{problem.id}-check-{k}", text, points=part.points)
        yield _collapsed(cell) if part.visible else cell


def visible_check(problem: Problem, part: Part, form: bool = False) -> str:
    """Return a check that students see, with the answer's results or only their form."""
    title = f"# @title Check: {part.name} ({_points(part.points)})"
    used = {name: part.own[name] for name in dict.fromkeys(OWN.findall(part.source))}
    own = f"own = {_literal(used, 17, 0)}\n\n\n" if used else ""
    call = _call(problem, part, VISIBLE_SEEDS[:1] if part.form else VISIBLE_SEEDS, form)
    return f"{title}\n{own}{part.source}\n\n\n{call}"


def page_exercise(problem: Problem) -> dict[str, Any]:
    """Return what the exercise's page runs on an answer: the code and checks of the notebook.

    The page's instance belongs to no student: answers see it as the cells do, and their results
    are compared in full.
    """
    own = problem.instance.own
    drawn = f"own = {_literal(own, 17, 0)}\n\n\n" if own else ""
    return {
        "id": problem.id,
        "title": problem.title,
        "given": drawn + problem.given,
        "start": problem.instance.start,
        "names": list(problem.names),
        "checks": [
            {"name": part.name, "source": visible_check(problem, part)}
            for part in problem.parts
            if part.visible
        ],
    }


def _call(problem: Problem, part: Part, seeds: Sequence[int], form: bool = False) -> str:
    """Return the expected results for the seeds, or their form, and the call that compares."""
    digits = 12 if part.rtol >= 1e-9 else 17
    results = [part.asked(problem.expected(part, part.inputs_from(seed))) for seed in seeds]
    if form:
        results = [checks.form_of(result) for result in results]
    expected = ",\n".join(f"    {_literal(result, digits, 4)}" for result in results)
    options = [f"seeds={list(seeds)}", *(["form=True"] if form else [])]
    for name in ("rtol", "atol"):
        if getattr(part, name) != getattr(Part, name):
            options.append(f"{name}={getattr(part, name)!r}")
    if part.hints and not form:
        options.append(f"hints={_literal(part.hints, digits, 4)}")
    arguments = "".join(f",\n    {option}" for option in ["inputs", "driver", "expected", *options])
    return f"expected = [\n{expected},\n]\ncheck_results({arguments[1:]},\n)"


def _literal(value: Any, digits: int, indent: int) -> str:
    """Return plain data as Python source."""
    inner = " " * (indent + 4)
    if isinstance(value, dict):
        lines = (
            f"{inner}{_literal(key, digits, 0)}: {_literal(item, digits, indent + 4)},\n"
            for key, item in value.items()
        )
        return "{\n" + "".join(lines) + " " * indent + "}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_literal(item, digits, indent) for item in value)}]"
    if isinstance(value, np.ndarray) and value.ndim:
        if not value.size:
            return f"np.zeros({value.shape})"
        dtype = "" if value.dtype in (np.float64, np.int64) else f", dtype={value.dtype.name!r}"
        rows = _rows(value.tolist(), digits, value.ndim, indent)
        return f"np.array({rows}{dtype})"
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.item()
    if isinstance(value, float):
        return f"{value or 0.0:.{digits}g}" if math.isfinite(value) else f'float("{value}")'
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, (bool, int)):
        return repr(value)
    raise TypeError(f"a check returned a {type(value).__name__}, which is not plain data")


def _rows(rows: Any, digits: int, ndim: int, indent: int) -> str:
    """Return an array as a nested list, one line for each row."""
    if ndim == 1:
        return f"[{', '.join(_literal(x, digits, indent) for x in rows)}]"
    inner = (f"{' ' * (indent + 4)}{_rows(row, digits, ndim - 1, indent + 4)}" for row in rows)
    return "[\n" + ",\n".join(inner) + f",\n{' ' * indent}]"


# --- the first cells ----------------------------------------------------------------------------


def _title(assignment: Assignment, student: Student | None, token: str) -> str:
    rows = [f"| {p.title} | {p.level} | {p.points:g} |" for p in assignment.problems]
    table = "\n".join(["| exercise | level | points |", "|---|---|---|", *rows])
    title = assignment.title + (f", attempt {n}" if (n := assignment.attempt) > 1 else "")
    names = [f"`{name}`" for name in (IMPORTS[:1] if assignment.is_alone else IMPORTS)]
    imports = " and ".join(", ".join(["Python's standard library", *names]).rsplit(", ", 1))
    points = f"{assignment.points:g}"
    texts = [HOW_TO.format(title=title, points=points, imports=imports, table=table)]
    texts += [WHOSE.format(name=_plain(student.shown))] if student else []
    texts += [SIGNED.format(token=token)] if token else []
    return "\n\n".join(texts)


def _plain(text: str) -> str:
    """Escape the text so that Markdown shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#$|~&!])", r"\\\1", " ".join(text.split()))


def _setup(assignment: Assignment, book: Path) -> Iterator[CellJson]:
    """Yield cells that install the engine, if an exercise uses it, and define the checks."""
    if needs_engine(assignment):
        source = engine_source(book)
        text = INSTALL if reaches_students(source) else EXPLAIN
        text = text.format(source=source, check=python_check())
        yield _code("setup-install", text)
    yield _copied("setup-checks", "The checks of this notebook", checks)
    if any(problem.lines for problem in assignment.problems):
        yield _copied("setup-lines", "What a function of lines may hold", arithmetic)


def _copied(name: str, title: str, module: ModuleType) -> CellJson:
    """Return a cell with the source of a module, but for its docstring."""
    _, _, body = inspect.getsource(module).partition('"""\n\n')
    return _collapsed(_code(name, f"# @title {title}\n{body.strip()}"))


def needs_engine(assignment: Assignment) -> bool:
    """Return whether an exercise of the assignment uses the course's engine."""
    return any(map(_uses_engine, assignment.problems))


def _uses_engine(problem: Problem) -> bool:
    sources = [problem.given, problem.stub, *(part.source for part in problem.parts)]
    return any(not modules.isdisjoint(PACKAGES) for modules in map(imported, sources))


# --- cells --------------------------------------------------------------------------------------


def _markdown(name: str, text: str) -> CellJson:
    return _cell("markdown", name, text)


def _code(name: str, text: str, *, solution: bool = False, points: float | None = None) -> CellJson:
    cell = _cell("code", name, text, solution, points)
    return cell | {"execution_count": None, "outputs": []}


def _collapsed(cell: CellJson) -> CellJson:
    """Return the cell with only its first line of source open, in JupyterLab and in Colab."""
    cell["metadata"] |= {"jupyter": {"source_hidden": True}, "cellView": "form"}
    return cell


def _cell(
    kind: str, name: str, text: str, solution: bool = False, points: float | None = None
) -> CellJson:
    """Return a cell with nbgrader's metadata (schema version 3); only solutions can be edited."""
    graded, locked = points is not None, not solution
    parts = [text, kind, graded, solution, locked, name] + ([float(points)] if points else [])
    checksum = hashlib.md5("".join(map(str, parts)).encode(), usedforsecurity=False)
    nbgrader: dict[str, Any] = {
        "cell_type": kind,
        "checksum": checksum.hexdigest(),  # nbgrader tells by it that a locked cell was edited
        "grade": graded,
        "grade_id": name,
        "locked": locked,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    if graded:
        nbgrader["points"] = points
    metadata = {"nbgrader": nbgrader, "deletable": False, "editable": not locked}
    # An id has at most 64 characters.
    return {"cell_type": kind, "id": name[-64:], "metadata": metadata, "source": text}


def _points(points: float) -> str:
    return f"{round(points, 2):g} point{'s' if points != 1 else ''}"
