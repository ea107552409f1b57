"""What the packages that the site carries to the browser import there, module by module."""

import ast
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.util import resolve_name
from pathlib import Path

from coursework.sources import PACKAGES

CARRIED = (*PACKAGES, "tqdm")


def dotted(source: str, package: str = "") -> set[str]:
    """Return the full names of the modules that code imports as it runs.

    Imports in functions don't count, since they wait for a call; nor do those within ``try`` or
    for type checkers only, which may be missing. ``from a import b`` may mean a module ``a.b``,
    so that both are given.

    >>> sorted(dotted("import a.b\\nfrom c import d\\ndef f():\\n    import e"))
    ['a.b', 'c', 'c.d']
    """
    found: set[str] = set()
    for node in module_statements(ast.parse(source).body):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            name = resolve_name("." * node.level + (node.module or ""), package)
            found |= {name, *(f"{name}.{alias.name}" for alias in node.names)}
    return found


def module_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run when a module is imported, also within branches and classes."""
    for statement in body:
        yield statement
        match statement:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield from module_statements(statement.orelse)
            case ast.If() | ast.For() | ast.While():
                yield from module_statements([*statement.body, *statement.orelse])
            case ast.With() | ast.ClassDef():
                yield from module_statements(statement.body)


def source_file(module: str) -> Path | None:
    """Return the file of a carried module; None if the name isn't a module."""
    package, *parts = module.split(".")
    path = Path(str(files(package))).joinpath(*parts)
    choices = (path / "__init__.py", path.with_suffix(".py")) if parts else (path / "__init__.py",)
    return next(filter(Path.is_file, choices), None)


def needed(code: str) -> frozenset[str]:
    """Return the first names of all packages and modules that running code imports in the end."""
    return frozenset(name for module in dotted(code) for name in not_carried(module))


@cache
def not_carried(module: str) -> frozenset[str]:
    """Return the first names that importing a module takes and the site doesn't carry."""
    first = module.partition(".")[0]
    if first not in CARRIED:
        return frozenset([first])
    found, todo, seen = set[str](), parents(module), set[str]()
    while todo:
        name = todo.pop()
        if name in seen or (path := source_file(name)) is None:
            continue
        seen.add(name)
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for other in dotted(path.read_text(), package):
            if (first := other.partition(".")[0]) in CARRIED:
                todo |= parents(other)
            else:
                found.add(first)
    return frozenset(found)


def parents(module: str) -> set[str]:
    """Return a module and the packages around it; importing the module runs all of them."""
    parts = module.split(".")
    return {".".join(parts[:i]) for i in range(1, len(parts) + 1)}
