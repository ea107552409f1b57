"""A graph of numbers and its backward pass, computed by the engine, edge by edge."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chaingrad.node import Node
from chainlab.drills.draw.forms import DOMAINS, Form
from chainlab.drills.draw.small_numbers import CLOSE, is_small, total
from chainview.player.names import NodeNames
from chainview.read.items import Item
from chainview.read.reading import read

CALLER = "drill"


@dataclass(frozen=True)
class Edge:
    """One use of a node: as which operand of which operation."""

    parent: Item
    child: Item
    position: int

    @property
    def ends(self) -> tuple[str, str, int]:
        """The parent, the child, and which of their edges it is."""
        return self.parent.id, self.child.id, self.child.edge_number(self.position)


class FormGraph:
    """The graph of a form: what is the same whatever its numbers are.

    Attributes:
        items: its nodes, parents before children.
        names: what they are called.
        moving: those that have an adjoint, in the order of the pass.
        edges: those that carry a message, in the order of the messages.
    """

    def __init__(self, text: str) -> None:
        self.form = Form.parse(text)
        values = [self.form.domains.get(name, DOMAINS[0])[0] for name in self.form.leaves]
        self.items = read(self.form.run(values), CALLER, 10**9)
        self.root = self.items[-1]
        self.names = NodeNames(self.items)
        self.moving = [item for item in reversed(self.items) if item.node.requires_grad]
        self.edges = [
            Edge(parent, child, position)
            for child in self.moving
            for position, parent in enumerate(self.names.parents(child))
            if parent.node.requires_grad
        ]
        self.uses = {item.id: [edge for edge in self.edges if edge.parent is item]
                     for item in self.items}  # fmt: skip


graph_of = functools.cache(FormGraph)


class Recording:
    """Every value, local gradient, message and adjoint of a graph at some values of its leaves."""

    def __init__(self, graph: FormGraph, leaves: Sequence[float]) -> None:
        self.graph, self.names, self.leaves = graph, graph.names, leaves
        with np.errstate(all="ignore"):  # some numbers lead nowhere, and are not taken
            root = graph.form.run(leaves)
            nodes = {graph.root.id: root}
            for item in reversed(graph.items):
                count = len(item.parents)  # without a constant exponent
                operands = nodes[item.id].parents[:count]
                nodes |= dict(zip(item.parents, operands, strict=True))
            self._value = {id: float(node.data) for id, node in nodes.items()}
            self._local = {child.id: _locals(nodes[child.id]) for child in graph.moving}

    def value(self, item: Item) -> float:
        return self._value[item.id]

    def local(self, edge: Edge) -> float:
        """Return ∂child/∂parent, by the rule of the child."""
        return float(self._local[edge.child.id][edge.position])

    def messages(self, faulty: Mapping[Edge, float] = {}) -> dict[Edge, float]:
        """Compute the message along each edge; ``faulty`` replaces some of them."""
        sent: dict[Edge, float] = {}
        for edge in self.graph.edges:
            right = self.adjoint(edge.child, sent) * self.local(edge)
            sent[edge] = faulty.get(edge, right)
        return sent

    @cached_property
    def right(self) -> dict[Edge, float]:
        """The message along each edge."""
        return self.messages()

    def adjoint(self, item: Item, sent: Mapping[Edge, float] | None = None) -> float:
        """Return the sum of the messages to a node; 1 for the root."""
        if item is self.graph.root:
            return 1.0
        messages = self.right if sent is None else sent
        return total(messages[edge] for edge in self.graph.uses[item.id])

    def is_small(self, most: float) -> bool:
        """Return whether all values are small, and no slope is a convention."""
        return not self.is_at_kink and all(is_small(x, most) for x in self._value.values())

    @property
    def is_at_kink(self) -> bool:
        """Whether some slope is a convention: of ReLU at 0, of the larger of two equal numbers."""
        operands = [
            (item.op.lower(), [self._value[parent] for parent in item.parents])
            for item in self.graph.items
        ]
        return any(
            abs(x[0] - (x[1] if op == "maximum" else 0)) < CLOSE
            for op, x in operands
            if op in ("relu", "maximum")
        )


def _locals(node: Node) -> list[float]:
    """Return ∂node/∂operand for each operand, constants included."""
    if node.rule is None:
        return []
    operands = [parent.data for parent in node.parents]
    return list(node.rule.pull(1.0, node.data, operands, [True] * len(operands)))
