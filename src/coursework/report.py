"""What a teacher gets: tables of marks, a summary page, and a page for each student."""

import csv
import hashlib
import io
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from coursework import layout
from coursework.batch import Graded, write_whole
from coursework.feedback import feedback
from coursework.marks import PartMark, ProblemMark
from coursework.problems import Assignment

NBGRADER = [
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
]
BINS = 10
FAILURES = 5
WORDS = 100


def write_reports(
    output: Path,
    graded: Sequence[Graded],
    assignments: Mapping[str, Assignment],
    left_out: Sequence[str] = (),
) -> None:
    """Write `grades.csv`, `grades-nbgrader.csv`, `summary.html` and `feedback/STUDENT.html`.

    `left_out` says what was not graded, and why; the summary lists it.
    """
    output.mkdir(parents=True, exist_ok=True)
    write_whole(output / "grades.csv", grades_csv(graded, assignments))
    write_whole(output / "grades-nbgrader.csv", nbgrader_csv(graded, assignments))
    write_whole(output / "summary.html", summary(graded, assignments, left_out))
    folder = output / "feedback"
    folder.mkdir(exist_ok=True)
    for student in _students(graded):
        own = [item for item in graded if item.submission.student == student]
        write_whole(folder / _file_name(student), feedback(student, own, assignments))


def grades_csv(graded: Sequence[Graded], assignments: Mapping[str, Assignment]) -> str:
    """A row for each student and assignment that somebody handed in, a column for each exercise."""
    ids = [problem.id for name in _handed_in(graded, assignments) for problem in name.problems]
    rows = [["student", "assignment", "score", "max_score", *dict.fromkeys(ids), "remarks"]]
    for student, assignment, item in _pairs(graded, assignments):
        if item is None:
            row = {"score": 0.0, "max_score": assignment.points}
            remarks = "nothing handed in"
        else:
            row = {"score": item.mark.points, "max_score": item.mark.max_points}
            row |= {problem.id: problem.points for problem in item.mark.problems}
            older = [f"not graded, being older: {name}" for name in item.submission.older]
            remarks = " ".join([*item.mark.remarks, *older])
        numbers = (f"{row[key]:g}" if key in row else "" for key in rows[0][2:-1])
        rows.append([student, assignment.name, *numbers, remarks])
    return _csv(rows)


def nbgrader_csv(graded: Sequence[Graded], assignments: Mapping[str, Assignment]) -> str:
    """The columns that `nbgrader export` writes; what only nbgrader's database knows is empty."""
    rows: list[list[str]] = [NBGRADER]
    for student, assignment, item in _pairs(graded, assignments):
        score = str(item.mark.points if item else 0.0)
        stamp = item.submission.timestamp if item else ""
        most = str(float(assignment.points))
        rows.append([assignment.name, "", stamp, student, "", "", "", score, "0.0", score, most])
    return _csv(rows)


def summary(
    graded: Sequence[Graded], assignments: Mapping[str, Assignment], left_out: Sequence[str] = ()
) -> str:
    """The teacher's page: distributions, the commonest failures, and every student's marks."""
    body = ["<h1>Marks</h1>"]
    body += [_assignment(a, graded) for a in _handed_in(graded, assignments)]
    body.append(f"<h2>Students</h2>\n{_student_table(graded, assignments)}")
    if left_out:
        items = "\n".join(f"<li>{escape(line)}</li>" for line in left_out)
        body.append(f"<h2>Not graded</h2>\n<ul>\n{items}\n</ul>")
    return layout.page("Marks", "\n".join(body))


def _assignment(assignment: Assignment, graded: Sequence[Graded]) -> str:
    marks = [g.mark for g in graded if g.submission.assignment == assignment.name]
    scores = [mark.points for mark in marks]
    words = (
        f"{len(scores)} handed in; mean {statistics.fmean(scores):.2f}, "
        f"median {statistics.median(scores):.2f} of {assignment.points:g} points."
    )
    body = [f"<h2>{escape(assignment.title)}</h2>", f"<p>{words}</p>"]
    body.append(_histogram(scores, assignment.points))
    for problem in assignment.problems:
        found = [p for mark in marks for p in mark.problems if p.id == problem.id]
        body.append(_problem(problem.title, found))
    return "\n".join(body)


def _problem(title: str, marks: Sequence[ProblemMark]) -> str:
    full = sum(mark.points == mark.max_points for mark in marks)
    mean = statistics.fmean(mark.points for mark in marks)
    most = marks[0].max_points
    head = (
        f'<div class="top"><h3>{escape(title)}</h3><span class="points">'
        f"mean {layout.points(mean, most)}; full points {full} of {len(marks)}</span></div>"
    )
    failures = Counter(failure for mark in marks for failure in _failures(mark))
    rows = [
        [str(count), escape(part), escape(what)]
        for (part, what), count in sorted(failures.items(), key=lambda f: (-f[1], f[0]))[:FAILURES]
    ]
    shown = layout.table(["Students", "Part", "What is wrong"], rows, [0]) if rows else ""
    return f'<section class="card">\n{head}\n{shown}\n</section>'


