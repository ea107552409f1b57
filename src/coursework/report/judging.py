"""What a person has to judge: all students' sentences for one question, side by side."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from coursework import html
from coursework.exercise.assignments import Assignment
from coursework.exercise.problems import Problem
from coursework.mark.by_hand import JUDGEMENTS
from coursework.mark.marks import ProblemMark
from coursework.report.grade_tables import cell
from coursework.report.results import ResultRow
from coursework.safe_files import write_atomically

HEADING = "<h1>To judge: "  # is in each page of the template


def write(output: Path, rows: Sequence[ResultRow], *, isolated: bool = True) -> None:
    """Write `judge/ASSIGNMENT-EXERCISE.html` for each question that students wrote sentences to.

    Beside them, `to-judge.csv` has a row for each part that nobody has judged yet, to be filled in
    and copied into `judgements.csv`. Pages of earlier runs go.
    """
    folder = output / "judge"
    folder.mkdir(parents=True, exist_ok=True)
    assignments = {row.assignment.name: row.assignment for row in rows}
    written = set()
    for assignment in assignments.values():
        own = [row for row in rows if row.assignment.name == assignment.name]
        for problem in assignment.problems:
            found = list(_sentences(problem, own))
            if found and (problem.judged or any(mark.words for _, mark in found)):
                path = folder / f"{assignment.name}-{problem.id}.html"
                write_atomically(path, _page(assignment, problem, found, isolated))
                written.add(path)
    for path in {*folder.glob("*.html")} - written:
        if HEADING in path.read_text(encoding="utf-8", errors="replace"):
            path.unlink()
    write_atomically(folder / "to-judge.csv", _to_judge(rows))


def _sentences(
    problem: Problem, rows: Sequence[ResultRow]
) -> Iterator[tuple[list[ResultRow], ProblemMark]]:
    """Yield what was handed in, each file once, with all whose it is."""
    files: dict[Path, tuple[list[ResultRow], ProblemMark]] = {}
    for row in rows:
        for mark in row.mark.problems:
            if row.submission and mark.id == problem.id:
                files.setdefault(row.submission.path, ([], mark))[0].append(row)
    yield from files.values()


def _page(
    assignment: Assignment,
    problem: Problem,
    found: Sequence[tuple[list[ResultRow], ProblemMark]],
    isolated: bool,
) -> str:
    answers = [
        {
            "who": ", ".join(row.student.shown for row in rows),
            "attempt": rows[0].attempt,
            "asked": next(each for each in rows[0].asked.problems if each.id == problem.id),
            "mark": mark,
        }
        for rows, mark in found
    ]
    shown = {"assignment": assignment, "problem": problem, "answers": answers}
    return html.render("judge.html", **shown, isolated=isolated)


def _to_judge(rows: Sequence[ResultRow]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(JUDGEMENTS)
    for row in rows:
        for problem in row.mark.problems:
            for part in problem.parts:
                if part.kind == "judged" and part.verdict == "open":
                    place = (row.student.id, row.assignment.name, str(row.attempt), problem.id)
                    table.writerow([*map(cell, (*place, part.name)), "", "", ""])
    return text.getvalue()
