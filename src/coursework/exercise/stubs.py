"""Answers with their bodies taken out: what students start from."""

import ast
from collections.abc import Iterator

from coursework.exercise.trusted import ProblemError


def make_stub(answer: str) -> str:
    """Replace the body of every function in the source, keeping its docstring."""
    lines = answer.splitlines()
    for start, end, indent in reversed(function_bodies(answer)):
        lines[start:end] = [f"{indent}raise NotImplementedError"]
    return "\n".join(lines)


def function_bodies(source: str) -> list[tuple[int, int, str]]:
    """Return the lines of each function's body without its docstring: start, end, indentation."""
    found, lines = [], source.splitlines()
    for node in _functions(ast.parse(source)):
        first = node.body[0]
        documented = ast.get_docstring(node, clean=False) is not None
        start = (first.end_lineno or 0) if documented else first.lineno - 1
        while not documented and lines[start - 1].strip()[:1] in ("", "#"):
            start -= 1
        end = node.end_lineno or 0
        if first.lineno == node.lineno or start >= end:
            raise ProblemError(f"{node.name}: write its body on lines of its own")
        found.append((start, end, " " * first.col_offset))
    return found


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """Return the functions and methods of a source, in order; not functions within functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child)
