"""Find the submissions in a folder and read their cells, whatever they are.

Layouts, which may be mixed: `<student>/<assignment>.ipynb`; nbgrader's own
`<student>/<assignment>/<any name>.ipynb`; `<assignment>/<student>.ipynb`, also with a folder for
each student; and flat, `<student>_<assignment>.ipynb`. A notebook whose name tells nothing,
`<student>.ipynb` or `<student>/notes (1).ipynb`, goes by the assignment that its own metadata name;
if they name none, to the only one that is graded. Of several submissions by one student the newest
(by the file's modification time, then by name) is graded and the others are reported. Links are
never followed.
"""

import contextlib
import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

NOTEBOOK_BYTES = 2**24
CODE_CELLS = 1000
SHOWN = 3  # names of files, where there may be many
TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}[\w.: +/-]{0,40}")


class UnreadableError(ValueError):
    """This file is not a notebook that can be graded; says why, to its author."""


@dataclass(frozen=True)
class Submission:
    """One file of one student; `older` are the files that it replaces."""

    student: str
    assignment: str
    path: Path
    timestamp: str = ""
    older: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cell:
    """A code cell: its place among all cells (from 1), its text, whether it is a given check."""

    number: int
    source: str
    is_check: bool = False


def find_submissions(folder: Path, assignments: Sequence[str]) -> list[Submission]:
    """The submission of each student to each assignment, in a fixed order."""
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder {folder}; it should hold <student>/<assignment>.ipynb")
    found: dict[tuple[str, str], list[Path]] = {}
    for path in _notebooks(folder):
        if place := _student_and_assignment(folder, path, assignments):
            found.setdefault(place, []).append(path)
    submissions = []
    for (student, assignment), paths in sorted(found.items()):
        *older, newest = sorted(paths, key=lambda path: (path.lstat().st_mtime_ns, path))
        names = tuple(printable(str(path.relative_to(folder))) for path in older)
        stamp = _timestamp(newest.parent) if newest.parent != folder else ""
        submissions.append(Submission(student, assignment, newest, stamp, names))
    return submissions


def left_out(folder: Path, assignments: Sequence[str]) -> list[str]:
    """What is in the folder and is not graded, and why: a line for each reason."""
    seen: set[str] = set()
    strange: dict[str, list[str]] = {}
    for path in _notebooks(folder):
        name = path.relative_to(folder)
        seen.add(name.parts[0])
        if not _student_and_assignment(folder, path, assignments):
            strange.setdefault(_claim(path), []).append(printable(str(name)))
    hint = f"of no assignment (name it {' or '.join(f'{name}.ipynb' for name in assignments)})"
    lines = [f"{hint}: {name}" for name in strange.pop("", [])]
    for claim, names in sorted(strange.items()):
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        lines.append(f"of the assignment {claim}: {', '.join(names[:SHOWN])}{more}")
    others = (n for n in sorted(os.listdir(folder)) if n not in seen and not n.startswith("."))
    return lines + [f"{_why_nothing(folder / n)}: {printable(n)}" for n in others]


def read_bytes(path: Path) -> bytes:
    """The file's content, if it is an ordinary file of a sensible size."""
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


def read_cells(content: bytes) -> list[Cell]:
    """The code cells of a notebook in format 3 or 4; raises `UnreadableError`."""
    try:
        notebook = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UnreadableError("this is not a Jupyter notebook: the file is not JSON") from error
    if not isinstance(notebook, dict) or "nbformat" not in notebook:
        raise UnreadableError("this is not a Jupyter notebook: it names no notebook format")
    if notebook["nbformat"] == 4:
        cells = _list(notebook.get("cells"))
    elif notebook["nbformat"] == 3:
        sheets = filter(_is_mapping, _list(notebook.get("worksheets")))
        cells = [cell for sheet in sheets for cell in _list(sheet.get("cells"))]
    else:
        number = notebook["nbformat"]
        named = f" {number}" if type(number) is int and abs(number) < 1000 else ""
        raise UnreadableError(
            f"its notebook format{named} is not known here; "
            "save it as format 4, the one that Jupyter writes"
        )
    numbered = ((i, cell) for i, cell in enumerate(cells, 1) if _is_mapping(cell))
    code = [_cell(i, cell) for i, cell in numbered if cell.get("cell_type") == "code"]
    if len(code) > CODE_CELLS:
        raise UnreadableError(f"the notebook has more than {CODE_CELLS} code cells")
    return code


