"""The line of code that wrote an operation: whose it is, among the frames of a stack."""

import linecache
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ENGINES = ("torch", "jax", "jaxlib", "chainview", "chaingrad")  # whose frames write no operation
LIBRARIES = tuple(sysconfig.get_paths()[kind] for kind in ("stdlib", "purelib", "platlib"))


@dataclass(frozen=True)
class Line:
    """A line of a file, printed as ``train.py:15``, or as ``In[3]:2`` of a notebook's cell."""

    file: str
    number: int

    @property
    def text(self) -> str:
        """The code, or nothing where its file can't be read."""
        return linecache.getline(self.file, self.number).strip()

    def __str__(self) -> str:
        return f"{_shown(self.file)}:{self.number}"


def line_here() -> Line | None:
    """Return the line of the reader's code that is running, called from within an engine."""
    return first_line(_frames(sys._getframe(1)))


def first_line(frames: Iterable[tuple[str, int]]) -> Line | None:
    """Return the first frame outside of engines, and outside of libraries if there is one.

    Args:
        frames: files and line numbers, the innermost first.
    """
    found = None
    for file, number in frames:
        owner = owner_of(file)
        if owner == "reader":
            return Line(file, number)
        if owner == "library" and found is None:
            found = Line(file, number)
    return found


@cache
def owner_of(file: str) -> str:
    """Return whose code a file is: an engine's, a library's or the reader's."""
    parts = Path(file).parts
    if file.startswith(("<frozen", "<eval_with_key>")):
        return "engine"
    if not _engines().isdisjoint(Path(file).parents):
        return "engine"
    is_library = "site-packages" in parts or "dist-packages" in parts or file.startswith(LIBRARIES)
    return "library" if is_library else "reader"


def _frames(frame: Any) -> Iterator[tuple[str, int]]:
    while frame is not None:
        yield frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back


def _engines() -> set[Path]:
    """Return the folders of the engines that were imported."""
    files = [getattr(sys.modules.get(name), "__file__", None) for name in ENGINES]
    return {Path(file).parent for file in files if file is not None}


def _shown(file: str) -> str:
    """Return a file's name, or a cell's number in a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    cell = shell.compile.format_code_name(file) if shell is not None else None
    return str(cell[1]) if cell else Path(file).name
