r"""Find the submissions in a folder, and whatever in it is not graded; read their cells.

Layouts, which may be mixed: `STUDENT/ASSIGNMENT.ipynb`; nbgrader's `STUDENT/ASSIGNMENT/*.ipynb`;
`ASSIGNMENT/STUDENT.ipynb`, also with a folder for each student; flat, `STUDENT_ASSIGNMENT.ipynb`;
and what learning platforms export (`coursework.names`). A notebook whose name tells nothing goes by
the assignment that its own metadata name; if they name none, to the only one that there is.

An assignment whose answers run alone may come as a file of Python instead, named for it:
`STUDENT/ASSIGNMENT.py`, and so in all layouts.

Of several notebooks by one student, one that has the assignment's name comes before one that says
so inside, and that before all others; of equals the newest counts (by the file's modification
time, then by name). The others are reported, and so is everything else that may be somebody's work:
archives, notebooks saved as text, empty and hidden folders, links, which are never followed.
"""

import contextlib
import json
import os
import re
import stat
import threading
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from coursework import names
from coursework.names import Owner

NOTEBOOK_BYTES = 2**24
CONTAINERS = 400_000  # lists and dicts in a notebook: each takes many times its two characters
CODE_CELLS = 1000
CELL_CHARACTERS = 100_000  # of a cell that is run, or looked at
WORDS_CHARACTERS = 2000
SHOWN = 3  # names of files, where there may be many
DEPTH = 4  # folders within folders
TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}[\w.: +/-]{0,40}")
ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".7z", ".rar", ".bz2", ".xz")
# Files that systems and programs leave behind.
DEBRIS = {".ipynb_checkpoints", "__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", "__pycache__"}
NBGRADER = ("metadata", "nbgrader")  # where a cell's nbgrader metadata is
EXPECTED = {"timestamp.txt", names.GRADESCOPE, "roster.csv"}
_PARSING = threading.Lock()  # one notebook at a time is in memory as a whole


class UnreadableError(ValueError):
    """This file is not a notebook that can be graded; says why, to its author."""


@dataclass(frozen=True)
class Submission:
    """One file of one student; `others` are files that are not graded beside it."""

    student: str
    assignment: str
    path: Path
    timestamp: str = ""
    others: tuple[str, ...] = ()
    canvas: str = ""  # the student's number, where Canvas named the file


@dataclass(frozen=True)
class Stray:
    """What is not graded, and why; whose it is and for what, where its name says so."""

    path: str
    why: str
    student: str = ""
    assignment: str = ""
    disputed: bool = False  # another claims to be the same student

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


@dataclass(frozen=True)
class Cell:
    """A cell: its place among all cells (from 1), its text, whether it is a given check."""

    number: int
    source: str
    is_check: bool = False
    kind: str = "code"


@dataclass(frozen=True)
class Notebook:
    """Code cells, and the student's own Markdown: (the last exercise named before it, text).

    `texts` are the cells that may have been code: the student's own, and those of answers.
    `claim` is the assignment that it says inside it is an answer to, or ""; `student` is the one
    whom it says it was made for, or ""; `tags` mark the instances it says it was made with.
    """

    cells: tuple[Cell, ...]
    words: tuple[tuple[str, str], ...] = ()
    texts: tuple[Cell, ...] = ()
    claim: str = ""
    student: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Collection:
    """What a folder holds."""

    submissions: list[Submission]
    strays: list[Stray]


class _Place(NamedTuple):
    owner: Owner
    assignment: str
    rank: int  # how sure it is: 2 by the file's name, 1 by what is written in it, 0 by default


class _Found(NamedTuple):
    place: _Place
    path: Path

    @property
    def identity(self) -> tuple[str, str]:
        """Return the platform and the number that it wrote; both are "" for a plain name."""
        return (self.place.owner.platform, self.place.owner.number)


