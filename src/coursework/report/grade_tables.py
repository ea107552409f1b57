"""Tables of marks as CSV, safe to open in any spreadsheet and to print on any terminal."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from coursework.printing import printable
from coursework.report.results import ResultRow

CELL_CHARACTERS = 1000  # spreadsheets refuse more than 32,767
SIGNS = "=+@\uff1d\uff0b\uff0d\uff20-"  # begin a formula, the wide ones in some programs
# Text after a separator of some locale begins a cell, even with quotes in between.
FORMULA = re.compile(rf"""(^|[;,\t|])([\s"']*)(?=[{SIGNS}])""")
NBGRADER = ["assignment", "duedate", "timestamp", "student_id", "last_name", "first_name"]
NBGRADER += ["email", "raw_score", "late_submission_penalty", "score", "max_score"]


def grades(rows: Sequence[ResultRow]) -> str:
    """Return a row for each student and assignment, with a column for each exercise.

    Missing submissions are left empty here, and for Moodle and Canvas: a 0 would count.
    """
    ids = list(dict.fromkeys(p.id for row in rows for p in row.mark.problems))
    head = ["student", "assignment", "score", "max_score", *ids, "name", "mail", "remarks"]
    lines: list[list[str]] = [head]
    for row in rows:
        student, mark = row.student, row.mark
        points = {p.id: f"{p.points:g}" for p in mark.problems} if row.counts else {}
        score = f"{row.points:g}" if row.counts else ""
        line = [student.id, row.assignment.name, score, f"{mark.max_points:g}"]
        line += [points.get(name, "") for name in ids]
        lines.append([*line, student.name, student.mail, " ".join(row.remarks)])
    return _csv(lines)


def nbgrader(rows: Sequence[ResultRow]) -> str:
    """Return the columns that `nbgrader export` writes; what only its database knows is empty."""
    lines: list[list[Any]] = [NBGRADER]
    for row in rows:
        stamp = row.submission.timestamp if row.submission else ""
        due = row.assignment.terms.due_of(row.attempt)
        raw, score = str(row.mark.points), str(row.points)
        taken, most = str(float(row.taken)), str(float(row.assignment.points))
        owner = [row.student.id, "", row.student.name, row.student.mail]
        until = due.isoformat(" ") if due else ""
        lines.append([row.assignment.name, until, stamp, *owner, raw, taken, score, most])
    return _csv(lines)


def moodle(rows: Sequence[ResultRow]) -> str:
    """Return a table for Moodle's grade import: a row for each student, a column per assignment.

    With a roster, only its students are listed: Moodle gives the points of a row without an ID
    number to the student of the row above, and refuses the whole file for an unknown number.
    """
    listed = [row for row in rows if row.listed]
    return _wide(listed or rows, ["ID number", "Full name", "Email address"], _moodle)


def canvas(rows: Sequence[ResultRow]) -> str:
    """Return a table for Canvas's gradebook import."""
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    return _wide(rows, head, _canvas, ["    Points Possible", "", "", "", ""])


def _moodle(rows: Sequence[ResultRow]) -> list[str]:
    # Without a roster, the name in Moodle's folder name is the student's full name.
    number, student = rows[0].student.id if rows[0].listed else "", rows[0].student
    return [number, student.name or student.id, student.mail]


def _canvas(rows: Sequence[ResultRow]) -> list[str]:
    student, files = rows[0].student, (row.submission for row in rows if row.submission)
    number = next(filter(None, (file.canvas for file in files)), "")
    return [student.name or student.id, number, student.id, student.mail, ""]


def _wide(
    rows: Sequence[ResultRow],
    head: list[str],
    who: Callable[[Sequence[ResultRow]], list[str]],
    second: Sequence[str] = (),
) -> str:
    """Return a row for each student, which `who` begins; `second` comes before the points."""
    assignments = {row.assignment.name: row.assignment for row in rows}
    lines = [[*head, *(a.title for a in assignments.values())]]
    if second:
        lines.append([*second, *(f"{a.points:g}" for a in assignments.values())])
    for student in dict.fromkeys(row.student for row in rows):
        own = [row for row in rows if row.student == student]  # of each assignment one
        lines.append([*who(own), *(f"{row.points:g}" if row.counts else "" for row in own)])
    return _csv(lines)


def _csv(rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([map(cell, row) for row in rows])
    return text.getvalue()


def cell(text: str) -> str:
    """Return the text as one line that no spreadsheet takes for a formula, whatever its separator.

    >>> print(cell("2.5"), cell("=1+1"), cell("-0.5"), cell('a;"=b'))
    2.5 '=1+1 -0.5 a; '=b
    """
    line = printable(" ".join(text.split()))
    if len(line) > CELL_CHARACTERS:
        line = line[:CELL_CHARACTERS] + " …"
    if _is_number(line):
        return line
    return FORMULA.sub(lambda found: f"{found[1]} '" if found[1] else "'", line)


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdecimal()
