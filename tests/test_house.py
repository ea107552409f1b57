"""The house: which part may import which, and that nothing runs in a circle."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support import ROOT, each

FLOORS = ("chaingrad", "chainview", "chainlab", "coursework", "_ext", "tools", "benchmarks")
ROOTS = {"_ext": ROOT, "tools": ROOT, "benchmarks": ROOT}  # the others lie in src
INSIDE = {
    "chainview": ("read", "draw", "piece", "player", "figures", "frameworks"),
    "coursework": ("sandbox", "exercise", "collect", "mark", "report"),
}


def name_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, tuple[str, ast.Module]]:
    """Each module by the name that imports it, with its floor and its code."""
    found = {}
    for floor in FLOORS:
        root = ROOTS.get(floor, ROOT / "src")
        for path in sorted((root / floor).rglob("*.py")):
            if "vendor" not in path.parts:
                name = name_of(path, root / floor if floor == "_ext" else root)
                found[name] = floor, ast.parse(path.read_text())
    return found


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules that code imports, also those that a function imports when it is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in modules() else str(node.module)


@cache
def arrows() -> dict[str, set[str]]:
    return {
        name: {other for other in imported(tree) if other in modules() and other != name}
        for name, (_, tree) in modules().items()
    }


def test_no_arrow_runs_up() -> None:
    rank = {name: FLOORS.index(floor) for name, (floor, _) in modules().items()}
    up = [f"{a} -> {b}" for a, found in arrows().items() for b in found if rank[b] > rank[a]]
    assert up == []


def test_the_engine_imports_numpy_alone() -> None:
    """Of what has a spec: some packages register a runtime that is no module to import."""
    code = """
import sys
before = set(sys.modules)  # what this Python loads whenever it starts
import chaingrad.account, chaingrad.nn, chaingrad.optim
new = {name: module for name, module in sys.modules.items() if name not in before}
found = {name.partition(".")[0] for name, m in new.items() if getattr(m, "__spec__", 0)}
print(found - sys.stdlib_module_names)"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert {n for n in ast.literal_eval(out.stdout) if n[0] != "_"} == {"chaingrad", "numpy"}


def test_no_imports_run_in_a_circle() -> None:
    try:
        TopologicalSorter(arrows()).prepare()
    except CycleError as error:
        pytest.fail(f"these import one another: {' <- '.join(error.args[1])}")


@pytest.mark.parametrize("package", INSIDE)
def test_the_folders_of_a_package_lie_one_above_the_other(package: str) -> None:
    def place(name: str) -> int:
        floor, part = (*name.split("."), "")[:2]
        return INSIDE[package].index(part) if floor == package and part in INSIDE[package] else -1

    up = [f"{a} -> {b}" for a, found in arrows().items() for b in found if -1 < place(a) < place(b)]
    assert up == []


def readmes() -> list[Path]:
    found = [
        path
        for floor in FLOORS
        for path in (ROOTS.get(floor, ROOT / "src") / floor).rglob("README.md")
    ]
    return [path for path in found if "vendor" not in path.parts]


@each("path", readmes)
def test_a_readme_is_short_and_names_what_is_there(path: Path) -> None:
    text = path.read_text()
    files = re.findall(r"`([\w/]+\.(?:py|js|css|toml|json|md))`", text)
    places = (ROOT, ROOT / "src", ROOT / "_ext")
    lost = [
        name
        for name in files
        if not any((place / name).exists() for place in places) and not any(path.parent.rglob(name))
    ]
    assert lost == []
    if path.parent.name != "_ext":
        assert len(text.splitlines()) <= 42


@each("path", readmes)
def test_a_feature_imports_what_its_readme_says(path: Path) -> None:
    line = re.search(r"^May import: (.*)", path.read_text(), re.MULTILINE)
    if line is None:
        return  # it says nothing of imports
    may = {path.parent.name, "chaingrad"} | set(re.findall(r"`([\w.]+)`", line[1]))
    own = name_of(
        path.parent / "__init__.py", ROOT / "_ext" if "_ext" in path.parts else ROOT / "src"
    )
    others = {
        other
        for name, found in arrows().items()
        for other in found
        if within(name, own) and not within(other, own)
    }
    assert [other for other in sorted(others) if not any(within(other, one) for one in may)] == []


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")
