"""Random problems, about equally hard: a graph, a layer, a backward pass with a fault.

A seed gives the problem. All graphs have as many operations of each kind, leaves, shared nodes and
paths, the same depth, and as many products to calculate backward. Their values and adjoints are
whole numbers of at most two digits, and each of the usual mistakes leads to different adjoints. The
gradients of all layers take about as many operators, and a fault is in one line and shows in two
results.
"""

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from chaingrad import program

LEAVES, NODES = "abcde", "uvwxyz"
SIGNS = "***++-"  # the operations' signs
DEPTH = 5
PATHS = 8  # from the root to leaves
PRODUCTS = 4  # of an adjoint and a local gradient, neither of which is 1 or -1
SIZES = (-6, -5, -4, -3, -2, 2, 3, 4, 5, 6)  # values of leaves; 1 would hide mistakes
LARGEST = range(40, 100)  # a graph's largest number
TRIES = 30  # of values for the leaves, before other lines are drawn
PASS_LINES = 13  # lines of each backward pass that gets a fault
WRONG_RESULTS = 2  # in which the fault shows
GraphLine = tuple[str, str, str, str]  # name, first operand, sign, second operand
SendOrder = Callable[[Sequence[str], Mapping[str, GraphLine]], Sequence[str]]  # of a backward pass


# --- a graph ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RandomGraph:
    """Leaves with their values, and a line for each operation, parents first."""

    leaves: Mapping[str, int]
    lines: tuple[GraphLine, ...]

    def source(self, name: str) -> str:
        """Return the source of the graph as a function of its leaves, with this name.

        >>> graph = RandomGraph({"a": 2, "b": 3}, (("u", "a", "*", "b"), ("v", "u", "-", "a")))
        >>> print(graph.source("f"))
        def f(a, b):
            u = a * b
            v = u - a
            return v
        """
        lines = [f"    {node} = {x} {sign} {y}\n" for node, x, sign, y in self.lines]
        root = self.lines[-1][0]
        return f"def {name}({', '.join(self.leaves)}):\n{''.join(lines)}    return {root}"

    @property
    def form(self) -> str:
        """A text that's the same for graphs that differ only in names or the order of operands."""
        forms = {name: str(value) for name, value in self.leaves.items()}
        for name, x, sign, y in self.lines:
            operands = [forms[x], forms[y]]
            forms[name] = f"({sign.join(operands if sign == '-' else sorted(operands))})"
        return forms[self.lines[-1][0]]

    @property
    def values(self) -> dict[str, int]:
        """The value of every node, by name."""
        found = dict(self.leaves)
        for name, x, sign, y in self.lines:
            found[name] = SIGN[sign](found[x], found[y])
        return found

    def adjoints(self, mistake: "WrongPass | None" = None) -> dict[str, int]:
        """Return the adjoint of every node, the root first, or the numbers of a usual mistake."""
        made = mistake or WrongPass()
        values, lines = self.values, {line[0]: line for line in self.lines}
        found = {self.lines[-1][0]: 1}
        for name in made.order([line[0] for line in reversed(self.lines)], lines):
            _, x, sign, y = lines[name]
            locals_ = made.local(sign, values[x], values[y])
            for parent, local in zip((x, y), locals_, strict=True):
                share = made.share(found[name], local)
                found[parent] = made.add(found[parent], share) if parent in found else share
        return found


SIGN: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


def _local(sign: str, x: int, y: int) -> tuple[int, int]:
    return {"+": (1, 1), "-": (1, -1), "*": (y, x)}[sign]


def _order_of_first_shares(order: Sequence[str], lines: Mapping[str, GraphLine]) -> list[str]:
    """Return every operation as soon as the first share reaches it."""
    found: list[str] = []
    waiting = [order[0]]
    while waiting:
        name = waiting.pop()
        if name in lines and name not in found:
            found.append(name)
            waiting += [lines[name][3], lines[name][1]]
    return found


@dataclass(frozen=True)
class WrongPass:
    """A backward pass with one of its parts done in another way; as it is, with none."""

    local: Callable[[str, int, int], tuple[int, int]] = _local
    share: Callable[[int, int], int] = operator.mul  # of the adjoint and the local gradient
    add: Callable[[int, int], int] = operator.add  # to what is there, a share
    order: SendOrder = lambda order, lines: order