def writable(text: str) -> str:
    """The text with what UTF-8 cannot write spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()


def printable(name: str) -> str:
    r"""A name with what a terminal would obey, and what UTF-8 cannot write, spelled out.

    >>> printable("Zoë\x1b[2J")
    'Zoë\\x1b[2J'
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name)


def _notebooks(folder: Path) -> Iterator[Path]:
    """Files called notebooks, in three levels of folders, in a fixed order; nothing hidden."""
    for directory, folders, files in os.walk(folder, followlinks=False):
        depth = len(Path(directory).relative_to(folder).parts)
        folders[:] = sorted(f for f in folders if not f.startswith(".")) if depth < 3 else []
        for name in sorted(files):
            if name.endswith(".ipynb") and not name.startswith("."):
                yield Path(directory, name)


def _student_and_assignment(
    folder: Path, path: Path, assignments: Sequence[str]
) -> tuple[str, str] | None:
    """Who handed in what, from the path inside the folder, or else from the notebook."""
    *folders, _ = path.relative_to(folder).parts
    stem = path.stem
    ending = max((name for name in assignments if _is_suffix(name, stem)), key=len, default="")
    rest = stem[: -len(ending) - 1] if ending else stem
    if folders and folders[0] in assignments and folders[1:2] != folders[:1]:
        return _student(folders[1] if len(folders) > 1 else rest), folders[0]
    known = [name for name in folders[1:] if name in assignments]
    known += [name for name in (stem if folders else "", ending) if name in assignments]
    name = known[0] if known else _claimed(path, assignments)
    return (_student(folders[0] if folders else rest), name) if name else None


def _claimed(path: Path, assignments: Sequence[str]) -> str | None:
    """The assignment that a notebook says it is, or the only one if it says nothing."""
    claim = _claim(path)
    if claim in assignments:
        return claim
    return assignments[0] if len(assignments) == 1 and not claim else None


def _claim(path: Path) -> str:
    """What a notebook says it is an answer to, or ""."""
    with contextlib.suppress(UnreadableError, ValueError, RecursionError, AttributeError):
        metadata = json.loads(read_bytes(path)).get("metadata", {})
        claim = metadata.get("coursework", {}).get("assignment")
        return printable(claim)[:50] if isinstance(claim, str) else ""
    return ""


def _why_nothing(path: Path) -> str:
    """Why an entry of the folder gives no notebook."""
    if path.is_symlink():
        return "a link, which is not followed"
    if not path.is_dir():
        return "not a notebook"
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return "a folder that cannot be opened"
    held = ", ".join(map(printable, names[:SHOWN])) or "nothing"
    return f"a folder without a notebook (it holds {held})"


def _is_suffix(assignment: str, stem: str) -> bool:
    return stem.endswith(("_" + assignment, "-" + assignment)) and len(stem) > len(assignment) + 1


def _student(name: str) -> str:
    """One spelling for names that some systems write with combining characters."""
    return unicodedata.normalize("NFC", printable(name))


def _timestamp(folder: Path) -> str:
    """What nbgrader's `timestamp.txt` says, if there is one."""
    try:
        text = read_bytes(folder / "timestamp.txt")[:100].decode(errors="replace").strip()
    except UnreadableError:
        return ""
    return text if TIMESTAMP.fullmatch(text) else ""


def _cell(number: int, cell: Mapping[str, object]) -> Cell:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    metadata = cell.get("metadata")
    own = metadata.get("nbgrader") if _is_mapping(metadata) else None
    is_check = _is_mapping(own) and own.get("grade") is True and own.get("solution") is not True
    return Cell(number, writable(source) if isinstance(source, str) else "", is_check)


def _list(value: object) -> Iterable[object]:
    return value if isinstance(value, list) else []


def _is_mapping(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, dict)
