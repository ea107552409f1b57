"""The files of a course that people write, less what editors and systems leave beside them."""

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("chaingrad", "chainview", "chainlab")  # that one wheel carries, from the ground up
# Hidden files and folders (.ipynb_checkpoints, .page.md.swp, .#page.md, .DS_Store), copies
# (page.md~, #page.md#), and what Python writes.
LEFT = re.compile(r"\..*|.*~|#.*#|__pycache__|.*\.(egg-info|pyc)|Thumbs\.db|desktop\.ini")
TRIED = re.compile(r"\d+")  # 4913, which Vim writes to see whether the folder takes files


def package(name: str) -> Path:
    """Return the folder of a package, without importing it."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no package {name} is installed", name=name)
    return Path(spec.origin).parent


def is_source(path: Path, folder: Path) -> bool:
    """Return whether a file is a source, going by its name and the folders above it."""
    parts = path.relative_to(folder).parts
    return not any(map(LEFT.fullmatch, parts)) and not TRIED.fullmatch(path.name)


def sources(folder: Path, pattern: str = "*") -> list[Path]:
    """Return the sources within a folder whose names match a pattern, in order."""
    found = (path for path in folder.rglob(pattern) if is_source(path, folder))
    return sorted(path for path in found if path.is_file())


def copy(folder: Path, target: Path) -> None:
    """Copy the sources within a folder to another place."""
    for path in sources(folder):
        place = target / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
