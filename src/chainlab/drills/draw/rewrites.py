"""Mistakes in a line of NumPy, made by rewriting the line that is right in one place."""

import ast
import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from chainlab.mistakes import Mistake

Change = Mistake[ast.expr]


def names_in(text: str) -> list[str]:
    """Return the names in a line, each once, without the names of functions."""
    names = [node for node in ast.walk(_read(text)) if isinstance(node, ast.Name)]
    names.sort(key=lambda node: node.col_offset)
    return list(dict.fromkeys(node.id for node in names if node.id not in ("np", "phi")))


def normal(text: str) -> str:
    """Return a line as Python writes it.

    >>> normal("(X.T)@dZ")
    'X.T @ dZ'
    """
    return ast.unparse(_read(text))


def _read(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def mistakes(
    name: str, right: str, users: Sequence[Any], known: Mapping[str, Any], names: Sequence[str]
) -> Iterator[Mistake[str]]:
    """Yield what people type by mistake instead of a line, written as `normal` does.

    Args:
        name: of the adjoint.
        right: the line that is right.
        users: the lines forward that use the value.
        known: arrays, by name.
        names: those that may be typed.
    """
    tree, value = _read(right), name[1:]
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            for called, other, says, _ in _of_node(node, value, known):
                yield Mistake(called, _replaced(tree, {node: other}), says)
    yield Mistake("sign", normal(f"-({right})"), "the sign is the other one")
    for line in users:
        yield from _of_function(right, value, line)
    for read in names_in(right):
        yield from _of_name(right, read, value, known, names)
    for line in users:
        says = "only a sum passes on unchanged what it receives"
        yield Mistake("unchanged", "d" + line.made, says)
    yield Mistake("value", value, f"that is the value of {value}, and not its adjoint")


# --- one place ------------------------------------------------------------------------------------


def _of_node(node: ast.expr, value: str, known: Mapping[str, Any]) -> Iterator[Change]:
    match node:
        case ast.BinOp(a, ast.MatMult(), b):
            yield from _of_product(node, a, b, value, known)
        case ast.Attribute(ast.Name(x) as inner, "T"):
            yield Mistake("untransposed", inner, f"{x} is to be transposed")
        case ast.BinOp(a, ast.Mult(), b):
            yield from _without(a, b, known)
            yield from _without(b, a, known)
            if _has_arrays(a, known) and _has_arrays(b, known):
                says = "what was multiplied entry by entry sends so, too: with *"
                yield Mistake("entry", ast.BinOp(a, ast.MatMult(), b), says)
        case ast.BinOp(a, ast.Div(), b):
            says = f"the factor 1 / {_bracketed(b)} is missing"
            yield Mistake("scale", a, says)
        case ast.BinOp(a, ast.Add() | ast.Sub() as sign, b):
            yield from _of_sum(a, sign, b)
        case ast.UnaryOp(ast.USub(), inner):
            yield Mistake("sign", inner, "the minus is missing")
        case ast.Call(ast.Attribute(inner, "sum" | "mean" as what)) as call:
            yield from _of_reduced(call, inner, what, value)
        case ast.Call(ast.Attribute(_, "outer") as outer, [a, b]):
            says = f"that is the transpose: d{value} has the shape of {value}"
            yield Mistake("transposed", ast.Call(outer, [b, a], []), says)
            says = "one number for each row and each column: np.outer makes the matrix"
            yield Mistake("entry", ast.BinOp(a, ast.MatMult(), b), says)
        case ast.Compare(x):
            says = "the slope of max(…, 0) is 1 or 0, and not the value"
            yield Mistake("operand", x, says)
            turned = ast.Compare(x, [ast.Lt()], node.comparators)
            says = "that passes on where the value is negative, and not positive"
            yield Mistake("sign", turned, says)
        case ast.BinOp(x, ast.Pow(), _):
            yield Mistake("slope", x, f"{_bracketed(x)} stands there without its power")


def _of_product(
    node: ast.expr, a: ast.expr, b: ast.expr, value: str, known: Mapping[str, Any]
) -> Iterator[Change]:
    says = f"that is the transpose: d{value} has the shape of {value}"
    yield Mistake("transposed", ast.Attribute(node, "T", ast.Load()), says)
    yield Mistake("order", ast.BinOp(b, ast.MatMult(), a), "the factors are in the wrong order")
    says = "* multiplies entry by entry; a matrix product sends a matrix product"
    yield Mistake("entry", ast.BinOp(a, ast.Mult(), b), says)
    for side, other in ((a, b), (b, a)):
        if isinstance(side, ast.Name) and np.ndim(known[side.id]) == 2:
            turned = ast.Attribute(side, "T", ast.Load())
            pair = (turned, other) if side is a else (other, turned)
            changed = ast.BinOp(pair[0], ast.MatMult(), pair[1])
            yield Mistake("untransposed", changed, f"{side.id} is not transposed here")
        yield from _without(side, other, known)


def _without(gone: ast.expr, rest: ast.expr, known: Mapping[str, Any]) -> Iterator[Change]:
    text = ast.unparse(gone)
    names = names_in(text)
    if any(_is_adjoint(name) for name in names):
        says = f"that has the local gradient alone: it is multiplied by {text}"
        yield Mistake("local", rest, says)
    else:
        called = "unchanged" if _has_arrays(gone, known) else "scale"
        yield Mistake(called, rest, f"the factor {text} is missing")


def _of_sum(a: ast.expr, sign: ast.operator, b: ast.expr) -> Iterator[Change]:
    is_plus = isinstance(sign, ast.Add)
    other = ast.Sub() if is_plus else ast.Add()
    says = f"the sign in front of {_bracketed(b)} is the other one"
    yield Mistake("sign", ast.BinOp(a, other, b), says)
    parts = [any(map(_is_adjoint, names_in(ast.unparse(x)))) for x in (a, b)]
    if any(parts):
        says = "{} is missing: a share comes along every path"
        yield Mistake("forgotten", a, says.format(ast.unparse(b)))
        rest = b if is_plus else ast.UnaryOp(ast.USub(), b)
        yield Mistake("forgotten", rest, says.format(ast.unparse(a)))


def _of_reduced(node: ast.Call, inner: ast.expr, what: str, value: str) -> Iterator[Change]:
    over = 1 if "axis=1" in ast.unparse(node) else 0
    says = f"the {what} over axis={over} is missing"
    if what == "sum" and over == 0:
        says = f"every row uses {value}: the shares of the rows are still to be added up"
    yield Mistake("batch", inner, says)
    axis = ast.keyword("axis", ast.Constant(1 - over))
    changed = ast.Call(node.func, node.args, [axis, *node.keywords[1:]])
    yield Mistake("axis", changed, f"that is over the wrong axis: here it is axis={over}")
    other = {"mean": "sum", "sum": "mean"}[what]
    changed = ast.Call(ast.Attribute(inner, other, ast.Load()), node.args, node.keywords)
    words = {"mean": "shares are added up, and not averaged", "sum": "here it is the mean"}
    yield Mistake("mean", changed, words[other])


# --- one name -------------------------------------------------------------------------------------


def _of_function(right: str, value: str, line: Any) -> Iterator[Mistake[str]]:
    """Yield the slope at another place, where a function is applied entry by entry."""
    reduces = re.search(r"@|sum|mean", line.text)
    if line.reads != [value] or line.made not in names_in(right) or reduces:
        return
    says = f"it has {value} where the result {line.made} belongs"
    yield Mistake("operand", _renamed(right, line.made, value), says)
    again = _renamed(line.text, value, line.made)
    says = f"that is the slope at the output {line.made}: it belongs to the input {value}"
    yield Mistake("result", _renamed(right, line.made, again), says)


def _of_name(
    right: str, other: str, value: str, known: Mapping[str, Any], names: Sequence[str]
) -> Iterator[Mistake[str]]:
    if _is_adjoint(other):
        for early in names[: names.index(other)]:
            if _is_adjoint(early) and np.shape(known[early]) == np.shape(known[other]):
                says = f"it is {other} that arrives there, and not {early}"
                yield Mistake("early adjoint", _renamed(right, other, early), says)
    elif other != value and np.ndim(known[other]):
        says = f"it has {value} itself where {other} belongs"
        yield Mistake("factor", _renamed(right, other, value), says)


def _renamed(text: str, name: str, by: str) -> str:
    tree = _read(text)
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]
    return _replaced(tree, dict.fromkeys(named, _read(by)))


def _replaced(tree: ast.expr, changes: Mapping[ast.AST, ast.expr]) -> str:
    """Return the line of a tree in which other nodes replace some."""
    copied = {id(node): by for node, by in changes.items()}  # what a copy takes for done
    return ast.unparse(copy.deepcopy(tree, copied))


def _is_adjoint(name: str) -> bool:
    return len(name) > 1 and name.startswith("d")


def _has_arrays(node: ast.expr, known: Mapping[str, Any]) -> bool:
    return any(np.ndim(known[name]) for name in names_in(ast.unparse(node)))


def _bracketed(node: ast.expr) -> str:
    text = ast.unparse(node)
    return f"({text})" if isinstance(node, ast.BinOp) else text
