"""The ledger: one SQLite file with a row for each student, attempt and part, and what it counts.

It is written anew by each run, from the marks and from the tables that the teacher writes
(`coursework.mark.by_hand`), so nothing in it is ever older than they are. For an attempt with
``counts = 1``, the sum of ``points - taken`` is the score in `grades.csv`.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from coursework.mark.marks import ProblemMark
from coursework.printing import printable
from coursework.report.results import ResultRow
from coursework.safe_files import replaced

# The part, the kind, points, the most points, what was taken, the verdict, the reason.
Marked = tuple[str, str, float | None, float, float, str, str]
SCHEMA = """
CREATE TABLE ledger (
    student TEXT NOT NULL,
    name TEXT NOT NULL,
    assignment TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    exercise TEXT NOT NULL,
    part TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('automatic', 'judged', 'paper', 'by hand')),
    points REAL,                  -- NULL: nobody has judged it yet
    max_points REAL NOT NULL,
    taken REAL NOT NULL,          -- of the points, because it came late
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL,
    handed_in TEXT,               -- with its offset; NULL: nobody says when
    days_late INTEGER NOT NULL,
    counts INTEGER NOT NULL,      -- 1: part of the score; 0: of another attempt, or replaced
    file TEXT NOT NULL,
    PRIMARY KEY (student, assignment, attempt, exercise, part, kind)
);
CREATE VIEW scores AS
    SELECT student, assignment, attempt,
           round(sum(coalesce(points, 0) - taken), 6) AS score, sum(max_points) AS max_score
    FROM ledger WHERE counts GROUP BY student, assignment, attempt;
"""


def write(path: Path, rows: Sequence[ResultRow]) -> None:
    """Write the ledger of all attempts; the file appears whole, or not at all."""
    with replaced(path) as part, closing(sqlite3.connect(part)) as ledger:
        ledger.executescript(SCHEMA)
        ledger.executemany(
            f"INSERT INTO ledger VALUES ({', '.join('?' * 16)})",
            (line for row in rows if row.counts for line in _lines(row)),
        )
        ledger.commit()


def _lines(row: ResultRow) -> Iterator[tuple[Any, ...]]:
    for problem in row.mark.problems:
        yield from _of_problem(row, problem)


def _of_problem(row: ResultRow, problem: ProblemMark) -> Iterable[tuple[Any, ...]]:
    late = row.handed_in.isoformat() if row.handed_in else None, row.days_late
    file = printable(row.submission.path.name) if row.submission else ""
    who = printable(row.student.id), printable(row.student.name)
    before = (*who, row.assignment.name, row.attempt, problem.id)
    for part in problem.parts:
        counts = row.chosen and problem.given is None
        taken = row.assignment.terms.taken(part.points, row.days_late) if counts else 0.0
        points = None if part.verdict == "open" else part.points
        reason = part.comment or part.problem
        marked: Marked = (
            part.name,
            part.kind,
            points,
            part.max_points,
            taken,
            part.verdict,
            reason,
        )
        yield *before, *marked, *late, int(counts), file
    if problem.given is not None:
        marked = ("", "by hand", problem.given, problem.max_points, 0.0, "judged", problem.why)
        yield *before, *marked, *late, int(row.chosen), file
