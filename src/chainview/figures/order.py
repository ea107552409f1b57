"""Click the nodes in an order of one's own: do the gradients come out right?"""

from collections import Counter
from typing import Any

from chaingrad.node import Node
from chainview.draw.boxes import Direction
from chainview.figures.figure import Figure, moving
from chainview.figures.number_graph import NumberGraph
from chainview.player.names import amount
from chainview.read.items import Item
from chainview.read.words import listed, truncate

MOST_NODES = 40


def order(root: Node, *, direction: Direction | None = None, max_nodes: int = MOST_NODES) -> Figure:
    """Show the graph of ``root`` for the reader to run the backward pass, click by click.

    A node that is clicked passes on what it holds by then, along the next of its edges: in a right
    order when all its shares have come, in a wrong one before. When each edge has been used, the
    figure compares the gradients of the leaves with the engine's and names the nodes that were too
    early. The local gradients are the engine's, too. Gradients in the nodes stay what they were.

    Args:
        root: a node that holds a number; so must all that it was computed from.
        direction: which way the data flows, in Graphviz's terms; by default from left to right,
            and downwards where there is no room for that.
        max_nodes: a larger graph is refused.

    Raises:
        TypeError: ``root`` is not a node or requires no gradient, or the graph holds an array.
        ValueError: the graph has more than ``max_nodes`` nodes.

    >>> a = Node(3.0, "a")
    >>> b = a + a
    >>> c = b + b
    >>> b.label, c.label = "b", "c"
    >>> order(c)
    <Figure: Backward pass from c to click through: c, b; the gradients to find: a.>
    """
    clicks = _Clicks(NumberGraph.read(root, "order", max_nodes))
    return moving(
        clicks.alt(), clicks.data(), "order", clicks.static_html(direction), clicks.controls()
    )


class _Clicks:
    """A graph whose nodes pass their gradients on by clicks."""

    def __init__(self, graph: NumberGraph) -> None:
        self.graph, self.names = graph, graph.names
        self.shown = [item for item in graph.items if item.node in graph.grads]
        self.leaves = [item for item in self.shown if item.is_leaf]
        self.sends: dict[str, list[dict[str, Any]]] = {item.id: [] for item in self.shown}
        self.shares: dict[tuple[str, int], float] = {}
        for message in graph.sent:
            child, position = self.names.item(message.child), message.position
            self.sends[child.id].append(_send(child, position, message.local))
            self.shares[child.id, position] = float(message.share)

    def alt(self) -> str:
        senders = [self.names.text(item) for item in reversed(self.shown) if not item.is_leaf]
        leaves = [self.names.text(item) for item in self.leaves]
        return truncate(
            f"Backward pass from {self.names.text(self.graph.top)} to click through: "
            f"{listed(senders, 8)}; the gradients to find: {listed(leaves, 8)}."
        )

    def data(self) -> list[dict[str, Any]]:
        """Return what the script reads."""
        waits = Counter(send["to"] for sent in self.sends.values() for send in sent)
        return [
            {
                "id": item.id,
                "html": self.names.html(item),
                "text": self.names.text(item),
                "sends": self.sends[item.id],
                "waits": waits[item.id],
                "right": float(self.graph.grads[item.node]),
            }
            for item in self.shown
        ]

    def static_html(self, direction: Direction | None) -> str:
        """Draw the graph with what each edge passes back, and write the gradients in words."""
        numbers = [*self.shares.values(), *self.graph.grads.values()]
        widest = max((amount(abs(x)) for x in numbers), key=len)
        drawn = self.graph.draw(direction, widest, self.shares)
        right = listed(self.graph.gradients_html((item, ()) for item in self.leaves), 12)
        return f"{drawn}<p>Each node passed on when all its shares had come: {right}.</p>"

    def controls(self) -> str:
        return (
            f'<p class="cg-words" aria-live="polite" aria-atomic="true">{self.names.top} holds 1. '
            "Click a node, and it sends its gradient back along the next arrow that enters it.</p>"
            '<div class="cg-bar"><button type="button">Undo</button>'
            '<button type="button">Start again</button></div>'
        )


def _send(child: Item, position: int, local: float | None) -> dict[str, Any]:
    """Return what a click makes a node pass on: to which operand, along which of their edges."""
    return {"to": child.parents[position], "which": child.edge_number(position), "local": local}
