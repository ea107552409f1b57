"""What the teacher writes by hand: points, judgements, dates, and the marks of paper sheets.

Each is a table in OUTPUT, which a run reads and never changes; one that is missing is made, with
its column names alone.

- `changes.csv`: the points of an exercise, in place of what grading gave.
- `judgements.csv`: the points of a judged part, or the numbers of the rubric's lines that it earns,
  and a comment; without a part, a comment on the exercise.
- `dates.csv`: when a submission came, where no platform says it; a student's own due date.
- `papers.csv`: a row for each sheet of paper, with its code, and a column for each problem.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from coursework.collect.roster import table_rows
from coursework.exercise.assignments import Assignment, Paper
from coursework.exercise.lateness import read_time
from coursework.exercise.problems import Judged
from coursework.exercise.trusted import ProblemError, errors_at
from coursework.safe_files import create_atomically

CHANGES = ("student", "assignment", "exercise", "points", "why")
Entry = TypeVar("Entry")
JUDGEMENTS = (
    "student", "assignment", "attempt", "exercise", "part", "lines", "points", "comment"
)  # fmt: skip
DATES = ("student", "assignment", "attempt", "handed_in", "due", "why")
PAPERS = ("paper", "student", "code")
MISREAD = str.maketrans("OIL", "011", "- ")


@dataclass(frozen=True)
class Change:
    """Points given by hand for an exercise, and why."""

    student: str
    assignment: str
    exercise: str
    points: float
    why: str


@dataclass(frozen=True)
class Judgement:
    """What a person says of a judged part; of an exercise as a whole if `part` is ""."""

    student: str
    assignment: str
    exercise: str
    part: str
    points: float | None  # None: not judged yet
    comment: str
    attempt: int | None = None  # None: of every attempt


@dataclass(frozen=True)
class Dates:
    """When a student handed in, and until when this student may."""

    student: str
    assignment: str
    handed_in: datetime | None
    due: datetime | None
    why: str
    attempt: int | None = None  # None: of every attempt


@dataclass(frozen=True)
class PaperMark:
    """The points of one student's sheet, problem by problem; None: not marked yet."""

    student: str
    paper: str
    points: tuple[float | None, ...]


@dataclass(frozen=True)
class ByHand:
    """All of it."""

    changes: Sequence[Change] = ()
    judgements: Sequence[Judgement] = ()
    dates: Sequence[Dates] = ()
    papers: Sequence[PaperMark] = ()


@dataclass(frozen=True)
class _Known:
    """The assignments and papers that are marked now, the names of all, whom a name stands for."""

    assignments: Mapping[str, Assignment]
    papers: Mapping[str, Paper]
    names: Sequence[str]
    who: Callable[[str], str]

    def skips(self, name: str) -> bool:
        """Return whether an assignment or paper is known and not marked now."""
        return name in self.names and name not in {*self.assignments, *self.papers}

    def assignment(self, name: str) -> Assignment:
        if name not in self.assignments:
            names = ", ".join(dict.fromkeys([*self.assignments, *self.names]))
            raise ProblemError(f"no assignment {name!r}; there are {names}")
        return self.assignments[name]

    def exercise(self, row: Mapping[str, str]) -> tuple[str, str, Sequence[Judged]]:
        name, exercise = row["assignment"], row["exercise"]
        judged = {problem.id: problem.judged for problem in self.assignment(name).problems}
        if exercise not in judged:
            raise ProblemError(f"{name} has no exercise {exercise!r}; it has {', '.join(judged)}")
        return name, exercise, judged[exercise]


def read(
    folder: Path,
    assignments: Mapping[str, Assignment],
    papers: Mapping[str, Paper],
    known: Sequence[str] = (),
    who: Callable[[str], str] = str,
    whose: Callable[[str, str], str | None] = lambda sheet, code: None,
) -> ByHand:
    """Read the four tables; rows about what is `known` but not marked now are skipped.

    Args:
        folder: OUTPUT.
        assignments: those that are graded, by name.
        papers: the tests on paper that are marked, by name.
        known: the names of all assignments and papers.
        who: returns the id of the student that a name stands for.
        whose: returns the id of the student with this code on this sheet; "" where everybody has
            it, None where nobody has.

    Raises:
        ProblemError: a row names nothing that there is, gives no number, or comes twice.
    """
    every = _Known(assignments, papers, known, who)
    problems = max((len(paper.points) for paper in papers.values()), default=0)
    sheets = (*PAPERS, *map(str, range(1, problems + 1)))
    return ByHand(
        _once(folder / "changes.csv", CHANGES, lambda row: _change(row, every), every),
        _once(folder / "judgements.csv", JUDGEMENTS, lambda row: _judgement(row, every), every),
        _once(folder / "dates.csv", DATES, lambda row: _dates(row, every), every),
        _once(folder / "papers.csv", PAPERS, lambda row: _paper(row, every, whose), every, sheets),
    )