def collect(
    folder: Path,
    assignments: Sequence[str],
    known: Sequence[str] = (),
    listed: Callable[[Owner], str] = lambda _: "",
    files: Container[str] = (),
) -> Collection:
    """Collect each student's submission to each assignment, in a fixed order, and the strays.

    `known` are the names of all assignments, also of those not asked for; `listed` returns the
    roster's id for a file's owner, or ""; assignments in `files` may come as files of Python.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder {folder}; it should hold STUDENT/ASSIGNMENT.ipynb")
    names_of_all = [*dict.fromkeys([*assignments, *known])]
    scan = _Scan(folder, names_of_all, listed, files, names.gradescope(folder))
    scan.folder(folder, 0)
    by_place = scan.by_place()
    kept = {place for place in by_place if place[1] in assignments}
    submissions = [_newest(folder, *place, by_place[place]) for place in sorted(kept)]
    strays = [s for s in scan.strays if not s.assignment or s.assignment in assignments]
    return Collection(submissions, sorted(strays, key=lambda s: (not s.disputed, s.path)))


def _newest(folder: Path, student: str, assignment: str, found: Sequence[_Found]) -> Submission:
    ranked = sorted(found, key=lambda f: (f.place.rank, f.path.lstat().st_mtime_ns, f.path))
    *others, (place, chosen) = ranked
    left = tuple(printable(str(path.relative_to(folder))) for _, path in others)
    stamp = _timestamp(chosen.parent) if chosen.parent != folder else ""
    canvas = place.owner.id if place.owner.platform == "canvas" else ""
    return Submission(student, assignment, chosen, stamp, left, canvas)


@dataclass
class _Scan:
    """A walk through a folder, which gives every file and folder to somebody or says why not."""

    root: Path
    known: Sequence[str]
    listed: Callable[[Owner], str]
    files: Container[str]
    gradescope: Mapping[str, Owner]
    platforms: dict[Path, str] = field(default_factory=dict)
    found: list[_Found] = field(default_factory=list)
    strays: list[Stray] = field(default_factory=list)

    def folder(self, folder: Path, depth: int) -> bool:
        """Look through a folder, and return whether it holds a notebook."""
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            self._leave(folder, "a folder that cannot be opened")
            return True
        entries = [entry for entry in entries if entry.name not in DEBRIS]
        notebooks = [e for e in entries if _is_notebook(e) or self._is_file(e)]
        for entry in notebooks:
            self._notebook(Path(entry.path))
        held = bool(notebooks)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                held |= self._subfolder(Path(entry.path), depth)
        files = [e for e in entries if e not in notebooks and not e.is_dir(follow_symlinks=False)]
        others = [e for e in files if e.name not in EXPECTED]
        alone = not held and depth > 0
        everyones = depth == 0 or (depth == 1 and self._named(folder.name) != "")
        for entry in others:
            why = _why_not(entry)
            if why or everyones or alone:
                self._leave(Path(entry.path), why or "not a notebook")
        if alone and not others:
            self._leave(folder, "an empty folder")
        return held or bool(others) or alone

    def _is_file(self, entry: os.DirEntry[str]) -> bool:
        """Return whether this is a file of Python named after an assignment that may be one."""
        if not entry.name.lower().endswith(".py") or entry.is_dir(follow_symlinks=False):
            return False
        place = self._place(Path(entry.path), look_inside=False)
        return place is not None and place.rank == 2 and place.assignment in self.files

    def _subfolder(self, folder: Path, depth: int) -> bool:
        if folder.name.startswith("."):
            self._leave(folder, "a hidden folder: rename it without the dot")
        elif depth >= DEPTH:
            self._leave(folder, f"a folder more than {DEPTH} levels deep")
        else:
            return self.folder(folder, depth + 1)
        return True

    def _notebook(self, path: Path) -> None:
        if path.name.startswith("."):
            self._leave(path, "a hidden file: rename it without the dot")
            return
        place = self._place(path, look_inside=True)
        if place is None:
            claim = _claim(path)
            right = " or ".join(f"{name}.ipynb" for name in self.known)
            unknown = f"of no assignment: name it {right}"
            self._leave(path, f"of the assignment {claim}" if claim else unknown)
            return
        self.found.append(_Found(place, path))

    def by_place(self) -> dict[tuple[str, str], list[_Found]]:
        """Return {(student, assignment): files}, without what two platform identities claim."""
        found: defaultdict[tuple[str, str], list[_Found]] = defaultdict(list)
        for item in self.found:
            found[self._student(item.place.owner), item.place.assignment].append(item)
        kept: defaultdict[tuple[str, str], list[_Found]] = defaultdict(list)
        for (student, assignment), items in found.items():
            claims = dict.fromkeys(item.identity for item in items if item.place.owner.platform)
            disputed = len(claims) > 1 and any(self.listed(i.place.owner) for i in items)
            for item in items:
                if disputed:
                    self._leave_disputed(item, student)
                else:
                    apart = item.identity in list(claims)[1:]
                    own = f"{student}_{item.place.owner.number}" if apart else student
                    kept[own, assignment].append(item)
        return kept

    def _student(self, owner: Owner) -> str:
        """Return the id on the roster, or a name that nobody on the roster has."""
        if known := self.listed(owner):
            return known
        label = _spelled(owner.label)
        while self.listed(Owner(label)):
            label += f"_{owner.number}"
        return label

    def _leave_disputed(self, item: _Found, student: str) -> None:
        why = (
            f"several hand in as {student}, by what the platform says; find out which one is "
            f"{student}, and move the others to folders with ids of their own"
        )
        name = printable(str(item.path.relative_to(self.root)))
        self.strays.append(Stray(name, why, student, item.place.assignment, disputed=True))

    def _leave(self, path: Path, why: str) -> None:
        place = self._place(path, look_inside=False)
        student, assignment = (self._student(place.owner), place.assignment) if place else ("", "")
        name = printable(str(path.relative_to(self.root)))
        self.strays.append(Stray(name, why, student, assignment))

    def _place(self, path: Path, *, look_inside: bool) -> _Place | None:
        """Return who handed in what, going by the path in the folder, or else the notebook."""
        *folders, last = path.relative_to(self.root).parts
        stem = names.stem(last)
        by_name = self._named(stem) or _ending(stem, self.known)
        if not folders and self._named(stem) and not look_inside:
            return _Place(Owner(""), self._named(stem), 0)
        if folders and folders[0] in self.known and folders[1:2] != folders[:1]:
            parent, right = self.root / folders[0], len(folders) == 1 or by_name == folders[0]
            inside = [*folders, last][1]
            plain = inside if len(folders) > 1 else _before(stem, [folders[0]])
            return _Place(self._owner(parent, inside, plain), folders[0], 2 * right)
        plain = folders[0] if folders else _before(stem, self.known)
        owner = self._owner(self.root, [*folders, last][0], plain)
        for name in (*folders[1:], *([stem] if folders else []), _ending(stem, self.known)):
            if assignment := self._named(name):
                return _Place(owner, assignment, 2 * (by_name == assignment))
        if not look_inside:
            return _Place(owner, "", 0) if folders or path.is_dir() else None
        claim = _claim(path)
        if claim in self.known:
            return _Place(owner, claim, 1)
        if len(self.known) == 1 and not claim:
            return _Place(owner, self.known[0], 0)
        return None

    def _owner(self, parent: Path, name: str, plain: str) -> Owner:
        """Return the owner of a file or folder; `plain` is its name if no platform wrote it."""
        if known := self.gradescope.get(name):
            return known
        if parent not in self.platforms:
            entries = (entry.name for entry in os.scandir(parent))
            self.platforms[parent] = names.platform_of(entries)
        return names.owner(name, self.platforms[parent], _spelled(plain))

    def _named(self, name: str) -> str:
        """Return the assignment with this name, ignoring case; or ""."""
        found = [known for known in self.known if known.casefold() == name.casefold()]
        return found[0] if found else ""


def _is_notebook(entry: os.DirEntry[str]) -> bool:
    return entry.name.lower().endswith(".ipynb") and not entry.is_dir(follow_symlinks=False)


def _why_not(entry: os.DirEntry[str]) -> str:
    """Return why a file that may be somebody's work is not graded, or ""."""
    name = entry.name.lower()
    if entry.is_symlink():
        return "a link, which is not followed"
    if name.endswith(ARCHIVES):
        return "an archive: unpack it"
    if ".ipynb" in name:
        return "not a notebook by its name: rename it so that it ends in .ipynb"
    return ""