# By their names in ``chainlab.mistakes``.
MISTAKES = {
    "last": WrongPass(add=lambda there, share: share),
    "first": WrongPass(add=lambda there, share: there),
    "early": WrongPass(order=_order_of_first_shares),
    "operand": WrongPass(local=lambda sign, x, y: (x, y) if sign == "*" else _local(sign, x, y)),
    "sign": WrongPass(local=lambda sign, x, y: _local(sign.replace("-", "+"), x, y)),
    "local": WrongPass(share=lambda adjoint, local: local),
}


def random_graph(rng: np.random.Generator) -> RandomGraph:
    """Draw a graph of five leaves and six operations; a leaf and a node are used twice.

    The last operation is a product: after a sum, more adjoints would be 1.
    """
    while True:
        lines = _random_lines(rng, "*")
        for values in rng.choice(SIZES, (TRIES, len(LEAVES))).tolist():
            graph = RandomGraph(dict(zip(LEAVES, values, strict=True)), lines)
            if _is_fair(graph):
                return graph


def _random_lines(rng: np.random.Generator, last: str) -> tuple[GraphLine, ...]:
    """Draw the lines of a graph with the same depth and paths as all others, by its last sign."""
    while True:
        lines = _try_lines(rng, [*rng.permutation(list(SIGNS.replace(last, "", 1))), last])
        if lines and _longest_path(lines) == DEPTH and _paths(lines) == PATHS:
            return tuple(lines)


def _try_lines(rng: np.random.Generator, signs: Sequence[str]) -> list[GraphLine] | None:
    """Draw the lines of a graph that use each node as often as they must; None if that fails."""
    uses = dict.fromkeys(LEAVES + NODES[:-1], 1)
    uses[LEAVES[rng.integers(len(LEAVES))]] += 1
    uses[NODES[rng.integers(len(NODES) - 2)]] += 1
    lines: list[GraphLine] = []
    for k, sign in enumerate(signs):
        ready = [name for name in LEAVES + NODES[:k] for _ in range(uses[name])]
        x, y = (ready.pop(rng.integers(len(ready))) for _ in range(2)) if ready[1:] else ("", "")
        if x == y:
            return None
        uses[x] -= 1
        uses[y] -= 1
        lines.append((NODES[k], x, str(sign), y))
    return None if any(uses.values()) else lines


def _longest_path(lines: Sequence[GraphLine]) -> int:
    depth = dict.fromkeys(LEAVES, 0)
    for name, x, _, y in lines:
        depth[name] = 1 + max(depth[x], depth[y])
    return depth[lines[-1][0]]


def _paths(lines: Sequence[GraphLine]) -> int:
    """Return how many paths lead from the root to leaves."""
    paths = dict.fromkeys(LEAVES, 1)
    for name, x, _, y in lines:
        paths[name] = paths[x] + paths[y]
    return paths[lines[-1][0]]


def products(graph: RandomGraph) -> int:
    """Return how many products the backward pass has of which neither factor is 1 or -1."""
    values, adjoints = graph.values, graph.adjoints()
    locals_ = ((name, _local(sign, values[x], values[y])) for name, x, sign, y in graph.lines)
    return sum(abs(each) > 1 for name, pair in locals_ if abs(adjoints[name]) > 1 for each in pair)


def _is_fair(graph: RandomGraph) -> bool:
    """Return whether the graph takes as much work as all others, and each mistake shows."""
    values = graph.values.values()
    if 0 in values or max(map(abs, values)) not in range(LARGEST.stop):
        return False
    adjoints = graph.adjoints()
    _, *others = adjoints.values()
    right = [adjoints[name] for name in graph.leaves]
    return (
        max(map(abs, [*values, *others])) in LARGEST
        and min(map(abs, others)) > 1
        and len(set(right)) == len(right)
        and products(graph) == PRODUCTS
        and _tells_mistakes(graph, right)
    )


