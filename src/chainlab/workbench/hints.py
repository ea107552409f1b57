"""Hints for code that newcomers paste first: at its line, what to write here instead."""

import ast
from collections.abc import Iterator

import numpy as np

from chaingrad import _elsewhere

OTHERS = {"torch", "jax", "jnp", "tensorflow", "tf", "autograd", "micrograd"}
MAKERS = {"tensor", "Tensor", "Parameter", "Variable", "Value", "array", "asarray", "as_tensor"}
INSTEAD = (
    "Leave the line out: Node and np are here. Write x = Node(2.0) for an input, and np.exp(x) or "
    "x.exp() for a function of it"
)

Hint = tuple[int, str, str]  # line, message, hint


def foreign_code(tree: ast.Module) -> list[Hint]:
    """Return what a text takes from other libraries, in the order of its lines."""
    own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    others = OTHERS - own
    return sorted({found for node in ast.walk(tree) for found in _found(node, others)})


def _found(node: ast.AST, others: set[str]) -> Iterator[Hint]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        modules = [getattr(node, "module", None) or alias.name for alias in node.names]
        for root in OTHERS.intersection(module.partition(".")[0] for module in modules):
            says = f"{root} is not here: nodes of chaingrad take its place."
            yield node.lineno, says, INSTEAD
    elif isinstance(node, ast.Call) and (name := _dotted(node.func, others)):
        yield node.lineno, f"{name} is not here.", _call(node, name.rpartition(".")[2])


def _dotted(node: ast.expr, others: set[str]) -> str:
    """Return a name such as ``torch.nn.Parameter``, if it begins with another library's name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if names and isinstance(node, ast.Name) and node.id in others:
        return ".".join([node.id, *reversed(names)])
    return ""


def _call(node: ast.Call, name: str) -> str:
    """Return what to write instead of a call of another library's function."""
    arguments = ", ".join(map(ast.unparse, node.args))
    if name in MAKERS and node.args:
        flags = {word.arg: ast.unparse(word.value) for word in node.keywords}
        frozen = name in ("tensor", "array") and flags.get("requires_grad") != "True"
        data = f" for a leaf with a gradient, or np.array({arguments}) for data"
        return f"Write Node({arguments}){data * frozen}"
    if callable(getattr(np, name, None)):
        return f"Write np.{name}({arguments})"
    hint = _elsewhere.PACKAGE.get(name) or _elsewhere.NN.get(name) or _elsewhere.NODE.get(name)
    return hint[0].upper() + hint[1:] if hint else INSTEAD


def hint_for(message: str, line: int, tree: ast.Module) -> str:
    """Return what to write where a line failed or lost a gradient."""
    for node in ast.walk(tree) if "plain number" in message else ():
        match node:
            case ast.Call(ast.Attribute(ast.Name("math"), name), given, lineno=at) if at == line:
                return f"Write np.{name}({', '.join(map(ast.unparse, given))})"
    if message.startswith("name '"):
        name = message.split("'")[1]
        if callable(getattr(np, name, None)):
            return f"Write np.{name}"
    return ""
