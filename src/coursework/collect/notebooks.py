"""Read the cells of a notebook that a student handed in, whatever is in the file."""

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from coursework.collect import formats
from coursework.collect.outputs import without_outputs

FILE_BYTES = 2**26
NOTEBOOK_BYTES = 2**24  # besides its outputs
CLEAR = (
    "clear its outputs (in JupyterLab: Edit, Clear Outputs of All Cells; in Colab: Edit, Clear all "
    "outputs)"
)
CONTAINERS = 400_000  # lists and dicts in a notebook: each takes many times its two characters
NO_NOTEBOOK = "this is not a Jupyter notebook"
AGAIN = "and hand it in again"
CODE_CELLS = 1000
CELL_CHARACTERS = 100_000  # of a cell that is run, or looked at
WORDS_CHARACTERS = 2000
ALL_WORDS = 50_000  # characters of a notebook's Markdown that are shown
NBGRADER = ("metadata", "nbgrader")  # where a cell's nbgrader metadata is


class UnreadableError(ValueError):
    """This file is not a notebook that can be graded; says why, to its author."""


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
    """

    cells: tuple[Cell, ...]
    words: tuple[tuple[str, str], ...] = ()
    texts: tuple[Cell, ...] = ()


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
        content = file.read(FILE_BYTES + 1)
    if len(content) > FILE_BYTES:
        mib = FILE_BYTES >> 20
        raise UnreadableError(f"the notebook is larger than {mib} MiB: {CLEAR} {AGAIN}")
    return formats.only_notebook(content, FILE_BYTES) or content


def read_work(path: Path, content: bytes) -> Notebook:
    """Return the cells of a notebook, or of Python; raise `UnreadableError` if it has none."""
    if path.suffix.lower() != ".py":
        return read_notebook(content)
    try:
        return Notebook((Cell(1, formats.decoded(content)),))
    except UnicodeDecodeError as error:
        raise UnreadableError("the file is not text in UTF-8") from error


def read_notebook(content: bytes) -> Notebook:
    """Return the cells of a notebook in format 3 or 4; raise `UnreadableError` for any other."""
    return _read(_parse(content))


def _parse(content: bytes) -> dict[str, object]:
    try:
        lean = without_outputs(formats.decoded(content).encode())
    except ValueError:
        raise UnreadableError(f"{NO_NOTEBOOK}: the file is not text in UTF-8") from None
    if len(lean) > NOTEBOOK_BYTES:
        mib = NOTEBOOK_BYTES >> 20
        raise UnreadableError(
            f"the notebook holds more than {mib} MiB besides its outputs: take data and long texts "
            f"out of its cells {AGAIN}"
        )
    if lean.count(b"{") + lean.count(b"[") > CONTAINERS:
        raise UnreadableError(f"the notebook holds too much: {CLEAR} {AGAIN}")
    try:
        notebook = json.loads(lean)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"{NO_NOTEBOOK}: {_what(lean, error)}") from error
    if not isinstance(notebook, dict) or "nbformat" not in notebook:
        raise UnreadableError(f"{NO_NOTEBOOK}: it names no notebook format")
    return notebook


def _what(content: bytes, error: Exception) -> str:
    """Say what a file is that holds no JSON."""
    start = content.lstrip()[:20].lower()
    if not start:
        return "the file is empty"
    if start.startswith((b"<!doctype html", b"<html")):
        return "the file is a page of the web; download the notebook itself"
    if start.startswith(b"pk\x03\x04"):
        return "the file is a zip archive; unpack it"
    if re.search(rb"^(<{7}|>{7}) ", content, re.MULTILINE):
        return "the file holds both sides of a conflict that git could not merge (<<<<<<<)"
    place = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
    return f"the file is not JSON{place}"


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
    said = (item for item in words if item[1])
    return Notebook(tuple(code), tuple(_first_words(said)), tuple(texts[:CODE_CELLS]))


def _first_words(words: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield as many texts as one page has room for, and a last one that says so."""
    left = ALL_WORDS
    for name, text in words:
        left -= len(text)
        if left < 0:
            yield name, f"(Here the notebook's text passes {ALL_WORDS:,} characters.)"
            return
        yield name, text


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
