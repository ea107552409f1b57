"""Answers that are alike: a hint to look, and no proof of anything.

Two answers count as alike if their definitions are the same program once comments, docstrings,
spacing, annotations and the names of variables are taken away. Short answers are alike by nature
and are left out; an answer that was reworked is not found.
"""

import ast
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress

from coursework.exercise.problems import DEFINITIONS, Problem
from coursework.sandbox.reader import Reader, ReaderError

SMALLEST = 60  # nodes of the syntax tree: below, most right answers are the same
BOOK = "the book's own answer"


def alike(problem: Problem, answers: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return groups of students whose (student, code) are alike; `BOOK` joins if its answer is."""
    groups: dict[str, list[str]] = {}
    with Reader() as reader:
        for student, code in [(BOOK, problem.answer), *answers]:
            with suppress(ReaderError):
                if form := reader.ask(_form, code, problem.names):
                    groups.setdefault(form, []).append(student)
    return [group for group in groups.values() if len(group) > 1]


def _form(code: str, names: Sequence[str]) -> str:
    """Return the shape of the last definitions of the names; "" if it is too short to tell.

    It is called in a reader.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    last = {n.name: n for n in body if isinstance(n, DEFINITIONS) and n.name in names}
    shape = _Shape()
    try:
        nodes = [shape.visit(last[name]) for name in names if name in last]
        if sum(1 for node in nodes for _ in ast.walk(node)) < SMALLEST:
            return ""
        return "\n".join(map(ast.dump, nodes))
    except RecursionError:
        return ""


class _Shape(ast.NodeTransformer):
    """Numbers in place of the names that code gives to things itself, in order of appearance."""

    def __init__(self) -> None:
        self._numbers: dict[str, str] = {}

    def _number(self, name: str) -> str:
        return self._numbers.setdefault(name, f"v{len(self._numbers)}")

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._number(node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self._number(node.arg))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        value = node.value or ast.Constant(None)
        return self.generic_visit(ast.Assign([node.target], value))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = node.body[ast.get_docstring(node) is not None :] or [ast.Pass()]
        node.returns = None
        return self.generic_visit(node)
