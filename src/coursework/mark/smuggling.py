"""What a person should look at where an answer has to be the student's own program.

An engine that is somebody else's may be carried in a string and run by `exec`. Nothing here takes
points: a remark names the cell.
"""

import ast
import warnings
from collections.abc import Iterable, Iterator

from coursework.collect.notebooks import CELL_CHARACTERS, Cell

LONG = 20_000  # characters of a cell
BUILTINS = {"exec", "eval", "compile", "__import__"}  # `re.compile` is another
ODD = BUILTINS | {  # names that run or unpack what is no source of the cell
    "builtins", "__builtins__", "__loader__", "meta_path", "path_hooks", "importlib",
    "base64", "zlib", "bz2", "lzma", "marshal", "pickle", "codecs", "FunctionType", "CodeType",
    "__code__", "ctypes",
}  # fmt: skip


def remarks(cells: Iterable[Cell]) -> Iterator[str]:
    """Yield a sentence for each of the student's cells that is long, or has an odd name in it."""
    for cell in cells:
        if cell.is_check or cell.kind != "code":
            continue
        if len(cell.source) > LONG:
            size = f"{len(cell.source):,} characters"
            yield f"Cell {cell.number} has {size}: look at where they are from."
        if len(cell.source) > CELL_CHARACTERS:
            continue  # it isn't run, and its tree may take a thousand times its size
        if found := sorted(_names(cell.source) & ODD):
            yield f"Cell {cell.number} uses {', '.join(found)}: look at what that runs."


def _names(source: str) -> set[str]:
    """Return the names, attributes and modules in a source; of one that is no Python, its words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(source.replace("(", " ").replace(".", " ").split())
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)} - BUILTINS
    names |= {
        part for node in nodes if isinstance(node, ast.alias) for part in node.name.split(".")
    }
    names |= {
        part
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module
        for part in node.module.split(".")
    }
    return names | {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in ODD
    }
