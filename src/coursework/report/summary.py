"""What grading leaves for people: tables of marks, a summary, and a page for each student."""

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from coursework import html
from coursework.collect.roster import Student
from coursework.collect.submissions import Stray
from coursework.exercise.assignments import Assignment
from coursework.exercise.problems import Problem
from coursework.mark.marks import PartMark
from coursework.report import grade_tables, hand_back, judging, ledger
from coursework.report.alike import alike
from coursework.report.results import ResultRow
from coursework.safe_files import file_name, write_atomically

TABLES = {
    "grades.csv": grade_tables.grades,
    "grades-nbgrader.csv": grade_tables.nbgrader,
    "grades-moodle.csv": grade_tables.moodle,
    "grades-canvas.csv": grade_tables.canvas,
}
BINS = 10
BAR = 110  # pixels of the tallest
FAILURES = 5
FEEDBACK = "<h1>Feedback for "  # is in each page of the template
WORDS = 100


def write_reports(
    output: Path,
    attempts: Sequence[ResultRow],
    strays: Sequence[Stray] = (),
    *,
    submissions: Path,
    isolated: bool = True,
) -> None:
    """Write the ledger, the tables, `summary.html` and `feedback/STUDENT.html`, also as zips.

    Pages of earlier runs go. Each page says so where submissions were not `isolated`; the summary
    lists the `strays`. `submissions` is the folder that they came from.
    """
    output.mkdir(parents=True, exist_ok=True)
    ledger.write(output / "ledger.sqlite", attempts)
    judging.write(output, attempts, isolated=isolated)
    rows = [row for row in attempts if row.chosen]
    for name, table in TABLES.items():
        write_atomically(output / name, table(rows))
    write_atomically(output / "summary.html", summary(rows, strays, isolated=isolated))
    folder = output / "feedback"
    folder.mkdir(exist_ok=True)
    pages: dict[str, str] = {}
    written = set()
    for student in _students(rows):
        own = [row for row in rows if row.student == student and row.counts]
        if own:
            path = folder / f"{file_name(student.id)}.html"
            pages[student.id] = feedback(student, own, isolated=isolated)
            write_atomically(path, pages[student.id])
            written.add(path)
    hand_back.write(output, submissions, rows, pages)
    for path in {*folder.glob("*.html")} - written:
        if FEEDBACK in path.read_text(encoding="utf-8", errors="replace"):
            path.unlink()  # of an earlier run: its marks count no longer


def feedback(student: Student, rows: Sequence[ResultRow], *, isolated: bool = True) -> str:
    """Return the page of one student, with everything that they handed in.

    The page holds nothing about a check's source, other students, or the secret. It shows the first
    wrong result of a check, with the expected one.
    """
    found = []
    for row in rows:
        asked = {problem.id: problem for problem in row.asked.problems}
        told = [*row.told, *row.mark.remarks, *(row.submission.notes if row.submission else ())]
        if row.submission and row.submission.others:
            others = ", ".join(row.submission.others)
            told.insert(0, f"You handed in several files. This is graded, and not {others}.")
        problems = [(problem, asked[problem.id]) for problem in row.mark.problems]
        found.append(
            {
                "assignment": row.assignment,
                "mark": row.mark,
                "points": row.points,
                "paper": row.is_paper,
                "told": told,
                "problems": problems,
            }
        )
    return html.render("feedback.html", student=student, rows=found, isolated=isolated)


def summary(
    rows: Sequence[ResultRow], strays: Sequence[Stray] = (), *, isolated: bool = True
) -> str:
    """Return the teacher's page: distributions, the commonest failures, every student's marks."""
    assignments = {row.assignment.name: row.assignment for row in rows}
    parts = [
        _assignment(assignment, [row for row in rows if row.assignment == assignment])
        for assignment in assignments.values()
    ]
    return html.render(
        "summary.html",
        assignments=parts,
        alike=any(problem["alike"] for part in parts for problem in part["problems"]),
        names=list(assignments),
        students=[_student(student, rows) for student in _students(rows)],
        strays=[stray for stray in strays if not stray.disputed],
        disputed=[stray for stray in strays if stray.disputed],
        isolated=isolated,
    )


