"""Tell whether a function is written as lines, each of which computes one result by arithmetic.

Such a function can be read: every step has a name. It calls NumPy's elementary functions and no
others, so no engine works in it, and no loop that moves each input a little. This module needs
Python alone and is written to be copied whole into a notebook.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

ELEMENTARY = {
    "T", "abs", "add", "arctan", "array", "asarray", "copy", "cos", "cosh", "divide", "dot",
    "einsum", "exp", "expm1", "full_like", "log", "log1p", "logaddexp", "matmul", "maximum",
    "mean", "minimum", "multiply", "ndim", "negative", "newaxis", "ones_like", "outer", "power",
    "reciprocal", "reshape", "shape", "sign", "sin", "sinh", "size", "sqrt", "square",
    "subtract", "sum", "tan", "tanh", "transpose", "vdot", "where", "zeros_like",
}  # fmt: skip
BORROWED = ("np", "len", "abs")  # names that lines may use besides their own
EXPRESSIONS = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.keyword,
    ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict,
    ast.operator, ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip


def check_lines(function: Callable[..., Any]) -> None:
    """Raise `AssertionError` if a function of this notebook isn't written as lines."""
    __tracebackhide__ = True  # IPython leaves this frame out of the traceback
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise AssertionError(
            f"no cell defines {function.__name__}: write it with `def` in a cell of its own"
        ) from None
    [definition] = ast.parse(source).body
    if odd := what_else(definition):
        raise AssertionError(f"{function.__name__} is to be written as lines of arithmetic: {odd}")


def what_else(definition: ast.stmt) -> str:
    """Return the first thing in a definition that isn't such a line; "" if all are.

    >>> what_else(ast.parse("def f(x):\\n    y = 2 * x\\n    return g(y)").body[0])
    'line 3 calls g'
    """
    return next(_odd(definition), "")


def _odd(definition: ast.stmt) -> Iterator[str]:
    if not isinstance(definition, ast.FunctionDef):
        yield "it is no function that `def` defines"
        return
    yield from _odd_at_the_head(definition)
    given = definition.args
    known = {a.arg for a in [*given.posonlyargs, *given.args, *given.kwonlyargs]} | {*BORROWED}
    documented = ast.get_docstring(definition) is not None
    for line in definition.body[documented:]:
        at = f"line {line.lineno - definition.lineno + 1}"
        if isinstance(line, ast.Raise):
            return  # it is still to be written
        if not isinstance(line, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)):
            yield f"{at} is neither a name with what it is, nor `return`"
            return
        yield from _odd_in(line.value, known, at)
        for target in _targets(line):
            if not isinstance(target, ast.Name) or target.id in BORROWED:
                yield f"{at} gives a value to {ast.unparse(target)}, which is no new name"
                return
            known.add(target.id)


def _odd_at_the_head(definition: ast.FunctionDef) -> Iterator[str]:
    given = definition.args
    if given.defaults or any(given.kw_defaults) or given.vararg or given.kwarg:
        yield "its arguments have default values or stars"
    if definition.decorator_list:
        yield "it has a decorator"
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    notes = [*(argument.annotation for argument in arguments), definition.returns]
    if not all(note is None or isinstance(note, (ast.Name, ast.Attribute)) for note in notes):
        yield "it has an annotation that is no name"


def _targets(line: ast.stmt) -> Iterator[ast.expr]:
    """Yield what a line gives a value to, one by one."""
    targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
    for target in filter(None, targets):
        yield from target.elts if isinstance(target, ast.Tuple) else [target]


def _odd_in(value: ast.expr | None, known: set[str], at: str) -> Iterator[str]:
    for node in ast.walk(value) if value else ():
        if not isinstance(node, EXPRESSIONS):
            yield f"{at} holds more than arithmetic: {ast.unparse(node)}"
        elif isinstance(node, ast.Name) and node.id not in known:
            yield f"{at} uses {node.id}"
        elif isinstance(node, ast.Attribute) and node.attr not in ELEMENTARY:
            yield f"{at} uses .{node.attr}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, complex):
            yield f"{at} uses the complex number {node.value}"
        elif isinstance(node, ast.Call) and not _is_borrowed(node.func):
            yield f"{at} calls {ast.unparse(node.func)}"


def _is_borrowed(called: ast.expr) -> bool:
    named = isinstance(called, ast.Name) and called.id in BORROWED
    return named or isinstance(called, ast.Attribute)
