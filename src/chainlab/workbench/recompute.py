"""A recorded graph as a function of its leaves."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chaingrad.node import Node
from chaingrad.remat import _Recomputed
from chaingrad.rules import RULES, Rule
from chainlab.workbench.subject import Subject


def require_open(subject: Subject) -> None:
    """Refuse a graph of which a part is computed again by the backward pass, out of sight."""
    if any(isinstance(node.rule, _Recomputed) for node in subject.nodes):
        raise TypeError("a checkpoint hides what it computes: leave checkpoint out")


@dataclass(frozen=True)
class Replay:
    """A graph that is computed again, from other leaves.

    Decisions of its text, by ``if`` or by the condition of ``where``, stay as they were.

    Attributes:
        leaves: the leaves that require a gradient; the function's arguments, in this order.
        data: the other leaves that have a label; the function's further arguments.
        held: the values of the leaves that have no label. They belong to the function: if it read
            them while a program is traced, the program would take them for inputs.
        made: the nodes of each call of the function, and the nodes that they stand for; a program
            is written in one call and compared with nodes in another.
    """

    root: Node
    leaves: Sequence[Node]
    data: Sequence[Node]
    held: Mapping[Node, Any]
    made: dict[Node, Node] = field(default_factory=dict)

    @classmethod
    def read(cls, subject: Subject) -> "Replay":
        """Read a graph."""
        nodes = reversed(subject.nodes)
        plain = [node for node in nodes if not node.parents and not node.requires_grad]
        held = {node: node.data for node in plain if not node.label}
        return cls(subject.root, subject.leaves, [node for node in plain if node.label], held)

    @property
    def values(self) -> list[Any]:
        """The arguments that reproduce the graph."""
        return [node.data for node in (*self.leaves, *self.data)]

    @property
    def function(self) -> Callable[..., Node]:
        """The function, with the labels as the names of its arguments."""

        def run(*given: Any) -> Node:
            return self(*given)

        run.__name__ = "program"
        names = [_name(node, i) for i, node in enumerate((*self.leaves, *self.data))]
        kind = inspect.Parameter.POSITIONAL_ONLY
        unique = len(set(names)) == len(names)
        names = names if unique else [f"x{i}" for i in range(len(names))]
        run.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])  # type: ignore[attr-defined]
        return run

    def __call__(self, *given: Any) -> Node:
        at: dict[Node, Node] = {}
        for node, x in zip((*self.leaves, *self.data), given, strict=True):
            at[node] = x if isinstance(x, Node) else Node(x, requires_grad=False)
        for node in self.root.sorted_graph()[::-1]:
            if node.parents:
                operands = [at[parent] for parent in node.parents]
                at[node] = operands[0].apply(_rule(node), operands, {})
                at[node].label = node.label
            elif node not in at:
                at[node] = Node(self.held[node], requires_grad=False)
        self.made.update((new, old) for old, new in at.items())
        return at[self.root]

    def number(self, values: Sequence[Any]) -> float:
        """Compute the root for other values of the arguments."""
        number = self(*[Node(x, requires_grad=False) for x in values]).item()
        self.made.clear()
        return number


def _rule(node: Node) -> Rule:
    """Return the rule of a node; bind it anew if it saves arrays for that node's own pass."""
    rule: Any = node.rule
    if not hasattr(rule, "saved"):
        return rule  # type: ignore[no-any-return]
    return RULES[rule.name].bind(rule.options)


def _name(node: Node, i: int) -> str:
    label = str(node.label or "")
    return label if label.isidentifier() else f"x{i}"
