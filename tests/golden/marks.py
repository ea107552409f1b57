"""Marks and first differences of hostile submissions, and of each answer that checks are tried on.

What is graded alone, problems that are drawn and an engine of one's own, is left to tests.
"""

import dataclasses
import json
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coursework.collect.submissions import collect
from coursework.exercise.assignments import load
from coursework.exercise.trials import read_trials
from coursework.mark.batch import Graded, grade_all
from coursework.release import student_notebook
from tests.coursework.classes import SECRET, answered, complete_answer, hand_in
from tests.coursework.mark.test_attacks import Batch
from tests.golden.record import Entry
from tests.support import ROOT

ANSWERS = ROOT / "tests" / "coursework" / "answers"


def entries() -> Iterator[Entry]:
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as server:
        folder, port = Path(name), server.getsockname()[1]
        for student, graded in Batch(folder, port).graded.items():
            yield f"attack: {student}", _told(graded, {name: "FOLDER", str(port): "PORT"})
    with tempfile.TemporaryDirectory() as name:
        yield from _answers(Path(name))


def _answers(folder: Path) -> Iterator[Entry]:
    """In each submission every problem has another of its answers, while there are some."""
    assignments = {
        name: assignment.for_student(SECRET, "somebody")
        for name, assignment in load(ROOT / "assignments.toml", ROOT / "chapters").items()
    }
    why: dict[tuple[str, str], list[str]] = {}
    for name, assignment in assignments.items():
        trials = {q.id: read_trials(ANSWERS, q) for q in assignment.problems if not q.alone}
        for k in range(max(map(len, trials.values()), default=0)):
            codes: dict[str, str] = {}
            for problem in assignment.problems:
                tried = trials.get(problem.id, [])[k : k + 1]
                codes[problem.id] = _complete(problem, tried)
                why.setdefault((name, f"{k:02}"), []).extend(trial.why for trial in tried)
            notebook = answered(
                student_notebook(assignment, ROOT),
                assignment.problems,
                lambda q, _, codes=codes: codes[q],
            )
            hand_in(folder / "in", f"{k:02}", name, notebook)
    found = collect(folder / "in", list(assignments)).submissions
    for graded in grade_all(found, folder / "out", assignments, SECRET, progress=False):
        name, student = graded.submission.assignment, graded.submission.student
        yield f"{name}: {student}, {'; '.join(why[name, student])}", _told(graded, {})


def _complete(problem: Any, tried: list[Any]) -> str:
    answer = tried[0].code if tried else problem.answer
    return complete_answer(dataclasses.replace(problem, answer=answer))


def _told(graded: Graded, names: dict[str, str]) -> Any:
    """The mark without its time, and without what this folder and this port are called."""
    mark = dataclasses.asdict(graded.mark)
    del mark["seconds"]
    text = json.dumps(mark)
    for given, name in names.items():
        text = text.replace(given, name)
    return json.loads(text)
