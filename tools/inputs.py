"""What the site, and the run of each page, are made from."""

import functools
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from coursework.sources import PACKAGES, is_source, sources

READING = (
    "exercise/assignments", "exercise/imports", "exercise/pages", "exercise/problems",
    "exercise/stubs", "installation", "release", "sources",
)  # fmt: skip
EXERCISES = tuple(f"src/coursework/{name}.py" for name in READING)
RECORDED = ("benchmarks/results.json", "benchmarks/compiled.json")  # no build makes these
CODE = tuple(f"src/{name}" for name in PACKAGES)
SITE = (
    "chapters", "img", "_ext", "_config.yml", "_toc.yml", "references.bib",
    *CODE, *RECORDED, "requirements.txt", *EXERCISES,
)  # fmt: skip
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
FROM = re.compile(r"\bfrom\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)")


def files(book: Path, names: Iterable[str]) -> Iterator[Path]:
    """Yield the files that people write, from the named files and folders of a book."""
    for name in names:
        root = book / name
        yield from sources(root) if root.is_dir() else filter(Path.is_file, [root])


def fingerprint(book: Path, paths: Iterable[Path]) -> str:
    """Return a digest of this Python and of the names and contents of files."""
    lines = (f"{path.relative_to(book)} {content(path)}" for path in paths)
    return hashlib.sha256("\n".join([sys.version, *lines]).encode()).hexdigest()


@functools.cache
def content(path: Path) -> str:
    """Return a digest of one file; within a build, a file counts as it was when first read."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def top_level(source: Path) -> set[str]:
    """Return the names of the packages and modules in a folder."""
    return {path.stem for path in source.iterdir()} if source.is_dir() else set()


def modules(code: str, source: Path) -> set[Path]:
    """Return the modules under `source` that some code names: folders of packages, and files."""
    names = set(DOTTED.findall(code))
    for package, imported in FROM.findall(code):
        names |= {f"{package}.{name}" for name in DOTTED.findall(imported)}
    ours = top_level(source)
    found = set()
    for name in (name for name in names if name.partition(".")[0] in ours):
        path = source
        for part in name.split("."):
            path /= part
            if path.is_dir():
                found.add(path)
            elif path.with_suffix(".py").is_file():
                found.add(path.with_suffix(".py"))
            else:
                break
    return found


def own_files(module: Path) -> list[Path]:
    """Return what importing a module may read: its file, and the data beside it.

    Data that are named after a module of a package are that module's, and others the package's.
    """
    folder = module.parent if module.is_file() else module
    named = {path.stem for path in folder.glob("*.py")}
    data = [path for path in folder.iterdir() if path.suffix != ".py" and is_source(path, folder)]
    if module.is_file():
        return [module, *(path for path in data if base(path) == module.stem)]
    return [module / "__init__.py", *(path for path in data if base(path) not in named)]


def base(path: Path) -> str:
    """Return a file's name up to its first dot."""
    return path.name.partition(".")[0]


@functools.cache
def imports(module: Path, source: Path) -> set[Path]:
    """Return the modules under `source` that a module itself names."""
    code = [path.read_text() for path in own_files(module) if path.suffix == ".py"]
    return modules("\n".join(code), source)


def needed(book: Path, code: str) -> list[Path]:
    """Return the files of the book that running some code may read, including its imports."""
    source = book / "src"
    todo, seen = modules(code, source), set()
    while todo:
        module = todo.pop()
        seen.add(module)
        todo |= imports(module, source) - seen
    read = {path for module in seen for path in own_files(module)}
    read.add(book / "requirements.txt")
    read |= {book / path for path in RECORDED if Path(path).name in code}
    return sorted(path for path in read if path.is_file())
