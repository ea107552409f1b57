"""Files that others, or a later run, may read while they are written."""

import hashlib
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that it appears whole or not at all, however this process ends."""
    with replaced(path) as part:
        part.write_text(text, encoding="utf-8")


def file_name(student: str) -> str:
    """Return a student's id as the name of a file or folder; a digest tells changed ones apart.

    >>> file_name("u007"), file_name("../u007")
    ('u007', '-u007-69381761219d')
    """
    safe = portable(student).lstrip(".")
    if safe == student and len(student.encode()) <= 100:
        return student
    return f"{safe[:25]}-{hashlib.sha256(student.encode()).hexdigest()[:12]}"


def portable(name: str) -> str:
    r"""Replace what some system doesn't take in a name, or reads as the way to another folder.

    >>> portable("Ann\\..\\Bob: 1")
    'Ann-..-Bob- 1'
    """
    return re.sub(r'[/\\:*?"<>|\x00-\x1f\x7f]|[. ]+$', "-", name)


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Give a path to write to, which takes the place of `path` when all is written."""
    part = _part(path)
    part.unlink(missing_ok=True)
    yield part
    part.replace(path)


def create_atomically(path: Path, text: str, mode: int = 0o666) -> bool:
    """Write a whole file unless it exists; return False if another process was first."""
    part = _part(path)
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
        file.write(text)
    try:
        os.link(part, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return True


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