def _assignment(assignment: Assignment, rows: Sequence[ResultRow]) -> dict[str, Any]:
    own = [row for row in rows if row.submission or row.is_paper]
    scores = [row.points for row in own]
    words = f"{len(scores)} handed in; "
    if scores:
        words += f"mean {statistics.fmean(scores):.2f}, median {statistics.median(scores):.2f} of "
    words += f"{assignment.points:g} points."
    return {
        "title": assignment.title,
        "words": words,
        "problems": [_problem(problem, own) for problem in assignment.problems if own],
        **(_histogram(scores, assignment.points) if scores else {"bars": []}),
    }


def _problem(problem: Problem, rows: Sequence[ResultRow]) -> dict[str, Any]:
    marks = [(row, p) for row in rows for p in row.mark.problems if p.id == problem.id]
    once = {row.submission.path: (row, mark) for row, mark in marks if row.submission}.values()
    full = sum(mark.points == mark.max_points for _, mark in marks)
    mean = html.points(statistics.fmean(mark.points for _, mark in marks), problem.points)
    parts = (part for _, mark in marks for part in mark.parts if part.kind == "automatic")
    failures = Counter((p.name, _kind(p)) for p in parts if p.verdict not in ("right", "follows"))
    commonest = sorted(failures.items(), key=lambda f: (-f[1], f[0]))[:FAILURES]
    return {
        "title": problem.title,
        "words": f"mean {mean}; full points {full} of {len(marks)}",
        "failures": [(count, part, what) for (part, what), count in commonest],
        "alike": alike(problem, ((row.student.shown, mark.code) for row, mark in once)),
        "sentences": [(row.student.shown, text) for row, mark in once for text in mark.words],
    }


def _kind(part: PartMark) -> str:
    """Return what is wrong without one submission's numbers and places, so that others share it.

    >>> _kind(PartMark("a", 0, 1, "failed", problem="KeyError: 7 (cell 3, line 4: f(7))"))
    'KeyError: n'
    >>> _kind(PartMark("a", 0, 1, "wrong", result="p1", problem="3 of 4 entries are wrong, …"))
    'p1: entries are wrong'
    >>> _kind(PartMark("a", 0, 1, "failed", problem="TypeError: data type float64"))
    'TypeError: data type float64'
    """
    text = re.sub(r"^\d+ of \d+ entries are wrong.*", "entries are wrong", part.problem)
    text = re.sub(r" \(cell \d+, line .*|: cell \d+ .*", "", text, flags=re.DOTALL)
    text = re.sub(r"(?<!\w)\d+", "n", text)
    what = f"{part.result}: {text}" if part.result else text
    what = what if len(what) <= WORDS else what[:WORDS] + " …"
    return f"{what} ({part.hint})" if part.hint else what


def _histogram(scores: Sequence[float], most: float) -> dict[str, Any]:
    """Draw how many submissions have how many points: bars, the ticks below them, and a text."""
    counts = [0] * BINS
    for score in scores:
        counts[max(0, min(BINS - 1, int(BINS * score / most)))] += 1
    ticks = [f"{most * i / BINS:.3g}" for i in range(BINS + 1)]
    label = ", ".join(
        f"{count} with {ticks[i]} to {ticks[i + 1]} points"
        for i, count in enumerate(counts)
        if count
    )
    bars = [{"count": count, "tall": round(BAR * count / max(counts))} for count in counts]
    return {"bars": bars, "ticks": ticks, "label": label}


def _student(student: Student, rows: Sequence[ResultRow]) -> dict[str, Any]:
    own = [row for row in rows if row.student == student]
    scores = (html.points(row.points, row.mark.max_points) if row.counts else "–" for row in own)
    remarks = dict.fromkeys(line for row in own for line in row.remarks)
    link = f"feedback/{quote(file_name(student.id))}.html"
    return {
        "name": student.shown,
        "link": link if any(row.counts for row in own) else "",
        "scores": list(scores),
        "remarks": grade_tables.cell(" ".join(remarks)),
    }


def _students(rows: Iterable[ResultRow]) -> list[Student]:
    return sorted({row.student for row in rows}, key=lambda student: student.id)
