"""What to quote of a submission: the line that failed, the code that was called."""

import ast
import difflib
import functools
import re
from collections.abc import Mapping, Sequence

from coursework.collect.notebooks import CELL_CHARACTERS, Cell
from coursework.exercise.problems import DEFINITIONS
from coursework.sandbox.worker import CELL_NAME, is_foreign, parse_cell

CODE_CHARACTERS = 20_000
LINE_CHARACTERS = 100
DEFINITION = re.compile(r"^(?:async )?(?:def|class) +(\w{1,100})", re.MULTILINE)
LOOKED_AT = 1000  # names, among which a misspelt one is looked for


def line(cells: Sequence[Cell], file: str, number: int) -> str:
    """Quote a line of a file in brackets; return "" if the file is not one of the cells."""
    cell = _named(cells, file)
    lines = cell.source.splitlines() if cell else []
    if cell is None or not 0 < number <= len(lines):
        return ""
    text = lines[number - 1].strip()[:LINE_CHARACTERS]
    return f" (cell {cell.number}, line {number}: {text})"


def called(cells: Sequence[Cell], places: Mapping[str, tuple[str, int]]) -> str:
    """Return the cells that define these names, with a remark for a name that no cell defines.

    The places come from the submission's process. A cell is shown if it really defines the name
    there; if another cell assigns the name, both are shown.
    """
    shown: dict[int, str] = {}
    hidden = []
    for name, (file, number) in places.items():
        cell = _named(cells, file)
        if cell is not None and _stands_at(cell, name, number):
            shown[cell.number] = cell.source
        elif cell is not None and (others := [c for c in cells if _assigns(c, name)]):
            shown |= {c.number: c.source for c in [cell, *others]}
        else:
            hidden.append(f"# {name} is defined in a way that cannot be shown here")
    sources = (source for _, source in sorted(shown.items()))
    return "\n\n".join([*sources, *hidden])[:CODE_CHARACTERS]


def defines(cell: Cell, names: Sequence[str]) -> bool:
    """Return whether a cell seems to define one of the names, going by its lines."""
    name = f"(?:{'|'.join(names)})"
    pattern = rf"^(?:(?:async )?(?:def|class) +{name}\b|{name} *=[^=]|from .* as {name}\b)"
    return re.search(pattern, cell.source, re.MULTILINE) is not None


@functools.lru_cache(maxsize=4096)
def binding(cell: Cell, name: str) -> ast.stmt | None:
    """Return the last statement at a cell's top level that binds a name, if it has one.

    Every part of an exercise asks for the same names, so what was found is kept.
    """
    if cell.source.isascii() and name not in cell.source:
        return None
    try:
        body = parse_cell(cell.source, CELL_NAME.format(cell.number)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return next((node for node in reversed(body) if name in _bound(node)), None)


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement may bind, however deep it does."""
    nodes = [statement] if isinstance(statement, DEFINITIONS) else list(ast.walk(statement))
    names = {node.name for node in nodes if isinstance(node, (*DEFINITIONS, ast.AsyncFunctionDef))}
    names |= {node.id for node in nodes if isinstance(node, ast.Name) and _is_stored(node)}
    aliases = [node for node in nodes if isinstance(node, ast.alias)]
    return names | {(alias.asname or alias.name).partition(".")[0] for alias in aliases}


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def is_stub(cell: Cell) -> bool:
    """Return whether a cell holds a body that is still to be written."""
    return re.search(r"^[ \t]+raise NotImplementedError", cell.source, re.MULTILINE) is not None


def why_not_run(cell: Cell) -> str:
    """Return why a cell is not run, as the rest of a sentence that begins with it; "" if it is."""
    if cell.is_check:
        return "is that of a check, and checks are not run: write answers into cells of their own"
    if cell.kind != "code":
        return f"is a cell of type {cell.kind}: make it a code cell"
    if is_foreign(cell.source):
        return f"begins with {cell.source.split()[0][:20]}, and is not run here as Python"
    return ""


def nearest(cells: Sequence[Cell], names: Sequence[str]) -> str:
    """Return which cell defines a name that may be one of these, misspelt; "" if none does."""
    made = [(name, cell.number) for cell in cells for name in DEFINITION.findall(cell.source)]
    defined = dict(made[-LOOKED_AT:])
    for name in names:
        for near in difflib.get_close_matches(name, defined, 1, 0.8):
            return f"cell {defined[near]} defines {near}: its name is to be {name}"
    return ""


def _assigns(cell: Cell, name: str) -> bool:
    small = not cell.is_check and len(cell.source) <= CELL_CHARACTERS
    return small and re.search(rf"^{name} *=[^=]", cell.source, re.MULTILINE) is not None


def _named(cells: Sequence[Cell], file: str) -> Cell | None:
    """Return the cell of this name, if it is small enough to parse: others cost gigabytes."""
    ran = (cell for cell in cells if len(cell.source) <= CELL_CHARACTERS)
    return next((cell for cell in ran if CELL_NAME.format(cell.number) == file), None)


def _stands_at(cell: Cell, name: str, line: int) -> bool:
    """Return whether a definition of the name, however deep, covers this line of the cell."""
    try:
        tree = ast.parse(cell.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return defines(cell, [name])  # it may have lines that only a notebook understands
    for node in ast.walk(tree):
        named = isinstance(node, (*DEFINITIONS, ast.AsyncFunctionDef)) and node.name == name
        if isinstance(node, ast.Assign):
            named = any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
        if named and isinstance(node, ast.stmt):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            if first <= line <= (node.end_lineno or 0):
                return True
    return False
