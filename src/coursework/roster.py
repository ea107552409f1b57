"""The teacher's own lists: who takes the course, and marks given by hand.

`roster.csv` has the columns `id`, `name` and `mail`, of which only `id` must be filled in; a
student's folder or file may be named by any of the three. `changes.csv` has `student`,
`assignment`, `exercise`, `points` and `why`: each row takes the place of the points that grading
gave, in every run, until it is taken out.
"""

import csv
import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursework.assignments import Assignment
from coursework.files import write_first
from coursework.trusted import ProblemError, at

ROSTER = ("id", "name", "mail")
CHANGES = ("student", "assignment", "exercise", "points", "why")


@dataclass(frozen=True)
class Student:
    """Somebody on the roster, or known by a file's name alone."""

    id: str
    name: str = ""
    mail: str = ""

    @property
    def shown(self) -> str:
        return f"{self.name} ({self.id})" if self.name and self.name != self.id else self.id


@dataclass(frozen=True)
class Change:
    """Points given by hand for an exercise, and why."""

    student: str
    assignment: str
    exercise: str
    points: float
    why: str


class Roster:
    """Who takes the course; without a file, everybody who hands something in."""

    def __init__(self, path: Path | None = None) -> None:
        self.students: dict[str, Student] = {}
        self._known: dict[str, set[str]] = {}
        if path is None:
            return
        for line, row in _rows(path, ROSTER):
            student = Student(**row)
            if not student.id or student.id in self.students:
                what = "no id" if not student.id else f"the id {student.id} for the second time"
                raise ProblemError(f"{line}: {what}")
            self.students[student.id] = student
            local, _, _ = student.mail.partition("@")
            for name in {student.id, student.mail, local, *_turned(student.name)}:
                self._known.setdefault(_plain(name), set()).add(student.id)

    def find(self, name: str) -> Student:
        """The student that a name stands for: by id, name or mail, if that is one and no other."""
        if name in self.students:
            return self.students[name]
        one = next((found for found in self._fitting(name) if len(found) == 1), ())
        return self.students[next(iter(one))] if one else Student(name)

    def id_of(self, name: str) -> str:
        """The id of the student that a name stands for, or the name itself."""
        return self.find(name).id

    def is_shared(self, name: str) -> bool:
        """Whether several on the roster have this name."""
        return any(len(found) > 1 for found in self._fitting(name))

    def _fitting(self, name: str) -> Iterator[set[str]]:
        """Who has the name, or what stands in it before or after Canvas's number."""
        canvas, _, number = name.rpartition("_")
        for guess in filter(None, (name, canvas and number, canvas)):
            yield self._known.get(_plain(guess), set())


def read_changes(
    path: Path,
    assignments: Mapping[str, Assignment],
    known: Sequence[str] = (),
    who: Callable[[str], str] = str,
) -> list[Change]:
    """Marks given by hand; a file with the names of the columns alone is made where there is none.

    Those for assignments that are `known`, and not graded now, are left alone; `who` tells the
    student that a name stands for.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_first(path, ",".join(CHANGES) + "\n")
    changes: dict[tuple[str, ...], Change] = {}
    for line, row in _rows(path, CHANGES):
        if row["assignment"] in known and row["assignment"] not in assignments:
            continue
        with at(line):
            change = _change(row, assignments, known)
            place = who(change.student), change.assignment, change.exercise
            if place in changes:
                raise ProblemError(f"{', '.join(place)} for the second time")
            changes[place] = change
    return list(changes.values())


def _change(
    row: dict[str, str], assignments: Mapping[str, Assignment], known: Sequence[str]
) -> Change:
    name, exercise = row["assignment"], row["exercise"]
    if name not in assignments:
        names = ", ".join(dict.fromkeys([*assignments, *known]))
        raise ProblemError(f"no assignment {name!r}; there are {names}")
    ids = [problem.id for problem in assignments[name].problems]
    if exercise not in ids:
        raise ProblemError(f"{name} has no exercise {exercise!r}; it has {', '.join(ids)}")
    try:
        points = float(row["points"].replace(",", "."))
    except ValueError:
        points = math.nan
    if not math.isfinite(points):
        raise ProblemError(f"{row['points']!r} is no number")
    return Change(row["student"], name, exercise, points, row["why"])


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of a table with these columns, in any order, after commas or semicolons.

    With each comes the place where it stands.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ProblemError(f"{path} cannot be read: {error}") from None
    first, _, _ = text.partition("\n")
    reader = csv.DictReader(text.splitlines(), delimiter=";" if ";" in first else ",")
    found = [name.strip().lower() for name in reader.fieldnames or ()]
    if missing := [name for name in columns if name not in found]:
        raise ProblemError(
            f"{path} has no column {missing[0]!r}; its first line must be {','.join(columns)}"
        )
    for values in reader:
        row = {
            name: (value or "").strip() for name, value in zip(found, values.values(), strict=False)
        }
        if any(row.values()):
            yield f"{path}, line {reader.line_num}", {name: row[name] for name in columns}


def _plain(name: str) -> str:
    """A name without what its spellings differ in: case, spaces, commas, combining characters."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(c for c in folded if c.isalnum() or c in "@.+-_")


def _turned(name: str) -> list[str]:
    """`de la Cruz Maria`, as Canvas writes it, for `Maria de la Cruz`: each word may come first."""
    words = name.split()
    return ["".join(words[k:] + words[:k]) for k in range(len(words) or 1)]
