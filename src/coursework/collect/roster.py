"""Who takes the course.

`roster.csv` has a column `id`, and may have `name`, `mail` and `group`; a student's folder or file
may be named by any of the first three. What Moodle and Canvas export is a roster, too. Those of one
group hand in together what is not drawn for each.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursework.collect.formats import decoded
from coursework.collect.platforms import Owner
from coursework.exercise.trusted import ProblemError, errors_at
from coursework.ids import folded, id_key

# The columns of a roster by their names here, in Moodle's lists and in Canvas's gradebook. Where
# several are filled in, the first counts, but first and last names belong together.
ROSTER = {
    "id": ("sis user id", "id number", "id"),
    "name": ("name", "full name", "student", "first name", "last name", "surname"),
    "mail": ("mail", "email address", "email", "sis login id"),
    "group": ("group", "groups"),
    "number": ("id",),  # Canvas's own, beside the SIS User ID
}
NAMES = ("first name", "last name", "surname")
POSSIBLE = "Points Possible"  # Canvas's second line


@dataclass(frozen=True)
class Student:
    """Somebody on the roster, or known by a file's name alone."""

    id: str
    name: str = ""
    mail: str = ""
    group: str = ""
    number: str = ""  # by which Canvas names files

    @property
    def shown(self) -> str:
        return f"{self.name} ({self.id})" if self.name and self.name != self.id else self.id


class Roster:
    """Who takes the course; without a file, everybody who hands something in."""

    def __init__(self, path: Path | None = None) -> None:
        self.students: dict[str, Student] = {}
        self._ids: dict[str, str] = {}
        self._numbers: dict[str, str] = {}
        self._groups: dict[str, list[Student]] = {}
        self._mails: dict[str, set[str]] = {}
        self._names: dict[str, set[str]] = {}
        self._locals: dict[str, set[str]] = {}  # the mails' parts before the @
        if path is None:
            return
        for line, row in table_rows(path):
            with errors_at(line):
                if student := _student(row):
                    self._add(student)

    def _add(self, student: Student) -> None:
        if not student.id:
            raise ProblemError("a student without an id; give everybody on the roster one")
        if before := self._ids.get(id_key(student.id)):
            raise ProblemError(
                f"the id {student.id} is that of an earlier line, {before}; "
                f"give each student an id that differs in more than case and leading zeros"
            )
        self.students[student.id] = student
        self._ids[id_key(student.id)] = student.id
        if student.number:
            self._numbers[student.number] = student.id
        if student.group:
            self._groups.setdefault(folded(student.group), []).append(student)
        local, _, _ = student.mail.partition("@")
        for table, texts in (
            (self._mails, [student.mail]),
            (self._names, _turned(student.name)),
            (self._locals, [local]),
        ):
            for key in filter(None, map(folded, texts)):
                table.setdefault(key, set()).add(student.id)

    def find(self, name: str) -> Student:
        """Find the student whose id, name or mail this is, if it fits exactly one student."""
        if name and (known := self._ids.get(id_key(name))):
            return self.students[known]
        found = self._named(name)
        return self.students[next(iter(found))] if len(found) == 1 else Student(name)

    def listed(self, owner: Owner) -> str:
        """Return the id of the student on the roster who owns a file, or "".

        A platform's id and mail count before the name, because students may change their names.
        The name that a platform shows is looked up only among names.
        """
        if not owner.platform:
            plain = self.find(owner.name).id
            return plain if plain in self.students else ""
        if owner.platform == "canvas" and (known := self._numbers.get(owner.id)):
            return known
        for text in filter(None, (owner.id, owner.mail)):
            if known := self._ids.get(id_key(text)):
                return known
        mails, names = (
            table.get(folded(text), set())
            for table, text in ((self._mails, owner.mail), (self._names, owner.name))
        )
        return next((next(iter(found)) for found in (mails, names) if len(found) == 1), "")

    def mates(self, student: Student) -> list[Student]:
        """Return the others in the student's group."""
        group = self._groups.get(folded(student.group), []) if student.group else []
        return [other for other in group if other != student]

    def id_of(self, name: str) -> str:
        """Return the id of the student that a name stands for, or the name itself."""
        return self.find(name).id

    def is_shared(self, name: str) -> bool:
        """Return whether several students on the roster have this name."""
        before, _, _ = name.rpartition("_")  # of a platform's number
        return any(len(self._named(guess)) > 1 for guess in (name, before))

    def _named(self, name: str) -> set[str]:
        """Return the ids with this name, mail, or part of a mail before the @."""
        tables = (self._mails, self._names, self._locals)
        return set().union(*(table.get(folded(name), ()) for table in tables))


def _student(row: Mapping[str, str]) -> Student | None:
    """Return the student in a row of a roster; None for the row that Canvas writes for points."""
    found = {
        what: next((row[name] for name in columns if row.get(name)), "")
        for what, columns in ROSTER.items()
    }
    whole = " ".join(filter(None, (row.get(name) for name in NAMES)))
    if not found["id"] and found["name"] == POSSIBLE:
        return None
    if "sis user id" not in row or found["number"] == found["id"]:
        found["number"] = ""
    return Student(**found | ({"name": whole} if whole else {}))


def table_rows(path: Path, columns: Sequence[str] = ()) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a table, split at commas, semicolons or tabs, each with its file and line.

    Its first line must name these columns, in any order; a roster's must name one with an id.
    """
    lines = _text(path).splitlines()
    first = lines[0] if lines else ""
    reader = csv.reader(lines, delimiter=max(",;\t", key=first.count))
    found = [name.strip().lower() for name in next(reader, [])]
    if twice := [name for name, count in Counter(filter(None, found)).items() if count > 1]:
        raise ProblemError(f"{path} has two columns {twice[0]!r}; take one out, or rename it")
    wanted = columns or ("id",)
    missing = [name for name in wanted if name not in found]
    if missing and (columns or not {*ROSTER["id"]} & {*found}):
        raise ProblemError(
            f"{path} has no column {missing[0]!r}; its first line must be {','.join(wanted)}"
        )
    for values in reader:
        if any(more := [value.strip() for value in values[len(found) :]]):
            raise ProblemError(
                f"{path}, line {reader.line_num}: {', '.join(more)!r} stands in no column; the "
                f"first line names {len(found)}: {', '.join(found)}. Name a column for it there; "
                'write a number with a point, or in quotes: "1,5"'
            )
        row = {name: value.strip() for name, value in zip(found, values, strict=False)}
        if any(row.values()):
            yield f"{path}, line {reader.line_num}", dict.fromkeys(wanted, "") | row


def _text(path: Path) -> str:
    """Return the text of a table in UTF-8, UTF-16, or what Excel writes in the west."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ProblemError(f"{path} cannot be read: {error}") from None
    try:
        return decoded(content)
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _turned(name: str) -> list[str]:
    """Return all rotations of a name: Canvas writes `de la Cruz Maria` for `Maria de la Cruz`."""
    words = name.split()
    return ["".join(words[k:] + words[:k]) for k in range(len(words) or 1)]
