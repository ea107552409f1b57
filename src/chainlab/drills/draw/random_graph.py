"""A graph for each student of a class, drawn from a seed, and about as hard as all others.

All graphs have as many operations of each kind, leaves, shared nodes and paths, the same depth, and
as many products to calculate backward. Their values and adjoints are whole numbers of at most two
digits, and each of the usual mistakes leads to different adjoints.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

LEAVES, NODES = "abcde", "uvwxyz"
SIGNS = "***++-"  # the operations' signs
DEPTH = 5
PATHS = 8  # from the root to leaves
PRODUCTS = 4  # of an adjoint and a local gradient, neither of which is 1 or -1
SIZES = (-6, -5, -4, -3, -2, 2, 3, 4, 5, 6)  # values of leaves; 1 would hide mistakes
LARGEST = range(40, 100)  # a graph's largest number
TRIES = 30  # of values for the leaves, before other lines are drawn
GraphLine = tuple[str, str, str, str]  # name, first operand, sign, second operand
Numbers = dict[str, int]  # of nodes, by name

SIGN: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


def _local(sign: str, x: int, y: int) -> tuple[int, int]:
    """Return the local gradients of both operands."""
    return {"+": (1, 1), "-": (1, -1), "*": (y, x)}[sign]


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
    def values(self) -> Numbers:
        """The value of every node."""
        values = dict(self.leaves)
        for name, x, sign, y in self.lines:
            values[name] = SIGN[sign](values[x], values[y])
        return values

    def adjoints(
        self,
        local: Callable[[str, int, int], tuple[int, int]] = _local,
        share: Callable[[int, int], int] = operator.mul,
        add: Callable[[int, int], int] = operator.add,
        early: bool = False,
    ) -> Numbers:
        """Return the adjoint of every node, the root first.

        Args:
            local: the local gradients of an operation, by its sign and its operands.
            share: what an edge sends, by the adjoint and the local gradient.
            add: what is kept of what is there and a share that comes.
            early: whether each node passes on as soon as its first share has come.
        """
        values, lines = self.values, {line[0]: line for line in self.lines}
        adjoints = {self.lines[-1][0]: 1}
        for name in self._order_of_first_shares() if early else reversed(lines):
            _, x, sign, y = lines[name]
            for parent, slope in zip((x, y), local(sign, values[x], values[y]), strict=True):
                sent = share(adjoints[name], slope)
                adjoints[parent] = add(adjoints[parent], sent) if parent in adjoints else sent
        return adjoints

    def _order_of_first_shares(self) -> list[str]:
        operands = {name: (x, y) for name, x, _, y in self.lines}
        order, waiting = list[str](), [self.lines[-1][0]]
        while waiting:
            name = waiting.pop()
            if name in operands and name not in order:
                order.append(name)
                waiting += reversed(operands[name])
        return order


# What comes of a pass with one part wrong throughout, by its name in ``chainlab.mistakes``.
MISTAKES: dict[str, Callable[[RandomGraph], Numbers]] = {
    "last": partial(RandomGraph.adjoints, add=lambda there, share: share),
    "first": partial(RandomGraph.adjoints, add=lambda there, share: there),
    "early": partial(RandomGraph.adjoints, early=True),
    "operand": partial(
        RandomGraph.adjoints,
        local=lambda sign, x, y: (x, y) if sign == "*" else _local(sign, x, y),
    ),
    "sign": partial(
        RandomGraph.adjoints, local=lambda sign, x, y: _local(sign.replace("-", "+"), x, y)
    ),
    "local": partial(RandomGraph.adjoints, share=lambda adjoint, local: local),
}


def random_graph(rng: np.random.Generator) -> RandomGraph:
    """Draw a graph of five leaves and six operations; a leaf and a node are used twice.

    The last operation is a product: after a sum, more adjoints would be 1.
    """
    while True:
        lines = random_lines(rng, "*")
        for values in rng.choice(SIZES, (TRIES, len(LEAVES))).tolist():
            graph = RandomGraph(dict(zip(LEAVES, values, strict=True)), lines)
            if _is_fair(graph):
                return graph


def random_lines(rng: np.random.Generator, last: str) -> tuple[GraphLine, ...]:
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
    wrong = [adjoints(graph) for adjoints in MISTAKES.values()]
    results = {tuple(adjoints[name] for name in graph.leaves) for adjoints in wrong}
    return len({tuple(right), *results}) == 1 + len(MISTAKES)


def random_constant(rng: np.random.Generator) -> str:
    """Draw a factor that tells one student's problem from another's."""
    return f"{0.2 + 0.7 * rng.random():.3f}"
