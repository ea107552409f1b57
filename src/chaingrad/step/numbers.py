"""A graph of numbers, drawn so that its values and gradients can be written anew."""

import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chaingrad.backward import adjoints
from chaingrad.draw import Drawing
from chaingrad.draw.boxes import Direction, box, new_graph
from chaingrad.draw.items import Item
from chaingrad.draw.reading import read
from chaingrad.draw.svg import scrolling
from chaingrad.draw.words import describe
from chaingrad.node import Node
from chaingrad.step.names import Names, amount

Shares = Mapping[tuple[str, int], float]  # by the child's id and the operand's position


@dataclass(frozen=True)
class Numbers:
    """A graph that holds numbers alone, what they are called, and the gradients of its root."""

    items: Sequence[Item]
    names: Names
    grads: Mapping[Any, float]  # of the nodes that have one

    @classmethod
    def read(cls, root: Any, caller: str, max_nodes: int) -> "Numbers":
        """Read the graph of ``root``.

        Raises:
            TypeError: ``root`` is not a node that requires a gradient, or the graph holds an array.
            ValueError: the graph has more than ``max_nodes`` nodes.
        """
        if not isinstance(root, Node):
            raise TypeError(f"{caller} expected a chaingrad node, and got {type(root).__name__}")
        if not root.requires_grad:
            raise TypeError(f"{caller}: the node depends on no leaf that requires a gradient")
        items = read(root, caller, 10**9)
        if len(items) > max_nodes:
            raise ValueError(
                f"{caller}: the graph has {len(items):,} nodes, more than the {max_nodes:,} that "
                "one can follow; take a smaller graph, or raise max_nodes"
            )
        for item in items:
            if item.node.ndim:
                raise TypeError(
                    f"{caller} takes a graph of numbers, and {item.name} is an array of shape "
                    f"{item.node.shape}: compute with a node for each entry"
                )
        grads = adjoints(root, root.seed(), [item.node for item in items])
        return cls(items, Names(items), grads)

    @property
    def top(self) -> Item:
        """The root."""
        return self.items[-1]

    def leaves(self) -> list[Item]:
        """Those that require a gradient."""
        return [item for item in self.items if item.is_leaf and item.node.requires_grad]

    def told(self, items: Iterable[Item]) -> list[str]:
        """Their gradients, as HTML."""
        return [
            f"{self.names.adjoint(item)} = {amount(self.grads[item.node])}"
            for item in items
            if item.node in self.grads
        ]

    def drawn(self, direction: Direction | None, room: str, shares: Shares | None = None) -> str:
        """Draw the graph, as HTML; each text that can be written anew says what in ``data-slot``.

        Args:
            direction: which way the data flows; by default to the right, and downwards where the
                place is too narrow for that.
            room: the widest text of a number that is written anew.
            shares: what each edge passes back, to be written anew instead of the values.
        """
        wide = self._drawn(direction or "LR", room, shares or {})
        if direction or "tabindex" not in wide:  # no place is too narrow
            return f'<div class="cg-graph">{wide}</div>'
        both = {"wide": wide, "tall": self._drawn("TB", room, shares or {})}
        inside = "".join(f'<div class="cg-{name}">{html}</div>' for name, html in both.items())
        return f'<div class="cg-graph">{inside}</div>'

    def _drawn(self, direction: Direction, room: str, shares: Shares) -> str:
        root = ET.fromstring(self._drawing(direction, room, shares).svg())
        edges = defaultdict[tuple[str | None, str | None], list[ET.Element]](list)
        for group in root.iter("g"):
            edges[group.get("data-from"), group.get("data-to")].append(group)
            if id := group.get("data-node"):
                self._fill_in(group, self.names.by_id(id).node)
        for (id, position), share in shares.items():
            child = self.names.by_id(id)
            edge = edges[child.parents[position], id][child.which(position)]
            next(edge.iter("text")).text = amount(share).removesuffix(".0")
        return scrolling(ET.tostring(root, encoding="unicode"))

    def _drawing(self, direction: Direction, room: str, shares: Shares) -> Drawing:
        graph = new_graph(direction)
        graph.defaults("graph", nslimit="1", **({"ranksep": "0.25"} if direction == "TB" else {}))
        for item in self.items:
            moves = item.kind != "constant" and not shares
            rows = [("data", room if moves else amount(item.node.data))]
            rows += [("grad", room)] if item.node in self.grads else []
            label = self.names.text(item) if item.label or item.kind != "constant" else ""
            graph.node(item.id, **box(replace(item, label=label), rows))
            for position, parent in enumerate(item.parents):
                passes = (item.id, position) in shares
                graph.edge(parent, item.id, **({"label": room} if passes else {}))
        return Drawing(graph.source, describe("Graph", self.items, True, False))

    def _fill_in(self, group: ET.Element, node: Node) -> None:
        """Write the numbers of a node where the drawing has room for them."""
        for text in group.iter("text"):
            slot = (text.text or "").partition(" ")[0]
            if slot in ("data", "grad"):
                text.set("data-slot", slot)
                text.text = f"{slot} {amount(node.data if slot == 'data' else self.grads[node])}"
