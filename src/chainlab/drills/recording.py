"""A graph of numbers and its backward pass, recorded edge by edge."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chaingrad.program.identities import simpler
from chaingrad.program.tape import Recorded
from chainlab.drills.forms import DOMAINS, Form
from chainview.figures.program import Primitives, assign_places, record_values
from chainview.player.names import NodeNames
from chainview.read.items import Item
from chainview.read.reading import read

CALLER = "drill"
Number = Any  # recorded, or a float


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


class Recording:
    """Every value, local gradient, message and adjoint of a graph, by the engine's rules."""

    def __init__(self, text: str) -> None:
        self.form = Form.parse(text)
        leaves = self.form.leaves
        values = [self.form.domains.get(name, DOMAINS[0])[0] for name in leaves]
        self.items = read(self.form.run(values), CALLER, 10**9)
        self.root = self.items[-1].id
        self.names = NodeNames(self.items)
        self.tape = Primitives(simpler)
        by_label = {item.label: item.node for item in self.items if item.is_leaf}
        self.inputs = [by_label[name] for name in leaves]
        nodes = [item.node for item in self.items]
        self._value = record_values(self.tape, nodes, self.inputs, CALLER)
        self._told: list[Recorded] = []

    @cached_property
    def moving(self) -> list[Item]:
        """The nodes that have an adjoint, in the order of the pass."""
        return [item for item in reversed(self.items) if item.node.requires_grad]

    @cached_property
    def edges(self) -> list[Edge]:
        """The edges that carry a message, in the order of the messages."""
        return [
            Edge(parent, child, position)
            for child in self.moving
            for position, parent in enumerate(self.names.parents(child))
            if parent.node.requires_grad
        ]

    def uses(self, item: Item) -> list[Edge]:
        """Return the edges to the children of a node."""
        return [edge for edge in self.edges if edge.parent is item]

    def value(self, item: Item) -> Number:
        return self._value[item.node]

    def local(self, edge: Edge) -> Number:
        """Compute ∂child/∂parent, by the rule of the child."""
        node = edge.child.node
        needed = [place == edge.position for place in range(len(node.parents))]
        operands = [self._value[parent] for parent in node.parents]
        return list(node.rule.pull(1.0, self._value[node], operands, needed))[edge.position]

    def kinks(self) -> list[Number]:
        """Return the numbers that must not be 0: at 0 a derivative is a matter of convention."""
        operands = [
            (item.op.lower(), [self.value(parent) for parent in self.names.parents(item)])
            for item in self.items
        ]
        return [
            x[0] if op == "relu" else x[0] - x[1] for op, x in operands if op in ("relu", "maximum")
        ]

    def messages(self, faulty: Mapping[Edge, Number] | None = None) -> dict[Edge, Number]:
        """Compute the message along each edge; ``faulty`` replaces some of them."""
        sent: dict[Edge, Number] = {}
        for edge in self.edges:
            above = self.adjoint(edge.child, sent)
            sent[edge] = above * self.local(edge)
            if faulty and edge in faulty:
                sent[edge] = faulty[edge]
        return sent

    @cached_property
    def right(self) -> dict[Edge, Number]:
        """The message along each edge."""
        return self.messages()

    def adjoint(self, item: Item, sent: Mapping[Edge, Number] | None = None) -> Number:
        """Return the sum of the messages to a node; 1 for the root."""
        if item is self.items[-1]:
            return 1.0
        sent = self.right if sent is None else sent
        return total(sent[edge] for edge in self.uses(item))

    # --- as a program ---------------------------------------------------------------------------

    def tell(self, number: Number) -> str:
        """Return a mark for a text, for a number that is known when the problem is drawn."""
        self._told.append(self.tape.constant(number))
        return f"{{{len(self._told) - 1}}}"

    def written(self, wanted: Iterable[Number]) -> dict[str, Any]:
        """Return the program of the numbers that are wanted or were told."""
        given = [self._value[node] for node in self.inputs]
        numbers = [*map(self.tape.constant, wanted), *self._told]
        constants, code, self._place = assign_places(given, numbers)
        return {"constants": constants, "code": code}

    def place(self, number: Number) -> int:
        """Return the place of a number in the program, once the program is written."""
        return self._place[self.tape.constant(number)]

    def placed(self, text: str) -> str:
        """Return a text whose marks name places of the program, once the program is written."""
        told = self._told
        return re.sub(r"\{(\d+)\}", lambda mark: f"{{{self.place(told[int(mark[1])])}}}", text)


def total(numbers: Iterable[Number]) -> Number:
    """Return the sum of numbers, without a zero to begin with."""
    first, *others = numbers
    for number in others:
        first = first + number
    return first
