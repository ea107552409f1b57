"""Whose a file is, by the names that learning platforms and browsers give it.

- Copies: `layers-Copy1.ipynb`, which Jupyter makes, `layers (1).ipynb`, `layers copy 2.ipynb`,
  `layers - Copy.ipynb`, and the same in German, French, Spanish and Italian.
- Moodle: `Ada Lovelace_4711_assignsubmission_file/`, also in front of a file's name. Its number is
  another for each assignment, so the student is the name.
- Canvas: `lovelaceada_12345_67890_layers-1.ipynb`, with `_LATE_` or not. Its first number is the
  student's own, and stays with the name.
- Gradescope: `submission_123456/`, whose students stand in `submission_metadata.yml`.
"""

import re
from pathlib import Path
from typing import NamedTuple

import yaml  # type: ignore[import-untyped]

GRADESCOPE = "submission_metadata.yml"
ENDING = re.compile(r"(\.ipynb|\.txt|\.html|\.py|\.pdf|\.zip|\.tar|\.t?gz|\.7z|\.rar)+$", re.I)
COPY = re.compile(r"( ?\(\d+\)|-Copy\d*|( [-–])? (copy|kopie|copie|copia)( \d+)?)+$", re.I)
MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_[a-z]+_?(?P<rest>.*)", re.S)
CANVAS = re.compile(r"(?P<name>[^_]+)(_LATE)?_(?P<id>\d+)_\d+_(?P<rest>.+)", re.S)
CANVAS_COPY = re.compile(r"-\d+$")


class Owner(NamedTuple):
    """A student, and the number by which a platform tells two of one name apart, or ""."""

    name: str
    number: str = ""


def stem(name: str) -> str:
    """A file's name without what says its type or that it is a copy; platforms' names stay.

    >>> stem("layers-Copy1.ipynb"), stem("ada.ipynb.txt"), stem("ada_1_2_layers-1.ipynb")
    ('layers', 'ada', 'ada_1_2_layers')
    """
    bare = COPY.sub("", ENDING.sub("", name))
    return CANVAS_COPY.sub("", bare) if CANVAS.fullmatch(bare) else bare


def owner(name: str) -> Owner:
    """The student that a folder, or a file's stem without the assignment, is named for.

    >>> owner("Ada Lovelace_4711_assignsubmission_file"), owner("lovelaceada_12345_67890").name
    (Owner(name='Ada Lovelace', number='4711'), 'lovelaceada_12345')
    """
    if found := MOODLE.fullmatch(name):
        return Owner(found["name"], found["number"])
    if found := CANVAS.fullmatch(f"{name}_x") or CANVAS.fullmatch(name):
        return Owner(f"{found['name']}_{found['id']}")
    return Owner(name)


def canvas_id(name: str) -> str:
    """The student's own number in a file's name that Canvas gave it, or "".

    >>> canvas_id("lovelaceada_LATE_12345_67890_layers-1.ipynb")
    '12345'
    """
    found = CANVAS.fullmatch(name)
    return found["id"] if found and not MOODLE.fullmatch(name) else ""


def gradescope(folder: Path) -> dict[str, str]:
    """{submission's folder: student} of a Gradescope export; empty for any other folder."""
    try:
        data = yaml.safe_load((folder / GRADESCOPE).read_text(encoding="utf-8"))
        return {name: _submitter(entry) for name, entry in data.items()}
    except (OSError, ValueError, yaml.YAMLError, AttributeError, LookupError, TypeError):
        return {}


def _submitter(entry: dict[str, list[dict[str, str]]]) -> str:
    first = entry[":submitters"][0]
    known = (first.get(key) for key in (":sid", ":email", ":name"))
    return str(next(filter(None, known))).replace("/", "-")
