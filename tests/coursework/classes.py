"""A class whose problems are drawn: its notebooks, and what becomes of them."""

import csv
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from coursework import release
from coursework.__main__ import main
from coursework.collect.roster import Student
from coursework.exercise.assignments import Assignment
from coursework.exercise.problems import Problem
from tests.chainlab.doctor import patients
from tests.coursework.course import yours
from tests.coursework.written import written
from tests.support import ROOT

Notebook = dict[str, Any]
SECRET = "the words of one teacher"


def complete_answer(problem: Problem) -> str:
    """The reference answer with the data that it knows where it runs for the page.

    Where it runs alone, it is what a student writes without this engine.
    """
    if problem.alone:
        return written(problem) if problem.drawing else patients.ARRAYS
    own, name = problem.instance.own, problem.id.replace("-", "_")  # several are in one notebook
    answer = re.sub(r"\bown\b", name, problem.answer)
    return f"{name} = {dict(own)!r}\n\n\n{answer}" if own else problem.answer


def roster(folder: Path, size: int) -> list[Student]:
    """Students, in ``roster.csv``."""
    students = [Student(f"u{k:03}", f"Ada {k}", f"ada{k}@example.org") for k in range(size)]
    lines = ["id,name,mail", *(f"{s.id},{s.name},{s.mail}" for s in students)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "roster.csv").write_text("\n".join(lines) + "\n")
    return students


def notebook_of(student: Student, assignment: Assignment, secret: str, folder: Path) -> Notebook:
    """What this student gets."""
    path = release.write_for(student, assignment, folder, ROOT, secret)
    found: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return found


def answered(
    notebook: Notebook, problems: Sequence[Problem], change: Callable[[str, str], str]
) -> Notebook:
    """The notebook with the answers to these problems, changed by (exercise, code)."""
    answers = {problem.id: change(problem.id, complete_answer(problem)) for problem in problems}
    for cell in notebook["cells"]:
        name = cell["metadata"]["nbgrader"]["grade_id"]
        cell["source"] = answers.get(name, cell["source"])
    return notebook


def hand_in(folder: Path, student: str, assignment: str, notebook: Notebook) -> Path:
    path = folder / student / f"{assignment}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def right(_: str, code: str) -> str:
    return code


def slipped(name: str, code: str) -> str:
    """What an exercise returns is wrong, in all but one exercise."""
    spoiled = {
        "ex-own-adjoints": (": ", ": 7"),
        "ex-own-layer": ("return {", "return {}, {"),
        "ex-own-fault": ("return da, db", "return db, da"),
    }
    return code.replace(*spoiled[name]) if name in spoiled else code


class Class:
    """A class whose notebooks are handed in, changed, and graded by the command."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder = folder
        (folder / "secret").write_text(SECRET)
        self.students = roster(folder / "in", size)
        self.notebooks = [notebook_of(s, yours(), SECRET, folder) for s in self.students]

    def asked(self, k: int) -> Assignment:
        return yours().for_student(SECRET, self.students[k].id)

    def answer(self, k: int, change: Any = right, by: int | None = None) -> Notebook:
        """The notebook of a student with the answers to it; `by` hands it in."""
        notebook = answered(self.notebooks[k], self.asked(k).problems, change)
        who = self.students[k if by is None else by]
        hand_in(self.folder / "in", who.id, "yours", notebook)
        return notebook

    def grade(self, *options: str) -> int:
        command = ["grade", str(self.folder / "in"), "--book", str(ROOT), "--only", "yours"]
        command += ["--secret", str(self.folder / "secret")]
        return main([*command, "--output", str(self.folder / "out"), *options])

    @property
    def table(self) -> dict[str, dict[str, str]]:
        with (self.folder / "out" / "grades.csv").open(encoding="utf-8", newline="") as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    def points(self, k: int) -> list[str]:
        row = self.table[self.students[k].id]
        return [row["score"], *(row[problem.id] for problem in yours().problems)]

    def page(self, name: str) -> str:
        return (self.folder / "out" / name).read_text(encoding="utf-8")
