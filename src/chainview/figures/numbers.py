"""A graph, drawn so that its values and gradients can be written anew."""

import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chaingrad.backward import adjoints
from chaingrad.node import Node
from chainview.draw.boxes import Direction, box, new_graph
from chainview.draw.svg import Drawing, scrolling
from chainview.player.names import NodeNames, amount
from chainview.read.items import Item
from chainview.read.reading import read
from chainview.read.words import describe

Shares = Mapping[tuple[str, int], float]  # by the child's id and the operand's position


@dataclass(frozen=True)
class NumberGraph:
    """A graph of numbers, or of arrays that stand for themselves by their norms, and the gradients.

    Attributes:
        items: its nodes, parents before children.
        names: what they are called.
        grads: of the root, of the nodes that have one.
    """

    items: Sequence[Item]
    names: NodeNames
    grads: Mapping[Any, Any]

    @classmethod
    def read(
        cls, root: Any, caller: str, max_nodes: int, takes_arrays: bool = False
    ) -> "NumberGraph":
        """Read the graph of ``root``.

        Raises:
            TypeError: ``root`` is not a node that requires a gradient, or the graph holds an array
                that is not taken.
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
            if item.node.ndim and not (takes_arrays and item.node is not root):
                raise TypeError(
                    f"{caller} takes a graph of numbers, and {item.name} is an array of shape "
                    f"{item.node.shape}: compute with a node for each entry"
                )
        grads = adjoints(root, root.seed(), [item.node for item in items])
        return cls(items, NodeNames(items), grads)

    @property
    def top(self) -> Item:
        """The root."""
        return self.items[-1]

    def leaves(self) -> list[Item]:
        """Return the leaves that require a gradient."""
        return [item for item in self.items if item.is_leaf and item.node.requires_grad]

    def gradients_html(self, items: Iterable[tuple[Item, tuple[int, ...]]]) -> list[str]:
        """Write the gradients of numbers and of entries, by their indices, as HTML."""
        of = [
            (x, index, np.asarray(self.grads[x.node])) for x, index in items if x.node in self.grads
        ]
        return [f"{self.names.derivative(x, index)} = {amount(g[index])}" for x, index, g in of]

    def draw(self, direction: Direction | None, room: str, shares: Shares | None = None) -> str:
        """Draw the graph as HTML; each text that can change says what it is in ``data-slot``.

        Args:
            direction: which way the data flows; by default to the right, and downwards where the
                place is too narrow for that.
            room: the widest text of a number that is written anew; with ``shares`` its digits, as
                a gradient keeps its sign.
            shares: what each edge passes back, to be written anew instead of the values.
        """
        wide = self._draw(direction or "LR", room, shares or {})
        if direction or "tabindex" not in wide:  # no place is too narrow
            return f'<div class="cg-graph">{wide}</div>'
        both = {"wide": wide, "tall": self._draw("TB", room, shares or {})}
        inside = "".join(f'<div class="cg-{name}">{html}</div>' for name, html in both.items())
        return f'<div class="cg-graph">{inside}</div>'

    def _draw(self, direction: Direction, room: str, shares: Shares) -> str:
        root = ET.fromstring(self._drawing(direction, room, shares).svg())
        edges = defaultdict[tuple[str | None, str | None], list[ET.Element]](list)
        for group in root.iter("g"):
            edges[group.get("data-from"), group.get("data-to")].append(group)
            if id := group.get("data-node"):
                self._fill_in(group, self.names.item_by_id(id).node)
        for (id, position), share in shares.items():
            child = self.names.item_by_id(id)
            edge = edges[child.parents[position], id][child.edge_number(position)]
            next(edge.iter("text")).text = amount(share).removesuffix(".0")
        return scrolling(ET.tostring(root, encoding="unicode"))

    def _drawing(self, direction: Direction, room: str, shares: Shares) -> Drawing:
        graph = new_graph(direction)
        tall = {"ranksep": "0.25", "nodesep": "0.2"}  # as narrow as a phone
        graph.defaults("graph", nslimit="1", **(tall if direction == "TB" else {"ranksep": "0.2"}))
        exponents = self._exponents()
        for item in self.items:
            if item.id in exponents.values():
                continue
            moves = item.kind != "constant" and not shares
            data = item.node.data
            rows = [("shape", amount(data))] if np.ndim(data) else []
            rows += [(_slot_text("data", data), room if moves else amount(size(data)))]
            if item.node in self.grads:
                wide = _signed(room, self.grads[item.node]) if shares else room
                rows.append((_slot_text("grad", data), wide))
            label = self.names.text(item) if item.label or item.kind != "constant" else ""
            op = f"**{self._power(exponents[item.id])}" if item.id in exponents else item.op
            graph.node(item.id, **box(replace(item, label=label, op=op), rows))
            for position, parent in enumerate(item.parents):
                if parent in exponents.values():
                    continue
                share = shares.get((item.id, position))
                # Half a digit on either side has room in the gap that Graphviz leaves.
                passed = {} if share is None else {"label": _signed(room, share)[:-1]}
                graph.edge(parent, item.id, **passed)
        return Drawing(graph.source, describe("Graph", self.items, True, False))

    def _exponents(self) -> dict[str, str]:
        """Return the constant exponent of each power: it stands in the power's own box."""
        uses = Counter(parent for item in self.items for parent in item.parents)
        alone = {x.id for x in self.items if x.kind == "constant" and uses[x.id] == 1}
        powers = [item for item in self.items if item.op == "pow"]
        return {item.id: item.parents[1] for item in powers if item.parents[1] in alone}

    def _power(self, exponent: str) -> str:
        return amount(size(self.names.item_by_id(exponent).node.data)).removesuffix(".0")

    def _fill_in(self, group: ET.Element, node: Node) -> None:
        """Write the numbers of a node where the drawing has room for them."""
        for text in group.iter("text"):
            word = (text.text or "").partition(" ")[0]
            slot = word.strip("‖")
            if slot in ("data", "grad"):
                text.set("data-slot", slot)
                value = node.data if slot == "data" else self.grads[node]
                text.text = f"{word} {amount(size(value))}"


def size(value: Any) -> Any:
    """Return a number itself, or the norm of an array."""
    return np.linalg.norm(value) if np.ndim(value) else value


def _signed(digits: str, value: Any) -> str:
    """Write the widest text of a number that has the sign of this value."""
    return f"−{digits}" if value < 0 else digits


def _slot_text(slot: str, value: Any) -> str:
    return f"‖{slot}‖" if np.ndim(value) else slot
