"""The book's own assignments, through release and grading."""

import copy
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from coursework.collect.submissions import collect
from coursework.mark.batch import grade_all
from coursework.release import VISIBLE_SEEDS, student_notebook
from coursework.sandbox import wire
from tests.coursework.classes import complete_answer
from tests.coursework.course import EXERCISES, assignments, exercises
from tests.support import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("isolated")]

Notebook = dict[str, Any]


@cache
def answers() -> dict[str, str]:
    return {p.id: complete_answer(p) for a in assignments().values() for p in a.problems}


def answered(notebook: Notebook) -> Notebook:
    for cell in notebook["cells"]:
        name = cell["metadata"]["nbgrader"]["grade_id"]
        cell["source"] = answers().get(name, cell["source"])
    return notebook


def stripped(notebook: Notebook) -> Notebook:
    answered(notebook)
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    return notebook


def doubled(notebook: Notebook) -> Notebook:
    answered(notebook)
    notebook["cells"] = [copy.deepcopy(c) for cell in notebook["cells"] for c in (cell, cell)]
    return notebook


def alone(notebook: Notebook) -> Notebook:
    answered(notebook)
    kept = [c for c in notebook["cells"] if c["metadata"]["nbgrader"]["grade_id"] in answers()]
    notebook["cells"] = kept
    return notebook


KINDS: dict[str, tuple[Callable[[Notebook], Notebook], bool]] = {
    "answered": (answered, True),
    "as released": (lambda notebook: notebook, False),
    "metadata stripped": (stripped, True),
    "every cell twice": (doubled, True),
    "answers alone": (alone, True),
}


def test_answers_get_all_points_and_released_notebooks_none(tmp_path: Path) -> None:
    common = {name: a for name, a in assignments().items() if not a.is_drawn}
    for student, (change, _) in KINDS.items():
        for name, assignment in common.items():
            path = tmp_path / "in" / student / f"{name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(change(student_notebook(assignment, ROOT))))
    found = collect(tmp_path / "in", list(assignments())).submissions
    graded = grade_all(found, tmp_path / "out", assignments(), "x", progress=False)
    assert len(graded) == len(KINDS) * len(common)
    for item in graded:
        _, right = KINDS[item.submission.student]
        expected = assignments()[item.submission.assignment].points if right else 0.0
        lost = [part for problem in item.mark.problems for part in problem.parts]
        lost = [part for part in lost if part.verdict != "right"]
        assert item.mark.points == pytest.approx(expected), (item.mark.fault, item.submission, lost)
        if item.submission.student == "answered":
            assert not item.mark.remarks


IN_OTHER_ARRAYS = {
    "jax": """\
import jax, jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
def dense_backward(dZ, X, W, g):
    dZ, X, W, g = map(jnp.asarray, (dZ, X, W, g))
    return (dZ * g) @ W, (dZ * g).T @ X, (dZ * (X @ W.T)).sum(axis=0), dZ.sum(axis=0)""",
    "torch": """\
import torch
def dense_backward(dZ, X, W, g):
    dZ, X, W, g = map(torch.tensor, (dZ, X, W, g))
    return (dZ * g) @ W, (dZ * g).T @ X, (dZ * (X @ W.T)).sum(axis=0), dZ.sum(axis=0)""",
    "longdouble": """\
import numpy as np
def dense_backward(dZ, X, W, g):
    dZ, X, W, g = (a.astype(np.longdouble) for a in (dZ, X, W, g))
    return (dZ * g) @ W, (dZ * g).T @ X, (dZ * (X @ W.T)).sum(axis=0), dZ.sum(axis=0)""",
}


def test_a_right_answer_may_be_of_any_arrays(tmp_path: Path) -> None:
    layers = assignments()["layers"]
    for student, code in IN_OTHER_ARRAYS.items():
        notebook = student_notebook(layers, ROOT)
        for cell in notebook["cells"]:
            if cell["metadata"]["nbgrader"]["grade_id"] == "ex-matrix-dense":
                cell["source"] = code
        path = tmp_path / "in" / student / "layers.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook))
    found = collect(tmp_path / "in", ["layers"]).submissions
    graded = grade_all(found, tmp_path / "out", {"layers": layers}, "x", progress=False)
    points = {item.submission.student: item.mark.points for item in graded}
    assert points == dict.fromkeys(IN_OTHER_ARRAYS, 3.0)


@pytest.mark.parametrize("name", EXERCISES)
def test_no_check_is_passed_by_what_a_notebook_shows(name: str) -> None:
    """The inputs that count are others than the visible ones, and so are the results."""
    problem = exercises()[name]
    for part in problem.parts:
        if part.form:  # its results are not in a notebook
            continue
        shown = [part.inputs_from(seed) for seed in VISIBLE_SEEDS]
        known = [wire.encode(problem.expected(part, inputs)) for inputs in shown]
        for k in range(part.draws):
            inputs = part.draw("a secret", k)
            assert wire.encode(inputs) not in list(map(wire.encode, shown))
            assert wire.encode(problem.expected(part, inputs)) not in known