def _failures(mark: ProblemMark) -> Iterator[tuple[str, str]]:
    """Each part that earned nothing, and why, in words that others' failures share."""
    for part in mark.parts:
        if part.verdict != "right":
            yield part.name, _kind(part)


def _kind(part: PartMark) -> str:
    """What is wrong, without the numbers and places of one submission.

    >>> _kind(PartMark("a", 0, 1, "failed", problem="KeyError: 7 (cell 3, line 4: f(7))"))
    'KeyError: n'
    """
    text = re.sub(r"^\d+ of \d+ entries are wrong.*", "entries are wrong", part.problem)
    text = re.sub(r" \(cell \d+, line .*|: cell \d+ .*", "", text, flags=re.DOTALL)
    what = re.sub(r"\d+", "n", f"{part.result}: {text}" if part.result else text)
    what = what if len(what) <= WORDS else what[:WORDS] + " …"
    return f"{what} ({part.hint})" if part.hint else what


def _histogram(scores: Sequence[float], most: float) -> str:
    """How many submissions have how many points."""
    counts = [0] * BINS
    for score in scores:
        counts[min(BINS - 1, int(BINS * score / most))] += 1
    high = max(counts)
    bars, width, height = [], 52, 110
    for i, count in enumerate(counts):
        tall = round(height * count / high) if high else 0
        x, y = 10 + i * width, 36 + height - tall
        bars.append(f'<rect x="{x}" y="{y}" width="{width - 6}" height="{tall}" rx="2"/>')
        if count:
            bars.append(f'<text x="{x + 23}" y="{y - 5}" text-anchor="middle">{count}</text>')
    ticks = "".join(
        f'<text x="{7 + i * width}" y="162" text-anchor="middle">{most * i / BINS:.3g}</text>'
        for i in range(BINS + 1)
    )
    label = ", ".join(
        f"{count} with {most * i / BINS:.3g} to {most * (i + 1) / BINS:.3g} points"
        for i, count in enumerate(counts)
        if count
    )
    axis = f'<text x="{10 + BINS * width / 2}" y="180" text-anchor="middle">points</text>'
    axis += '<text x="7" y="10">submissions</text>'
    line = f'<line x1="7" x2="{7 + BINS * width}" y1="146" y2="146"/>'
    box = f'viewBox="0 0 {30 + BINS * width} 186" role="img" aria-label="Submissions: {label}"'
    return f"<svg {box}>{''.join(bars)}{line}{ticks}{axis}</svg>"


def _student_table(graded: Sequence[Graded], assignments: Mapping[str, Assignment]) -> str:
    names = [assignment.name for assignment in _handed_in(graded, assignments)]
    by_place = {(g.submission.student, g.submission.assignment): g for g in graded}
    rows = []
    for student in _students(graded):
        own = [by_place.get((student, name)) for name in names]
        cells = [layout.points(g.mark.points, g.mark.max_points) if g else "–" for g in own]
        link = f'<a href="feedback/{quote(_file_name(student))}">{escape(student)}</a>'
        faults = sum(bool(g.mark.remarks or g.submission.older) for g in own if g)
        rows.append([link, *cells, "see feedback" if faults else ""])
    columns = range(1, len(names) + 1)
    return layout.table(["Student", *names, "Remarks"], rows, columns)


def _handed_in(graded: Sequence[Graded], assignments: Mapping[str, Assignment]) -> list[Assignment]:
    """The assignments that somebody has handed in."""
    names = {item.submission.assignment for item in graded}
    return [assignment for name, assignment in assignments.items() if name in names]


def _students(graded: Iterable[Graded]) -> list[str]:
    return sorted({item.submission.student for item in graded})


def _pairs(
    graded: Sequence[Graded], assignments: Mapping[str, Assignment]
) -> Iterator[tuple[str, Assignment, Graded | None]]:
    """Every student with every assignment that somebody handed in, and what they handed in."""
    by_place = {(g.submission.student, g.submission.assignment): g for g in graded}
    for assignment in _handed_in(graded, assignments):
        for student in _students(graded):
            yield student, assignment, by_place.get((student, assignment.name))


def _file_name(student: str) -> str:
    """A student's page; names that are too long for a file are cut and told apart by a digest."""
    if len(student.encode()) <= 100:
        return f"{student}.html"
    return f"{student[:25]}-{hashlib.sha256(student.encode()).hexdigest()[:12]}.html"


def _csv(rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([map(_cell, row) for row in rows])
    return text.getvalue()


def _cell(text: str) -> str:
    """The text, so that a spreadsheet does not take it for a formula; numbers are not negative.

    >>> print(_cell("2.5"), _cell("=1+1"))
    2.5 '=1+1
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