def _tells_mistakes(graph: RandomGraph, right: Sequence[int]) -> bool:
    wrong = [graph.adjoints(mistake) for mistake in MISTAKES.values()]
    given = [tuple(each[name] for name in graph.leaves) for each in wrong]
    return len({tuple(right), *given}) == 1 + len(given)


# --- a backward pass with a fault ---------------------------------------------------------------


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
        graph = RandomGraph(dict.fromkeys(LEAVES, 1), _random_lines(rng, last))
        graph = _with_constants(graph, rng)
        right = backward_source(graph, name)
        if right.count("\n") + 1 == PASS_LINES and (found := _with_fault(graph, right, rng)):
            return graph, found


def _with_constants(graph: RandomGraph, rng: np.random.Generator) -> RandomGraph:
    """Return the graph with a constant before either operand of its last line."""
    *lines, (root, x, sign, y) = graph.lines
    first, second = (f"{_random_constant(rng)} * {operand}" for operand in (x, y))
    return replace(graph, lines=(*lines, (root, first, sign, second)))


def _random_constant(rng: np.random.Generator) -> str:
    return f"{0.2 + 0.7 * rng.random():.3f}"


def _with_fault(graph: RandomGraph, right: str, rng: np.random.Generator) -> str:
    name = right.partition("(")[0].removeprefix("def ")
    inputs = np.random.default_rng(0).normal(size=(len(graph.leaves) + 1, 3))
    wanted = _function(right, name)(*inputs)
    if any(np.allclose(x, y) for x, y in combinations(wanted, 2)):
        return ""  # one of them in the place of the other would be right
    for kind in rng.permutation(list(FAULTS)):
        sources = list(dict.fromkeys(_faulty_sources(right, FAULTS[kind])))
        for k in rng.permutation(len(sources)):
            results = _function(sources[k], name)(*inputs)
            wrong = [not np.allclose(x, y) for x, y in zip(results, wanted, strict=True)]
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


Assignments = Sequence[ast.Assign]


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


# --- a layer ------------------------------------------------------------------------------------

ROOT, LOG = "np.sqrt(R**2 + {})", "np.log(R**2 + {})"
PRODUCT, RATIO = "R * np.tanh({} * R)", "R**2 / (R**2 + {})"
# An activation goes with the penalties whose gradient makes up for what its own takes.
PENALTIES = {
    "np.tanh({} * Z)": (PRODUCT, RATIO),
    "Z / (1 + {} * Z**2)": (ROOT, LOG),
    "np.sin({} * Z)": (RATIO,),
    "np.exp(-{} * Z**2)": (PRODUCT,),
    "1 / (1 + np.exp(-{} * Z))": (ROOT, LOG),
    "np.log(1 + np.exp({} * Z))": (PRODUCT,),
    "np.sqrt(Z**2 + {})": (RATIO,),
}
SHAPES = range(3, 8)


@dataclass(frozen=True)
class RandomLayer:
    """A dense layer, a loss that compares its output with targets, and a penalty on its weights.

    Attributes:
        n, d, m: examples, inputs and outputs.
        source: the function `layer_loss(X, W, b, T)`.
    """

    n: int
    d: int
    m: int
    source: str


def random_layer(rng: np.random.Generator) -> RandomLayer:
    """Draw a layer with shapes, an activation, a loss and three constants of its own.

    Its source needs NumPy as ``np``, and runs on nodes as on arrays.
    """
    n, d, m = (int(size) for size in rng.choice(SHAPES, 3, replace=False))
    inside, outside, decay = (_random_constant(rng) for _ in range(3))
    activation = str(rng.choice(list(PENALTIES)))
    penalty = str(rng.choice(PENALTIES[activation]))
    reduced = rng.choice([f"np.sum(P) / {n}", "np.mean(P)"])
    source = f"""\
def layer_loss(X, W, b, T):
    Z = X @ W.T + b
    H = {activation.format(inside)}
    R = H - T
    P = {penalty.format(outside)}
    return {reduced} + {decay} * np.sum(W**2)"""
    return RandomLayer(n, d, m, source)


def _function(source: str, name: str) -> Callable[..., Any]:
    space: dict[str, Any] = {}
    exec(source, space)
    found: Callable[..., Any] = space[name]
    return found
