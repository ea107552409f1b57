"""A backward pass with a fault, drawn from a seed: one line that makes two results wrong."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from chaingrad import program
from chainlab.drills.draw.random_graph import (
    LEAVES,
    SIGNS,
    RandomGraph,
    random_constant,
    random_lines,
)

PASS_LINES = 13  # of each pass that gets a fault
WRONG_RESULTS = 2  # in which the fault shows

Assignments = Sequence[ast.Assign]


def backward_source(graph: RandomGraph, name: str = "backward") -> str:
    """Return a graph's backward pass, given ``dz`` and the leaves, as the engine writes it."""
    names = ", ".join(graph.leaves)
    source = f"{graph.source('g')}\ndef f(dz, {names}):\n    return (dz * g({names})).sum()"
    step = program(_function(source, "f"), argnums=tuple(range(1, len(graph.leaves) + 1)))
    step(*np.ones((len(graph.leaves) + 1, 2)))
    lines = [line.partition("  #")[0] for line in step.source.splitlines()]
    body = [line for line in lines[1:-1] if not line.startswith("    value =")]
    adjoints = lines[-1].partition("(")[2][:-1].replace(".copy()", "")
    return "\n".join([f"def {name}(dz, {names}):", *body, f"    return {adjoints}"])


def random_fault(rng: np.random.Generator, name: str = "backward") -> tuple[RandomGraph, str]:
    """Draw a graph and its backward pass, with one wrong line that makes two results wrong.

    The leaves' values are not shown, so two constants in the graph's last line tell it from all
    others. That line is no product, in which the constants would become one, with many digits.
    The line forgets a path, has a wrong sign, takes the operand's own value, or passes on an
    adjoint before all its shares have come.
    """
    while True:
        last = rng.choice(list(SIGNS.replace("*", "")))
        graph = RandomGraph(dict.fromkeys(LEAVES, 1), random_lines(rng, last))
        graph = _with_constants(graph, rng)
        right = backward_source(graph, name)
        if right.count("\n") + 1 == PASS_LINES and (faulty := _with_fault(graph, right, rng)):
            return graph, faulty


def _with_constants(graph: RandomGraph, rng: np.random.Generator) -> RandomGraph:
    """Return the graph with a constant before either operand of its last line."""
    *lines, (root, x, sign, y) = graph.lines
    first, second = (f"{random_constant(rng)} * {operand}" for operand in (x, y))
    return replace(graph, lines=(*lines, (root, first, sign, second)))


def _with_fault(graph: RandomGraph, right: str, rng: np.random.Generator) -> str:
    name = right.partition("(")[0].removeprefix("def ")
    inputs = np.random.default_rng(0).normal(size=(len(graph.leaves) + 1, 3))
    adjoints = _function(right, name)(*inputs)
    if any(np.allclose(x, y) for x, y in combinations(adjoints, 2)):
        return ""  # one of them in the place of the other would be right
    for kind in rng.permutation(list(FAULTS)):
        sources = list(dict.fromkeys(_faulty_sources(right, FAULTS[kind])))
        for k in rng.permutation(len(sources)):
            results = _function(sources[k], name)(*inputs)
            wrong = [not np.allclose(x, y) for x, y in zip(results, adjoints, strict=True)]
            if sum(wrong) == WRONG_RESULTS:
                return str(sources[k])
    return ""


def _faulty_sources(source: str, fault: "FaultMaker") -> Iterator[str]:
    """Yield the source with one place of its backward lines changed, in every possible way."""
    lines = source.splitlines()
    body = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assign)]
    forward = [line for line in body if line.lineno <= lines.index("")]
    backward = [line for line in body if line not in forward]
    for line in backward:
        before, k = lines[line.lineno - 1], line.lineno - 1
        for node in (node for node in ast.walk(line.value) if isinstance(node, ast.expr)):
            for text in fault(node, forward, backward):
                new = before[: node.col_offset] + text + before[node.end_col_offset :]
                yield "\n".join([*lines[:k], new, *lines[k + 1 :]])


def _forgotten(node: ast.expr, forward: Assignments, backward: Assignments) -> Iterator[str]:
    match node:
        case ast.BinOp(left, ast.Add(), right):
            yield from map(ast.unparse, (left, right))
        case ast.BinOp(left, ast.Sub()):
            yield ast.unparse(left)


def _other_sign(node: ast.expr, forward: Assignments, backward: Assignments) -> Iterator[str]:
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, right):
            sign = "-" if isinstance(op, ast.Add) else "+"
            yield f"{ast.unparse(left)} {sign} {ast.unparse(right)}"
        case ast.UnaryOp(_, operand):
            yield ast.unparse(operand)


def _own_value(node: ast.expr, forward: Assignments, backward: Assignments) -> Iterator[str]:
    for product in (product for line in forward for product in ast.walk(line.value)):
        match product:
            case ast.BinOp(ast.Name(x), ast.Mult(), ast.Name(y)) if isinstance(node, ast.Name):
                yield from (other for other, own in ((x, y), (y, x)) if own == node.id)


def _too_early(node: ast.expr, forward: Assignments, backward: Assignments) -> Iterator[str]:
    for line in backward:
        match line.value:
            case ast.BinOp(left, ast.Add() | ast.Sub()) if isinstance(node, ast.Name):
                if ast.unparse(line.targets[0]) == node.id:
                    yield ast.unparse(left)


FaultMaker = Callable[[ast.expr, Assignments, Assignments], Iterator[str]]
FAULTS: dict[str, FaultMaker] = {
    "forgotten": _forgotten,
    "sign": _other_sign,
    "operand": _own_value,
    "early": _too_early,
}


def _function(source: str, name: str) -> Callable[..., Any]:
    space: dict[str, Any] = {}
    exec(source, space)
    function: Callable[..., Any] = space[name]
    return function
