"""The wheel of the engine, which the site carries for its notebooks; no network makes it.

Its version says what it was made from, so that pip tells one build's from another's: the commit,
and a digest of its files where they are not as committed. Notebooks of an earlier build find the
present one by a page of links, which pip reads: its address stays.
"""

import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import chaingrad
from coursework.installation import git
from coursework.sources import PACKAGES, copy, sources

SOURCES = (*(f"src/{name}" for name in PACKAGES), "pyproject.toml", "README.md", "LICENSE")
LINKS = "_static/chaingrad.html"
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


def checkout() -> Path:
    """Return the folder that the engine is built from: the one around it, or around this code."""
    places = [Path(file).resolve().parents[2] for file in (chaingrad.__file__, __file__)]
    return next(place for place in places if (place / "src" / "chaingrad").is_dir())


def digest(root: Path) -> str:
    places = [root / name for name in SOURCES]
    files = [file for place in places for file in (sources(place) if place.is_dir() else [place])]
    parts = (f"{path.relative_to(root)} {sha256(path.read_bytes()).hexdigest()}" for path in files)
    return sha256("\n".join(parts).encode()).hexdigest()


def version(root: Path) -> str:
    """Return the wheel's version: 0.1.0+g1234567, or 0.1.0+g1234567.d12345678 if files changed."""
    commit = git(root, "rev-parse", "HEAD")
    marks = [f"g{commit[:7]}"] if commit else []
    if not commit or git(root, "status", "--porcelain", "--", *SOURCES):
        marks.append(f"d{digest(root)[:8]}")
    return f"{chaingrad.__version__}+{'.'.join(marks)}"


def build(folder: Path, root: Path | None = None) -> Path:
    """Build the wheel of the engine as it is now; delete other wheels of it from the folder."""
    root = root or checkout()
    target = folder / f"chaingrad-{version(root)}-py3-none-any.whl"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory() as work:
            shutil.move(make(root, Path(work)), target)
    for other in folder.glob("chaingrad-*.whl"):
        if other != target:
            other.unlink()
    return target


def publish(site: Path) -> Path:
    """Put the wheel into a site, and a link to it at an address that never changes."""
    built, links = build(site / "notebooks"), site / LINKS
    links.parent.mkdir(exist_ok=True)
    links.write_text(f'<a href="../notebooks/{quote(built.name)}">{built.name}</a>\n')
    return built


def make(root: Path, work: Path) -> Path:
    """Build the wheel in a copy, because setuptools leaves files beside the sources."""
    for name in SOURCES:
        if (root / name).is_dir():
            copy(root / name, work / name)
        else:
            shutil.copy(root / name, work)
    start = work / "src" / "chaingrad" / "__init__.py"
    line = f'__version__ = "{version(root)}"'
    start.write_text(re.sub("^__version__ = .*$", line, start.read_text(), flags=re.MULTILINE))
    command = [sys.executable, "-c", BUILD, str(work / "dist")]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"setuptools could not build the wheel of chaingrad:\n{done.stderr}")
    return next((work / "dist").glob("*.whl"))
