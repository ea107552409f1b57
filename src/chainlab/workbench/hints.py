"""Hints for code that newcomers paste first: at its line, what to write here instead."""

import ast
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from chaingrad import _elsewhere, losses, nn
from chaingrad.node import Node

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


def hint_for_syntax(line: str) -> str:
    """Return what to write for a line that isn't Python, if it is as one would write on paper."""
    if product := re.search(r"(?<![\w.])(\d+(?:\.\d*)?) *([A-Za-z_]\w*)", line):
        number, name = product.groups()
        if keyword.iskeyword(name):
            return ""
        return f"Python wants the sign of each product: write {number} * {name}"
    for name, argument in re.findall(r"\b([A-Za-z]\w*) +(?=([A-Za-z]\w*))", line):
        if isinstance(getattr(np, name, None), np.ufunc):
            return f"Write np.{name}({argument})"
    return ""


def hint_for(
    error: BaseException | Warning | str, line: int, tree: ast.Module, names: Mapping[str, Any] = {}
) -> str:
    """Return what to write where a line failed or lost a gradient."""
    here = [node for node in ast.walk(tree) if getattr(node, "lineno", 0) == line]
    if isinstance(error, NameError):
        return _for_name(error.name or "", here, names)
    if isinstance(error, AttributeError) and "has no attribute" in str(error):
        name = error.name or ""
        return _perhaps(name, dir(error.obj), _behind(name, here))
    for node in here:
        match node:
            case ast.BinOp(left, ast.BitXor(), right) if "for ^" in str(error):
                power = ast.unparse(ast.BinOp(left, ast.Pow(), right))
                return f"In Python ^ combines bits: write {power} for a power"
            case ast.Call(ast.Constant(number), [given]) if "not callable" in str(error):
                product = ast.BinOp(ast.Constant(number), ast.Mult(), given)
                return f"Python wants the sign of each product: write {ast.unparse(product)}"
            case ast.Call(ast.Attribute(ast.Name("math"), name), given) if "plain number" in str(
                error
            ):
                return f"Write np.{name}({', '.join(map(ast.unparse, given))})"
    return ""


def _for_name(name: str, here: Iterable[ast.AST], names: Mapping[str, Any]) -> str:
    """Return what to write for a name that isn't defined."""
    given = ""
    for node in here:
        match node:
            case ast.Call(ast.Name(called), [argument, *_]) if called == name:
                given = ast.unparse(argument)
    others = [other for other in names if other.lower() == name.lower()]
    if others:
        return f"Write {others[0]}, with its capitals" if others[0] != name else ""
    name = "log" if name == "ln" else name
    if callable(getattr(np, name, None)):
        return f"Write np.{name}"
    if callable(getattr(Node, name, None)):
        return f"Write {given if given.isidentifier() else 'x'}.{name}()"
    for where, module in (("losses", losses), ("nn", nn)):
        if callable(getattr(module, name, None)):
            return f"Write {where}.{name}"
    return _perhaps(name, [*names, *dir(Node), *np.__all__])


def _behind(name: str, here: Iterable[ast.AST]) -> str:
    """Return what stands before a dot and this name, with the dot."""
    for node in here:
        if isinstance(node, ast.Attribute) and node.attr == name:
            return f"{ast.unparse(node.value)}."
    return ""


def _perhaps(name: str, known: Iterable[str], before: str = "") -> str:
    public = [each for each in known if not each.startswith("_")]
    turned = [each for each in public if sorted(each) == sorted(name)]  # tahn for tanh
    close = turned or get_close_matches(name, public, 1)
    return f"Perhaps you meant {before}{close[0]}" if close else ""
