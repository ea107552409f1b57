"""Whose a file is, by the names that learning platforms and browsers give it.

- Moodle: `Ada Lovelace_4711_assignsubmission_file/`, also in front of a file's name. Its number is
  another for each assignment, so the student is the name.
- Canvas: `lovelaceada_12345_67890_layers-1.ipynb`, with `_LATE_` or not. Its first number is the
  student's own, and stays with the name.
- Gradescope: `submission_123456/`, whose students stand in `submission_metadata.yml`.

Behind the platform's own words a name holds text that the student chose: it says nothing of whose
the file is. Nor does a display name, which students may change, stand for an id.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import yaml  # type: ignore[import-untyped]

GRADESCOPE = "submission_metadata.yml"
# Files that systems and programs leave behind.
DEBRIS = {".ipynb_checkpoints", "__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", "__pycache__"}
ENDING = re.compile(
    r"(\.ipynb|\.json|\.txt|\.html|\.py|\.md|\.pdf|\.zip|\.tar|\.t?gz|\.7z|\.rar)+$", re.I
)
COPY = re.compile(r"( ?\(\d+\)|-Copy\d*)+$")
# The prefix that a platform writes before a file's own name; Moodle writes whole folder names.
MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>[0-9]+)_assignsubmission_[a-z]+", re.S)
MOODLE_FOLDER = re.compile(r"(?P<name>.+)_(?P<number>[0-9]+)_assignsubmission_[a-z]+_?", re.S)
CANVAS = re.compile(r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<id>[0-9]+)_[0-9]+_", re.S)


class Owner(NamedTuple):
    """A student in the words of the platform that named a file or folder, or in a plain name.

    `number` tells two of one name apart; `id` and `mail` are known where the platform wrote them.
    """

    name: str
    number: str = ""
    id: str = ""
    mail: str = ""
    platform: str = ""

    @property
    def label(self) -> str:
        """Return what tables call a student who is on no roster."""
        if self.platform == "canvas":
            return f"{self.name}_{self.id}"
        return self.id or self.mail or self.name


def split(name: str, assignments: Iterable[str]) -> tuple[str, str]:
    """Return what stands before the name of an assignment in a file's name, and that assignment.

    What follows it, such as the signs of a copy, counts for nothing. Where no assignment is named,
    the first is the whole name without its type.

    >>> split("layers-Copy1.ipynb", ["layers"]), split("d_e-Layers (1).ipynb.txt", ["layers"])
    (('', 'layers'), ('d_e', 'layers'))
    >>> split("ada.ipynb", ["layers"]), split("own-engine.py", ["engine", "own-engine"])
    (('ada', ''), ('', 'own-engine'))
    """
    bare = ENDING.sub("", name)
    for known in sorted(assignments, key=len, reverse=True):
        pattern = rf"(?:(.*)[_-])?{re.escape(known)}(?![^\W_]).*"
        if found := re.fullmatch(pattern, bare, re.IGNORECASE | re.DOTALL):
            return found[1] or "", known
    return COPY.sub("", bare), ""


def platform_of(names: Iterable[str]) -> str:
    """Return the platform that wrote a folder's names if both patterns fit: "canvas" or "moodle".

    Names that fit only one pattern decide. A student cannot write a platform's prefix into the
    names of other students' files.

    >>> platform_of(["bo_1_2_a.ipynb", "eve_3_4_Ada_1_assignsubmission_file_a.ipynb"])
    'canvas'
    """
    fits = [(bool(CANVAS.match(name)), bool(MOODLE.match(name))) for name in names]
    return "moodle" if fits.count((False, True)) > fits.count((True, False)) else "canvas"


def owner(name: str, platform: str, plain: str) -> Owner:
    """Return the student that a folder or file with this full name belongs to.

    `platform` wrote the names of the folder around it; `plain` is the name if none did.

    >>> owner("Ada Lovelace_4711_assignsubmission_file", "moodle", "").name
    'Ada Lovelace'
    >>> owner("lovelaceada_12345_67890_layers.ipynb", "canvas", "").label
    'lovelaceada_12345'
    """
    moodle = MOODLE_FOLDER.fullmatch(name) or MOODLE.match(name)
    canvas = CANVAS.match(name)
    if canvas and (platform == "canvas" or not moodle):
        return Owner(canvas["name"], canvas["id"], id=canvas["id"], platform="canvas")
    if moodle:
        return Owner(moodle["name"], moodle["number"], platform="moodle")
    return Owner(plain)


def platform_prefix(name: str) -> tuple[str, str] | None:
    """Return the platform that wrote a file's or folder's name, and all that it wrote.

    >>> platform_prefix("lovelaceada_12345_67890_layers.ipynb")
    ('canvas', 'lovelaceada_12345_67890_')
    >>> platform_prefix("Ada Lovelace_4711_assignsubmission_file")
    ('moodle', 'Ada Lovelace_4711_assignsubmission_file_')
    """
    if found := CANVAS.match(name):
        return "canvas", found[0]
    if found := MOODLE_FOLDER.fullmatch(name) or MOODLE.match(name):
        return "moodle", found[0].removesuffix("_") + "_"
    return None


def is_marked_late(name: str) -> bool:
    """Return whether Canvas wrote into a file's name that it came late."""
    found = CANVAS.match(name)
    return bool(found and found["late"])


def gradescope_times(folder: Path) -> dict[str, str]:
    """Return {folder: when it was handed in} of a Gradescope export; empty for any other folder."""
    times = {}
    for name, entry in _gradescope(folder).items():
        if isinstance(entry, dict) and entry.get(":created_at"):
            times[name] = str(entry[":created_at"])
    return times


def gradescope(folder: Path) -> dict[str, tuple[Owner, ...]]:
    """Return {folder: all who submitted it} of a Gradescope export; empty for any other folder."""
    try:
        return {name: _submitters(name, entry) for name, entry in _gradescope(folder).items()}
    except (AttributeError, LookupError, TypeError):
        return {}


def _gradescope(folder: Path) -> dict[str, Any]:
    try:
        data = yaml.safe_load((folder / GRADESCOPE).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    return data if isinstance(data, dict) else {}


def _submitters(folder: str, entry: dict[str, list[dict[str, str]]]) -> tuple[Owner, ...]:
    return tuple(_submitter(folder, person) for person in entry[":submitters"]) or (Owner(folder),)


def _submitter(folder: str, person: dict[str, str]) -> Owner:
    sid, mail, name = (
        str(person.get(key) or "").replace("/", "-") for key in (":sid", ":email", ":name")
    )
    if not (sid or mail or name):
        raise LookupError(f"{folder} has a submitter without a name")
    return Owner(name, sid or mail or folder, sid, mail, "gradescope")
