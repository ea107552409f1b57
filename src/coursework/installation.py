"""Where readers and students get the course's engine, and which Python runs it.

They get it from what `repository.url` names.
"""

import subprocess
from importlib.metadata import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml  # type: ignore[import-untyped]

CHECK = """\
import sys

if sys.version_info < ({numbers}):
    raise RuntimeError(
        "This notebook needs Python {oldest} or newer; this kernel runs "
        f"{{sys.version.split()[0]}}. Choose another kernel, or start Jupyter with a newer Python."
    )
"""


def configuration(book: Path) -> dict[str, Any]:
    """Return the contents of the book's `_config.yml`."""
    return yaml.safe_load((book / "_config.yml").read_text(encoding="utf-8")) or {}


def repository(book: Path) -> str:
    """Return the repository, wheel or folder that the book names; empty if none."""
    return str((configuration(book).get("repository") or {}).get("url") or "")


def is_hosted(address: str) -> bool:
    """Return whether readers can be sent to this address: a repository, not a wheel or a folder."""
    return urlsplit(address).scheme in ("http", "https") and not address.endswith(".whl")


def git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints; None where git fails, for example outside of a repository."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return None if done.returncode else done.stdout.strip()


def engine_source(book: Path) -> str:
    """Return the source that pip installs the engine from; empty if the book names no place.

    This is a repository at the commit checked out here, or the address of a wheel or folder.
    """
    named = repository(book)
    if is_hosted(named):
        commit = git(book, "rev-parse", "HEAD")
        return f"git+{named.removesuffix('/')}{f'@{commit}' if commit else ''}"
    if not named or urlsplit(named).scheme in ("http", "https", "file"):
        return named
    path = (book / Path(named).expanduser()).resolve()
    if not path.exists():
        raise FileNotFoundError(
            f"repository.url in _config.yml is {named!r}. It must be the address of a "
            "repository, a wheel or folder that exists, or empty."
        )
    return path.as_uri()


def reaches_students(source: str) -> bool:
    """Return whether a student's machine can install from this source."""
    return bool(source) and not source.startswith("file:")


def python_check() -> str:
    """Return lines for a notebook's first cell: an error if the kernel's Python is too old."""
    oldest = metadata("chaingrad")["Requires-Python"].removeprefix(">=")
    return CHECK.format(oldest=oldest, numbers=oldest.replace(".", ", "))