def _ending(stem: str, known: Sequence[str]) -> str:
    """Return the assignment at the end of `STUDENT_ASSIGNMENT`, or ""."""
    low = stem.casefold()
    ends = (n for n in known for sign in "_-" if low.endswith(sign + n.casefold()))
    found = max(ends, key=len, default="")
    return found if len(stem) > len(found) + 1 else ""


def _before(stem: str, known: Sequence[str]) -> str:
    ending = _ending(stem, known)
    return stem[: -len(ending) - 1] if ending else stem


def read_bytes(path: Path) -> bytes:
    """Return the file's content, if it is an ordinary file of a sensible size."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise UnreadableError(f"the file cannot be opened: {error.strerror}") from error
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("this is not an ordinary file")
        content = file.read(NOTEBOOK_BYTES + 1)
    if len(content) > NOTEBOOK_BYTES:
        raise UnreadableError(
            f"the notebook is larger than {NOTEBOOK_BYTES >> 20} MiB: "
            "clear its outputs (Edit, Clear Outputs of All Cells) and hand it in again"
        )
    return content


def read_file(content: bytes) -> Notebook:
    """Return a file of Python as a notebook of one cell; raise `UnreadableError` if it is none."""
    try:
        source = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError("the file is not text in UTF-8") from error
    return Notebook((Cell(1, source),))


def read_notebook(content: bytes) -> Notebook:
    """Return the cells of a notebook in format 3 or 4; raise `UnreadableError` for any other."""
    with _PARSING:
        return _read(_parse(content))


def _parse(content: bytes) -> dict[str, object]:
    if content.count(b"{") + content.count(b"[") > CONTAINERS:
        raise UnreadableError(
            "the notebook holds too much: clear its outputs (Edit, Clear Outputs of All Cells) "
            "and hand it in again"
        )
    try:
        notebook = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UnreadableError("this is not a Jupyter notebook: the file is not JSON") from error
    if not isinstance(notebook, dict) or "nbformat" not in notebook:
        raise UnreadableError("this is not a Jupyter notebook: it names no notebook format")
    return notebook


def _read(notebook: Mapping[str, object]) -> Notebook:
    if notebook["nbformat"] == 4:
        cells = _list(notebook.get("cells"))
    elif notebook["nbformat"] == 3:
        sheets = _list(notebook.get("worksheets"))
        cells = [cell for sheet in sheets for cell in _list(_within(sheet, "cells"))]
    else:
        number = notebook["nbformat"]
        named = f" {number}" if type(number) is int and abs(number) < 1000 else ""
        raise UnreadableError(
            f"its notebook format{named} is not known here; "
            "save it as format 4, the one that Jupyter writes"
        )
    code: list[Cell] = []
    words: list[tuple[str, str]] = []
    texts: list[Cell] = []
    last = ""
    for number, cell in enumerate(cells, 1):
        name, kind = _text(cell, *NBGRADER, "grade_id")[:100], _within(cell, "cell_type")
        last = name or last
        if kind == "code":
            code.append(Cell(number, _source(cell), _is_check(cell)))
            continue
        if kind == "markdown" and not name:
            words.append((last, _source(cell).strip()[:WORDS_CHARACTERS]))
        if kind in ("markdown", "raw") and (not name or _is_answer(cell)):
            texts.append(Cell(number, _source(cell), kind=str(kind)))
    if len(code) > CODE_CELLS:
        raise UnreadableError(f"the notebook has more than {CODE_CELLS} code cells")
    said = tuple(item for item in words if item[1])[:CODE_CELLS]
    claim, student = (_said(notebook, name) for name in ("assignment", "student"))
    return Notebook(tuple(code), said, tuple(texts[:CODE_CELLS]), claim, student, _tags(notebook))


def printable(text: str) -> str:
    r"""Spell out what a terminal would obey and what UTF-8 cannot write.

    Spaces and joiners that writing systems need are kept.

    >>> printable("Zoë\x1b[2J"), printable("山田\u3000太郎")
    ('Zoë\\x1b[2J', '山田\u3000太郎')
    """
    return "".join(c if _is_harmless(c) else ascii(c)[1:-1] for c in text)


def _is_harmless(character: str) -> bool:
    if character.isprintable() or character in "\u200c\u200d":
        return True
    return unicodedata.category(character) == "Zs"


def _claim(path: Path) -> str:
    """Return the assignment that a notebook says it answers, or ""."""
    with contextlib.suppress(UnreadableError), _PARSING:
        return _said(_parse(read_bytes(path)), "assignment")
    return ""


def _said(notebook: object, name: str) -> str:
    return printable(_text(notebook, "metadata", "coursework", name))[:100]


def _tags(notebook: object) -> dict[str, str]:
    found = _within(notebook, "metadata", "coursework", "instances")
    pairs = found.items() if isinstance(found, dict) else ()
    return {str(name): tag for name, tag in pairs if isinstance(tag, str)}


def _spelled(name: str) -> str:
    """Return one spelling for names that some systems write with combining characters."""
    return unicodedata.normalize("NFC", printable(name.lstrip(".")))


def _timestamp(folder: Path) -> str:
    """Return the time in nbgrader's `timestamp.txt`, or "" if there is none."""
    try:
        text = read_bytes(folder / "timestamp.txt")[:100].decode(errors="replace").strip()
    except UnreadableError:
        return ""
    return text.removesuffix(" UTC") if TIMESTAMP.fullmatch(text) else ""


def _source(cell: object) -> str:
    old = not (isinstance(cell, dict) and "source" in cell)
    source = _within(cell, "input" if old else "source")
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    return text.encode("utf-8", "backslashreplace").decode()  # all of it can be written


def _is_check(cell: object) -> bool:
    return _within(cell, *NBGRADER, "grade") is True and not _is_answer(cell)


def _is_answer(cell: object) -> bool:
    return _within(cell, *NBGRADER, "solution") is True


def _text(data: object, *path: str) -> str:
    found = _within(data, *path)
    return found if isinstance(found, str) else ""


def _within(data: object, *path: str) -> object:
    """Return the value under these names in nested dicts; None where there is none."""
    for name in path:
        data = data.get(name) if isinstance(data, dict) else None
    return data


def _list(value: object) -> Iterable[object]:
    return value if isinstance(value, list) else []