def _once(
    path: Path,
    columns: Sequence[str],
    entry: Callable[[Mapping[str, str]], tuple[tuple[object, ...], Entry]],
    known: _Known,
    first: Sequence[str] = (),
) -> list[Entry]:
    """Return what the rows of a table say, each about another place.

    If it's missing, it is made, with ``first`` or these columns as its first line.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        create_atomically(path, ",".join(first or columns) + "\n")
    found: dict[tuple[object, ...], Entry] = {}
    needed = [name for name in columns if name not in ("attempt", "lines")]
    for line, row in table_rows(path, needed):
        if known.skips(row.get("assignment") or row.get("paper", "")):
            continue
        with errors_at(line):
            place, item = entry(dict.fromkeys(columns, "") | row)
            if place in found:
                said = ", ".join(str(part) for part in place if part not in ("", None))
                raise ProblemError(f"{said} for the second time")
            found[place] = item
    return list(found.values())


def _change(row: Mapping[str, str], known: _Known) -> tuple[tuple[object, ...], Change]:
    name, exercise, _ = known.exercise(row)
    points = _number(row["points"])
    place = known.who(row["student"]), name, exercise
    return place, Change(row["student"], name, exercise, points, row["why"])


def _judgement(row: Mapping[str, str], known: _Known) -> tuple[tuple[object, ...], Judgement]:
    name, exercise, parts = known.exercise(row)
    part = next((part for part in parts if part.name == row["part"]), None)
    if row["part"] and part is None:
        names = ", ".join(repr(p.name) for p in parts) or "none"
        raise ProblemError(f"{exercise} has no judged part {row['part']!r}; it has {names}")
    if part is None and (row["points"] or row["lines"]):
        raise ProblemError("points without a judged part; name the part, or use changes.csv")
    points = _number(row["points"]) if row["points"] else None
    if part and points is None and row["lines"]:
        points = _of_lines(row["lines"], part)
    attempt = _attempt(row)
    place = known.who(row["student"]), name, exercise, row["part"], attempt
    said = Judgement(row["student"], name, exercise, row["part"], points, row["comment"], attempt)
    return place, said


def _of_lines(text: str, part: Judged) -> float:
    """Return the points of the rubric's lines with these numbers, each counted once."""
    numbers = {_whole(word) for word in text.replace("+", " ").replace(",", " ").split()}
    worth = list(part.rubric.values())
    for number in numbers:
        if not 1 <= number <= len(worth):
            raise ProblemError(f"{part.name!r} has {len(worth)} lines in its rubric, no {number}")
    return sum(worth[number - 1] for number in numbers)


def _dates(row: Mapping[str, str], known: _Known) -> tuple[tuple[object, ...], Dates]:
    name = known.assignment(row["assignment"]).name
    handed_in, due = (_time(row[column], column) for column in ("handed_in", "due"))
    said = Dates(row["student"], name, handed_in, due, row["why"], _attempt(row))
    return (known.who(row["student"]), name, said.attempt), said


def _attempt(row: Mapping[str, str]) -> int | None:
    return _whole(row["attempt"]) if row["attempt"] else None


def _time(text: str, column: str) -> datetime | None:
    found = read_time(text)
    if text and found is None:
        raise ProblemError(
            f"{column} is {text!r}; write it as 2026-05-04 18:00 +0200 (without an offset it's UTC)"
        )
    return found


def _paper(
    row: Mapping[str, str], known: _Known, whose: Callable[[str, str], str | None]
) -> tuple[tuple[object, ...], PaperMark]:
    if row["paper"] not in known.papers:
        names = ", ".join(known.papers) or "none: add a [[paper]] to the file of assignments"
        raise ProblemError(f"no paper {row['paper']!r}; there are {names}")
    paper = known.papers[row["paper"]]
    student = _owner(row, paper, known.who, whose)
    numbers = [str(number) for number in range(1, len(paper.points) + 1)]
    for column, text in row.items():
        if text and column.isdecimal() and column not in numbers:
            raise ProblemError(f"{paper.name} has {len(numbers)} problems, no {column}")
    texts = [row.get(number, "") for number in numbers]
    points = tuple(_number(text) if text else None for text in texts)
    return (student, paper.name), PaperMark(student, paper.name, points)


def _owner(
    row: Mapping[str, str],
    paper: Paper,
    who: Callable[[str], str],
    whose: Callable[[str, str], str | None],
) -> str:
    """Return whose sheet it is: by its code, which must be that of the student named beside it."""
    code = row["code"].upper().translate(MISREAD)
    named = who(row["student"]) if row["student"] else ""
    found = whose(paper.sheet, code) if code else ""
    if not (code or named):
        raise ProblemError("neither a student nor a code; write one of them")
    if code and found is None:
        raise ProblemError(f"the code {row['code']} is on no sheet of {paper.name}")
    if not (named or found):
        raise ProblemError(f"{paper.name} is the same sheet for all; write whose this is")
    if named and found and named != found:
        raise ProblemError(f"the code {row['code']} is that of {found}, and not of {named}")
    return named or found or ""


def _number(text: str) -> float:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ProblemError(f"{text!r} is no number")
    return number


def _whole(text: str) -> int:
    if not (text.isdecimal() and text.isascii()):
        raise ProblemError(f"{text!r} is no whole number")
    return int(text)
